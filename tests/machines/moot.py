"""A town whose people say anything, through the door or past it, and what must follow from that.

Whatever somebody wants to say is put to the door first. What the door refuses can be signed past it
all the same, as a hostile agent would; then it must be met with the same code by every judge and by
the cut that contains it, and change nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import structs

from federation.artifacts import State as ArtifactState
from federation.certificates import Phase
from federation.charter import TopicClass, preset
from federation.core import Code, Digest, Millis, RecordId, RefusedError, RoundId
from federation.crypto import plain_hash
from federation.protocol import Keyring, World, custody
from federation.protocol.invariants import broken, disagreements
from federation.protocol.judge import Fate, judge
from federation.protocol.state import State
from federation.records import AdminReview, AgentVouch, Body, Record, sign_record
from federation.review import RoundBody
from tests.builders import artifact_text, propose
from tests.federation.protocol.adopting import ring
from tests.federation.protocol.town import Town, rules
from tests.machines.oversight import longest, retaken, unjust, unveiled

AGENTS: Final = 10
CRIER: Final = AGENTS
"""One more agent, which only ever calls cuts."""
ARBITERS: Final = (7, 9)
MODERATORS: Final = (8, 9)
TERMINAL: Final = frozenset(
    {ArtifactState.ACTIVE, ArtifactState.RETRACTED, ArtifactState.SUPERSEDED}
)
_LASTING: Final = frozenset(
    {
        Code.NOT_ELIGIBLE,
        Code.AUTHORS_OPERATOR,
        Code.ALREADY_COMMITTED,
        Code.COMMITMENT_MISMATCH,
        Code.NOT_DRAWN,
        Code.NOT_MODERATOR,
        Code.NOT_MEMBER,
        Code.GUARD_FAILED,
        Code.SUSPENDED,
        Code.AGENT_BANNED,
        Code.QUARANTINED,
        Code.OVER_QUOTA,
    }
)
"""Codes that follow from the pin and the lists of a round alone: no certified list names a record
that the door has refused with one of them."""


def moot(instances: int, mode: str, timeout: str) -> "Moot":
    """Found a town with short phases and all offices, in which two artifacts stand."""
    test = preset("test")
    town = Town.of(
        instances,
        AGENTS + 1,
        operators=AGENTS + 1,
        seed=f"moot {mode} {timeout}",
        review=rules(
            k=2,
            q_min=2,
            mode=mode,
            turns=2 if mode == "rounds" else 1,
            seal=300 if mode == "sealed_first" else 0,
            deliberate=300,
            commit=1_500,
            reveal=1_500,
            contest=500,
            rule=1_500,
            appeal=500,
            admin=1_500,
            topics=(TopicClass(prefix="notes", sensitivity="low"),),
            fast_min_watchers=0,
        ),
        disputes=structs.replace(
            test.disputes,
            q_dispute=2,
            r_dispute=250_000,
            d_max=2,
            d_agent=3,
            resub_max=2,
            window=20,
            assess=1_500,
            timeout=timeout,
            cascade=2,
            stale_window=3,
        ),
        sanctions=structs.replace(
            test.sanctions,
            window=8,
            warning=1,
            limit=2,
            probation=3,
            suspension=4,
            ban=6,
            unrevealed_free=1,
            unsourced_free=1,
            quarantine=2,
            extensions=1,
        ),
        quotas=structs.replace(test.quotas, proposals_epoch=4, reports_epoch=2, flags_epoch=2),
        badges={7: ("arbiter",), 8: ("moderator",), 9: ("arbiter", "moderator")},
        tiers={6: 1},
    )
    there = Moot(town)
    for who, topic in ((0, "code"), (1, "notes")):
        there.say(who, *propose(artifact_text(title=f"First {who}"), topics=(topic,)))
    town.rest(1_500)
    for name, one in sorted(town.world().rounds.items()):
        for who in (2, 3):
            if one.phase is not None:
                town.in_phase(name, Phase.COMMIT).cast(who, name, 1)
        if one.phase is not None:
            town.in_phase(name, Phase.DECIDE)
            for who in (2, 3):
                town.reveal(who, name)
    town.rest(2_000).settled()
    return there


@dataclass(slots=True)
class Moot:
    """A town, and what was refused in it."""

    town: Town
    count: int = 0
    counted: list[str] = field(default_factory=list)
    """What the door let pass and a cut was looked at for, by kind; for statistics of a run."""
    void: dict[RecordId, Code] = field(default_factory=dict)
    """Records of rounds that were signed past the door after it had refused them for good."""

    # Saying ---------------------------------------------------------------------------------------

    def fresh(self, word: str) -> bytes:
        """Give 32 bytes that were not given before."""
        self.count += 1
        return plain_hash(f"{word} {self.count}".encode())

    def home(self, who: int) -> World | None:
        """Give the world of an agent's instance, or None while it is down."""
        return self._up(self.town.home(who))

    def office(self, operator: int) -> World | None:
        """Give the world where an operator signs, or None while it is down."""
        return self._up(self.town.world(operator % len(self.town.founding.instances)))

    def _up(self, world: World) -> World | None:
        return world if world in self.town.live() else None

    def say(
        self,
        who: int,
        body: Body,
        text: bytes | None = None,
        *,
        past: bool = False,
        looks: bool = False,
    ) -> Record | None:
        """Let an agent say something; `past` the door if that refuses, and look at its cut."""
        world = self.home(who)
        if world is None:
            return None
        return self._say(world, self.town.keyring(who), body, text, past=past, looks=looks)

    def order(
        self, operator: int, body: Body, *, past: bool = False, looks: bool = False
    ) -> Record | None:
        """Let an operator say something, in the same way."""
        world = self.office(operator)
        if world is None:
            return None
        return self._say(world, ring(self.town, operator), body, None, past=past, looks=looks)

    def _say(
        self,
        world: World,
        keyring: Keyring,
        body: Body,
        text: bytes | None,
        *,
        past: bool,
        looks: bool,
    ) -> Record | None:
        town, code = self.town, None
        try:
            record = custody.author(world, keyring, body, now=town.now, text=text)
        except RefusedError as error:
            code = Code(error.code)
            if not past:
                return None
            record = _signed(world, keyring, body, text, town.now)
        before = self._stillness() if looks and not _belongs_to_a_round(body) else None
        town.arrive(world, record)
        assert record.id in world.log
        if not _belongs_to_a_round(body) or code not in (None, Code.COMMITMENT_COPIED):
            found = judge(world, record)
            # One instance alone may have come to a cut at once, with more than this in it.
            met = record.id in world.state.refused and code is None
            assert met or (found.fate is Fate.VOID) is (code is not None), (code, found)
            assert code is None or found.code is code, (code, found)
        if code in _LASTING and _belongs_to_a_round(body):
            self.void[record.id] = code
        if before is not None:
            self._look(record, code, before)
        return record

    def _stillness(self) -> "_Still | None":
        """Give the world before a cut if nothing but the next record will be in that."""
        worlds = self.town.live()
        still = (
            not self.town.down
            and len({world.state.cut for world in worlds}) == 1
            and not any(world.triggers for world in worlds)
            and not any(world.state.due for world in worlds)
        )
        return self._seen(worlds[0].state) if still else None

    def _look(self, record: Record, code: Code | None, before: "_Still") -> None:
        """Let a cut contain a record, and see that the door has told what that does with it."""
        town = self.town
        worlds = town.live()
        if all(world.state.cut == before.cut and not world.triggers for world in worlds):
            # What does not count calls no cut.
            self.count += 1
            body = AgentVouch(agent=town.agent(6), weight=1 + self.count % 200, reason="a cut")
            self.say(CRIER, body)
        town.in_cut(before.cut + 1)
        state = town.live()[0].state
        after = self._seen(state)
        decided = {name: after.decided[name] for name in before.decided}
        if (after.cut, after.tick, decided) != (before.cut + 1, before.tick, before.decided):
            # More has happened in this cut, and may have changed the answer.
            return
        self.counted.append(f"{record.kind} {code or 'counts'}")
        assert state.refused.get(record.id) == code, (record.kind, code)
        if code is not None:
            assert after == replace(before, cut=after.cut)

    def _seen(self, state: State) -> "_Still":
        crier = self.town.agent(CRIER)
        return _Still(
            cut=state.cut,
            tick=state.tick,
            decided=dict(state.decided),
            artifacts=dict(state.artifacts),
            agents={name: one for name, one in state.agents.items() if name != crier},
            rounds={name: tuple(rounds) for name, rounds in state.rounds_of.items()},
            discipline=state.discipline.row(),
            acts=state.acts.row(),
        )

    # Looking --------------------------------------------------------------------------------------

    def faults(self) -> list[str]:
        """List whatever is wrong in any world."""
        worlds = list(self.town.worlds.values())
        found = disagreements(worlds)
        for world in worlds:
            found += broken(world)
            found += self._refused_without_effect(world)
            found += unjust(world)
            found += unveiled(world)
        return found

    def _refused_without_effect(self, world: World) -> Iterator[str]:
        state = world.state
        causes = {step.cause for steps in state.steps.values() for step in steps}
        causes |= {one.pin.cause for one in world.rounds.values()}
        causes |= set(state.artifacts)
        for name, code in state.refused.items():
            assert isinstance(code, Code)
            if name in causes:
                yield f"refused with {code}, and something has come of it"
        for one in world.rounds.values():
            for phase, final in one.finals.items():
                for record in final.records:
                    if record.id in self.void:
                        yield f"{self.void[record.id]} at the door, and listed in {phase}"

    # The end --------------------------------------------------------------------------------------

    def wake(self) -> None:
        """Bring every instance back, and let it catch up; what it had slept over can be stored."""
        for world in self.town.worlds.values():
            assert retaken(self.town, world) == []
        for index in range(len(self.town.founding.instances)):
            self.town.bring_up(index)

    def overdue(self) -> list[str]:
        """Let time pass until nothing is open any more; list what has taken longer than promised."""
        town = self.town
        since: dict[RoundId, Millis] = {}
        found: list[str] = []
        self.wake()
        # What was on its way when an instance went down is fetched again by a reconciliation.
        idle = 0
        while idle < 2:
            town.rest(1_000)
            worlds = town.live()
            for world in worlds:
                for name, one in world.rounds.items():
                    if not one.closed:
                        since.setdefault(name, town.now)
                        if town.now - since[name] > longest(one.pin.charter):
                            found.append(f"a round for {one.pin.kind} takes too long: {one.phase}")
            if found:
                return found
            waits = any(
                world.state.due
                or any(not one.closed for one in world.rounds.values())
                or any(one.state not in TERMINAL for one in world.state.artifacts.values())
                for world in worlds
            )
            idle = 0 if waits else idle + 1
            if town.now > 10_000_000:
                return [*found, "something waits, and no round is open for it"]
        return found


def live_round(world: World, which: int, phases: frozenset[Phase]) -> RoundId | None:
    """Choose one of the rounds that are in some phases here."""
    found = sorted(name for name, one in world.rounds.items() if one.phase in phases)
    return found[which % len(found)] if found else None


def _belongs_to_a_round(body: Body) -> bool:
    if isinstance(body, AdminReview):
        return body.round is not None
    return isinstance(body, RoundBody)


def _signed(world: World, keyring: Keyring, body: Body, text: bytes | None, now: Millis) -> Record:
    """Sign past the door."""
    ((seq, head),) = world.log.heads_of(keyring.agent)
    return sign_record(
        body,
        realm=world.realm,
        signer=keyring.current,
        author=keyring.agent,
        key_index=0,
        seq=seq + 1,
        prev=head,
        at=now,
        text=text,
    )


@dataclass(frozen=True, kw_only=True)
class _Still:
    """What one record of a cut can change of a world, as values."""

    cut: int
    tick: int
    decided: dict[RoundId, tuple[Digest, ...]]
    artifacts: dict[bytes, object]
    agents: dict[bytes, object]
    rounds: dict[bytes, tuple[RoundId, ...]]
    discipline: object
    acts: object
