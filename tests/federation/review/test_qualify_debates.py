"""Which records count in seals, turns and disputes (federation.review.qualify)."""

from federation.certificates import Phase
from federation.core import Code
from federation.records import Record, Stance
from federation.review import Finals, look, phase_of, qualifies
from tests.builders import named
from tests.federation.review.paths import panel
from tests.federation.review.scene import MODERATOR, NEWCOMER, SIX, Scene, final

SEALED = {"mode": "sealed_first", "seal": 500}
TURNS = {"mode": "rounds", "turns": 2}


def code(scene: Scene, finals: Finals, record: Record, *earlier: Record) -> Code | None:
    return qualifies(scene.pin, finals, record, earlier)


def test_the_authors_operator_objects_only_where_the_exclusion_is_relaxed() -> None:
    strict = Scene.of(2, 1, 1, 1, sensitivity="low", watchers=(2, 3, 4))
    relaxed = Scene.of(2, 1, 1, sensitivity="low", watchers=(1, 2, 3))

    assert code(strict, {}, strict.object_to(1, {})) is Code.AUTHORS_OPERATOR
    assert code(strict, {}, strict.object_to(2, {})) is None
    assert code(relaxed, {}, relaxed.object_to(1, {})) is None
    assert code(relaxed, {}, relaxed.object_to(0, {})) is Code.NOT_ELIGIBLE


def test_whoever_may_vote_seals_one_assessment() -> None:
    scene = Scene.of(*SIX, views={2: NEWCOMER, 3: {"suspended": True}}, review=SEALED)
    first = scene.seal(1, {})

    assert code(scene, {}, first) is None
    assert code(scene, {}, scene.seal(2, {})) is None
    assert code(scene, {}, scene.seal(0, {})) is Code.NOT_ELIGIBLE
    assert code(scene, {}, scene.seal(3, {})) is Code.SUSPENDED
    assert code(scene, {}, scene.seal(1, {}), first) is Code.ALREADY_COMMITTED


def test_an_assessment_opens_its_own_listed_seal() -> None:
    scene = Scene.of(*SIX, review=SEALED)
    finals = {Phase.SEAL: final(Phase.SEAL, scene.seal(1, {}), scene.seal(2, {}))}
    opened = scene.unseal(1, finals)

    assert phase_of(scene.pin, finals, opened) is Phase.UNSEAL
    assert code(scene, finals, opened) is None
    other = scene.unseal(1, finals, stance=Stance.AGAINST)
    assert code(scene, finals, other) is Code.COMMITMENT_MISMATCH
    assert code(scene, finals, scene.unseal(1, finals, nonce=scene.nonce(2))) is (
        Code.COMMITMENT_MISMATCH
    )
    assert code(scene, finals, scene.unseal(1, finals, nonce=None)) is Code.COMMITMENT_MISMATCH
    assert code(scene, finals, scene.unseal(3, finals)) is Code.NOT_CERTIFIED


def test_an_assessment_has_four_attempts_and_may_always_be_opened() -> None:
    scene = Scene.of(*SIX, review=SEALED)
    finals = {Phase.SEAL: final(Phase.SEAL, scene.seal(1, {}))}
    tries = [scene.unseal(1, finals, nonce=None) for _ in range(3)]
    fourth, fifth = (scene.unseal(1, finals) for _ in range(2))
    silenced = Scene.of(
        *SIX, views={1: {"forked": True, "scope": frozenset({"review.seal"})}}, review=SEALED
    )

    assert code(scene, finals, fourth, *tries) is None
    assert code(scene, finals, fifth, *tries, fourth) is Code.OVER_QUOTA
    assert code(silenced, finals, fourth) is None


def test_a_nonce_opens_nothing_outside_its_phase() -> None:
    scene = Scene.of(*SIX, review=SEALED)
    finals = {Phase.SEAL: final(Phase.SEAL, scene.seal(1, {}))}
    finals[Phase.UNSEAL] = final(Phase.UNSEAL)
    late = scene.argue(1, finals, nonce=scene.nonce(1))

    assert phase_of(scene.pin, finals, late) is Phase.DELIBERATE
    assert code(scene, finals, late) is Code.NOT_IN_PHASE
    assert code(scene, finals, scene.argue(1, finals)) is None
    plain = Scene.of(*SIX)
    assert code(plain, {}, plain.argue(1, {}, nonce=named("nonce"))) is Code.NOT_IN_PHASE


def test_an_argument_counts_in_the_turn_that_it_follows_once() -> None:
    scene = Scene.of(*SIX, review=TURNS)
    first = scene.argue(1, {})
    finals = {Phase.DELIBERATE: final(Phase.DELIBERATE, first)}
    second = scene.argue(1, finals, Phase.TURN2)

    assert code(scene, {}, scene.argue(1, {}), first) is Code.OVER_QUOTA
    assert phase_of(scene.pin, finals, second) is Phase.TURN2
    assert code(scene, finals, second, first) is None
    assert code(scene, finals, scene.argue(1, finals, Phase.TURN2), first, second) is (
        Code.OVER_QUOTA
    )


def test_the_operators_word_covers_what_its_agents_say_in_office_too() -> None:
    views = {4: MODERATOR | {"scope": frozenset({"review.argue"})}, 5: MODERATOR}
    scene = Scene.of(*SIX, kind="report", disputer=1, views=views)

    assert code(scene, {}, scene.assess(4, {})) is Code.NOT_ELIGIBLE
    assert code(scene, {}, scene.assess(5, {})) is None


def test_both_sides_argue_in_a_dispute_and_neither_votes() -> None:
    scene = panel()
    finals = scene.opening()

    for who in (0, 1):
        assert code(scene, {}, scene.argue(who, {})) is None
        assert code(scene, finals, scene.commit(who, finals)) is Code.NOT_ELIGIBLE
    assert code(scene, finals, scene.commit(2, finals)) is None


def test_who_has_voted_before_votes_in_no_dispute() -> None:
    scene = panel(voted=(2,))
    finals = scene.opening()

    assert code(scene, finals, scene.commit(2, finals)) is Code.NOT_ELIGIBLE


def test_banned_and_suspended_agents_say_nothing() -> None:
    scene = Scene.of(*SIX, views={1: {"banned": True}, 2: {"suspended": True}, 3: {}})
    finals = scene.opening()

    assert code(scene, {}, scene.argue(1, {})) is Code.AGENT_BANNED
    assert code(scene, {}, scene.argue(2, {})) is Code.SUSPENDED
    assert code(scene, finals, scene.commit(2, finals)) is Code.SUSPENDED


def test_who_is_in_quarantine_casts_a_practice_ballot() -> None:
    scene = Scene.of(*SIX, views={1: {"quarantined": True}})
    looked = look(scene.pin, scene.opening(), scene.commit(1, scene.opening()))

    assert (looked.qualifies, looked.reviewer) == (True, False)
