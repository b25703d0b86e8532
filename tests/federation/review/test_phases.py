import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.artifacts import DecidedBy, Flag, State, Verdict, in_round
from federation.certificates import Phase
from federation.crypto import Choice
from federation.review import (
    PLAN,
    Ended,
    FinalList,
    Finals,
    advance,
    course,
    expected_after,
    is_late,
    length,
    may_close_early,
    next_phase,
)
from tests.federation.artifacts.forms import proposed
from tests.federation.review.scene import AGAINST, FOR, ROUND, Scene, as_ballot, final

SIX = (1, 1, 1, 1, 1, 1)


def ended(scene: Scene, finals: Finals) -> Verdict:
    now = next_phase(scene.pin, finals)
    assert isinstance(now, Ended), f"the round is still in {now}"
    return now.verdict


def low(*sizes: int, watchers: tuple[int, ...] = (1, 2, 3), **changes: object) -> Scene:
    return Scene.of(*sizes, sensitivity="low", watchers=watchers, **changes)  # type: ignore[arg-type]


def test_the_plan_holds_its_phases_in_the_order_of_the_design() -> None:
    assert [step.phase for step in PLAN] == [
        Phase.FAST,
        Phase.DELIBERATE,
        Phase.COMMIT,
        Phase.COMMIT2,
        Phase.DECIDE,
        Phase.CONTEST,
    ]


def test_low_sensitivity_begins_with_the_objection_window() -> None:
    scene = low(*SIX)

    assert next_phase(scene.pin, {}) is Phase.FAST
    assert expected_after(Phase.FAST, scene.pin, {}) == ROUND


@pytest.mark.parametrize(
    "scene",
    [
        Scene.of(*SIX),
        low(*SIX, ticket=False),
        low(*SIX, flags=[Flag.NEAR_DUPLICATE]),
        low(*SIX, review={"fast_low": 0}),
    ],
    ids=["high", "sandbox", "flagged", "no window in the charter"],
)
def test_whatever_cannot_pass_without_a_vote_begins_with_arguments(scene: Scene) -> None:
    assert next_phase(scene.pin, {}) is Phase.DELIBERATE
    assert expected_after(Phase.FAST, scene.pin, {}) is None
    assert expected_after(Phase.DELIBERATE, scene.pin, {}) == ROUND


def test_an_empty_list_of_objections_accepts_where_enough_watched() -> None:
    verdict = ended(low(*SIX), {Phase.FAST: final(Phase.FAST)})

    assert verdict.accepted
    assert verdict.by is DecidedBy.FAST_TRACK


def test_silence_of_too_few_watchers_leads_to_a_vote() -> None:
    scene = low(*SIX, watchers=(1, 2))

    assert next_phase(scene.pin, {Phase.FAST: final(Phase.FAST)}) is Phase.DELIBERATE


def test_one_objection_leads_to_a_vote_after_its_list() -> None:
    scene = low(*SIX)
    finals = {Phase.FAST: final(Phase.FAST, scene.object_to(1, {}))}

    assert next_phase(scene.pin, finals) is Phase.DELIBERATE
    assert expected_after(Phase.DELIBERATE, scene.pin, finals) == finals[Phase.FAST].digest


def test_a_round_without_reviewers_or_weight_ends_at_once() -> None:
    alone = Scene.of(1)
    weightless = low(
        1, 1, watchers=(1,), views={1: {"weight": 0}}, review={"shortfall_low": "fast_track"}
    )

    assert not ended(alone, {}).accepted
    assert ended(alone, {}).by is DecidedBy.SHORTFALL
    assert ended(weightless, {}).accepted
    assert course(alone.pin, {}).after == {}


def test_a_phase_of_length_zero_is_left_out() -> None:
    scene = Scene.of(*SIX, review={"deliberate": 0})

    assert next_phase(scene.pin, {}) is Phase.COMMIT
    assert expected_after(Phase.COMMIT, scene.pin, {}) == ROUND


