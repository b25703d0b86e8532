"""Disputes and reports on a bad network, with a liar, and with crashes in every office's phase.

All monitors watch every run: no ballot and no sealed argument is opened before its list is certified,
in disputes as in reviews; lists and verdicts never change, and are the same on all honest instances.
"""

import pytest

from federation.artifacts import DecidedBy, Flag, State
from federation.certificates import Phase
from federation.core import Lots
from federation.protocol import World
from federation.records import Argue, Commit, Record, Reveal, SealArgument, Stance, sign_record
from federation.records.review_bodies import Level
from federation.simulation.network import Line, SimAgent, SimNetwork, Violation, Weather, partition
from federation.simulation.network.agents import View
from federation.simulation.network.disputants import Disputant
from federation.simulation.network.quarrels import (
    ARBITER,
    LONG,
    MODERATOR,
    Quarrel,
    crash_in,
    is_settled,
    quarrel,
    quarrelsome,
)
from federation.simulation.network.schedules import KINDS

QUICK_KINDS = ("twins", "equivocating-home", "lock-ignorer", "late-voter", "double-voter")
VOTED = [Phase.DELIBERATE, Phase.COMMIT, Phase.COMMIT2, Phase.DECIDE, Phase.RULE]


def settles(network: SimNetwork, *, after: int = 0) -> bool:
    """Run until nothing is left to decide, and a little longer; all honest instances agree."""
    settled = network.run_until(lambda: network.now > after and is_settled(network), most=LONG)
    network.run_until(network.now + 600)
    network.finish()
    assert len({seen(world) for world in network.worlds if is_settled(network)}) <= 1
    return settled


def seen(world: World) -> tuple[object, ...]:
    """Give all that a reader sees of artifacts and their rounds in one world."""
    return (
        world.digest,
        tuple((name, one.state, one.flags) for name, one in sorted(world.state.artifacts.items())),
        tuple((name, one.verdict) for name, one in sorted(world.rounds.items())),
    )


def held(network: SimNetwork) -> list[tuple[str, list[Phase], DecidedBy]]:
    """List the rounds of the artifact with their phases and by what each was decided."""
    world = network.worlds[0]
    (artifact,) = world.state.artifacts
    rounds = [world.rounds[name] for name in world.state.rounds_of[artifact]]
    return [
        (one.pin.kind, list(one.finals), one.verdict.by)
        for one in rounds
        if one.verdict is not None
    ]


def fate(network: SimNetwork) -> tuple[State, frozenset[Flag]]:
    ((_, artifact),) = network.worlds[0].state.artifacts.items()
    return artifact.state, artifact.flags


RETRACTED = (State.RETRACTED, frozenset({Flag.HIDDEN}))


def test_every_phase_is_held_and_all_instances_come_to_the_same_end() -> None:
    network = quarrel(quarrelsome(), seed="calm")

    assert settles(network)
    assert fate(network) == RETRACTED
    assert held(network) == [
        ("review", VOTED, DecidedBy.ARBITER),
        ("dispute", [*VOTED, Phase.ADMIN], DecidedBy.ADMIN),
        ("report", [Phase.ASSESS, *VOTED[:2], Phase.DECIDE], DecidedBy.VOTE),
    ]


def test_sealed_arguments_are_read_by_nobody_before_their_list_is_certified() -> None:
    network = quarrel(quarrelsome("sealed_first"), seed="sealed")

    assert settles(network)
    assert fate(network) == RETRACTED
    for kind, phases, _ in held(network):
        debate = phases[kind == "report" :][:3]
        assert debate == [Phase.SEAL, Phase.UNSEAL, Phase.DELIBERATE]
    opened = [one for world in network.worlds for one in opened_in(world)]
    assert opened


def opened_in(world: World) -> list[Record]:
    return [
        record
        for one in world.rounds.values()
        if Phase.UNSEAL in one.finals
        for record in one.finals[Phase.UNSEAL].records
    ]


class Appealing(Quarrel):
    """The sides are content with no ruling."""

    def contests(self, view: View) -> bool:
        return view.round.phase is Phase.APPEAL


def test_a_ruling_that_is_appealed_against_comes_to_the_operators() -> None:
    network = quarrel(quarrelsome(appeal=400), seed="appeal", counsel=Appealing())

    assert settles(network)
    kind, phases, by = held(network)[0]
    assert (kind, phases, by) == ("review", [*VOTED, Phase.APPEAL, Phase.ADMIN], DecidedBy.ADMIN)


@pytest.mark.parametrize("mode", ["open", "sealed_first"])
def test_lost_doubled_and_late_letters_change_nothing(mode: str) -> None:
    line = Line(shortest=2, longest=60, loss=150_000, twice=50_000, reorders=True)
    network = quarrel(quarrelsome(mode), seed="loss", weather=Weather(line=line, good_from=8_000))

    assert settles(network, after=8_000)


@pytest.mark.parametrize("start", [3_000, 5_000, 7_000])
def test_halves_decide_no_dispute_alone_and_both_go_on_after_healing(start: int) -> None:
    there = quarrelsome()
    names, end = there.founding.instances, start + 4_000
    halves = partition(start, end, (names[:2], names[2:]))
    network = quarrel(there, seed="split", weather=Weather(gaps=halves, good_from=end))
    network.run_until(start + 100)
    before = [sorted(node.world.certificates) for node in network.honest if node.world]
    network.run_until(end - 1)

    assert [sorted(node.world.certificates) for node in network.honest if node.world] == before
    assert settles(network, after=end)


