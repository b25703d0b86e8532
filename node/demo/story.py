"""One artifact through every row of the lifecycle's table, on three processes: `folkmoot demo story`.

Ten agents of ten operators act as people would, by the API of the instance that keeps their keys;
nobody tells an instance what it should decide. What is reported is read afterwards from the three
databases.
"""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import msgspec
import trio

from federation.charter import TopicClass, preset
from node.base.entropy import Entropy, random_bytes
from node.base.paths import write_private
from node.base.settings import Settings
from node.demo.agents import RefusedByNodeError, insistently
from node.demo.instance import Instance
from node.demo.outcome import UnfinishedError
from node.demo.over_network import ANYWHERE, Stage, leave_none
from node.demo.stores import Left, common_digests, read_stores
from node.queries.happenings import Happened
from node.queries.history import history
from node.setup.founding import Founded, Founder, found_realm
from node.setup.instance import write_instance

INSTANCES: Final = 3
TOPIC: Final = "facts"
AUTHOR: Final = 0
FIRST_PANEL: Final = (1, 2, 3)
SECOND_PANEL: Final = (4, 5, 6)
ARBITER: Final = 7
MODERATOR: Final = 8
REPORTER: Final = 9
NAMES: Final = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Iris", "Jon")
_LOOK_S: Final = 0.15
_PATIENCE_S: Final = 120.0
"""An act that takes so long has failed."""
_EPOCH: Final = 3_000
_WORDS: Final = {1: "for", 0: "abstain", -1: "against"}

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A story that is over."""

    artifact: str
    """Its id, in hex."""
    events: tuple[Happened, ...]
    """As the first instance's disk tells it."""
    alike: bool
    """All three disks tell the same story."""
    digests: tuple[str, ...]
    """World digest of each instance at one cut, in hex."""
    cut: int
    clean_exits: bool

    @property
    def holds(self) -> bool:
        """Tell whether the instances agree on everything."""
        return self.alike and len(set(self.digests)) == 1 and self.clean_exits


def stage(root: Path, *, entropy: Entropy = random_bytes) -> Stage:
    """Found the realm of the story and write the directories of its instances below `root`.

    The charter is the preset `test` with windows that leave an HTTP client time to act.
    """
    rules = preset("test")
    owners = [f"owner of {name}" for name in NAMES]
    offices = {ARBITER: ("arbiter",), MODERATOR: ("moderator",)}
    founded = found_realm(
        name="folkmoot story",
        preset="test",
        operators=[*owners, *(f"host {place}" for place in range(INSTANCES))],
        instances=[(f"instance {place}", len(owners) + place) for place in range(INSTANCES)],
        founders=[
            Founder(
                name=name,
                operator=number,
                instance=number % INSTANCES,
                badges=offices.get(number, ()),  # type: ignore[arg-type] # words of `Badge`
            )
            for number, name in enumerate(NAMES)
        ],
        entropy=entropy,
        timing=msgspec.structs.replace(rules.timing, epoch=_EPOCH, three="strict"),
        review=msgspec.structs.replace(
            rules.review,
            k=3,
            q_min=3,
            # Two of three are not enough, so that an arbiter has something to do.
            tau_accept=500_000,
            topics=(TopicClass(prefix=TOPIC, sensitivity="low"),),
            fast_min_watchers=0,
            fast_low=6_000,
            deliberate=1_000,
            commit=6_000,
            reveal=20_000,
            rule=60_000,
            deadline=120_000,
        ),
        trust=msgspec.structs.replace(rules.trust, seats=len(NAMES)),
        disputes=msgspec.structs.replace(
            rules.disputes, q_dispute=3, tau_retract=500_000, cooldown=1, assess=60_000
        ),
    )
    return Stage(founded=founded, instances=_instances(root, founded, entropy))


def _instances(root: Path, founded: Founded, entropy: Entropy) -> tuple[Instance, ...]:
    passphrase = entropy(16).hex().encode()
    secret = root / "passphrase"
    write_private(secret, passphrase + b"\n")
    return tuple(
        Instance(
            place=place,
            data=write_instance(
                root / f"instance{place}",
                founded,
                passphrase=passphrase,
                settings=Settings(
                    name=f"instance {place}",
                    http_port=0,
                    listen=(ANYWHERE,),
                    sync_every_ms=1_000,
                ),
                instance=place,
                entropy=entropy,
            ),
            passphrase_file=secret,
            log=root / f"instance{place}.log",
        )
        for place in range(INSTANCES)
    )


class _Signed(msgspec.Struct, frozen=True):
    id: str


