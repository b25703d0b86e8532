"""A sycophant: an agent that reads all that its instance shows, and would vote as others do.

It holds the operator's token of its own instance, reads the files of its node and every packet that
comes in. What it saw of one round is kept in two forms: as bytes, in which secrets are looked for,
and as shapes, answers without the names and times that differ from run to run.
"""

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import trio

from node.api.calls import EVENTS
from node.api.routes import ROUTES
from tests.cluster.needles import files_of
from tests.cluster.town import Ear, Open

_LOOK_S = 0.1
_NAME = re.compile(r"did:key:\w+|bafkrei[a-z2-7]+|[0-9a-f]{6,}")
_NUMBER = re.compile(r"\d+")
_WAIT = re.compile(r"(, not before)? # (ms|s|min)\b")
_GREAT = 1_000
"""A number from here on is a time or a share of a million; below it counts something."""
_MOVES = frozenset(
    {"cut", "tick", "cursor", "now", "seq", "at", "wire", "cid", "key_index", "next"}
)
"""Fields that say how late it is, or are names: no vote stands behind them."""
_AT_LARGE = ("/v1/overview",)
"""Answers that count everything there is, cuts too, so that no two runs give the same."""
_TELLING = frozenset({"choice", "ballot", "nonce", "stance", "decision"})
"""Names of fields of which none may say anything while a box is open."""


@dataclass(slots=True, kw_only=True)
class Sycophant:
    """One agent that looks at everything every tenth of a second."""

    home: Open
    ear: Ear
    agent: bytes
    round: bytes
    artifact: bytes
    hay: dict[str, bytes] = field(default_factory=dict)
    """Everything that it saw, by where and when."""
    kinds: set[str] = field(default_factory=set)
    """Kinds of the records of the round that it was shown."""
    sizes: set[tuple[str, int]] = field(default_factory=set)
    """How many bytes they have."""
    looks: int = 0

    async def watch(self) -> None:
        """Look for ever."""
        while True:
            await self.look()
            await trio.sleep(_LOOK_S)

    async def look(self) -> dict[str, object]:
        """Ask for everything that is about the round; give the shapes of the answers."""
        shapes: dict[str, object] = {}
        self.looks += 1
        for path in self._about():
            answer = await self.home.client.get(path)
            assert answer.status_code == 200, answer.text
            self.hay[f"look {self.looks}: {path}"] = answer.content
            if path not in _AT_LARGE:
                shapes[_masked(path)] = shape(json.loads(answer.content))
        for name in self._records():
            answer = await self.home.client.get(f"/v1/records/{name.hex()}")
            page = json.loads(answer.content)
            self.hay[f"look {self.looks}: {name.hex()}"] = answer.content
            self.hay[f"wire of {name.hex()}"] = base64.b64decode(page["wire"])
            self.kinds.add(page["kind"])
            self.sizes.add((page["kind"], len(page["wire"])))
            shapes[f"record {page['kind']}"] = shape(page)
        root = self.home.node.data.root
        self.hay |= {f"disk {path}": raw for path, raw in files_of(root).items()}
        return shapes

    async def all_routes(self) -> None:
        """Ask every route of the table that can be read, about everything it knows the name of."""
        ids = [self.round, self.artifact, self.agent, *self._records()]
        world = self.home.node.world
        ids += [*world.state.agents, *world.state.operators, *world.state.instances]
        for route in ROUTES:
            if route.method != "GET" or route.produces == EVENTS:
                continue
            for path in _spelled(route.path, route.parameters, ids):
                answer = await self.home.client.get(path)
                assert answer.status_code != httpx.codes.TOO_MANY_REQUESTS
                self.hay[f"route {path}"] = str(answer.headers).encode() + answer.content

    async def follow(self, path: str) -> None:
        """Listen to a stream of events for ever."""
        heard = bytearray()
        async with self.home.client.stream("GET", path) as answer:
            assert answer.status_code == 200
            async for part in answer.aiter_bytes():
                heard += part
                self.hay[f"stream {path}"] = bytes(heard)

    async def attend(self) -> None:
        """Look and listen until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.watch)
            nursery.start_soon(self.follow, "/v1/events?after=0")
            nursery.start_soon(self.follow, f"/v1/agents/{self.agent.hex()}/notices/stream")

    def seen(self) -> dict[str, bytes]:
        """Give all that it saw, with all that came to its instance from others."""
        return self.hay | {f"packets {name}": raw for name, raw in self.ear.hay("in").items()}

    def telling(self) -> list[str]:
        """List fields of answers about the round that say something they may not say yet."""
        return [
            f"{name}: {at}"
            for name, raw in self.hay.items()
            if name.startswith("look ") and self._is_about(name)
            for at in _said(json.loads(raw))
        ]

    def _is_about(self, name: str) -> bool:
        return self.round.hex() in name or any(one.hex() in name for one in self._records())

    def _about(self) -> list[str]:
        name, artifact, me = self.round.hex(), self.artifact.hex(), self.agent.hex()
        return [
            f"/v1/rounds/{name}",
            f"/v1/rounds/{name}/debate?digest=12",
            f"/v1/artifacts/{artifact}",
            f"/v1/artifacts/{artifact}/history",
            f"/v1/artifacts/{artifact}/why",
            f"/v1/disputes?artifact={artifact}",
            f"/v1/agents/{me}/reviews",
            f"/v1/agents/{me}/notices",
            "/v1/search?q=water",
            "/v1/queue",
            *_AT_LARGE,
        ]

    def _records(self) -> list[bytes]:
        log = self.home.node.world.log
        return sorted(one.id for found in log.by_round(self.round).values() for one in found)


def shape(value: object, key: str = "") -> object:
    """Give an answer without names, times and what else moves; counts and words stay."""
    if isinstance(value, dict):
        return {name: shape(one, name) for name, one in sorted(value.items())}
    if isinstance(value, list):
        # Lists of people stand in the order of their names, which are random.
        return sorted((shape(one, key) for one in value), key=repr)
    if isinstance(value, str):
        return "" if key in _MOVES else _masked(value)
    if isinstance(value, int) and not isinstance(value, bool):
        moves = key in _MOVES or key.endswith(("_at", "_ms", "_in", "_within", "_until"))
        return "#" if moves or abs(value) >= _GREAT else value
    return value


def _masked(text: str) -> str:
    return _WAIT.sub(" a while", _NUMBER.sub("#", _NAME.sub("…", text)))


def _said(value: object, at: str = "$") -> Iterator[str]:
    """Give where a field of a telling name holds anything."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name in _TELLING and one not in (None, [], {}):
                yield f"{at}.{name}"
            yield from _said(one, f"{at}.{name}")
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _said(one, f"{at}[{number}]")


def _spelled(path: str, parameters: tuple[str, ...], ids: list[bytes]) -> list[str]:
    if not parameters:
        return [path]
    (name,) = parameters
    return [path.replace("{" + name + "}", one.hex()) for one in ids]
