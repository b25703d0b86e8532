"""A proof is refused for the first thing that is wrong with it, before anything dearer is done."""

import time
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.admission import (
    MOST_MEMORY_KIB,
    MOST_PARTS,
    MOST_PASSES,
    InForce,
    Terms,
    Work,
    check,
    check_claims,
    does_work,
    passes_gate,
    prove,
    work_bytes,
)
from federation.core import Code
from federation.records import Role
from tests.builders import named
from tests.federation.admission.proofs import (
    CLAIMS,
    EPOCH,
    always,
    asks,
    beacon,
    blank,
    gated,
    proof,
    terms,
)
from tests.strategies import binaries

TERMS: Final = terms(bits=5, gate_bits=20)
"""A change at random meets all of its zero bits once in 2^20 times at the most."""
PROOF: Final = proof(TERMS)
DEAREST: Final = terms(
    memory_kib=MOST_MEMORY_KIB, passes=MOST_PASSES, parts=MOST_PARTS, bits=1, gate_bits=8
)
"""One hash under these takes more than half a second of a processor, 16 of them many."""
JUNK: Final = blank(DEAREST)
AT_ONCE: Final = 0.2
"""Seconds of processor time that no hash under the dearest terms can keep below."""


def asked_for(under: Terms = TERMS) -> Callable[[int], InForce | None]:
    return {epoch: asks(under, epoch) for epoch in (EPOCH, EPOCH - 1)}.get


def verdict(work: Work | None, *, epoch: int = EPOCH, under: Terms = TERMS) -> Code | None:
    return check(work, **CLAIMS, epoch=epoch, in_force=asked_for(under))


def claims(work: Work | None, *, epoch: int = EPOCH, under: Terms = TERMS) -> Code | None:
    return check_claims(work, **CLAIMS, epoch=epoch, in_force=asked_for(under))


def seconds(act: Callable[[], object]) -> float:
    """Give the processor time of an act: other processes do not lengthen it."""
    begun = time.process_time()
    act()
    return time.process_time() - begun


def test_a_good_proof_is_accepted() -> None:
    assert verdict(PROOF) is None


def test_no_proof_is_a_missing_one() -> None:
    assert verdict(None) is claims(None) is Code.PROOF_MISSING


@pytest.mark.parametrize(
    ("work", "code"),
    [
        (replace(PROOF, realm=named("other")), Code.PROOF_WRONG_REALM),
        (replace(PROOF, instance=named("other")), Code.PROOF_WRONG_INSTANCE),
        (replace(PROOF, key=named("other")), Code.PROOF_WRONG_KEY),
        (replace(PROOF, role=Role.OPERATOR), Code.PROOF_WRONG_ROLE),
        (replace(PROOF, epoch=EPOCH - 2), Code.PROOF_STALE),
        (replace(PROOF, epoch=EPOCH + 1), Code.PROOF_STALE),
        (replace(PROOF, beacon=named("other")), Code.PROOF_WRONG_BEACON),
        (replace(PROOF, epoch=EPOCH - 1), Code.PROOF_WRONG_BEACON),
        (replace(PROOF, bits=4), Code.PROOF_PARAMETERS),
        (replace(PROOF, gate_bits=19), Code.PROOF_PARAMETERS),
        (replace(PROOF, memory_kib=9), Code.PROOF_PARAMETERS),
        (replace(PROOF, passes=2), Code.PROOF_PARAMETERS),
        (replace(PROOF, solutions=()), Code.PROOF_PARAMETERS),
        (replace(PROOF, solutions=PROOF.solutions * 2), Code.PROOF_PARAMETERS),
        (replace(PROOF, gate=bytes(7) + b"\xff"), Code.PROOF_GATE),
    ],
)
def test_each_fault_has_its_code(work: Work, code: Code) -> None:
    assert verdict(work) is code
    assert claims(work) is (None if code is Code.PROOF_GATE else code)


def test_of_many_faults_the_cheapest_is_named() -> None:
    """Faults are mended in the order of the checks; each time the next one shows."""
    work = Work(
        version=1,
        role=Role.OPERATOR,
        realm=named("other"),
        instance=named("other"),
        key=named("other"),
        epoch=EPOCH + 9,
        beacon=named("other"),
        memory_kib=2**53 - 1,
        passes=0,
        bits=0,
        gate_bits=0,
        solutions=(),
        gate=bytes(8),
    )
    codes = [verdict(work)]
    small = terms(bits=6, gate_bits=4)
    for mended in (
        {"realm": CLAIMS["realm"]},
        {"instance": CLAIMS["instance"]},
        {"key": CLAIMS["key"]},
        {"role": CLAIMS["role"]},
        {"epoch": EPOCH},
        {"beacon": beacon(EPOCH)},
    ):
        work = replace(work, **mended)
        codes.append(verdict(work))
    codes.append(verdict(gated(blank(small), opens=False), under=small))
    codes.append(verdict(gated(blank(small)), under=small))
    codes.append(verdict(proof(small), under=small))

    assert codes == [
        Code.PROOF_WRONG_REALM,
        Code.PROOF_WRONG_INSTANCE,
        Code.PROOF_WRONG_KEY,
        Code.PROOF_WRONG_ROLE,
        Code.PROOF_STALE,
        Code.PROOF_WRONG_BEACON,
        Code.PROOF_PARAMETERS,
        Code.PROOF_GATE,
        Code.PROOF_WORK,
        None,
    ]


