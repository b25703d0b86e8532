"""What an operator signs at the door, and what the door refuses."""

import pytest
from msgspec.structs import replace

from federation.artifacts import State
from federation.certificates import Phase
from federation.charter import TopicClass, read_rules, rules_of
from federation.core import Code, RefusedError
from federation.protocol import operating
from federation.records import ActCosign, AdminReview, CharterAdopt, Decree, Health, Record
from tests.builders import named
from tests.federation.protocol.acts import next_cut, next_tick
from tests.federation.protocol.adopting import disputed, other_rules, ring
from tests.federation.protocol.town import Town


def test_a_charter_is_proposed_cosigned_and_in_force() -> None:
    town = Town.of(2, 2)
    world = town.world()
    rules = other_rules(world)
    act = operating.adopt(world, ring(town), rules, from_tick=0, reason="More.", now=town.now)
    town.arrive(world, act)
    next_cut(town)
    word = operating.cosign(world, ring(town, 1), act.id, now=town.now)
    town.arrive(world, word)
    next_tick(town)

    assert isinstance(act.body, CharterAdopt)
    assert read_rules(act.body.rules) == rules
    assert word.body == ActCosign(act=act.id)
    assert rules_of(world.charter) == rules


def test_rules_that_cannot_work_are_refused_before_they_are_signed_with_all_their_faults() -> None:
    town = Town.of(1, 1)
    world = town.world()
    rules = other_rules(world, q_min=9)

    with pytest.raises(RefusedError) as caught:
        operating.adopt(world, ring(town), rules, from_tick=0, reason="", now=town.now)
    assert caught.value.code is Code.BAD_CHARTER
    assert "review.q_min is 9, above review.k, which is 7; review.q_min is 9" in caught.value.why


def test_more_topics_than_a_record_holds_are_refused() -> None:
    town = Town.of(1, 1)
    world = town.world()
    many = tuple(
        TopicClass(prefix=f"{number:04d}/{'x' * 40}", sensitivity="low") for number in range(700)
    )
    rules = other_rules(world, topics=many)

    with pytest.raises(RefusedError) as caught:
        operating.adopt(world, ring(town), rules, from_tick=0, reason="", now=town.now)
    assert caught.value.code is Code.TOO_LARGE


def test_an_act_of_a_stranger_or_of_nobody_is_not_cosigned() -> None:
    town = Town.of(2, 2)
    world = town.world()

    with pytest.raises(RefusedError) as caught:
        operating.cosign(world, ring(town), named("act"), now=town.now)
    assert caught.value.code is Code.UNKNOWN_ACT


def test_a_decision_about_an_artifact_is_an_act() -> None:
    town = Town.of(1, 4)
    world = town.world()
    artifact = town.propose(0)
    town.open_round(artifact)
    act = operating.decide(
        world, ring(town), artifact.id, decision=Decree.HIDE, reason="It harms.", now=town.now
    )
    town.arrive(world, act)
    next_cut(town)

    assert act.id in world.state.acts.passed
    with pytest.raises(RefusedError) as caught:
        operating.decide(
            world, ring(town), named("none"), decision=Decree.HIDE, reason="It.", now=town.now
        )
    assert caught.value.code is Code.UNKNOWN_ARTIFACT


def test_a_voice_in_a_round_waits_for_the_phase_of_the_operators() -> None:
    town = Town.of(1, 4)
    world = town.world()
    found = town.open_round(town.propose(0))
    town.in_phase(found, Phase.DELIBERATE)

    def say(round_id: bytes) -> Record:
        return operating.decide_in_round(
            world, ring(town), round_id, decision=Decree.KEEP, reason="Sound.", now=town.now
        )

    for name, code in ((found, Code.NOT_IN_PHASE), (named("none"), Code.UNKNOWN_ROUND)):
        with pytest.raises(RefusedError) as caught:
            say(name)
        assert caught.value.code is code


@pytest.mark.parametrize("decision", [Decree.KEEP, Decree.RETRACT])
def test_a_quorum_of_voices_ends_a_dispute_that_has_come_to_the_operators(
    decision: Decree,
) -> None:
    town = Town.of(4, 8)
    world = town.world()
    artifact, found = disputed(town)
    for index in range(3):
        assert world.rounds[found].phase is Phase.ADMIN
        voice = operating.decide_in_round(
            world, ring(town, index), found, decision=decision, reason="So.", now=town.now
        )
        town.arrive(world, voice)
    town.in_phase(found, None)
    town.settled()
    kept = world.state.artifacts[artifact.id].state

    assert kept is (State.ACTIVE if decision is Decree.KEEP else State.RETRACTED)
    assert len({one.digest for one in town.live()}) == 1


def test_an_operator_speaks_of_the_health_of_its_own_agents_only() -> None:
    town = Town.of(2, 2)
    world = town.world()
    record = operating.tell_health(
        world, ring(town), town.agent(0), state=Health.BROKEN, note="Random.", now=town.now
    )

    assert record.author == town.founding.operators[0]
    with pytest.raises(RefusedError):
        operating.tell_health(
            world, ring(town), town.agent(1), state=Health.BROKEN, note="", now=town.now
        )


def test_an_agent_signs_nothing_of_this() -> None:
    town = Town.of(1, 2)
    world = town.world()
    rules = replace(rules_of(world.charter), quotas=replace(world.charter.quotas, flags_epoch=1))

    with pytest.raises(RefusedError) as caught:
        operating.adopt(world, town.keyring(0), rules, from_tick=0, reason="", now=town.now)
    assert caught.value.code is Code.WRONG_ROLE
    body = AdminReview(subject=named("a"), decision=Decree.HIDE, reason="no")
    assert world.state.acts.refusal(world.state, town.sign(0, body), body) is Code.NOT_MEMBER


def test_a_retraction_of_what_does_not_stand_is_refused_before_it_is_signed() -> None:
    town = Town.of(1, 4)
    world = town.world()
    record = town.propose(0)
    town.open_round(record)

    with pytest.raises(RefusedError) as caught:
        operating.decide(
            world, ring(town), record.id, decision=Decree.RETRACT, reason="It.", now=town.now
        )
    assert caught.value.code is Code.GUARD_FAILED
    assert "what stands" in caught.value.why
