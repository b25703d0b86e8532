"""What disputes, reports and rulings do to an artifact, and tell trust (federation.review.outcome)."""

from dataclasses import replace

import pytest

from federation.artifacts import Artifact, DecidedBy, Flag, RoundKind, State, in_round
from federation.certificates import Phase
from federation.crypto import Choice
from federation.records import Decree, Ruled
from federation.review import (
    FinalList,
    action_of,
    advance,
    counted_of,
    outcome_of,
)
from federation.trust import Answered, Decision, RoundOutcome
from tests.builders import ballot, named
from tests.federation.artifacts.forms import proposed, verdict
from tests.federation.review.paths import PANEL, bench, decreed, panel, ruled, split
from tests.federation.review.scene import (
    AGAINST,
    FOR,
    MODERATOR,
    ROUND,
    SIX,
    Scene,
    ended,
    final,
)

OTHER = named("another round")


def disputed(*flags: Flag) -> Artifact:
    return in_round(proposed(state=State.DISPUTED, flags=frozenset(flags)), ROUND)


def reported(**changes: object) -> Scene:
    """Make a report by agent 1 that seven others could judge, the last of them moderators."""
    views = {7: MODERATOR, 8: MODERATOR}
    start: dict[str, object] = {"kind": "report", "disputer": 1, "views": views}
    return Scene.of(*[1] * 9, **(start | changes))  # type: ignore[arg-type]


def credible(scene: Scene) -> dict[Phase, FinalList]:
    return {Phase.ASSESS: final(Phase.ASSESS, scene.assess(7, {}))}


def outcome(scene: Scene, finals: dict[Phase, FinalList]) -> RoundOutcome:
    return outcome_of(scene.pin, finals, ended(scene, finals), tick=3, topics=("notes/x",))


@pytest.mark.parametrize(
    ("kind", "by", "decision", "action"),
    [
        ("dispute", DecidedBy.VOTE, Decision.ACCEPT, "keep"),
        ("dispute", DecidedBy.TIMEOUT, Decision.ACCEPT, "keep"),
        ("report", DecidedBy.ARBITER, Decision.REJECT, "retract"),
        ("dispute", DecidedBy.TIMEOUT, Decision.REJECT, "retract"),
        ("review", DecidedBy.ADMIN, Decision.REJECT, "reject"),
        ("review", DecidedBy.ARBITER, Decision.ACCEPT, "accept"),
        ("review", DecidedBy.RERUN, Decision.NONE, None),
        ("report", DecidedBy.UNFOUNDED, Decision.NONE, None),
        ("appeal", DecidedBy.ADMIN, Decision.ACCEPT, None),
    ],
)
def test_every_verdict_stands_for_its_action_or_for_none(
    kind: RoundKind, by: DecidedBy, decision: Decision, action: str | None
) -> None:
    found = action_of(verdict(kind=kind, by=by, decision=decision))

    assert (found.value if found else None) == action


@pytest.mark.parametrize(("choice", "state"), [(FOR, State.ACTIVE), (AGAINST, State.RETRACTED)])
def test_a_dispute_keeps_or_retracts(choice: Choice, state: State) -> None:
    scene = panel(review={"contest": 0})
    finals = scene.voted(dict.fromkeys(PANEL, choice))
    start = disputed(Flag.REREVIEW, Flag.SUPPORT_LOST)
    after = advance(start, scene.pin, finals, tick=9)

    assert advance(start, scene.pin, scene.opening()) is start
    assert after.state is state
    assert after.verdict == ended(scene, finals)
    assert after.retracted_at == (None if state is State.ACTIVE else 9)
    assert bool(after.flags) is (state is State.RETRACTED)
    assert advance(after, scene.pin, finals) is after


def test_a_dispute_that_is_not_the_newest_round_does_nothing() -> None:
    scene = panel(review={"contest": 0})
    finals = scene.voted(dict.fromkeys(PANEL, AGAINST))
    elsewhere = replace(disputed(), round=OTHER)

    assert advance(elsewhere, scene.pin, finals) is elsewhere


def test_a_review_that_was_run_again_does_nothing_any_more() -> None:
    scene = bench()
    finals = ruled(scene, split(scene), Ruled.RERUN)
    fresh = replace(proposed(state=State.UNDER_REVIEW), round=OTHER)
    current = in_round(proposed(state=State.UNDER_REVIEW), ROUND)

    assert advance(fresh, scene.pin, finals) is fresh
    assert advance(current, scene.pin, finals) is current


