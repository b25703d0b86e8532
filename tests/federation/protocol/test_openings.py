"""What a cut opens: rounds that somebody asked for, reruns, and disputes by the rules."""

from federation.artifacts import Action, DecidedBy, Flag
from federation.artifacts import State as ArtifactState
from federation.certificates import Phase
from federation.core import Code
from federation.protocol import authoring
from federation.protocol.invariants import broken
from federation.protocol.state import Due
from federation.records import Ground, Ruled
from tests.federation.protocol.curating import (
    SALT,
    curating,
    disputed,
    file_dispute,
    file_report,
    newest_round,
    past_door,
    poll,
    standing,
    until_state,
    withdraw,
)
from tests.federation.protocol.town import rules


def test_of_two_disputes_of_one_cut_the_first_in_order_counts() -> None:
    town = curating()
    artifact = standing(town)
    first = file_dispute(town, 3, artifact)
    second = file_dispute(town, 4, artifact, ground=Ground.UNSOURCED)
    town.settled()
    refused = town.world().state.refused

    assert {first.id, second.id} & refused.keys() == {
        max((first, second), key=lambda one: one.author).id
    }
    assert set(refused.values()) == {Code.GUARD_FAILED}
    assert len(town.world().state.rounds_of[artifact]) == 2


def test_a_dispute_that_does_not_count_opens_nothing() -> None:
    town = curating(tiers={3: 1})
    artifact = standing(town)
    record = past_door(town, 3, artifact)
    town.settled()

    assert town.world().state.refused[record.id] is Code.DISPUTER_TIER
    assert len(town.world().state.rounds_of[artifact]) == 1


def test_a_rerun_goes_to_a_fresh_panel_and_cannot_be_asked_for_again() -> None:
    town = curating(
        agents=10,
        review=rules(k=2, q_min=2, commit=2_000, rule=4_000, admin=2_000),
        badges={8: ("arbiter",), 9: ("arbiter",)},
    )
    proposal = town.propose(0)
    name = town.open_round(proposal)
    poll(town, name, {1: 1, 2: -1})
    town.in_phase(name, Phase.RULE)
    for index in (8, 9):
        town.arrive(
            town.home(index),
            authoring.rule(
                town.home(index),
                town.keyring(index),
                name,
                ruling=Ruled.RERUN,
                ground="not_heard",
                note="",
                salt=SALT,
                now=town.now,
            ),
        )
    again = newest_round(town, proposal.id, 2)
    one, before = town.world().rounds[again], town.world().rounds[name]

    assert before.verdict is not None
    assert before.verdict.by is DecidedBy.RERUN
    assert one.pin.rerun
    assert {town.agent(1), town.agent(2)}.isdisjoint(one.pin.eligible.reviewers)
    assert broken(town.world()) == []
    poll(town, again, {3: 1, 4: -1})
    town.in_phase(again, Phase.RULE)
    until_state(town, proposal.id, ArtifactState.RETRACTED)
    verdict = town.world().state.artifacts[proposal.id].verdict
    assert verdict is not None
    assert "not_sealed" in verdict.narrow


def test_while_a_report_is_assessed_nobody_disputes_and_no_second_one_is_taken() -> None:
    town = curating(disputes={"assess": 30_000})
    artifact = standing(town)
    file_report(town, 3, artifact)
    town.settled()
    other = past_door(town, 4, artifact)
    town.settled()

    assert town.world().state.artifacts[artifact].reports == 1
    assert town.world().state.refused[other.id] is Code.GUARD_FAILED
    # Nobody looks at it in time: it lapses, and disputes are free again.
    town.until(lambda town: town.world().state.artifacts[artifact].reports == 0)
    file_dispute(town, 4, artifact)
    assert broken(town.world()) == []


def test_a_report_of_what_does_not_stand_ends_with_its_assessment() -> None:
    town = curating(badges={8: ("moderator",)})
    artifact = standing(town)
    withdraw(town, 0, artifact)
    until_state(town, artifact, ArtifactState.RETRACTED)
    file_report(town, 3, artifact)
    name = newest_round(town, artifact, 2)
    town.in_phase(name, Phase.ASSESS)
    town.arrive(
        town.home(8),
        authoring.assess(
            town.home(8), town.keyring(8), name, credible=True, note="", salt=SALT, now=town.now
        ),
    )
    town.until(lambda town: town.world().rounds[name].closed)
    now = town.world().state.artifacts[artifact]

    assert town.world().rounds[name].verdict is not None
    assert now.state is ArtifactState.RETRACTED
    assert Flag.HIDDEN in now.flags
    assert broken(town.world()) == []


def test_one_cut_opens_only_so_many_rounds_by_the_rules() -> None:
    town = curating(disputes={"cascade": 1})
    names = [standing(town, title=f"Claim {number}") for number in range(2)]
    for world in town.live():
        world.state.due = [Due(artifact=name, ground="support_lost") for name in names]
    cut = town.world().state.cut
    town.in_cut(cut + 1)
    opened = [len(town.world().state.rounds_of[name]) for name in names]

    assert opened == [2, 1]
    town.in_cut(cut + 2)
    assert [len(town.world().state.rounds_of[name]) for name in names] == [2, 2]
    assert town.world().state.due == []
    assert town.world().state.steps[names[0]][-1].action is Action.DISPUTE
    assert town.world().state.artifacts[names[0]].disputes == 0


def test_a_dispute_that_nobody_decides_keeps_the_artifact() -> None:
    town = curating()
    artifact = standing(town)
    file_dispute(town, 3, artifact)
    name = newest_round(town, artifact, 2)
    town.until(lambda town: town.world().rounds[name].closed, most=120_000)

    assert town.world().state.artifacts[artifact].state is ArtifactState.ACTIVE
    assert town.world().rounds[name].verdict is not None
    assert broken(town.world()) == []


def test_who_voted_on_an_artifact_sits_on_no_panel_about_it() -> None:
    town = curating()
    artifact = standing(town)
    name = disputed(town, 3, artifact, {4: -1, 5: -1})
    pin = town.world().rounds[name].pin

    assert {town.agent(index) for index in (0, 1, 2, 3)}.isdisjoint(pin.eligible.reviewers)
    assert town.world().state.artifacts[artifact].state is ArtifactState.RETRACTED
