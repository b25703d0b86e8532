import pytest

from federation.certificates import Phase
from federation.core import Code
from federation.records import Record, Role
from federation.review import Finals, look, phase_of, qualifies
from tests.builders import Chain, argue, ballot, commit, named, object_to, person, propose, reveal
from tests.federation.review.scene import (
    AGAINST,
    FOR,
    NEWCOMER,
    ROUND,
    SIX,
    Scene,
    final,
    low,
)


def stranger() -> Chain:
    return Chain(person(Role.AGENT, 99))


def code(scene: Scene, finals: Finals, record: Record, *earlier: Record) -> Code | None:
    return qualifies(scene.pin, finals, record, earlier)


def test_any_reviewer_may_object_once() -> None:
    scene = low(*SIX)
    first = scene.object_to(1, {})
    second = scene.object_to(1, {})

    assert code(scene, {}, first) is None
    assert code(scene, {}, second, first) is Code.OVER_QUOTA


def test_newcomers_authors_and_strangers_may_not_object() -> None:
    scene = low(*SIX, views={1: NEWCOMER})

    assert code(scene, {}, scene.object_to(1, {})) is Code.NOT_ELIGIBLE
    assert code(scene, {}, scene.object_to(0, {})) is Code.NOT_ELIGIBLE
    assert code(scene, {}, stranger().say(*object_to(ROUND))) is Code.NOT_ADMITTED


def test_nobody_objects_where_there_is_no_window() -> None:
    scene = Scene.of(*SIX)

    assert code(scene, {}, scene.agents[1].say(*object_to(ROUND))) is Code.NOT_IN_PHASE


def test_an_objection_still_qualifies_after_its_list_is_final() -> None:
    scene = low(*SIX)
    objection = scene.object_to(1, {})

    assert code(scene, {Phase.FAST: final(Phase.FAST, objection)}, objection) is None


def test_newcomers_and_the_author_may_argue_up_to_the_charters_cap() -> None:
    scene = Scene.of(*SIX, views={1: NEWCOMER}, review={"arguments_each": 2})
    said = [scene.argue(1, {}) for _ in range(3)]

    assert code(scene, {}, said[1], said[0]) is None
    assert code(scene, {}, said[2], *said[:2]) is Code.OVER_QUOTA
    assert code(scene, {}, scene.argue(0, {})) is None


def test_the_barred_do_not_argue() -> None:
    scene = Scene.of(*SIX, views={1: {"revoked": True}, 2: {"forked": True}})

    assert code(scene, {}, scene.argue(1, {})) is Code.NOT_ELIGIBLE
    assert code(scene, {}, scene.argue(2, {})) is Code.FORK


def test_an_argument_after_the_deliberation_is_not_in_its_phase() -> None:
    scene = Scene.of(*SIX)
    finals = scene.opening()
    late = scene.agents[1].say(*argue(ROUND, after=finals[Phase.DELIBERATE].digest))

    assert code(scene, finals, late) is Code.NOT_IN_PHASE


def test_a_vote_made_before_its_time_counts_only_if_it_named_the_digest() -> None:
    scene = Scene.of(*SIX)
    finals = scene.opening()
    foreseen = scene.commit(1, finals)
    guessed = scene.agents[2].say(commit(scene.agents[2], ROUND, after=named("a guess")))

    assert phase_of(scene.pin, {}, foreseen) is None
    assert code(scene, {}, foreseen) is Code.NOT_IN_PHASE
    assert code(scene, finals, foreseen) is None
    assert code(scene, finals, guessed) is Code.NOT_IN_PHASE


def test_reviewers_and_newcomers_commit_and_the_author_does_not() -> None:
    scene = Scene.of(*SIX, views={2: NEWCOMER, 3: {"forked": True}})
    finals = scene.opening()
    other = stranger()
    alien = other.say(commit(other, ROUND, after=finals[Phase.DELIBERATE].digest))

    assert code(scene, finals, scene.commit(1, finals)) is None
    assert code(scene, finals, scene.commit(2, finals)) is None
    assert code(scene, finals, scene.commit(0, finals)) is Code.NOT_ELIGIBLE
    assert code(scene, finals, scene.commit(3, finals)) is Code.FORK
    assert code(scene, finals, alien) is Code.NOT_ADMITTED