def test_work_of_the_epoch_before_counts_under_the_terms_of_that_epoch() -> None:
    easy, hard = terms(bits=2), terms(bits=3)
    earlier, later = proof(easy, EPOCH - 1), proof(easy, EPOCH)

    def in_force(epoch: int) -> InForce:
        return asks(hard if epoch == EPOCH else easy, epoch)

    assert check(earlier, **CLAIMS, epoch=EPOCH, in_force=in_force) is None
    assert check(later, **CLAIMS, epoch=EPOCH, in_force=in_force) is Code.PROOF_PARAMETERS
    assert check(earlier, **CLAIMS, epoch=EPOCH + 1, in_force=in_force) is Code.PROOF_STALE


def test_work_done_ahead_is_worth_nothing_once_the_beacon_is_known() -> None:
    under = terms(bits=7)
    ahead = proof(under, EPOCH + 1)
    actual = InForce(terms=under, beacon=named("what nobody could foresee"))
    bound_anew = gated(replace(ahead, beacon=actual.beacon))

    def in_force(_: int) -> InForce:
        return actual

    for work, code in ((ahead, Code.PROOF_WRONG_BEACON), (bound_anew, Code.PROOF_WORK)):
        assert check(work, **CLAIMS, epoch=EPOCH + 1, in_force=in_force) is code


def test_each_of_the_two_epochs_has_its_own_beacon() -> None:
    under = terms()
    for epoch, other in ((EPOCH, EPOCH - 1), (EPOCH - 1, EPOCH)):
        work = proof(under, epoch)

        assert verdict(work, under=under) is None
        assert verdict(replace(work, beacon=beacon(other)), under=under) is Code.PROOF_WRONG_BEACON


def test_nothing_is_looked_up_for_an_epoch_that_a_stranger_chooses() -> None:
    asked: list[int] = []

    def in_force(epoch: int) -> InForce | None:
        asked.append(epoch)
        return asks(TERMS, epoch)

    for epoch in (0, EPOCH - 2, EPOCH - 1, EPOCH, EPOCH + 1, 2**53 - 1):
        check_claims(replace(PROOF, epoch=epoch), **CLAIMS, epoch=EPOCH, in_force=in_force)

    assert asked == [EPOCH - 1, EPOCH]


def test_an_epoch_that_never_was_makes_a_proof_stale() -> None:
    code = check_claims(PROOF, **CLAIMS, epoch=EPOCH, in_force=lambda _: None)

    assert code is Code.PROOF_STALE


def test_the_first_epoch_has_none_before_it() -> None:
    first = proof(terms(), 0)

    assert check(first, **CLAIMS, epoch=0, in_force=always(terms())) is None
    assert check(first, **CLAIMS, epoch=1, in_force=always(terms())) is None
    assert check(first, **CLAIMS, epoch=2, in_force=always(terms())) is Code.PROOF_STALE


def test_more_zero_bits_than_asked_for_are_fine_if_they_are_there() -> None:
    less = terms(bits=4, gate_bits=3)

    assert verdict(PROOF, under=less) is None
    boasts = gated(replace(proof(terms(bits=3)), bits=30))
    assert verdict(boasts, under=terms(bits=3)) is Code.PROOF_WORK


@pytest.mark.parametrize("part", range(3))
def test_one_junk_part_is_enough_to_refuse(part: int) -> None:
    small = terms(bits=8)
    solutions = list(proof(small).solutions)
    solutions[part] = b"junkjunk"
    work = gated(replace(proof(small), solutions=tuple(solutions)))

    assert verdict(work, under=small) is Code.PROOF_WORK


def test_a_proof_without_parts_or_beyond_the_limits_does_no_work() -> None:
    # Whoever calls the steps one by one must not find that nothing is enough.
    nothing = gated(replace(PROOF, solutions=(), bits=0, gate_bits=0))

    assert passes_gate(nothing)
    assert not does_work(nothing)
    for beyond in (
        {"memory_kib": 2**53 - 1},
        {"passes": 2**53 - 1},
        {"memory_kib": 0},
        {"passes": 0},
        {"solutions": PROOF.solutions[:1] * 17},
        {"bits": 33},
        {"gate_bits": 2**53 - 1},
    ):
        assert not does_work(replace(PROOF, **beyond))


