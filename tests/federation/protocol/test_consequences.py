"""What follows from a round: supersession, the delayed correction, lost support, re-review."""

from federation.artifacts import Flag, flagged
from federation.artifacts import State as ArtifactState
from federation.core import Code
from federation.protocol import consequences
from federation.protocol.invariants import broken
from federation.records import AdminReview, Decree, Role
from federation.trust import EvidenceKind
from tests.federation.protocol.curating import (
    curating,
    disputed,
    file_dispute,
    newest_round,
    poll,
    revise,
    standing,
    until_state,
    withdraw,
)
from tests.federation.protocol.town import Town


def kinds(town: Town, index: int) -> set[EvidenceKind]:
    return {row.kind for row in town.world().state.ledger.rows(town.agent(index))}


def edge(town: Town, by: int, to: int) -> int:
    return town.world().state.graph.edge(town.agent(by), town.agent(to)).approvals


def test_all_who_had_approved_pay_when_an_artifact_is_retracted_after_a_dispute() -> None:
    town = curating()
    artifact = standing(town)
    town.rest(11_000)
    assert EvidenceKind.VOTE in kinds(town, 1)
    assert edge(town, 1, 0) == 1
    disputed(town, 3, artifact, {4: -1, 5: -1})
    until_state(town, artifact, ArtifactState.RETRACTED)
    town.rest(11_000)

    for index in (1, 2):
        # What the review had earned them is withdrawn, and the correction takes its place.
        assert kinds(town, index) == {EvidenceKind.APPROVED_RETRACTED}
        assert edge(town, index, 0) == 0
    assert EvidenceKind.DISPUTE_SUSTAINED in kinds(town, 3)
    assert broken(town.world()) == []


def test_a_dismissed_dispute_costs_the_disputer_and_rewards_the_author() -> None:
    town = curating()
    artifact = standing(town)
    disputed(town, 3, artifact, {4: 1, 5: 1})
    town.rest(11_000)
    now = town.world().state.artifacts[artifact]

    assert now.state is ArtifactState.ACTIVE
    assert len(now.accepted) == 2
    assert EvidenceKind.DISPUTE_DISMISSED in kinds(town, 3)
    assert EvidenceKind.SURVIVED in kinds(town, 0)
    assert edge(town, 1, 0) == edge(town, 4, 0) == 1


def test_a_retraction_that_nobody_has_decided_says_nothing_against_those_who_approved() -> None:
    town = curating(disputes={"timeout": "retract"})
    artifact = standing(town)
    file_dispute(town, 3, artifact)
    until_state(town, artifact, ArtifactState.RETRACTED)
    town.rest(11_000)

    assert kinds(town, 1) == kinds(town, 2) == {EvidenceKind.VOTE}
    assert town.world().state.discipline.settled == {}
    assert edge(town, 1, 0) == 0
    assert broken(town.world()) == []


def test_an_authors_own_withdrawal_harms_nobody() -> None:
    town = curating()
    artifact = standing(town)
    withdraw(town, 0, artifact)
    until_state(town, artifact, ArtifactState.RETRACTED)
    town.rest(11_000)

    assert kinds(town, 1) == {EvidenceKind.VOTE}
    assert town.world().state.reversals == []


def test_what_rests_on_something_retracted_comes_before_fresh_eyes() -> None:
    town = curating(agents=10)
    first = standing(town)
    second = standing(town, 3, "Resting", cites=(first,))
    disputed(town, 4, first, {5: -1, 6: -1})
    name = newest_round(town, second, 2)
    resting = town.world().state.artifacts[second]

    assert resting.state is ArtifactState.DISPUTED
    assert Flag.SUPPORT_LOST in resting.flags
    assert town.world().rounds[name].pin.disputer is None
    poll(town, name, {7: 1, 8: 1})
    until_state(town, second, ArtifactState.ACTIVE)
    assert Flag.SUPPORT_LOST not in town.world().state.artifacts[second].flags
    assert broken(town.world()) == []