def test_each_phase_follows_the_digest_of_the_one_before() -> None:
    scene = Scene.of(*SIX, review={"contest": 1_000})
    finals = scene.voted(dict.fromkeys((1, 2, 3), FOR))

    assert course(scene.pin, finals).after == {
        Phase.DELIBERATE: ROUND,
        Phase.COMMIT: finals[Phase.DELIBERATE].digest,
        Phase.DECIDE: finals[Phase.COMMIT].digest,
        Phase.CONTEST: finals[Phase.DECIDE].digest,
    }


def test_what_is_not_reached_has_no_digest_yet() -> None:
    scene = Scene.of(*SIX)

    assert expected_after(Phase.COMMIT, scene.pin, {}) is None
    assert expected_after(Phase.DECIDE, scene.pin, scene.opening()) is None
    assert expected_after(Phase.RULE, scene.pin, scene.voted({})) is None


def test_later_lists_never_change_what_earlier_records_name() -> None:
    scene = Scene.of(*SIX, review={"contest": 1_000})
    finals = scene.voted(dict.fromkeys((1, 2, 3), FOR))
    whole = course(scene.pin, finals).after
    so_far: dict[Phase, FinalList] = {}
    for phase, one in finals.items():
        so_far[phase] = one
        seen = course(scene.pin, so_far).after

        assert dict(list(whole.items())[: len(seen)]) == seen


def test_a_void_box_ends_the_round_by_timeout() -> None:
    scene = low(*SIX)
    objected = {Phase.FAST: final(Phase.FAST, scene.object_to(1, {}))}
    opened = objected | {Phase.DELIBERATE: final(Phase.DELIBERATE)}
    verdict = ended(scene, opened | {Phase.COMMIT: final(Phase.COMMIT, void=True)})

    assert not verdict.accepted
    assert verdict.by is DecidedBy.TIMEOUT
    assert verdict.objections == 1


def test_a_box_short_of_the_quorum_is_widened_once_before_anything_is_opened() -> None:
    scene = Scene.of(*SIX)
    finals = scene.committed({1: FOR, 2: FOR})

    assert next_phase(scene.pin, finals) is Phase.COMMIT2
    assert expected_after(Phase.COMMIT2, scene.pin, finals) == finals[Phase.COMMIT].digest
    assert expected_after(Phase.DECIDE, scene.pin, finals) is None

    wide = finals | {Phase.COMMIT2: final(Phase.COMMIT2)}

    assert next_phase(scene.pin, wide) is Phase.DECIDE
    assert expected_after(Phase.DECIDE, scene.pin, wide) == wide[Phase.COMMIT2].digest


def test_a_box_of_one_operator_is_widened_where_two_may_review() -> None:
    scene = Scene.of(1, 3, 1)

    assert next_phase(scene.pin, scene.committed(dict.fromkeys((1, 2, 3), FOR))) is Phase.COMMIT2


def test_a_box_with_a_quorum_is_not_widened() -> None:
    scene = Scene.of(*SIX)

    assert next_phase(scene.pin, scene.committed(dict.fromkeys((1, 2, 3), FOR))) is Phase.DECIDE


def test_newcomers_do_not_save_a_box_from_being_widened() -> None:
    scene = Scene.of(*SIX, views={3: {"reviewer": False, "tier": 0}})

    assert next_phase(scene.pin, scene.committed(dict.fromkeys((1, 2, 3), FOR))) is Phase.COMMIT2


def test_widened_voters_are_counted_with_the_first() -> None:
    scene = Scene.of(*SIX)
    narrow = scene.committed({1: FOR, 2: FOR})
    third = scene.commit(3, narrow, phase=Phase.COMMIT2)
    wide = narrow | {Phase.COMMIT2: final(Phase.COMMIT2, third)}
    reveals = [scene.reveal(who, wide) for who in (1, 2, 3)]

    assert expected_after(Phase.DECIDE, scene.pin, wide) == wide[Phase.COMMIT2].digest

    verdict = ended(scene, wide | {Phase.DECIDE: final(Phase.DECIDE, *reveals)})

    assert verdict.by is DecidedBy.VOTE
    assert verdict.revealed == 3


