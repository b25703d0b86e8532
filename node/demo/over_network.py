"""Hold a moot over a real network: three processes on loopback, each an operator of its own.

The realm, the questions, the ballots and the report are those of `in_process`; what differs is
real: sockets, databases, clocks, random nonces and, if asked for, a SIGKILL in the middle. What is
reported is read afterwards from the three databases, by folding each of them anew: whatever an
instance had only in memory does not count.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import msgspec
import trio

from node.base.entropy import Entropy, random_bytes
from node.base.paths import write_private
from node.base.settings import Settings
from node.demo.agents import Models
from node.demo.cruxeval import CruxSet
from node.demo.instance import Instance
from node.demo.metrics import Judged
from node.demo.outcome import Outcome, Progress, UnfinishedError
from node.demo.realm import INSTANCES, PRESET, rules_of
from node.demo.scenario import Scenario
from node.demo.stores import Left, common_digests, read_stores
from node.setup.founding import Founded, Founder, found_realm
from node.setup.instance import write_instance

_LOOK_S: Final = 0.2
_BACK_S: Final = 1.0
"""A killed instance is started again after this."""
_PATIENCE_S: Final = 120.0
"""A moot in which nothing is decided for so long has failed."""
_COMMIT: Final = 20_000
"""How long a box stays open for the slowest voter, in ms; it closes early when all have voted."""
ANYWHERE: Final = "/ip4/127.0.0.1/tcp/0"
_SYNC: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Which instance is killed, and when."""

    place: int
    after_s: float
    """Counted from when all instances were up the last time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A moot over the network that is over."""

    outcome: Outcome
    acknowledged: int
    """Records that an instance said were stored."""
    lost: int
    """Acknowledged records that some instance does not hold."""
    missed: int
    """Votes that came too late."""
    killed: tuple[int, ...]
    """Instances that were killed and came back."""
    clean_exits: bool
    """All processes ended with 0 when they were asked to."""
    peaks_mb: tuple[float, ...]
    """The largest memory of each process."""

    @property
    def holds(self) -> bool:
        """Tell whether the instances agree and nothing acknowledged is lost."""
        return self.outcome.agrees and self.lost == 0 and self.clean_exits


class _Overview(msgspec.Struct, frozen=True):
    class Realm(msgspec.Struct, frozen=True):
        class Cut(msgspec.Struct, frozen=True):
            number: int
            tick: int

        cut: Cut

    realm: Realm
    counts: dict[str, int]


class _Row(msgspec.Struct, frozen=True):
    settled: bool
    verdict: object


class _Listing(msgspec.Struct, frozen=True):
    items: tuple[_Row, ...]
    next: str | None


