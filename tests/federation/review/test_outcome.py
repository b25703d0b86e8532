from collections.abc import Mapping

import pytest

from federation.artifacts import Artifact, DecidedBy, Flag, State, in_round
from federation.certificates import Phase
from federation.crypto import Choice
from federation.review import Ended, Finals, action_of, advance, counted_of, next_phase, outcome_of
from federation.trust import Answered, Decision
from tests.builders import ballot
from tests.federation.artifacts.forms import proposed, verdict
from tests.federation.review.scene import ABSTAIN, AGAINST, FOR, ROUND, Scene, final, operator

SIX = (1, 1, 1, 1, 1, 1)


def artifact() -> Artifact:
    return in_round(proposed(), ROUND)


def low(*sizes: int, **changes: object) -> Scene:
    watchers = range(1, sum(sizes))
    return Scene.of(*sizes, sensitivity="low", watchers=watchers, **changes)  # type: ignore[arg-type]


def test_an_artifact_waits_while_objections_may_come() -> None:
    waiting = artifact()

    assert advance(waiting, low(*SIX).pin, {}) is waiting


def test_silence_makes_it_active_without_a_review() -> None:
    after = advance(artifact(), low(*SIX).pin, {Phase.FAST: final(Phase.FAST)})

    assert after.state is State.ACTIVE
    assert after.verdict is not None
    assert after.verdict.by is DecidedBy.FAST_TRACK


def test_a_review_begins_when_the_window_closes_with_an_objection() -> None:
    scene = low(*SIX)
    finals = {Phase.FAST: final(Phase.FAST, scene.object_to(1, {}))}

    assert advance(artifact(), scene.pin, finals).state is State.UNDER_REVIEW


@pytest.mark.parametrize(
    "scene",
    [
        Scene.of(*SIX),
        low(*SIX, ticket=False),
        low(*SIX, flags=[Flag.FORENSIC]),
        low(*SIX, review={"fast_low": 0}),
    ],
)
def test_a_review_begins_at_once_where_no_window_opens(scene: Scene) -> None:
    under_review = advance(artifact(), scene.pin, {})

    assert under_review.state is State.UNDER_REVIEW
    assert advance(under_review, scene.pin, {}) == under_review


@pytest.mark.parametrize(
    ("votes", "state"),
    [
        (dict.fromkeys((1, 2, 3), FOR), State.ACTIVE),
        (dict.fromkeys((1, 2, 3), AGAINST), State.RETRACTED),
        ({1: FOR}, State.RETRACTED),
    ],
)
def test_a_verdict_moves_the_artifact_to_its_end(votes: Mapping[int, Choice], state: State) -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted(votes)
    after = advance(artifact(), scene.pin, finals)

    assert after.state is state
    # What is settled stays settled, however often it is asked.
    assert advance(after, scene.pin, finals) is after


def test_a_void_box_retracts_the_artifact() -> None:
    scene = Scene.of(*SIX)
    finals = scene.opening() | {Phase.COMMIT: final(Phase.COMMIT, void=True)}

    assert advance(artifact(), scene.pin, finals).state is State.RETRACTED


def test_a_round_without_reviewers_is_settled_by_policy_at_once() -> None:
    alone = low(1, review={"shortfall_low": "fast_track"})

    assert advance(artifact(), alone.pin, {}).state is State.ACTIVE
    assert advance(artifact(), Scene.of(1).pin, {}).state is State.RETRACTED


@pytest.mark.parametrize(
    ("by", "decision", "action"),
    [
        (DecidedBy.VOTE, Decision.ACCEPT, "accept"),
        (DecidedBy.SHORTFALL, Decision.ACCEPT, "accept"),
        (DecidedBy.VOTE, Decision.REJECT, "reject"),
        (DecidedBy.SIGN, Decision.REJECT, "reject"),
        (DecidedBy.SHORTFALL, Decision.REJECT, "timeout"),
        (DecidedBy.TIMEOUT, Decision.REJECT, "timeout"),
    ],
)
def test_every_verdict_stands_for_one_action(
    by: DecidedBy, decision: Decision, action: str
) -> None:
    found = action_of(verdict(by=by, decision=decision))

    assert found is not None
    assert found.value == action


