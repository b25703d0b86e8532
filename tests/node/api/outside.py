"""A running moot as its users see it: asked over HTTP from outside the thread in which it lives."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import trio

from federation.artifacts import State
from tests.node.api.living import Living, in_thread, living, proposal
from tests.node.runtime.moot import AUTHOR, FIRST
from tests.node.runtime.realm import Realm

_PATIENCE_S = 40.0
_LOOK_S = 0.05


@dataclass(slots=True, kw_only=True)
class Outside:
    """A running node and a client that holds its operator's token."""

    it: Living
    realm: Realm
    agents: tuple[bytes, ...]
    client: httpx.Client

    def post(self, index: int, *path: str, **body: object) -> httpx.Response:
        return self.client.post(
            "/v1/" + "/".join(path), json={"agent": self.agents[index].hex(), **body}
        )

    def done(self, index: int, *path: str, **body: object) -> str:
        answer = self.post(index, *path, **body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def get(self, *path: str) -> dict[str, object]:
        answer = self.client.get("/v1/" + "/".join(path))
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def until(self, claim: Callable[[], object]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not claim():
            assert time.monotonic() < end, "it never came to that"
            time.sleep(_LOOK_S)

    def proposed(self, title: str, topic: str = "science", *, by: int = AUTHOR) -> str:
        return self.done(by, "artifacts", **proposal(title=title, topics=[topic]))

    def round_of(self, about: str, kind: str = "review") -> str:
        """Wait for the newest round of a kind about something."""
        world, found = self.it.node.world, list[bytes]()

        def opened() -> bool:
            names = world.state.rounds_of.get(bytes.fromhex(about), ())
            found[:] = [name for name in names if world.rounds[name].pin.kind == kind]
            return bool(found)

        self.until(opened)
        return found[-1].hex()

    def in_phase(self, name: str, phase: str) -> None:
        self.until(lambda: self.get("rounds", name)["phase"] == phase)

    def voted(self, name: str, panel: tuple[int, ...], choice: str = "for") -> None:
        self.in_phase(name, "commit")
        for index in panel:
            words = {"choice": choice, "reason": "unclear", "basis": "tool"}
            self.done(index, "rounds", name, "vote", **words)

    def ended(self, name: str) -> None:
        """Wait until a cut contains the end of a round."""
        one = self.it.node.world.rounds[bytes.fromhex(name)]
        self.until(lambda: one.closed)

    def stands(self, artifact: str) -> None:
        """Wait until a cut contains that an artifact stands."""
        state, name = self.it.node.world.state, bytes.fromhex(artifact)
        self.until(lambda: state.artifacts[name].state is State.ACTIVE)

    def accepted(
        self, *titles: str, by: int = AUTHOR, panel: tuple[int, ...] = FIRST
    ) -> tuple[str, ...]:
        """Let some proposals be accepted, all at once."""
        made = tuple(self.proposed(title, by=by) for title in titles)
        for one in made:
            self.voted(self.round_of(one), panel)
        for one in made:
            self.stands(one)
        return made


@contextmanager
def outside(data: Path, realm: Realm) -> Iterator[Outside]:
    """Run the one instance of a moot in a thread until the context is left."""

    async def play(show: Callable[[Living], None], over: trio.Event) -> None:
        async with living(data, data=realm.places[0]) as it:
            show(it)
            await over.wait()

    with in_thread(play, within=30) as it:
        headers = {"authorization": f"Bearer {it.operator}"}
        with httpx.Client(base_url=it.url, headers=headers, timeout=10, trust_env=False) as client:
            yield Outside(it=it, realm=realm, agents=realm.agents_of(0), client=client)


def at(it: Living, patch: pytest.MonkeyPatch) -> None:
    """Let every command line find the node, with its operator's token."""
    patch.setenv("FOLKMOOT_URL", it.url)
    patch.setenv("FOLKMOOT_TOKEN", it.operator)
    patch.delenv("FOLKMOOT_DATA", raising=False)
