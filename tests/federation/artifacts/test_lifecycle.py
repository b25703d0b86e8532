from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.artifacts import (
    TRANSITIONS,
    Action,
    Artifact,
    DecidedBy,
    Facts,
    Flag,
    State,
    apply,
    in_round,
    show,
    withhold,
)
from federation.core import Code, RefusedError
from federation.trust import Decision
from tests.builders import named
from tests.federation.artifacts.any_facts import FACTS
from tests.federation.artifacts.forms import (
    active,
    by_rules,
    consent,
    credible,
    decreed,
    dispute,
    disputed,
    kept,
    opened,
    proposed,
    quiet_window,
    resubmission,
    retracted,
    submission,
    superseded,
    supersession,
    sustained,
    under_review,
    verdict,
    withdrawal,
)

STATES = st.none() | st.sampled_from(State)
EVERY_FLAG = frozenset(Flag) - {Flag.WITHHELD}
"""Every flag that a panel can answer."""
# Facts that would satisfy the guard of some row for each action.
GOOD: dict[Action, tuple[Facts, ...]] = {
    Action.SUBMIT: (submission(),),
    Action.ACCEPT: (quiet_window(), verdict()),
    Action.BEGIN_REVIEW: (quiet_window(objections=1),),
    Action.REJECT: (verdict(decision=Decision.REJECT),),
    Action.TIMEOUT: (verdict(decision=Decision.REJECT, by=DecidedBy.TIMEOUT),),
    Action.DISPUTE: (dispute(), by_rules(), credible()),
    Action.KEEP: (kept(),),
    Action.RETRACT: (sustained(), withdrawal(), decreed()),
    Action.SUPERSEDE: (supersession(),),
    Action.RESUBMIT: (resubmission(),),
}


@given(STATES, st.sampled_from(Action), FACTS)
def test_every_action_follows_its_row_or_is_refused_and_changes_nothing(
    state: State | None, action: Action, facts: Facts
) -> None:
    artifact = None if state is None else proposed(state=state)
    before = None if artifact is None else replace(artifact)
    row = TRANSITIONS.get((state, action))
    allowed = row is not None and row.guard(artifact, facts) is None

    if allowed:
        assert row is not None
        assert apply(artifact, action, facts).state is row.to
    else:
        with pytest.raises(RefusedError) as refused:
            apply(artifact, action, facts)
        assert refused.value.why
        assert refused.value.fix
    assert artifact == before


ABSENT = [pair for pair in product([None, *State], Action) if pair not in TRANSITIONS]


@pytest.mark.parametrize(("state", "action"), ABSENT)
def test_a_pair_without_a_row_is_refused_whatever_the_facts(
    state: State | None, action: Action
) -> None:
    artifact = None if state is None else active(state=state)
    for facts in GOOD[action]:
        with pytest.raises(RefusedError) as refused:
            apply(artifact, action, facts)
        assert refused.value.code is Code.GUARD_FAILED
        assert (state or "no such artifact") in refused.value.why


def test_good_facts_open_every_row() -> None:
    starts = (None, proposed(), under_review(), active(), disputed(), retracted())
    opened_rows: set[tuple[State | None, Action]] = set()
    for artifact, action in product(starts, Action):
        state = None if artifact is None else artifact.state
        row = TRANSITIONS.get((state, action))
        if row is not None and any(row.guard(artifact, facts) is None for facts in GOOD[action]):
            opened_rows.add((state, action))

    assert opened_rows == TRANSITIONS.keys()


def test_a_submission_becomes_a_proposed_artifact_with_its_facts() -> None:
    facts = submission(
        topics=("a", "b/c"),
        cut=12,
        revises=named("older"),
        cites=(named("y"), named("x"), named("y")),
        evidence=(named("source"), named("source")),
    )
    artifact = apply(None, Action.SUBMIT, facts)

    assert artifact.state is State.PROPOSED
    assert (artifact.id, artifact.author, artifact.home) == (facts.id, facts.author, facts.home)
    assert (artifact.topics, artifact.cut) == (("a", "b/c"), 12)
    assert artifact.revises == named("older")
    assert artifact.cites == tuple(sorted([named("x"), named("y")]))
    assert artifact.evidence == (named("source"),)