def test_an_instance_that_slept_through_a_whole_dispute_comes_to_the_same_end() -> None:
    there = quarrelsome()
    names = there.founding.instances
    lone = partition(3_000, 12_000, ([names[2]], [*names[:2], names[3]]))
    network = quarrel(there, seed="lone", weather=Weather(gaps=lone, good_from=12_000))

    assert settles(network, after=12_000)


@pytest.mark.parametrize("kind", QUICK_KINDS)
def test_a_member_that_lies_while_an_artifact_is_disputed_splits_nobody(kind: str) -> None:
    lies(kind, 2, "open")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["open", "sealed_first"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_liar_anywhere_splits_a_dispute(kind: str, mode: str) -> None:
    for place in range(4):
        lies(kind, place, mode)


def lies(kind: str, place: int, mode: str) -> None:
    there = quarrelsome(mode)
    conduct = KINDS[kind](there, place, Lots("quarrel", kind, place))
    weather = Weather(line=Line(longest=20), good_from=3_000)
    network = quarrel(there, seed=f"{kind} {place}", weather=weather, conducts={place: conduct})

    assert settles(network, after=3_000)


@pytest.mark.parametrize("phase", [Phase.COMMIT2, Phase.RULE, Phase.ADMIN, Phase.ASSESS])
def test_an_instance_that_is_killed_in_a_phase_of_the_offices_loses_nothing(phase: Phase) -> None:
    home = 0
    office = {Phase.RULE: ARBITER % 4, Phase.ASSESS: MODERATOR % 4}.get(phase, 2)
    for place, delay in ((home, 1), (office, 40)):
        network = quarrel(quarrelsome(), seed=f"kill {phase}")
        crash_in(network, phase, place, delay=delay)

        assert settles(network)
        assert network.counters["crashes"] == 1
        assert fate(network) == RETRACTED


def test_everybody_dies_in_the_middle_of_a_ruling_and_comes_back() -> None:
    network = quarrel(quarrelsome(), seed="all")
    for place in range(4):
        crash_in(network, Phase.RULE, place, delay=30)

    assert settles(network)
    assert network.counters["crashes"] == 4
    assert fate(network) == RETRACTED


# The monitors see what is against the rules ---------------------------------------------------------


def findings(network: SimNetwork) -> str:
    try:
        settles(network)
    except Violation as violation:
        return violation.rule
    return ""


def forged(world: World, agent: SimAgent, body: Reveal | Argue, text: bytes | None) -> Record:
    ((seq, head),) = world.log.heads_of(agent.agent)
    return sign_record(
        body,
        realm=world.realm,
        signer=agent.keyring.current,
        author=agent.agent,
        key_index=0,
        seq=seq + 1,
        prev=head,
        at=0,
        text=text,
    )


def test_a_ballot_of_a_dispute_that_is_opened_before_its_box_is_certified_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    act = Disputant.act

    def hasty(self: Disputant, world: World, now: int) -> Record | None:
        for one in world.rounds.values():
            if one.pin.kind == "dispute" and one.phase is Phase.COMMIT:
                for record in world.log.by_round(one.pin.round).get("review.commit", []):
                    if record.author == self.agent and isinstance(record.body, Commit):
                        ballot, nonce = self.keyring.current.open(
                            world.realm, one.pin.round, record.body.sealed
                        )
                        body = Reveal(
                            round=one.pin.round, after=bytes(32), ballot=ballot, nonce=nonce
                        )
                        return forged(world, self, body, None)
        return act(self, world, now)

    monkeypatch.setattr(Disputant, "act", hasty)

    assert findings(quarrel(quarrelsome(), seed="hasty")) == "revealed before the box was shut"


def test_a_seal_that_is_opened_before_its_list_is_certified_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    act = Disputant.act

    def hasty(self: Disputant, world: World, now: int) -> Record | None:
        for one in world.rounds.values():
            if one.phase is Phase.SEAL:
                for record in world.log.by_round(one.pin.round).get("review.seal", []):
                    if record.author == self.agent and isinstance(record.body, SealArgument):
                        return forged(world, self, *shown(world, self, record, record.body))
        return act(self, world, now)

    monkeypatch.setattr(Disputant, "act", hasty)

    found = findings(quarrel(quarrelsome("sealed_first"), seed="hasty"))
    assert found == "opened before the seals were certified"


def shown(
    world: World, agent: SimAgent, record: Record, body: SealArgument
) -> tuple[Argue, bytes | None]:
    opened = agent.keyring.current.open_argument(world.realm, body.round, body.sealed)
    said = opened.argument
    argument = Argue(
        round=body.round,
        after=record.id,
        stance=Stance(said.stance),
        level=Level(said.level),
        nonce=opened.nonce,
        text_hash=said.text_hash,
        text_len=said.text_len,
    )
    return argument, opened.text


def test_a_ballot_that_is_opened_before_its_box_is_widened_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    act = Disputant.act

    def hasty(self: Disputant, world: World, now: int) -> Record | None:
        for one in world.rounds.values():
            if one.phase is Phase.COMMIT2:
                for record in one.finals[Phase.COMMIT].records:
                    if record.author == self.agent and isinstance(record.body, Commit):
                        ballot, nonce = self.keyring.current.open(
                            world.realm, one.pin.round, record.body.sealed
                        )
                        body = Reveal(
                            round=one.pin.round,
                            after=one.finals[Phase.COMMIT].digest,
                            ballot=ballot,
                            nonce=nonce,
                        )
                        return forged(world, self, body, None)
        return act(self, world, now)

    monkeypatch.setattr(Disputant, "act", hasty)

    assert findings(quarrel(quarrelsome(), seed="wide")) == "revealed before the box was shut"