def test_what_an_arbiter_freezes_is_frozen_until_the_operators_have_ruled() -> None:
    scene = bench()
    finals = ruled(scene, split(scene), Ruled.FREEZE)
    frozen = advance(in_round(proposed(), ROUND), scene.pin, finals)
    kept = advance(frozen, scene.pin, decreed(scene, finals, Decree.KEEP, (0, 1, 2)))
    gone = advance(frozen, scene.pin, finals | {Phase.ADMIN: final(Phase.ADMIN)})

    assert (frozen.state, frozen.flags) == (State.UNDER_REVIEW, frozenset({Flag.FROZEN}))
    assert advance(frozen, scene.pin, finals) is frozen
    assert (kept.state, kept.flags) == (State.ACTIVE, frozenset())
    assert (gone.state, gone.flags) == (State.RETRACTED, frozenset())


def test_another_ruling_freezes_nothing() -> None:
    scene = bench()
    finals = ruled(scene, split(scene), Ruled.REJECT)

    assert advance(in_round(proposed(), ROUND), scene.pin, finals).flags == frozenset()


def test_a_credible_report_hides_what_stands_and_disputes_it() -> None:
    scene = reported()
    active = proposed(state=State.ACTIVE, flags=frozenset({Flag.STALE}))
    elsewhere = replace(active, round=OTHER)
    taken = advance(elsewhere, scene.pin, credible(scene))

    assert advance(elsewhere, scene.pin, {}) is elsewhere
    assert (taken.state, taken.round) == (State.DISPUTED, ROUND)
    assert taken.flags == {Flag.STALE, Flag.HIDDEN}
    assert taken.disputes == active.disputes + 1
    assert advance(taken, scene.pin, credible(scene)) is taken

    start = credible(scene) | {Phase.DELIBERATE: final(Phase.DELIBERATE)}
    kept = advance(taken, scene.pin, scene.voted(dict.fromkeys((2, 3, 4, 5, 6), FOR), finals=start))
    gone = advance(
        taken, scene.pin, scene.voted(dict.fromkeys((2, 3, 4, 5, 6), AGAINST), finals=start)
    )
    assert (kept.state, kept.flags) == (State.ACTIVE, frozenset({Flag.STALE}))
    assert (gone.state, gone.flags) == (State.RETRACTED, frozenset({Flag.STALE, Flag.HIDDEN}))


@pytest.mark.parametrize("state", [State.RETRACTED, State.DISPUTED, State.UNDER_REVIEW])
def test_a_credible_report_takes_only_what_stands_and_is_free(state: State) -> None:
    scene = reported()
    busy = replace(proposed(state=state), round=OTHER)
    frozen = replace(proposed(state=State.ACTIVE, flags=frozenset({Flag.FROZEN})), round=OTHER)

    assert advance(busy, scene.pin, credible(scene)) is busy
    assert advance(frozen, scene.pin, credible(scene)) is frozen


@pytest.mark.parametrize("state", [State.UNDER_REVIEW, State.RETRACTED, State.SUPERSEDED])
def test_a_report_beside_another_round_only_hides(state: State) -> None:
    scene = reported(assess_only=True)
    start = replace(proposed(state=state), round=OTHER)
    hidden = advance(start, scene.pin, credible(scene))

    assert hidden == replace(start, flags=frozenset({Flag.HIDDEN}))
    assert advance(hidden, scene.pin, credible(scene)) is hidden


def test_an_unfounded_report_does_nothing_to_what_it_is_about() -> None:
    scene = reported()
    active = replace(proposed(state=State.ACTIVE), round=OTHER)
    unfounded = {Phase.ASSESS: final(Phase.ASSESS, scene.assess(7, {}, credible=False))}

    assert advance(active, scene.pin, unfounded) is active
    assert outcome(scene, unfounded).decision is Decision.NONE