def test_the_second_commitment_of_one_branch_does_not_count() -> None:
    scene = Scene.of(*SIX)
    finals = scene.opening()
    first, second = scene.commit(1, finals), scene.commit(1, finals, ballot(AGAINST))

    assert code(scene, finals, second, first) is Code.ALREADY_COMMITTED
    # On a branch without the first it would count: the list then counts neither.
    assert code(scene, finals, second) is None


def test_a_commitment_still_qualifies_after_its_list_is_final() -> None:
    scene = Scene.of(*SIX)
    finals = scene.committed({1: FOR, 2: FOR})

    assert code(scene, finals, finals[Phase.COMMIT].records[0]) is None


def test_earlier_records_of_another_phase_are_no_commitment() -> None:
    scene = Scene.of(*SIX)
    argument = scene.argue(1, {})
    finals = scene.opening()

    assert code(scene, finals, scene.commit(1, finals), argument) is None


def test_who_is_in_the_box_may_not_join_its_widening() -> None:
    scene = Scene.of(*SIX)
    finals = scene.committed({1: FOR, 2: FOR})
    again = scene.commit(1, finals, phase=Phase.COMMIT2)
    fresh = scene.commit(3, finals, phase=Phase.COMMIT2)

    assert phase_of(scene.pin, finals, fresh) is Phase.COMMIT2
    assert code(scene, finals, again) is Code.ALREADY_COMMITTED
    assert code(scene, finals, fresh) is None


def test_who_missed_the_first_list_may_join_the_widening() -> None:
    scene = Scene.of(*SIX)
    missed = scene.commit(3, scene.opening())
    finals = scene.committed({1: FOR, 2: FOR})
    retried = scene.commit(3, finals, phase=Phase.COMMIT2)

    assert code(scene, finals, retried, missed) is None


def test_what_a_later_list_says_does_not_change_whether_a_commitment_counted() -> None:
    scene = Scene.of(*SIX)
    early = scene.commit(3, scene.opening())
    finals = scene.committed({1: FOR, 2: FOR})
    retried = scene.commit(3, finals, phase=Phase.COMMIT2)
    wide = finals | {Phase.COMMIT2: final(Phase.COMMIT2, retried)}

    assert code(scene, wide, early) is None
    assert code(scene, wide, retried, early) is None


def test_what_the_operator_did_not_delegate_does_not_count_but_a_promise_may_be_kept() -> None:
    arguing = {"scope": frozenset({"review.argue"})}
    voting = {"scope": frozenset({"review.commit"})}
    scene = Scene.of(*SIX, views={1: arguing, 2: voting})
    finals = scene.opening()

    assert code(scene, finals, scene.commit(1, finals)) is Code.NOT_ELIGIBLE
    assert code(scene, finals, scene.commit(2, finals)) is None

    finals = scene.committed(dict.fromkeys((2, 3, 4), FOR))
    assert code(scene, finals, scene.reveal(2, finals, ballot(FOR))) is None


def test_a_reveal_opens_its_own_listed_commitment() -> None:
    scene = Scene.of(*SIX)
    finals = scene.committed(dict.fromkeys((1, 2, 3), FOR))

    assert code(scene, finals, scene.reveal(1, finals, ballot(FOR))) is None
    assert code(scene, finals, scene.reveal(1, finals, ballot(AGAINST))) is (
        Code.COMMITMENT_MISMATCH
    )
    assert code(scene, finals, scene.reveal(4, finals)) is Code.NOT_CERTIFIED


def test_a_voter_has_four_attempts_to_open_its_ballot_on_one_branch() -> None:
    # Every one of them would open it, but a thousand of them would fill what others read.
    scene = Scene.of(*SIX)
    finals = scene.committed(dict.fromkeys((1, 2, 3), FOR))
    tries = [scene.reveal(1, finals, ballot(choice)) for choice in (AGAINST, AGAINST, AGAINST)]
    fourth, fifth = (scene.reveal(1, finals, ballot(FOR)) for _ in range(2))

    assert code(scene, finals, fourth, *tries) is None
    assert code(scene, finals, fifth, *tries, fourth) is Code.OVER_QUOTA