def test_a_round_that_nobody_opens_ends_by_the_shortfall_policy() -> None:
    scene = Scene.of(*SIX)
    verdict = ended(scene, scene.voted(dict.fromkeys((1, 2, 3), FOR), silent=(1, 2, 3)))

    assert verdict.by is DecidedBy.SHORTFALL
    assert not verdict.accepted
    assert len(verdict.unrevealed) == 3


def test_a_clear_result_waits_for_the_contest_window() -> None:
    scene = Scene.of(*SIX, review={"contest": 1_000})
    finals = scene.voted(dict.fromkeys((1, 2, 3), FOR))

    assert next_phase(scene.pin, finals) is Phase.CONTEST

    quiet = ended(scene, finals | {Phase.CONTEST: final(Phase.CONTEST)})
    loud = ended(scene, finals | {Phase.CONTEST: final(Phase.CONTEST, scene.contest(1, finals))})

    assert quiet.by is DecidedBy.VOTE
    assert loud.by is DecidedBy.SIGN


def test_an_unclear_result_is_escalated_without_a_contest_window() -> None:
    scene = Scene.of(*SIX, review={"contest": 1_000})

    assert ended(scene, scene.voted({1: FOR, 2: AGAINST, 3: FOR, 4: AGAINST})).by is DecidedBy.SIGN


def test_objections_are_remembered_by_the_verdict() -> None:
    scene = low(*SIX)
    objected = {Phase.FAST: final(Phase.FAST, scene.object_to(1, {}))}
    start = objected | {Phase.DELIBERATE: final(Phase.DELIBERATE)}

    assert ended(scene, scene.voted(dict.fromkeys((1, 2, 3), FOR), finals=start)).objections == 1


def test_a_phase_lasts_what_the_charter_says() -> None:
    review = {"deliberate": 1, "commit": 20, "reveal": 30, "contest": 4, "fast_low": 50}
    scene = low(*SIX, review=review)

    assert {phase: length(phase, scene.pin) for phase in Phase} == {
        Phase.FAST: 50,
        Phase.DELIBERATE: 1,
        Phase.COMMIT: 20,
        Phase.COMMIT2: 20,
        Phase.DECIDE: 30,
        Phase.CONTEST: 4,
        Phase.RULE: 0,
        Phase.ASSESS: 0,
    }


def test_only_a_box_past_its_deadline_is_late() -> None:
    scene = Scene.of(*SIX, review={"deadline": 1_000})

    assert not is_late(Phase.COMMIT, scene.pin, 1_000)
    assert is_late(Phase.COMMIT, scene.pin, 1_001)
    assert not is_late(Phase.DECIDE, scene.pin, 1_001)
    assert not is_late(Phase.COMMIT2, scene.pin, 1_001)


def test_the_box_closes_at_the_kth_reviewer_and_not_before_its_least_time() -> None:
    scene = Scene.of(*SIX, review={"k": 3, "commit_min": 200})
    finals = scene.opening()
    held = [scene.commit(who, finals) for who in (1, 2, 3)]

    assert may_close_early(Phase.COMMIT, scene.pin, finals, held, 200)
    assert not may_close_early(Phase.COMMIT, scene.pin, finals, held, 199)
    assert not may_close_early(Phase.COMMIT, scene.pin, finals, held[:2], 10_000)


def test_all_reviewers_are_enough_where_they_are_fewer_than_k() -> None:
    scene = Scene.of(1, 1, 1, 1, views={3: {"reviewer": False, "tier": 0}})
    finals = scene.opening()
    held = [scene.commit(who, finals) for who in (1, 2, 3)]

    assert may_close_early(Phase.COMMIT, scene.pin, finals, held[:2], 10_000)
    assert not may_close_early(Phase.COMMIT, scene.pin, finals, held[1:], 10_000)