def test_an_appeal_has_no_artifact_and_says_nothing_about_people() -> None:
    scene = bench(kind="appeal")
    finals = ruled(scene, {}, Ruled.RECLASSIFY) | {Phase.APPEAL: final(Phase.APPEAL)}
    active = in_round(proposed(state=State.ACTIVE), ROUND)

    assert advance(active, scene.pin, finals) is active
    assert outcome(scene, finals).decision is Decision.NONE
    assert not outcome(scene, finals).dispute


def test_trust_learns_who_filed_a_dispute() -> None:
    scene = panel(review={"contest": 0})
    found = outcome(scene, scene.voted(dict.fromkeys(PANEL, AGAINST)))

    assert (found.dispute, found.disputer) == (True, scene.agents[1].id)
    assert (found.decision, len(found.votes)) == (Decision.REJECT, 5)
    review = outcome(Scene.of(*SIX), Scene.of(*SIX).voted(dict.fromkeys((1, 2, 3), FOR)))
    assert (review.dispute, review.disputer) == (False, None)


def test_a_ruling_settles_the_sides_and_says_nothing_about_the_voters() -> None:
    scene = bench()
    finals = ruled(scene, split(scene), Ruled.BY_SIGN) | {Phase.APPEAL: final(Phase.APPEAL)}
    found, decided = outcome(scene, finals), ended(scene, finals)

    assert decided.by is DecidedBy.ARBITER
    assert len(decided.ballots) == 5
    assert (found.decision, found.votes) == (Decision.ACCEPT, ())
    assert counted_of(decided) == ()


def test_a_rerun_says_nothing_but_who_kept_its_ballot_closed() -> None:
    scene = bench()
    votes = {1: FOR, 2: FOR, 3: FOR, 4: AGAINST, 5: AGAINST}
    finals = ruled(scene, scene.voted(votes, silent=[1]), Ruled.RERUN)
    found = outcome(scene, finals)

    assert found.decision is Decision.NONE
    assert [one.voter for one in found.unrevealed] == [scene.agents[1].id]
    assert counted_of(ended(scene, finals)) == ()


def test_arguments_of_all_turns_and_opened_assessments_can_be_answered() -> None:
    turns = Scene.of(*SIX, review={"mode": "rounds", "turns": 2})
    claim = turns.argue(0, {})
    first = {Phase.DELIBERATE: final(Phase.DELIBERATE, claim)}
    reply = turns.argue(1, first, Phase.TURN2, replies_to=claim.id)
    finals = turns.voted(
        {1: ballot(FOR), 2: ballot(FOR, arguments=(reply.id,)), 3: ballot(FOR)},
        finals=first | {Phase.TURN2: final(Phase.TURN2, reply)},
    )
    sealed = Scene.of(*SIX, review={"mode": "sealed_first", "seal": 500})
    start = {Phase.SEAL: final(Phase.SEAL, sealed.seal(1, {}))}
    opened = sealed.unseal(1, start)
    start |= {Phase.UNSEAL: final(Phase.UNSEAL, opened)}
    start |= {Phase.DELIBERATE: final(Phase.DELIBERATE)}
    votes = {2: ballot(FOR, arguments=(opened.id,)), 3: ballot(FOR), 4: ballot(FOR)}

    assert set(outcome(turns, finals).answered) == {
        Answered(agent=claim.author, argument=claim.id),
        Answered(agent=reply.author, argument=reply.id),
    }
    assert outcome(sealed, sealed.voted(votes, finals=start)).answered == (
        Answered(agent=opened.author, argument=opened.id),
    )


@pytest.mark.parametrize("votes", [FOR, AGAINST])
def test_an_operator_earns_nothing_by_disputing_what_its_own_agent_wrote(votes: Choice) -> None:
    scene = Scene.of(2, *[1] * 6, kind="dispute", disputer=1)
    finals = scene.voted(dict.fromkeys(range(2, 8), votes))
    said = outcome(scene, finals)

    assert said.decision is (Decision.ACCEPT if votes is FOR else Decision.REJECT)
    assert said.disputer == (scene.agents[1].id if votes is FOR else None)


def test_a_resubmission_of_anothers_work_is_the_contribution_of_who_brought_it_back() -> None:
    own, other = Scene.of(*SIX), Scene.of(*SIX, disputer=5)
    votes = dict.fromkeys(range(1, 5), AGAINST)

    assert outcome(own, own.voted(votes)).author == own.agents[0].id
    assert outcome(other, other.voted(votes)).author == other.agents[5].id