def ended(scene: Scene, finals: Finals) -> Ended:
    now = next_phase(scene.pin, finals)
    assert isinstance(now, Ended)
    return now


def test_trust_learns_who_voted_how_and_who_kept_silent() -> None:
    scene = Scene.of(*SIX, views={5: {"reviewer": False, "tier": 0}})
    finals = scene.voted({1: FOR, 2: FOR, 3: AGAINST, 4: FOR, 5: ABSTAIN}, silent=[4])
    verdict_ = ended(scene, finals).verdict
    outcome = outcome_of(scene.pin, finals, verdict_, tick=9, topics=())

    assert (outcome.round_id, outcome.tick) == (ROUND, 9)
    assert outcome.author == scene.agents[0].id
    assert outcome.home_operator == operator(0)
    assert outcome.decision is Decision.ACCEPT
    assert not outcome.fast_track
    assert {(one.voter, one.operator, one.choice, one.practice) for one in outcome.votes} == {
        (scene.agents[1].id, operator(1), FOR, False),
        (scene.agents[2].id, operator(2), FOR, False),
        (scene.agents[3].id, operator(3), AGAINST, False),
        (scene.agents[5].id, operator(5), ABSTAIN, True),
    }
    assert [one.voter for one in outcome.unrevealed] == [scene.agents[4].id]
    assert {one.agent for one in counted_of(verdict_)} == scene.ids(1, 2, 3)


def test_a_shortfall_says_nothing_about_people_but_the_silent() -> None:
    scene = Scene.of(*SIX, review={"shortfall_high": "arbitrate"})
    finals = scene.voted({1: FOR, 2: FOR}, silent=[2])
    verdict_ = ended(scene, finals).verdict
    outcome = outcome_of(scene.pin, finals, verdict_, tick=1, topics=())

    assert verdict_.accepted
    assert outcome.decision is Decision.NONE
    assert len(outcome.unrevealed) == 1
    assert counted_of(verdict_) == ()


def test_a_fast_acceptance_is_told_as_one() -> None:
    scene = low(*SIX)
    finals = {Phase.FAST: final(Phase.FAST)}
    outcome = outcome_of(scene.pin, finals, ended(scene, finals).verdict, tick=1, topics=())

    assert outcome.fast_track
    assert outcome.decision is Decision.ACCEPT
    assert outcome.votes == ()


def test_an_argument_is_answered_by_a_reviewer_of_another_operator() -> None:
    scene = Scene.of(2, 2, 1, 1, views={3: {"reviewer": False, "tier": 0}})
    # Agents: 0 the author, 1 its operator's, 2 and 3 (a newcomer) of operator 1, then 4 and 5.
    claims = {who: scene.argue(who, {}) for who in (0, 2, 3, 4)}
    replies = [
        scene.argue(4, {}, replies_to=claims[2].id),
        scene.argue(4, {}, replies_to=claims[4].id),
        scene.argue(3, {}, replies_to=claims[0].id),
    ]
    start = {Phase.DELIBERATE: final(Phase.DELIBERATE, *claims.values(), *replies)}
    votes = {
        2: ballot(FOR, arguments=(claims[3].id,)),
        3: ballot(FOR, arguments=(claims[4].id,)),
        4: ballot(FOR),
        5: ballot(FOR),
    }
    finals = scene.voted(votes, finals=start)
    outcome = outcome_of(scene.pin, finals, ended(scene, finals).verdict, tick=1, topics=())

    # Answered by its own author, by a newcomer, or by the same operator is not answered.
    assert outcome.answered == (Answered(agent=scene.agents[2].id, argument=claims[2].id),)


def test_an_argument_cited_in_a_ballot_is_answered() -> None:
    scene = Scene.of(*SIX)
    claim = scene.argue(0, {})
    start = {Phase.DELIBERATE: final(Phase.DELIBERATE, claim)}
    votes = {1: ballot(FOR, arguments=(claim.id,)), 2: ballot(FOR), 3: ballot(FOR)}
    finals = scene.voted(votes, finals=start)
    outcome = outcome_of(scene.pin, finals, ended(scene, finals).verdict, tick=1, topics=())

    assert outcome.answered == (Answered(agent=scene.agents[0].id, argument=claim.id),)