def stage(root: Path, crux: CruxSet, *, reviewers: int, entropy: Entropy) -> "Stage":
    """Found the realm and write the directories of its instances below `root`."""
    rules = rules_of(crux, reviewers=reviewers)
    owners = [f"owner of {model.name}" for model in crux.models]
    founded = found_realm(
        name="folkmoot demo",
        preset=PRESET,
        operators=[*owners, *(f"host {place}" for place in range(INSTANCES))],
        instances=[(f"instance {place}", len(owners) + place) for place in range(INSTANCES)],
        founders=[
            Founder(name=model.name, operator=number, instance=number % INSTANCES)
            for number, model in enumerate(crux.models)
        ],
        entropy=entropy,
        timing=rules.timing,
        review=msgspec.structs.replace(rules.review, commit=_COMMIT),
        trust=rules.trust,
    )
    passphrase = entropy(16).hex().encode()
    secret = root / "passphrase"
    write_private(secret, passphrase + b"\n")
    instances = tuple(
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
                    sync_every_ms=_SYNC,
                ),
                instance=place,
                entropy=entropy,
            ),
            passphrase_file=secret,
            log=root / f"instance{place}.log",
        )
        for place in range(INSTANCES)
    )
    return Stage(founded=founded, instances=instances)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A realm whose processes do not run yet."""

    founded: Founded
    instances: tuple[Instance, ...]

    async def start(self) -> None:
        """Start all processes, and introduce them to each other."""
        async with trio.open_nursery() as nursery:
            for one in self.instances:
                nursery.start_soon(one.start)
        # Everybody is told of everybody: whoever comes back first can call all others.
        for one in self.instances:
            for other in self.instances:
                if other is not one:
                    await one.post("/v1/admin/peers", {"address": _reach(other)})
        await self._ready()

    async def stop(self) -> bool:
        """Stop all processes; tell whether each ended with 0."""
        codes: list[int] = []

        async def stop(one: Instance) -> None:
            codes.append(await one.stop())
            await one.client.aclose()

        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as nursery:
                for one in self.instances:
                    nursery.start_soon(stop, one)
        return not any(codes)

    async def _ready(self) -> None:
        with trio.fail_after(_PATIENCE_S):
            for one in self.instances:
                while (await one.client.get(one.url + "/ready")).is_error:  # noqa: ASYNC110
                    await trio.sleep(_LOOK_S)


def _reach(one: Instance) -> str:
    assert one.address is not None, "it runs"  # noqa: S101 # our own invariant
    return one.address.addresses[0]


class _Moot:
    """One run in progress."""

    def __init__(
        self,
        scenario: Scenario,
        staged: Stage,
        kills: Sequence[Kill],
        progress: Progress | None,
    ) -> None:
        """Prepare a run on a stage that has started."""
        self.scenario = scenario
        self.instances = staged.instances
        self.models = Models(instances=staged.instances, agents=staged.founded.founding.agents)
        self.kills = tuple(kills)
        self.progress = progress
        self.killed: list[int] = []
        self._all_killed = trio.Event()
        self.peaks: list[float] = [0.0] * len(staged.instances)

    async def run(self) -> None:
        """Put all questions and wait until every instance has contained every verdict."""
        async with trio.open_nursery() as nursery:
            for one in self.instances:
                nursery.start_soon(self.models.follow, one)
            nursery.start_soon(self._kill_all)
            await self._put_questions()
            await self._decided(len(self.scenario.questions), self.instances)
            await self._all_killed.wait()
            tick = await self._contained()
            # What is left is read from the records alone, and the certificate of a cut becomes one
            # a little after the cut: the next tick's cut shows that it has gone round.
            for one in self.instances:
                await self._tick_after(one, tick)
            nursery.cancel_scope.cancel()

    async def _put_questions(self) -> None:
        """Put each batch after a tick of its own, once the one before is decided."""
        asked, tick = 0, -1
        for batch in self.scenario.batches:
            await self._decided(asked, self.instances[:1])
            tick = await self._tick_after(self.instances[0], tick)
            async with trio.open_nursery() as nursery:
                for question in batch:
                    nursery.start_soon(self.models.propose, question)
            asked += len(batch)

    async def _tick_after(self, one: Instance, tick: int) -> int:
        """Wait until an instance has come to a later tick."""
        while True:
            now = await self._look(one)
            if now is not None and now.realm.cut.tick > tick:
                return now.realm.cut.tick
            await trio.sleep(_LOOK_S)

    async def _decided(self, count: int, instances: Sequence[Instance]) -> None:
        """Wait until some instances have decided so many; raises UnfinishedError."""
        for one in instances:
            done, since = -1, trio.current_time()
            while done < count:
                await trio.sleep(_LOOK_S)
                now = await self._look(one)
                if now is not None and _ended(now) > done:
                    done, since = _ended(now), trio.current_time()
                    if self.progress is not None and one is self.instances[0]:
                        self.progress(done, len(self.scenario.questions))
                if trio.current_time() - since > _PATIENCE_S:
                    raise UnfinishedError(f"{done} of {count} are decided, and nothing moves")

    async def _contained(self) -> int:
        """Wait until all instances have folded the same cut, and it contains every verdict.

        Gives the tick that they have come to.
        """
        with trio.fail_after(_PATIENCE_S):
            while True:  # other processes have no event
                looks = [await self._look(one) for one in self.instances]
                cuts = {look.realm.cut.number if look else None for look in looks}
                if len(cuts) == 1 and None not in cuts:
                    settled = [await self._settled(one) for one in self.instances]
                    if min(settled) == len(self.scenario.questions):
                        return max(look.realm.cut.tick for look in looks if look)
                await trio.sleep(_LOOK_S)

    async def _settled(self, one: Instance) -> int:
        """Count the artifacts whose verdict stands in a cut."""
        count, after = 0, ""
        while True:
            page = msgspec.json.decode(
                await one.get(f"/v1/artifacts?most=200{after}"), type=_Listing
            )
            count += sum(row.settled and row.verdict is not None for row in page.items)
            if page.next is None:
                return count
            after = f"&after={page.next}"

    async def _look(self, one: Instance) -> _Overview | None:
        try:
            found = msgspec.json.decode(await one.get("/v1/overview"), type=_Overview)
        except httpx.HTTPError:
            return None
        self.peaks[one.place] = max(self.peaks[one.place], one.peak_mb() or 0.0)
        return found

    async def _kill_all(self) -> None:
        """Kill instances when it is their time, one at a time, and start each again."""
        for kill in self.kills:
            await trio.sleep(kill.after_s)
            one = self.instances[kill.place]
            one.kill()
            await trio.sleep(_BACK_S)
            await one.start()
            self.killed.append(kill.place)
        self._all_killed.set()


def _ended(look: _Overview) -> int:
    return look.counts["active"] + look.counts["retracted"]


async def hold(
    scenario: Scenario,
    root: Path,
    *,
    reviewers: int,
    kills: Sequence[Kill] = (),
    progress: Progress | None = None,
    entropy: Entropy = random_bytes,
) -> Staged:
    """Hold a moot in directories below `root`.

    Raises UnfinishedError if verdicts are missing, and InstanceFailedError.
    """
    staged = stage(root, scenario.crux, reviewers=reviewers, entropy=entropy)
    began = trio.current_time()
    moot = _Moot(scenario, staged, kills, progress)
    with ExitStack() as still_running:
        still_running.callback(leave_none, staged.instances)
        await staged.start()
        await moot.run()
        took = trio.current_time() - began
        clean = await staged.stop()
    left = await read_stores([one.data for one in staged.instances])
    acknowledged = {bytes.fromhex(name) for one in staged.instances for name in one.acknowledged}
    return Staged(
        outcome=_outcome(moot, staged, left, round(took * 1_000)),
        acknowledged=len(acknowledged),
        lost=sum(len(acknowledged - one.records) for one in left),
        missed=moot.models.missed,
        killed=tuple(moot.killed),
        clean_exits=clean,
        peaks_mb=tuple(moot.peaks),
    )


def leave_none(instances: Sequence[Instance]) -> None:
    """Leave no process behind, whatever went wrong."""
    for one in instances:
        if one.process is not None and one.process.poll() is None:
            one.kill()


def _outcome(moot: _Moot, staged: Stage, left: Sequence[Left], took_ms: int) -> Outcome:
    first = left[0].world.state
    verdicts = {
        question.item.id: verdict
        for name, question in moot.models.played.items()
        if (verdict := first.artifacts[bytes.fromhex(name)].verdict) is not None
    }
    return Outcome(
        scenario=moot.scenario,
        agents_in_order=staged.founded.founding.agents,
        judged=tuple(
            Judged(question=question, verdict=verdicts[question.item.id])
            for question in moot.scenario.questions
        ),
        agents=len(first.agents),
        records=min(len(one.world.log) for one in left),
        digests=common_digests(left),
        verdicts_equal=all(one.world.state.artifacts == first.artifacts for one in left),
        cuts=first.cut,
        ticks=first.tick,
        network_ms=took_ms,
    )