def test_a_reveal_before_the_box_is_shut_is_not_in_its_phase() -> None:
    scene = Scene.of(*SIX)
    finals = scene.opening()
    early = scene.agents[1].say(
        reveal(scene.agents[1], ROUND, after=finals[Phase.DELIBERATE].digest)
    )

    assert code(scene, finals, early) is Code.NOT_IN_PHASE


def test_after_a_widening_only_the_widened_box_is_opened() -> None:
    scene = Scene.of(*SIX)
    finals = scene.committed({1: FOR, 2: FOR})
    voter = scene.agents[1]
    hasty = voter.say(reveal(voter, ROUND, ballot(FOR), after=finals[Phase.COMMIT].digest))
    wide = finals | {Phase.COMMIT2: final(Phase.COMMIT2)}

    assert code(scene, finals, hasty) is Code.NOT_IN_PHASE
    assert code(scene, wide, hasty) is Code.NOT_IN_PHASE
    assert code(scene, wide, scene.reveal(1, wide, ballot(FOR))) is None


def test_a_newcomer_opens_its_practice_ballot() -> None:
    scene = Scene.of(*SIX, views={4: NEWCOMER})
    finals = scene.committed(dict.fromkeys((1, 2, 3, 4), FOR))

    assert code(scene, finals, scene.reveal(4, finals, ballot(FOR))) is None


def test_participants_contest_a_clear_result_once() -> None:
    scene = Scene.of(*SIX, views={5: {"revoked": True}}, review={"contest": 1_000})
    finals = scene.voted(dict.fromkeys((1, 2, 3), FOR))
    first = scene.contest(1, finals)

    assert code(scene, finals, first) is None
    assert code(scene, finals, scene.contest(0, finals)) is None
    assert code(scene, finals, scene.contest(1, finals), first) is Code.OVER_QUOTA
    assert code(scene, finals, scene.contest(4, finals)) is Code.NOT_ELIGIBLE
    assert code(scene, finals, scene.contest(5, finals)) is Code.NOT_ELIGIBLE


def test_a_newcomer_that_was_listed_does_not_hold_up_a_result() -> None:
    views = {3: {"tier": 0, "weight": 0, "reviewer": False}}
    scene = Scene.of(*SIX, views=views, review={"contest": 1_000})
    finals = scene.voted(dict.fromkeys((1, 2, 3, 4), FOR))

    assert code(scene, finals, scene.contest(3, finals)) is Code.NOT_ELIGIBLE
    assert code(scene, finals, scene.contest(4, finals)) is None


def test_a_listed_contest_makes_nobody_a_participant() -> None:
    scene = Scene.of(*SIX, review={"contest": 1_000})
    finals = scene.voted(dict.fromkeys((1, 2, 3), FOR))
    outsider = scene.contest(4, finals)
    listed = finals | {Phase.CONTEST: final(Phase.CONTEST, outsider)}

    assert code(scene, listed, outsider) is Code.NOT_ELIGIBLE


@pytest.mark.parametrize("other_round", [True, False])
def test_records_of_other_rounds_and_other_kinds_do_not_count(*, other_round: bool) -> None:
    scene = Scene.of(*SIX)
    body = argue(named("another round"), after=ROUND) if other_round else propose()
    record = scene.agents[1].say(*body)

    assert phase_of(scene.pin, {}, record) is None
    assert code(scene, {}, record) is Code.NOT_IN_PHASE


def test_the_agreement_is_told_who_speaks_and_whether_it_counts() -> None:
    scene = Scene.of(*SIX, views={2: NEWCOMER})
    finals = scene.opening()
    first = scene.commit(1, finals)
    looked = look(scene.pin, finals, first)
    second = look(scene.pin, finals, scene.commit(1, finals), [first])
    practice = look(scene.pin, finals, scene.commit(2, finals))

    assert (looked.voter, looked.seq) == (first.author, first.seq)
    assert (looked.qualifies, looked.reviewer) == (True, True)
    assert (second.qualifies, second.reviewer) == (False, True)
    assert (practice.qualifies, practice.reviewer) == (True, False)