def test_an_accepted_artifact_remembers_its_verdict_and_who_voted() -> None:
    said = verdict(ballots=(opened("a"),))
    accepted = apply(under_review(), Action.ACCEPT, said)

    assert under_review().verdict is None
    assert (accepted.verdict, accepted.accepted) == (said, (said,))
    assert accepted.voters == (named("a"),)


def test_a_fast_acceptance_keeps_its_verdict_too() -> None:
    accepted = apply(proposed(), Action.ACCEPT, quiet_window())

    assert (accepted.verdict, accepted.accepted) == (consent(), (consent(),))


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Action.REJECT, verdict(decision=Decision.REJECT)),
        (Action.TIMEOUT, verdict(decision=Decision.REJECT, by=DecidedBy.TIMEOUT)),
    ],
)
def test_a_rejected_artifact_remembers_when(action: Action, said: Facts) -> None:
    artifact = apply(under_review(), action, said, tick=9)

    assert artifact.state is State.RETRACTED
    assert (artifact.verdict, artifact.accepted, artifact.retracted_at) == (said, (), 9)


def test_a_dispute_is_counted_with_its_ground_and_its_evidence() -> None:
    artifact = apply(active(), Action.DISPUTE, dispute(evidence=(named("b"), named("a"))))

    assert (artifact.state, artifact.disputes) == (State.DISPUTED, 1)
    assert artifact.grounds == ("inaccurate",)
    assert artifact.evidence == tuple(sorted([named("a"), named("b")]))
    assert artifact.accepted == active().accepted


def test_what_the_rules_open_is_not_counted() -> None:
    artifact = apply(active(disputes=3), Action.DISPUTE, by_rules())

    assert (artifact.state, artifact.disputes, artifact.grounds) == (State.DISPUTED, 3, ())


def test_a_credible_report_hides_takes_over_and_counts() -> None:
    artifact = apply(active(), Action.DISPUTE, credible(round=named("report")))

    assert artifact.state is State.DISPUTED
    assert artifact.flags == {Flag.HIDDEN}
    assert (artifact.round, artifact.disputes) == (named("report"), 1)


def test_a_kept_artifact_stands_on_both_verdicts() -> None:
    artifact = apply(disputed(), Action.KEEP, kept(ballots=(opened("b"),)), tick=50)

    assert artifact.state is State.ACTIVE
    assert artifact.accepted == (verdict(), kept(ballots=(opened("b"),)))
    assert artifact.retracted_at is None
    assert artifact.grounds == ("inaccurate",)


def test_a_ground_that_was_answered_does_not_come_twice() -> None:
    artifact = apply(disputed(), Action.KEEP, kept())

    with pytest.raises(RefusedError) as refused:
        apply(artifact, Action.DISPUTE, dispute())
    assert refused.value.code is Code.NO_NEW_GROUND


def test_a_judgement_that_it_stands_answers_what_was_asked() -> None:
    artifact = apply(disputed(flags=EVERY_FLAG), Action.KEEP, kept())
    accepted = apply(under_review(flags=EVERY_FLAG), Action.ACCEPT, verdict())

    assert (
        artifact.flags
        == accepted.flags
        == {
            Flag.NEAR_DUPLICATE,
            Flag.FORENSIC,
            Flag.STALE,
            Flag.DISPUTES_SPENT,
        }
    )


def test_silence_shows_nothing_that_was_hidden_while_it_lasted() -> None:
    artifact = apply(proposed(flags=frozenset({Flag.HIDDEN})), Action.ACCEPT, quiet_window())

    assert artifact.state is State.ACTIVE
    assert Flag.HIDDEN in artifact.flags


def test_a_retraction_keeps_it_hidden_and_ends_the_freeze() -> None:
    both = frozenset({Flag.HIDDEN, Flag.FROZEN})
    artifact = apply(disputed(flags=both), Action.RETRACT, sustained(), tick=8)

    assert artifact.flags == {Flag.HIDDEN}
    assert (artifact.accepted, artifact.grounds, artifact.retracted_at) == ((), (), 8)


@pytest.mark.parametrize(("d_max", "spent"), [(None, False), (1, True), (2, False)])
def test_disputes_are_spent_when_it_has_survived_all(d_max: int | None, spent: bool) -> None:
    artifact = apply(disputed(), Action.KEEP, kept(), d_max=d_max)

    assert (Flag.DISPUTES_SPENT in artifact.flags) is spent