class _Round(msgspec.Struct, frozen=True):
    phase: str | None


class _Row(msgspec.Struct, frozen=True):
    state: str
    settled: bool


class _Step(msgspec.Struct, frozen=True):
    event: str
    round: str | None


class _Story(msgspec.Struct, frozen=True):
    events: tuple[_Step, ...]


class _Overview(msgspec.Struct, frozen=True):
    class Realm(msgspec.Struct, frozen=True):
        class Cut(msgspec.Struct, frozen=True):
            number: int
            tick: int

        cut: Cut

    realm: Realm


@dataclass(slots=True, kw_only=True)
class _Teller:
    """Lets everybody act in turn."""

    staged: Stage
    say: Say
    artifact: str = ""

    async def tell(self) -> None:
        """Let the whole story happen; raises UnfinishedError and RefusedByNodeError."""
        await self._first_review()
        await self._report()
        await self._return()
        await self._supersede()
        await self._all_know()

    async def _first_review(self) -> None:
        self.say("Ada proposes, and Ben objects while the window is open.")
        self.artifact = await self._act(AUTHOR, "/v1/artifacts", _text("Tea grows on shrubs"))
        name = await self._round(1)
        await self._in_phase(name, "fast")
        await self._act(1, f"/v1/rounds/{name}/object", {"reason": "unsourced"})
        await self._in_phase(name, "deliberate")
        await self._argue(name)
        self.say("Only two voices come in, so that the box is widened once, still sealed.")
        await self._in_phase(name, "commit")
        for voter in FIRST_PANEL[:2]:
            await self._vote(voter, name, 1)
        await self._in_phase(name, "commit2")
        await self._vote(FIRST_PANEL[2], name, -1)
        self.say("Two for and one against is not clear: an arbiter is drawn by lot.")
        await self._in_phase(name, "rule")
        await self._act(
            ARBITER,
            f"/v1/rounds/{name}/rule",
            {"ruling": "by_sign", "ground": "fair_process", "note": "All have been heard."},
        )
        await self._stands("active")

    async def _report(self) -> None:
        self.say("Jon reports it as harmful; Iris finds that credible, and it is hidden.")
        await self._act(
            REPORTER,
            f"/v1/artifacts/{self.artifact}/report",
            {"category": "harmful", "note": "It tells how to poison a well."},
        )
        name = await self._round(2)
        await self._in_phase(name, "assess")
        await self._act(
            MODERATOR,
            f"/v1/rounds/{name}/assess",
            {"credible": True, "note": "The third sentence does."},
        )
        self.say("A fresh panel retracts it.")
        await self._in_phase(name, "commit")
        for voter in SECOND_PANEL:
            await self._vote(voter, name, -1, reason="harmful")
        await self._stands("retracted")

    async def _return(self) -> None:
        self.say("After the cooldown Ada brings it back with evidence, and it is accepted.")
        tick = (await self._look()).tick
        while (await self._look()).tick < tick + 2:  # noqa: ASYNC110 # other processes have no event
            await trio.sleep(_LOOK_S)
        evidence = hashlib.sha256(b"Flora of China, volume 12").hexdigest()
        await self._act(
            AUTHOR,
            f"/v1/artifacts/{self.artifact}/resubmit",
            {"evidence": [evidence], "note": "Without the third sentence's recipe."},
        )
        name = await self._round(3)
        await self._in_phase(name, "commit")
        for voter in FIRST_PANEL:
            await self._vote(voter, name, 1)
        await self._stands("active")

    async def _supersede(self) -> None:
        self.say("Nobody objects to her revision, which takes its place.")
        await self._act(
            AUTHOR,
            f"/v1/artifacts/{self.artifact}/revise",
            _text("Tea is made of leaves of Camellia sinensis, a shrub"),
        )
        await self._stands("superseded")

    async def _all_know(self) -> None:
        """Wait until all instances have folded a cut of a later tick than the end of the story."""
        tick = max([(await self._look(one)).tick for one in self.staged.instances])
        await self._until(
            lambda: self._all(lambda one: self._is_past(one, tick)), "all to come to the next tick"
        )

    async def _is_past(self, one: Instance, tick: int) -> bool:
        return (await self._look(one)).tick > tick + 1

    async def _argue(self, name: str) -> None:
        body = {"stance": "against", "note": "Which source says so?"}
        await self._act(FIRST_PANEL[0], f"/v1/rounds/{name}/argue", body)

    async def _vote(self, voter: int, name: str, choice: int, reason: str = "accurate") -> None:
        if choice < 0 and reason == "accurate":
            reason = "unsourced"
        body = {"choice": _WORDS[choice], "reason": reason, "basis": "memory"}
        await self._act(voter, f"/v1/rounds/{name}/vote", body)

    async def _act(self, who: int, path: str, body: Mapping[str, object]) -> str:
        """Let somebody act by its instance; gives the id of the record."""
        home = self.staged.instances[who % INSTANCES]
        agent = self.staged.founded.founding.agents[who].hex()
        answer = await insistently(home, path, {"agent": agent, **body})
        if not answer.is_success:
            raise RefusedByNodeError(f"{NAMES[who]}: {answer.text}")
        name = msgspec.json.decode(answer.content, type=_Signed).id
        home.acknowledged.add(name)
        return name

    async def _round(self, count: int) -> str:
        """Wait until all instances have opened so many rounds about the artifact; give the last."""

        async def opened(one: Instance) -> bool:
            return len(await self._opened(one)) >= count

        await self._until(lambda: self._all(opened), f"round {count} to open")
        return (await self._opened(self.staged.instances[0]))[count - 1]

    async def _opened(self, one: Instance) -> list[str]:
        raw = await one.get(f"/v1/artifacts/{self.artifact}/history")
        story = msgspec.json.decode(raw, type=_Story)
        return [step.round for step in story.events if step.event == "opened" and step.round]

    async def _in_phase(self, name: str, phase: str) -> None:
        """Wait until all instances have a round in a phase."""

        async def there(one: Instance) -> bool:
            raw = await one.get(f"/v1/rounds/{name}")
            return msgspec.json.decode(raw, type=_Round).phase == phase

        await self._until(lambda: self._all(there), f"the phase {phase}")

    async def _stands(self, state: str) -> None:
        """Wait until the artifact has come to a state in the certified world of all instances."""

        async def so(one: Instance) -> bool:
            raw = await one.get(f"/v1/artifacts/{self.artifact}")
            row = msgspec.json.decode(raw, type=_Row)
            return row.settled and row.state == state

        await self._until(lambda: self._all(so), f"the artifact to be {state}")

    async def _look(self, one: Instance | None = None) -> _Overview.Realm.Cut:
        raw = await (one or self.staged.instances[0]).get("/v1/overview")
        return msgspec.json.decode(raw, type=_Overview).realm.cut

    async def _all(self, holds: Callable[[Instance], Awaitable[bool]]) -> bool:
        for one in self.staged.instances:
            try:
                if not await holds(one):
                    return False
            except httpx.HTTPError:
                return False
        return True

    async def _until(self, done: Callable[[], Awaitable[bool]], what: str) -> None:
        with trio.move_on_after(_PATIENCE_S):
            while not await done():  # noqa: ASYNC110 # other processes have no event
                await trio.sleep(_LOOK_S)
            return
        raise UnfinishedError(f"waited {_PATIENCE_S:.0f} s for {what}, in vain")


