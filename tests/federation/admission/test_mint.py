"""A search finds what the checks accept, in steps of any size, saved, resumed and shared."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.admission import (
    MOST_STRIDE,
    Mint,
    Progress,
    Terms,
    challenge,
    check,
    expected_gate_tries,
    expected_tries,
    read_progress,
)
from federation.admission.work import part_hash, part_salt, zeros
from federation.codec import encode
from federation.core import CallerError, Code, ParameterError, PeerError
from tests.federation.admission.proofs import CLAIMS, EPOCH, always, blank, proof, terms
from tests.strategies import damaged

TERMS = terms(bits=3, gate_bits=5)
BLANK = blank(TERMS)
MINT = Mint(blank=BLANK)
DONE = proof(TERMS)


def searched(mint: Mint, progress: Progress, steps: Iterable[int]) -> Progress:
    for tries in steps:
        progress = mint.advance(progress, tries)
    while not progress.is_over:
        progress = mint.advance(progress, 64)
    return progress


@pytest.mark.parametrize(
    "under",
    [
        terms(),
        terms(parts=1, bits=0, gate_bits=0),
        terms(parts=16, bits=1, gate_bits=0),
        terms(memory_kib=32, passes=3, parts=2, bits=4, gate_bits=10),
    ],
)
def test_what_a_search_finds_is_a_proof(under: Terms) -> None:
    found = proof(under)

    assert check(found, **CLAIMS, epoch=EPOCH, in_force=always(under)) is None
    assert challenge(found) == challenge(blank(under))


def test_a_search_tries_values_in_order_and_takes_the_first() -> None:
    salt = part_salt(challenge(BLANK), 0)
    first = next(
        value
        for value in (nonce.to_bytes(8, "big") for nonce in range(10_000))
        if zeros(part_hash(salt, value, TERMS)) >= TERMS.bits
    )

    assert DONE.solutions[0] == first


@given(st.lists(st.integers(1, 30), max_size=40))
def test_the_size_of_the_steps_changes_nothing(steps: list[int]) -> None:
    assert MINT.finish(searched(MINT, MINT.start(), steps)) == DONE


@given(st.lists(st.integers(1, 9), max_size=20))
def test_a_saved_search_goes_on_where_it_stopped(steps: list[int]) -> None:
    progress = MINT.start()
    for tries in steps:
        progress = read_progress(encode(MINT.advance(progress, tries)))

    assert MINT.finish(searched(MINT, progress, ())) == DONE


def test_progress_counts_each_try_and_never_goes_back() -> None:
    seen = [MINT.start()]
    while not seen[-1].at_gate:
        seen.append(MINT.advance(seen[-1], 1))

    assert [progress.tried for progress in seen] == list(range(len(seen)))
    assert all(a.part <= b.part for a, b in pairwise(seen[:-1]))
    assert sum(int.from_bytes(one, "big") + 1 for one in DONE.solutions) == seen[-1].tried


def test_a_step_stops_where_the_gate_begins() -> None:
    # A shell that asks for as many tries as fit into a second must not mix the two.
    progress = MINT.advance(MINT.start(), 1_000_000)

    assert progress.at_gate
    assert not progress.is_over
    assert progress.nonce == 0
    assert MINT.advance(progress, 1_000_000).is_over


def test_gate_tries_do_not_count_as_hashes_of_argon2() -> None:
    progress = MINT.advance(MINT.start(), 1_000_000)

    assert MINT.advance(progress, 1_000_000).tried == progress.tried


def test_a_search_that_is_over_stays_as_it_is() -> None:
    over = searched(MINT, MINT.start(), ())

    assert MINT.advance(over, 5) is over
    assert MINT.join(over, MINT.start()) is over


@given(st.integers(2, 5), st.randoms(use_true_random=False))
def test_shares_of_one_search_find_one_proof_together(shares: int, order: object) -> None:
    assert hasattr(order, "randrange")
    mints = [replace(MINT, stride=shares, offset=offset) for offset in range(shares)]
    states = [mint.start(part=mint.offset) for mint in mints]
    while not any(state.is_over for state in states):
        one, other = order.randrange(shares), order.randrange(shares)
        states[one] = mints[one].advance(states[one], 1 + order.randrange(20))
        states[other] = mints[other].join(states[other], states[one])
    over = next(state for state in states if state.is_over)
    found = {mint.finish(mint.join(state, over)) for mint, state in zip(mints, states, strict=True)}

    assert len(found) == 1
    assert check(found.pop(), **CLAIMS, epoch=EPOCH, in_force=always(TERMS)) is None


@given(st.integers(1, 5), st.integers(0, 4), st.integers(0, 99))
def test_shares_try_different_values(stride: int, offset: int, nonce: int) -> None:
    hard = blank(terms(bits=32))
    mint = Mint(blank=hard, stride=stride, offset=offset % stride)
    start = msgspec.structs.replace(mint.start(), nonce=nonce)
    after = mint.advance(start, 3)

    # Nothing is found at 32 bits, so the next value tells which were tried.
    assert after.found == (None,) * 3
    assert (after.nonce - mint.offset) % stride == 0
    assert nonce + 3 * stride <= after.nonce < nonce + 4 * stride


def test_a_join_moves_on_from_a_part_that_another_has_found() -> None:
    waiting = msgspec.structs.replace(MINT.start(), nonce=10_000)
    other = msgspec.structs.replace(MINT.start(), found=(DONE.solutions[0], None, None), part=1)
    joined = MINT.join(waiting, other)
    after = MINT.advance(joined, 1_000)

    assert joined.found == other.found
    assert after.found == DONE.solutions


def test_a_join_does_not_disturb_a_part_that_nobody_has_found() -> None:
    waiting = msgspec.structs.replace(MINT.start(), nonce=100)
    other = msgspec.structs.replace(MINT.start(), found=(None, None, DONE.solutions[2]))

    assert MINT.join(waiting, other) == msgspec.structs.replace(waiting, found=other.found)
    assert MINT.join(waiting, waiting) == waiting


def test_a_join_at_the_gate_does_not_begin_the_gate_again() -> None:
    at_gate = MINT.advance(MINT.start(), 1_000_000)
    further = msgspec.structs.replace(at_gate, nonce=3)

    assert MINT.join(further, MINT.start()) == further
    assert MINT.join(further, at_gate) == further


def test_of_two_solutions_of_a_part_the_lower_stands_on_both_sides() -> None:
    low = msgspec.structs.replace(MINT.start(), found=(bytes(8), None, None), part=1)
    high = msgspec.structs.replace(MINT.start(), found=(b"\xff" * 8, None, None), part=1)

    assert MINT.join(low, high).found == MINT.join(high, low).found == low.found


def test_a_gate_is_taken_over_with_the_list_that_it_was_found_for() -> None:
    over = searched(MINT, MINT.start(), ())
    mine = msgspec.structs.replace(MINT.start(), found=(bytes(8), None, None), part=1, tried=9)
    joined = MINT.join(mine, over)

    assert MINT.finish(joined) == DONE
    assert joined.tried == 9


def test_a_search_may_begin_at_any_part() -> None:
    progress = MINT.start(part=5)

    assert progress.part == 2
    assert MINT.finish(searched(MINT, progress, (1,) * 10)) == DONE


@pytest.mark.parametrize("act", ["advance", "join", "finish"])
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"bound_to": bytes(32)}, "another search"),
        ({"found": (None,) * 2}, "3 parts"),
        ({"found": (None,) * 4}, "3 parts"),
        ({"part": 3}, "3 parts"),
        ({"nonce": 2**53 - 1}, "stands at value"),
    ],
)
def test_progress_of_another_search_or_a_damaged_one_is_refused(
    act: str, change: dict[str, object], why: str
) -> None:
    other = msgspec.structs.replace(MINT.start(), **change)
    acts = {
        "advance": lambda: MINT.advance(other, 1),
        "join": lambda: MINT.join(MINT.start(), other),
        "finish": lambda: MINT.finish(other),
    }
    with pytest.raises(CallerError, match=why) as refused:
        acts[act]()

    assert refused.value.code is Code.OUT_OF_RANGE


def test_progress_is_of_no_use_under_other_terms_or_in_another_epoch() -> None:
    for other in (blank(terms(bits=4, gate_bits=5)), blank(TERMS, EPOCH + 1)):
        with pytest.raises(CallerError, match="another search"):
            Mint(blank=other).advance(MINT.start(), 1)


def test_an_unfinished_search_gives_no_proof() -> None:
    for progress in (MINT.start(), MINT.advance(MINT.start(), 1_000_000)):
        with pytest.raises(CallerError, match="not over"):
            MINT.finish(progress)
    gate_only = msgspec.structs.replace(MINT.start(), gate=bytes(8))
    with pytest.raises(CallerError, match="not over"):
        MINT.finish(gate_only)


@pytest.mark.parametrize("change", [{"gate": b"\xff" * 8}, {"found": (b"junkjunk",) * 3}])
def test_a_search_whose_findings_were_damaged_gives_no_proof(change: dict[str, object]) -> None:
    over = searched(MINT, MINT.start(), ())
    with pytest.raises(CallerError, match="no solution"):
        MINT.finish(msgspec.structs.replace(over, **change))


@given(damaged(encode(searched(MINT, MINT.start(), (5, 5)))))
def test_damaged_bytes_of_a_saved_search_are_refused_or_harmless(raw: bytes) -> None:
    try:
        progress = MINT.advance(read_progress(raw), 10)
    except (PeerError, CallerError):
        return

    assert read_progress(encode(progress)) == progress


@pytest.mark.parametrize(
    ("stride", "offset"), [(0, 0), (-1, 0), (MOST_STRIDE + 1, 0), (2, 2), (2, -1)]
)
def test_a_share_that_is_none_is_refused(stride: int, offset: int) -> None:
    with pytest.raises(ParameterError, match="share"):
        Mint(blank=BLANK, stride=stride, offset=offset)


def test_terms_beyond_the_limits_are_not_searched_for() -> None:
    with pytest.raises(ParameterError, match="outside the limits"):
        Mint(blank=msgspec.structs.replace(BLANK, memory_kib=2**40))


@pytest.mark.parametrize("tries", [0, -1])
def test_a_step_tries_at_least_one_value(tries: int) -> None:
    with pytest.raises(ParameterError, match="ask for 1 or more"):
        MINT.advance(MINT.start(), tries)


def test_what_a_search_takes_on_average_is_known_beforehand() -> None:
    assert expected_tries(terms(parts=4, bits=9)) == 2_048
    assert expected_gate_tries(terms(gate_bits=20)) == 1_048_576
    assert expected_tries(terms(parts=3, bits=0)) == 3


def test_searches_take_about_what_is_expected() -> None:
    under = terms(parts=4, bits=4, gate_bits=0)
    tried = [
        searched(mint, mint.start(), ()).tried
        for mint in (Mint(blank=blank(under, epoch)) for epoch in range(100))
    ]

    # 400 parts of 16 tries each, give or take four times 16 · √400; the names are fixed.
    assert abs(sum(tried) - 100 * expected_tries(under)) < 4 * 16 * 20