def test_a_charter_that_allows_more_disputes_takes_the_flag_down() -> None:
    spent = disputed(flags=frozenset({Flag.DISPUTES_SPENT}))

    assert Flag.DISPUTES_SPENT not in apply(spent, Action.KEEP, kept(), d_max=9).flags


def test_what_comes_back_with_its_disputes_spent_says_so() -> None:
    back = in_round(apply(retracted(), Action.RESUBMIT, resubmission()), named("round"))
    voted = apply(back, Action.BEGIN_REVIEW, quiet_window(objections=1))

    assert Flag.DISPUTES_SPENT in apply(voted, Action.ACCEPT, verdict(), d_max=1).flags


@pytest.mark.parametrize("facts", [withdrawal(), decreed()])
def test_what_its_author_or_the_operators_take_back_is_retracted(facts: Facts) -> None:
    artifact = apply(active(), Action.RETRACT, facts, tick=3)

    assert (artifact.state, artifact.accepted, artifact.retracted_at) == (State.RETRACTED, (), 3)
    assert artifact.verdict == active().verdict


def test_a_superseded_artifact_names_its_successor_and_keeps_its_reasons() -> None:
    artifact = apply(active(flags=EVERY_FLAG - {Flag.FROZEN}), Action.SUPERSEDE, supersession())

    assert artifact.superseded_by == named("revision")
    assert artifact.accepted == active().accepted
    assert Flag.STALE not in artifact.flags


def test_a_resubmission_begins_again_and_forgets_no_number() -> None:
    before = retracted(flags=EVERY_FLAG - {Flag.FROZEN}, voters=(named("a"),))
    artifact = apply(before, Action.RESUBMIT, resubmission(sensitivity="high"))

    assert (artifact.state, artifact.resubmitted) == (State.PROPOSED, 1)
    assert artifact.sensitivity == "high"
    assert named("new source") in artifact.evidence
    assert artifact.flags == {Flag.NEAR_DUPLICATE, Flag.FORENSIC, Flag.HIDDEN}
    assert (artifact.disputes, artifact.retracted_at) == (1, 100)
    assert (artifact.voters, artifact.verdict) == (before.voters, before.verdict)


def test_a_review_that_begins_leaves_the_verdict_before_it() -> None:
    back = apply(retracted(), Action.RESUBMIT, resubmission())
    artifact = apply(back, Action.BEGIN_REVIEW, quiet_window(objections=1, verdict=None))

    assert artifact.verdict == sustained()


def test_flags_survive_a_change_of_state() -> None:
    hidden = proposed(flags=frozenset({Flag.HIDDEN}))
    after = apply(hidden, Action.BEGIN_REVIEW, quiet_window(objections=1))

    assert after.flags == {Flag.HIDDEN}


@pytest.mark.parametrize("action", Action)
def test_nothing_leaves_a_superseded_artifact(action: Action) -> None:
    for facts in GOOD[action]:
        with pytest.raises(RefusedError):
            apply(superseded(), action, facts)


def test_an_action_on_nothing_is_refused() -> None:
    with pytest.raises(RefusedError, match="no such artifact"):
        apply(None, Action.ACCEPT, quiet_window())


def test_a_refusal_carries_the_code_of_the_guard() -> None:
    with pytest.raises(RefusedError) as refused:
        apply(None, Action.SUBMIT, submission(used=10))

    assert refused.value.code is Code.OVER_QUOTA


def test_an_artifact_that_was_changed_is_another_value() -> None:
    before = active()
    copy: Artifact = replace(before)
    apply(before, Action.DISPUTE, dispute())

    assert before == copy


def test_what_the_operators_hide_is_shown_by_no_panel_and_no_resubmission() -> None:
    artifact = withhold(disputed())
    stood = apply(artifact, Action.KEEP, kept())
    fallen = apply(artifact, Action.RETRACT, sustained(), tick=100)
    back = apply(fallen, Action.RESUBMIT, resubmission(tick=200))

    for one in (stood, fallen, back):
        assert {Flag.HIDDEN, Flag.WITHHELD} <= one.flags
        assert not {Flag.HIDDEN, Flag.WITHHELD} & show(one).flags