def test_what_has_other_support_is_flagged_only() -> None:
    town = curating(agents=10)
    first, other = standing(town), standing(town, 4, "Other support")
    second = standing(town, 3, "Resting", cites=(first, other))
    disputed(town, 5, first, {6: -1, 7: -1})
    town.settled()
    resting = town.world().state.artifacts[second]

    assert resting.state is ArtifactState.ACTIVE
    assert Flag.SUPPORT_LOST in resting.flags
    assert town.world().state.due == []


def test_a_revision_of_its_own_author_supersedes_once_it_is_accepted() -> None:
    town = curating()
    artifact = standing(town)
    record = revise(town, 0, artifact, "Better")
    name = town.open_round(record)
    poll(town, name, {1: 1, 2: 1})
    until_state(town, artifact, ArtifactState.SUPERSEDED)

    assert town.world().state.artifacts[artifact].superseded_by == record.id
    # It was good work, and still counts as that.
    assert edge(town, 1, 0) == 2


def test_a_rejected_revision_supersedes_nothing() -> None:
    town = curating()
    artifact = standing(town)
    record = revise(town, 3, artifact, "Worse")
    name = town.open_round(record)
    assert town.world().rounds[name].pin.formal
    poll(town, name, {4: -1, 5: -1})
    until_state(town, record.id, ArtifactState.RETRACTED)

    assert town.world().state.artifacts[artifact].state is ArtifactState.ACTIVE


def test_after_a_ban_work_and_deciding_approvals_are_looked_at_again() -> None:
    town = curating()
    own = standing(town, 1, "By the banned", voters=(3, 4))
    approved = standing(town, 0, "Approved by the banned", voters=(1, 3))
    firmly = standing(town, 0, "Approved by many", voters=(1, 3, 4, 5))
    other = standing(town, 0, "None of its business", voters=(3, 4))
    state = town.world().state
    consequences.after_bans(state, [town.agent(1)])

    flagged = {name for name, one in state.artifacts.items() if Flag.REREVIEW in one.flags}
    assert flagged == {own, approved, firmly}
    assert other not in flagged
    # Two had approved it, and one of them leaves no quorum; four leave three.
    assert {one.artifact for one in state.due} == {own, approved}
    town.settled()
    assert {
        name for name, one in town.world().state.artifacts.items() if one.state == "disputed"
    } == {own, approved}


def test_a_decree_to_keep_answers_the_flags_that_ask_for_a_look() -> None:
    town = curating()
    artifact = standing(town)
    state = town.world().state
    asking = (Flag.REREVIEW, Flag.STALE, Flag.SUPPORT_LOST, Flag.DISPUTES_SPENT)
    for flag in (*asking, Flag.NEAR_DUPLICATE):
        state.put(flagged(state.artifacts[artifact], flag))
    body = AdminReview(subject=artifact, decision=Decree.KEEP, reason="It is sound.")
    record = town.pen(Role.OPERATOR, 0).say(body)

    assert state.acts.refusal(state, record, body) is None
    consequences.decree(state, record, body)
    assert state.artifacts[artifact].flags == {Flag.NEAR_DUPLICATE}
    assert state.artifacts[artifact].state is ArtifactState.ACTIVE


def test_a_decree_about_nothing_is_refused() -> None:
    town = curating()
    artifact = standing(town)
    state = town.world().state
    record = town.pen(Role.OPERATOR, 0).say(
        AdminReview(subject=bytes(32), decision=Decree.HIDE, reason="why")
    )
    consequences.decree(state, record, record.body)

    assert state.refused[record.id] is Code.UNKNOWN_ARTIFACT
    hide = AdminReview(subject=artifact, decision=Decree.HIDE, reason="why")
    consequences.decree(state, record, hide)
    assert Flag.HIDDEN in state.artifacts[artifact].flags
    consequences.decree(
        state, record, AdminReview(subject=artifact, decision=Decree.SHOW, reason="why")
    )
    assert Flag.HIDDEN not in state.artifacts[artifact].flags
    consequences.decree(
        state, record, AdminReview(subject=artifact, decision=Decree.RETRACT, reason="why")
    )
    assert state.artifacts[artifact].state is ArtifactState.RETRACTED
    assert len(state.reversals) == 1
