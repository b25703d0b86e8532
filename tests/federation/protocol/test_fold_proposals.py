"""Proposals in a fold: which open a round, and why the others do not count."""

import pytest
from msgspec.structs import replace

from federation.artifacts import State as ArtifactState
from federation.charter import preset
from federation.core import Code
from federation.records import (
    AgentDeclare,
    AgentSubscribe,
    Role,
)
from tests.builders import artifact_text, propose
from tests.federation.protocol.acts import (
    EPOCH,
    claim,
    next_cut,
    next_tick,
    refused,
)
from tests.federation.protocol.town import Town, rules


def test_a_proposal_opens_its_round_in_the_cut_that_first_contains_it() -> None:
    town = Town.of(3, 6)
    record = town.propose(1, topics=("code", "notes"))
    opened = town.open_round(record)

    for world in town.live():
        artifact = world.state.artifacts[record.id]
        pin = world.rounds[opened].pin
        assert (artifact.cut, artifact.round) == (1, opened)
        assert artifact.state is ArtifactState.UNDER_REVIEW
        assert artifact.home == town.founding.instances[1]
        assert (pin.cut, pin.author, pin.home) == (1, town.agent(1), town.founding.instances[1])
        assert world.state.texts == {artifact.text_id: record.id}


def test_a_proposal_below_the_least_reputation_does_not_count() -> None:
    town = Town.of(1, 5, review=rules(r_min=600_000))
    record = claim(town.pen(Role.AGENT, 0))
    town.arrive(town.world(), record)
    next_tick(town)

    assert refused(town.world(), record) is Code.NOT_ELIGIBLE


def test_a_proposal_of_a_stranger_does_not_count_and_calls_no_cut() -> None:
    town = Town.of(1, 5)
    stranger = town.stranger(Role.AGENT)
    record = claim(stranger)
    town.arrive(town.world(), *stranger.records)
    assert not town.world().triggers
    town.rest(EPOCH - 100)
    assert town.world().state.cut == 0
    next_cut(town)

    assert town.world().state.tick == 1
    assert refused(town.world(), record) is Code.NOT_ADMITTED


def test_what_a_revoked_agent_says_of_itself_does_not_count() -> None:
    town = Town.of(1, 5)
    world = town.world()
    pen = town.pen(Role.AGENT, 1)
    said = pen.say(AgentSubscribe(topics=("code",), keywords=(), on=True))
    pen.revoke()
    town.arrive(world, *pen.records)
    next_cut(town)

    assert refused(world, said) is Code.REVOKED
    assert world.state.agents[pen.id].offer is None


def test_an_agent_declares_only_if_its_operator_delegated_that() -> None:
    town = Town.of(1, 5)
    world = town.world()
    silent = town.stranger(Role.AGENT)
    town.admit(silent, scope=("artifact.propose",))
    next_cut(town)
    said = silent.say(AgentDeclare(family="f", provider="p", model="m"))
    town.arrive(world, said)
    town.propose(0)
    next_cut(town)

    assert refused(world, said) is Code.NOT_ELIGIBLE


def test_an_agent_proposes_only_if_its_operator_delegated_that() -> None:
    town = Town.of(1, 5)
    world = town.world()
    reviewer, writer = town.stranger(Role.AGENT, 1), town.stranger(Role.AGENT, 2)
    town.admit(reviewer, scope=("review.argue", "review.commit"))
    town.admit(writer, scope=("artifact.propose",))
    next_cut(town)
    records = [claim(reviewer, "Not mine to make"), claim(writer, "Mine to make")]
    town.arrive(world, *records)
    next_cut(town)

    assert [refused(world, one) for one in records] == [Code.NOT_ELIGIBLE, None]
    assert world.state.views[reviewer.id].scope == {"review.argue", "review.commit"}


@pytest.mark.parametrize("newcomer", [False, True])
def test_proposals_over_the_quota_of_an_epoch_do_not_count(newcomer: bool) -> None:
    quotas = replace(preset("test").quotas, proposals_epoch=3, sandbox_epoch=2)
    town = Town.of(1, 5, quotas=quotas)
    world = town.world()
    pen = town.stranger(Role.AGENT) if newcomer else town.pen(Role.AGENT, 0)
    if newcomer:
        town.admit(pen)
        next_cut(town)
    free = 2 if newcomer else 3
    records = [claim(pen, f"Claim {number}") for number in range(5)]
    town.arrive(world, *records)
    next_cut(town)
    tick = world.state.tick

    assert [refused(world, one) for one in records] == (
        [None] * free + [Code.OVER_QUOTA] * (5 - free)
    )
    # An epoch is over with its tick, and what was refused stays refused.
    next_tick(town)
    later = claim(pen, "Later")
    town.arrive(world, later)
    next_cut(town)
    assert world.state.tick > tick
    assert later.id in world.state.artifacts
    assert records[-1].id not in world.state.artifacts


def test_of_two_equal_texts_the_first_in_cut_order_stands() -> None:
    town = Town.of(1, 6)
    pens = sorted((town.pen(Role.AGENT, index) for index in range(3)), key=lambda pen: pen.id)
    records = [claim(pen) for pen in pens]
    town.arrive(town.world(), *reversed(records))
    next_cut(town)

    assert [refused(town.world(), one) for one in records] == [None, Code.DUPLICATE, Code.DUPLICATE]


def test_a_text_of_an_earlier_cut_is_a_duplicate_even_after_its_retraction() -> None:
    town = Town.of(1, 6)
    first = town.propose(0)
    town.vote(first, {1: -1, 2: -1, 3: -1})
    town.settled()
    assert town.world().state.artifacts[first.id].state is ArtifactState.RETRACTED
    pen = town.pen(Role.AGENT, 1)
    text = artifact_text(
        title="A claim", prose="", claims=("It holds.",), falsification=("It fails.",), sources=()
    )
    again = pen.say(*propose(text, topics=("code",)))
    town.arrive(town.world(), again)
    next_tick(town)

    assert refused(town.world(), again) is Code.DUPLICATE


def test_a_refused_proposal_keeps_no_text_from_others() -> None:
    town = Town.of(1, 5)
    world = town.world()
    stranger, pen = town.stranger(Role.AGENT), town.pen(Role.AGENT, 0)
    theirs = claim(stranger)
    town.arrive(world, *stranger.records)
    next_cut(town)
    mine = claim(pen)
    town.arrive(world, mine)
    next_cut(town)

    assert refused(world, theirs) is Code.NOT_ADMITTED
    assert mine.id in world.state.artifacts


def test_a_forked_author_proposes_nothing() -> None:
    town = Town.of(1, 5)
    world = town.world()
    pen = town.pen(Role.AGENT, 0)
    kept = claim(pen, "One")
    twin = town.pen(Role.AGENT, 0)
    town.arrive(world, kept)
    town.open_round(kept)
    town.arrive(world, claim(twin, "Two"))
    next_cut(town)
    more = claim(pen, "Three")
    town.arrive(world, more)
    next_cut(town)

    assert refused(world, more) is Code.FORK
