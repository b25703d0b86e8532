import pytest

from federation.artifacts import DecidedBy, Flag
from federation.certificates import Phase
from federation.review import FinalList, course, expected_after, next_phase
from tests.federation.review.scene import AGAINST, FOR, ROUND, SIX, Scene, ended, final, low


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

    assert (quiet.by, quiet.contested) == (DecidedBy.VOTE, False)
    # Nobody can arbitrate, and a contest alone changes nothing.
    assert (loud.by, loud.contested) == (DecidedBy.VOTE, True)


def test_an_unclear_result_is_escalated_without_a_contest_window() -> None:
    scene = Scene.of(*SIX, review={"contest": 1_000})

    assert ended(scene, scene.voted({1: FOR, 2: AGAINST, 3: FOR, 4: AGAINST})).by is DecidedBy.SIGN


def test_objections_are_remembered_by_the_verdict() -> None:
    scene = low(*SIX)
    objected = {Phase.FAST: final(Phase.FAST, scene.object_to(1, {}))}
    start = objected | {Phase.DELIBERATE: final(Phase.DELIBERATE)}

    assert ended(scene, scene.voted(dict.fromkeys((1, 2, 3), FOR), finals=start)).objections == 1