def test_no_gate_has_more_zeros_than_a_hash_has_bits() -> None:
    assert not passes_gate(replace(PROOF, gate_bits=257))
    assert not passes_gate(replace(PROOF, gate_bits=2**53 - 1))


@pytest.mark.parametrize(
    ("work", "code"),
    [
        (replace(JUNK, realm=named("other")), Code.PROOF_WRONG_REALM),
        (replace(JUNK, epoch=0), Code.PROOF_STALE),
        (replace(JUNK, beacon=named("other")), Code.PROOF_WRONG_BEACON),
        (replace(JUNK, bits=0), Code.PROOF_PARAMETERS),
        (gated(JUNK, opens=False), Code.PROOF_GATE),
    ],
)
def test_argon2_never_runs_before_the_gate_has_opened(work: Work, code: Code) -> None:
    found: list[Code | None] = []
    taken = seconds(lambda: found.append(verdict(work, under=DEAREST)))

    assert found == [code]
    assert taken < AT_ONCE


def test_argon2_under_the_dearest_terms_would_be_noticed() -> None:
    # What the tests before this one rest on: with an open gate the same junk takes its time.
    opened = gated(replace(JUNK, bits=32))
    once = seconds(lambda: verdict(opened, under=DEAREST))

    assert once > AT_ONCE


def test_a_stranger_does_not_choose_what_a_junk_proof_costs() -> None:
    taken = seconds(lambda: verdict(gated(replace(JUNK, bits=32)), under=terms()))

    assert taken < AT_ONCE


def test_nothing_is_hashed_after_the_first_wrong_part() -> None:
    under = terms(memory_kib=4_096, parts=MOST_PARTS, bits=1, gate_bits=0)
    good = proof(under)
    wrong = next(
        one
        for one in (bytes([index]) * 8 for index in range(256))
        if not does_work(replace(good, solutions=(one, *good.solutions[1:])))
    )
    bad = replace(good, solutions=(wrong, *good.solutions[1:]))
    whole = min(seconds(lambda: does_work(good)) for _ in range(3))
    first = min(seconds(lambda: does_work(bad)) for _ in range(3))

    assert 4 * first < whole


changes = st.one_of(
    st.fixed_dictionaries({"realm": binaries(32)}),
    st.fixed_dictionaries({"instance": binaries(32)}),
    st.fixed_dictionaries({"key": binaries(32)}),
    st.just({"role": Role.OPERATOR}),
    st.fixed_dictionaries({"epoch": st.integers(0, 2**53 - 1)}),
    st.fixed_dictionaries({"epoch": st.integers(EPOCH - 3, EPOCH + 3)}),
    st.fixed_dictionaries({"beacon": binaries(32)}),
    st.builds(dict, epoch=st.just(EPOCH - 1), beacon=st.just(beacon(EPOCH - 1))),
    st.fixed_dictionaries({"memory_kib": st.integers(0, 2**53 - 1)}),
    st.fixed_dictionaries({"passes": st.integers(0, 9)}),
    st.fixed_dictionaries({"bits": st.integers(0, 40)}),
    st.fixed_dictionaries({"gate_bits": st.integers(0, 300)}),
    st.fixed_dictionaries({"gate": binaries(8)}),
    st.fixed_dictionaries({"solutions": st.lists(binaries(8), max_size=20).map(tuple)}),
    st.fixed_dictionaries({"solutions": st.permutations(PROOF.solutions).map(tuple)}),
)


@given(changes)
def test_any_change_of_any_field_breaks_the_proof(change: dict[str, object]) -> None:
    changed = replace(PROOF, **change)

    assert (verdict(changed) is None) == (changed == PROOF)


@given(changes, changes)
def test_a_proof_for_one_registration_is_none_for_another(
    one: dict[str, object], other: dict[str, object]
) -> None:
    changed = replace(replace(PROOF, **one), **other)

    assert (verdict(changed) is None) == (changed == PROOF)


def test_bytes_are_asked_for_their_work_alone() -> None:
    good = proof(terms())

    assert prove(work_bytes(good))
    assert prove(work_bytes(gated(good, opens=False)))
    assert not prove(work_bytes(replace(good, solutions=good.solutions[::-1])))
    assert not prove(b"")
    assert not prove(work_bytes(good)[:-1])
    assert not prove(bytes(2_000))


def test_bytes_outside_the_limits_do_no_work_and_cost_none() -> None:
    huge = replace(proof(terms()), memory_kib=2**40, passes=2**40)

    assert not prove(work_bytes(huge))