def test_a_widening_counts_those_already_in_the_box() -> None:
    scene = Scene.of(*SIX, review={"k": 3})
    finals = scene.committed({1: FOR, 2: FOR})
    third = scene.commit(3, finals, phase=Phase.COMMIT2)

    assert not may_close_early(Phase.COMMIT2, scene.pin, finals, [], 10_000)
    assert may_close_early(Phase.COMMIT2, scene.pin, finals, [third], 10_000)


def test_reveals_close_when_every_listed_commitment_is_open() -> None:
    scene = Scene.of(*SIX)
    finals = scene.committed(dict.fromkeys((1, 2, 3), FOR))
    held = [scene.reveal(who, finals) for who in (1, 2, 3)]

    assert may_close_early(Phase.DECIDE, scene.pin, finals, held, 0)
    assert not may_close_early(Phase.DECIDE, scene.pin, finals, held[:2], 10_000)


@pytest.mark.parametrize("phase", [Phase.FAST, Phase.DELIBERATE, Phase.CONTEST])
def test_no_other_phase_closes_early(phase: Phase) -> None:
    assert not may_close_early(phase, low(*SIX).pin, {}, [], 10**9)


LEGAL = {
    State.PROPOSED: {State.PROPOSED, State.UNDER_REVIEW, State.ACTIVE, State.RETRACTED},
    State.UNDER_REVIEW: {State.UNDER_REVIEW, State.ACTIVE, State.RETRACTED},
}


def next_list(scene: Scene, phase: Phase, finals: Finals, draw: st.DataObject) -> FinalList:
    """Certify some list of this phase: whoever is drawn has written a record that qualifies."""
    able = sorted(range(len(scene.agents)), key=lambda number: scene.agents[number].id)
    boxed = {record.author for one in finals.values() for record in one.records}
    who = draw.draw(st.lists(st.sampled_from(able), unique=True))
    match phase:
        case Phase.FAST:
            records = [scene.object_to(one, finals) for one in who]
        case Phase.DELIBERATE:
            records = []
        case Phase.COMMIT if draw.draw(st.integers(0, 5)) == 0:
            return final(phase, void=True)
        case Phase.COMMIT | Phase.COMMIT2:
            fresh = [one for one in who if one and scene.agents[one].id not in boxed]
            records = [
                scene.commit(one, finals, as_ballot(draw.draw(st.sampled_from(Choice))), phase)
                for one in fresh
            ]
        case Phase.DECIDE:
            records = [scene.reveal(one, finals) for one in who]
        case _:
            records = [scene.contest(one, finals) for one in who]
    return final(phase, *records)


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=5).filter(sum),
    st.booleans(),
    st.sampled_from(["low", "high"]),
    st.sampled_from([0, 1_000]),
    st.data(),
)
def test_every_round_ends_and_moves_its_artifact_only_forward(
    sizes: list[int], ticket: bool, sensitivity: str, contest: int, draw: st.DataObject
) -> None:
    scene = Scene.of(
        *sizes,
        sensitivity=sensitivity,
        ticket=ticket,
        watchers=range(sum(sizes)),
        review={"contest": contest},
    )
    artifact = in_round(proposed(), ROUND)
    finals: dict[Phase, FinalList] = {}
    seen: list[Phase] = []
    while isinstance(now := next_phase(scene.pin, finals), Phase):
        seen.append(now)
        after = advance(artifact, scene.pin, finals)

        assert after.state in LEGAL[artifact.state]
        assert list(course(scene.pin, finals).after) == seen
        artifact = after
        finals[now] = next_list(scene, now, finals, draw)
    settled = advance(artifact, scene.pin, finals)

    assert [step.phase for step in PLAN if step.phase in seen] == seen
    assert settled.state is (State.ACTIVE if now.verdict.accepted else State.RETRACTED)
    assert settled.verdict == now.verdict
