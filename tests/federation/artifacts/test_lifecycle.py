from dataclasses import replace

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
)
from federation.core import Code, RefusedError
from federation.trust import Decision
from tests.builders import named
from tests.federation.artifacts.forms import proposed, quiet_window, submission, verdict

FACTS = st.one_of(
    st.builds(submission, admitted=st.booleans(), used=st.integers(9, 10)),
    st.builds(quiet_window, objections=st.integers(0, 1), held=st.booleans()),
    st.builds(
        verdict,
        decision=st.sampled_from([Decision.ACCEPT, Decision.REJECT]),
        by=st.sampled_from(DecidedBy),
        quorum=st.booleans(),
    ),
)
STATES = st.none() | st.sampled_from(State)


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


@given(st.lists(st.tuples(st.sampled_from(Action), FACTS), max_size=12))
def test_nothing_is_active_without_a_path_through_the_table(
    attempts: list[tuple[Action, Facts]],
) -> None:
    artifact: Artifact | None = None
    path: list[tuple[State | None, Action]] = []
    for action, facts in attempts:
        origin = None if artifact is None else artifact.state
        try:
            artifact = apply(artifact, action, facts)
        except RefusedError:
            continue
        path.append((origin, action))
        artifact = in_round(artifact, named("round"))

    assert all(step in TRANSITIONS for step in path)
    if artifact is not None and artifact.state is State.ACTIVE:
        assert path in (
            [(None, Action.SUBMIT), (State.PROPOSED, Action.ACCEPT)],
            [
                (None, Action.SUBMIT),
                (State.PROPOSED, Action.BEGIN_REVIEW),
                (State.UNDER_REVIEW, Action.ACCEPT),
            ],
        )


def test_a_submission_becomes_a_proposed_artifact_with_its_facts() -> None:
    facts = submission(topics=("a", "b/c"), cut=12)
    artifact = apply(None, Action.SUBMIT, facts)

    assert artifact.state is State.PROPOSED
    assert (artifact.id, artifact.author, artifact.home) == (facts.id, facts.author, facts.home)
    assert (artifact.topics, artifact.cut) == (("a", "b/c"), 12)


def test_an_accepted_artifact_remembers_its_verdict() -> None:
    under_review = apply(proposed(), Action.BEGIN_REVIEW, quiet_window(objections=1))
    accepted = apply(under_review, Action.ACCEPT, verdict())

    assert under_review.verdict is None
    assert accepted.verdict == verdict()


def test_a_fast_acceptance_keeps_its_verdict_too() -> None:
    consent = verdict(by=DecidedBy.FAST_TRACK)

    assert apply(proposed(), Action.ACCEPT, quiet_window(verdict=consent)).verdict == consent


def test_flags_survive_a_change_of_state() -> None:
    hidden = proposed(flags=frozenset({Flag.HIDDEN}))
    after = apply(hidden, Action.BEGIN_REVIEW, quiet_window(objections=1))

    assert after.flags == {Flag.HIDDEN}


@pytest.mark.parametrize("state", [State.ACTIVE, State.RETRACTED])
@pytest.mark.parametrize("action", Action)
def test_a_terminal_state_refuses_everything(state: State, action: Action) -> None:
    with pytest.raises(RefusedError) as refused:
        apply(proposed(state=state), action, verdict())

    assert refused.value.code is Code.GUARD_FAILED
    assert state.value in refused.value.why


def test_an_action_on_nothing_is_refused() -> None:
    with pytest.raises(RefusedError, match="no such artifact"):
        apply(None, Action.ACCEPT, quiet_window())


def test_a_refusal_carries_the_code_of_the_guard() -> None:
    with pytest.raises(RefusedError) as refused:
        apply(None, Action.SUBMIT, submission(used=10))

    assert refused.value.code is Code.OVER_QUOTA
