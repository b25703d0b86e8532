"""Sanctions in a living town: through the door, the cut and the tick, alike on every member."""

from federation.certificates import Phase
from federation.protocol import authoring, discipline, snapshot
from federation.protocol.invariants import broken, disagreements
from federation.records import AdminReview, AgentHealth, Decree, Health, Role
from federation.sanctions import RuleId
from tests.federation.protocol.acts import next_tick
from tests.federation.protocol.curating import (
    SALT,
    curating,
    disputed,
    file_report,
    newest_round,
    standing,
)
from tests.federation.protocol.town import Town

_DISPUTER, _BROKEN = 3, 6


def _frivolous(town: Town) -> None:
    """Let a dispute be dismissed by a fresh panel in which nobody was against the artifact."""
    disputed(town, _DISPUTER, standing(town), {4: 1, 5: 1})


def test_a_frivolous_dispute_counts_from_the_next_tick_on_every_member() -> None:
    town = curating(2)
    _frivolous(town)
    next_tick(town)

    for world in town.live():
        (one,) = world.state.discipline.of(town.agent(_DISPUTER))
        assert (one.rule, one.points) == (RuleId.FRIVOLOUS, 1)
        assert discipline.held(world.state, town.agent(_DISPUTER)).points == 1
        assert broken(world) == []
    rows = [world.state.discipline.row() for world in town.live()]
    assert rows[0] == rows[1]
    assert disagreements(town.live()) == []
    # Those who voted and the author have nothing against them.
    assert len(town.world().state.discipline.violations) == 1


def test_an_operators_word_quarantines_its_agent_in_the_rounds_that_open_then() -> None:
    town = curating(2)
    pen = town.pen(Role.OPERATOR, _BROKEN)
    said = pen.say(AgentHealth(agent=town.agent(_BROKEN), state=Health.BROKEN, note="It babbles."))
    town.arrive(town.world(), said)
    next_tick(town, 2)
    record = town.propose(0, "After that")
    name = town.open_round(record)

    for world in town.live():
        assert discipline.held(world.state, town.agent(_BROKEN)).quarantined
        pin = world.rounds[name].pin
        assert town.agent(_BROKEN) not in pin.eligible.reviewers
        assert town.agent(_BROKEN) in pin.eligible.practice
        assert broken(world) == []


def test_an_appeal_opens_its_round_and_can_be_made_once() -> None:
    town = curating(2)
    _frivolous(town)
    next_tick(town)
    (one,) = town.world().state.discipline.of(town.agent(_DISPUTER))
    home = town.home(_DISPUTER)
    record = authoring.appeal(
        home, town.keyring(_DISPUTER), one.id, note="I had grounds.", salt=SALT, now=town.now
    )
    town.arrive(home, record)
    town.until(lambda now: all(one.id in world.state.rounds_of for world in now.live()))

    for world in town.live():
        known = discipline.find(world.state, one.id)
        assert known is not None
        assert known.appeal == record.id
        (name,) = world.state.rounds_of[one.id]
        assert world.rounds[name].pin.kind == "appeal"


def test_a_world_with_sanctions_is_read_back_alike() -> None:
    town = curating(2)
    _frivolous(town)
    pen = town.pen(Role.OPERATOR, _BROKEN)
    said = pen.say(AgentHealth(agent=town.agent(_BROKEN), state=Health.BROKEN, note="It babbles."))
    town.arrive(town.world(), said)
    next_tick(town, 2)
    world = town.world()
    read = snapshot.read(snapshot.take(world), charter=town.founding.charter, log=world.log)

    assert read.certified.state.discipline == world.state.discipline
    assert world.state.discipline.quarantines


def test_what_is_given_back_between_two_ticks_stands_in_the_world_digest_at_once() -> None:
    town = curating(badges={8: ("moderator",)})
    artifact = standing(town)
    file_report(town, _DISPUTER, artifact)
    name = newest_round(town, artifact, 2)
    town.in_phase(name, Phase.ASSESS)
    said = authoring.assess(
        town.home(8), town.keyring(8), name, credible=False, note="", salt=SALT, now=town.now
    )
    town.arrive(town.home(8), said)
    town.until(lambda now: now.world().rounds[name].closed)
    next_tick(town)
    world = town.world()
    (one,) = world.state.discipline.of(town.agent(_DISPUTER))
    tick = world.state.tick
    act = AdminReview(subject=one.id, decision=Decree.RECLASSIFY, reason="It was a fair report.")
    town.arrive(world, town.pen(Role.OPERATOR, 0).say(act))
    town.until(lambda now: now.world().state.discipline.violations[one.id].void)

    assert world.state.tick == tick
    assert world.state.ledger.rows(town.agent(_DISPUTER)) == ()
    # A snapshot of this cut works its rows out anew, and must come to the same.
    snapshot.read(snapshot.take(world), charter=town.founding.charter, log=world.log)
    assert broken(world) == []
