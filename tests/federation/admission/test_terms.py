"""Terms stay within limits that no charter moves; bits follow admissions one step at a time."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from federation.admission import (
    LEAST_MEMORY_KIB,
    MOST_BITS,
    MOST_GATE_BITS,
    MOST_MEMORY_KIB,
    MOST_PARTS,
    MOST_PASSES,
    Terms,
    asks_nothing,
    next_bits,
    terms_of,
)
from federation.charter import PRESETS, TEST
from federation.core import ParameterError
from federation.records import Role
from tests.federation.admission.proofs import terms

LIMITS = [
    ("memory_kib", LEAST_MEMORY_KIB, MOST_MEMORY_KIB),
    ("passes", 1, MOST_PASSES),
    ("parts", 1, MOST_PARTS),
    ("bits", 0, MOST_BITS),
    ("gate_bits", 0, MOST_GATE_BITS),
]

counts = st.integers(0, 40) | st.integers(0, 2**60)


@st.composite
def rules(draw: st.DrawFn) -> dict[str, int]:
    base = draw(st.integers(0, MOST_BITS))
    return {
        "base": base,
        "target": draw(st.integers(1, 20) | st.integers(1, 2**50)),
        "most": draw(st.integers(base, MOST_BITS)),
    }


def test_the_limits_are_those_of_the_design() -> None:
    assert [(least, most) for _, least, most in LIMITS] == [
        (8, 262_144),
        (1, 4),
        (1, 16),
        (0, 32),
        (0, 40),
    ]


@pytest.mark.parametrize(("name", "least", "most"), LIMITS)
def test_terms_at_a_limit_stand_and_beyond_it_do_not(name: str, least: int, most: int) -> None:
    for value in (least, most):
        assert getattr(replace(terms(), **{name: value}), name) == value
    for value in (least - 1, most + 1, -1, 2**53, -(2**80)):
        with pytest.raises(ParameterError, match=f"{name} from {least} to {most}"):
            replace(terms(), **{name: value})


@pytest.mark.parametrize("name", ["bits", "gate_bits"])
def test_more_zero_bits_than_asked_for_are_welcome(name: str) -> None:
    asked = terms()
    more = replace(asked, **{name: getattr(asked, name) + 1})

    assert asked.are_met_by(asked)
    assert asked.are_met_by(more)
    assert not more.are_met_by(asked)


@pytest.mark.parametrize("name", ["memory_kib", "passes", "parts"])
def test_what_a_verifier_pays_with_has_to_be_as_asked(name: str) -> None:
    asked = terms()
    more = replace(asked, **{name: getattr(asked, name) + 1})

    assert not asked.are_met_by(more)
    assert not more.are_met_by(asked)


@pytest.mark.parametrize(
    ("admitted", "expected"),
    [(0, 9), (3, 9), (4, 10), (8, 10), (16, 10), (17, 11), (1_000_000, 11)],
)
def test_bits_rise_above_twice_the_target_and_fall_below_half(admitted: int, expected: int) -> None:
    assert next_bits(10, admitted, base=9, target=8, most=14) == expected


def test_an_odd_target_is_halved_exactly() -> None:
    assert next_bits(10, 3, base=9, target=7, most=14) == 9
    assert next_bits(10, 4, base=9, target=7, most=14) == 10


def test_bits_never_fall_below_the_base_nor_rise_above_the_most() -> None:
    assert next_bits(9, 0, base=9, target=8, most=14) == 9
    assert next_bits(14, 10**9, base=9, target=8, most=14) == 14


def test_a_charter_that_moves_the_range_moves_the_bits_into_it() -> None:
    assert next_bits(5, 8, base=9, target=8, most=14) == 9
    assert next_bits(20, 8, base=9, target=8, most=14) == 14


@given(rules(), st.integers(0, 64), counts)
def test_bits_stay_in_the_range_and_move_by_one_within_it(
    rule: dict[str, int], bits: int, admitted: int
) -> None:
    found = next_bits(bits, admitted, **rule)

    assert rule["base"] <= found <= rule["most"]
    if rule["base"] <= bits <= rule["most"]:
        assert abs(found - bits) <= 1


@given(rules(), st.integers(0, 64), counts, counts)
def test_more_admissions_never_make_the_puzzle_easier(
    rule: dict[str, int], bits: int, one: int, other: int
) -> None:
    few, many = sorted((one, other))

    assert next_bits(bits, few, **rule) <= next_bits(bits, many, **rule)


@given(rules(), st.integers(0, 63), counts)
def test_a_harder_epoch_is_never_followed_by_an_easier_one_than_an_easier_epoch_is(
    rule: dict[str, int], bits: int, admitted: int
) -> None:
    assert next_bits(bits, admitted, **rule) <= next_bits(bits + 1, admitted, **rule)


@given(rules(), st.integers(0, 64))
def test_quiet_epochs_lead_back_to_the_base(rule: dict[str, int], bits: int) -> None:
    assume(rule["target"] > 1)
    for _ in range(MOST_BITS + 1):
        bits = next_bits(bits, 0, **rule)

    assert bits == rule["base"]


@pytest.mark.parametrize(
    ("base", "target", "most", "admitted"),
    [(-1, 8, 14, 0), (9, 8, 8, 0), (9, 8, 33, 0), (9, 0, 14, 0), (9, -8, 14, 0), (9, 8, 14, -1)],
)
def test_a_rule_that_makes_no_sense_is_refused(
    base: int, target: int, most: int, admitted: int
) -> None:
    with pytest.raises(ParameterError, match="bits of the puzzle not adapted"):
        next_bits(9, admitted, base=base, target=target, most=most)


# What a charter asks ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_only_the_test_preset_asks_for_nothing(name: str) -> None:
    assert asks_nothing(PRESETS[name].admission) is (name == TEST)


def test_an_operator_shows_as_many_bits_more_as_the_charter_puts_between_the_two() -> None:
    admission = PRESETS["community"].admission
    agent, operator = (terms_of(admission, role, 11) for role in (Role.AGENT, Role.OPERATOR))

    assert agent == Terms(memory_kib=16_384, passes=1, parts=4, bits=11, gate_bits=18)
    assert operator == Terms(memory_kib=16_384, passes=1, parts=4, bits=14, gate_bits=18)


@given(
    agent=st.integers(0, MOST_BITS),
    operator=st.integers(0, MOST_BITS),
    bits=st.integers(0, MOST_BITS),
    role=st.sampled_from([Role.AGENT, Role.OPERATOR]),
)
def test_no_charter_asks_for_more_than_a_proof_can_show(
    agent: int, operator: int, bits: int, role: Role
) -> None:
    admission = changed(PRESETS[TEST].admission, agent_bits=agent, operator_bits=operator)

    assert 0 <= terms_of(admission, role, bits).bits <= MOST_BITS