async def tell(root: Path, *, say: Say, entropy: Entropy = random_bytes) -> Told:
    """Let the story happen in directories below `root`.

    `say` is told of each act as it begins. Raises UnfinishedError if something does not come about,
    RefusedByNodeError, and InstanceFailedError.
    """
    staged = stage(root, entropy=entropy)
    teller = _Teller(staged=staged, say=say)
    with ExitStack() as still_running:
        still_running.callback(leave_none, staged.instances)
        await staged.start()
        await teller.tell()
        clean = await staged.stop()
    left = await read_stores([one.data for one in staged.instances])
    return _told(teller.artifact, left, clean=clean)


def _told(artifact: str, left: Sequence[Left], *, clean: bool) -> Told:
    stories = [history(one.world, bytes.fromhex(artifact)).events for one in left]
    return Told(
        artifact=artifact,
        events=stories[0],
        alike=_are_alike(stories),
        digests=tuple(digest.hex() for digest in common_digests(left)),
        cut=min(one.world.state.cut for one in left),
        clean_exits=clean,
    )


def _are_alike(stories: Sequence[tuple[Happened, ...]]) -> bool:
    """Tell whether all disks tell of the same rows of the table, by the same records and cuts."""
    moves = [
        [(one.record, one.cut, move) for one in story for move in one.moves] for story in stories
    ]
    return all(one == moves[0] for one in moves)


def _text(title: str) -> dict[str, object]:
    return {
        "title": title,
        "prose": "Tea is an infusion of the leaves of a shrub.",
        "claims": ["The plant is a shrub"],
        "falsification": ["A flora that describes it as an herb"],
        "topics": [TOPIC],
    }
