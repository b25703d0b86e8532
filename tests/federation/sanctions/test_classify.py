"""Broken and inverted are told from honest, approving and dissenting voters, or nobody is."""

import math
from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.crypto import Choice
from federation.sanctions import FOR_OF_SIXTEEN, Model, Sample, bits, classify
from federation.sanctions.classify import _LOG2
from tests.federation.sanctions.violation_rows import RULES

_FOR, _AGAINST = Choice.FOR, Choice.AGAINST
_HARMLESS = {None, Model.HONEST, Model.MISLED, Model.APPROVING, Model.DISSENTING}


def _votes(stood: Iterable[Choice], fell: Iterable[Choice] = ()) -> list[Sample]:
    return [
        *(Sample(choice=one, stood=True) for one in stood),
        *(Sample(choice=one, stood=False) for one in fell),
    ]


def _drawn(seed: int, *, good: float, bad: float, each: int) -> list[Sample]:
    """Draw votes that are for good and for bad artifacts with these probabilities."""
    random = Random(seed)  # a test
    return _votes(
        [_FOR if random.random() < good else _AGAINST for _ in range(each)],
        [_FOR if random.random() < bad else _AGAINST for _ in range(each)],
    )


def test_the_logarithms_are_those_of_sixteenths() -> None:
    for sixteenths, thousandths in _LOG2.items():
        assert thousandths == round(1_000 * math.log2(sixteenths / 16))
    assert all({f, 16 - f} <= _LOG2.keys() for pair in FOR_OF_SIXTEEN.values() for f in pair)


def test_few_votes_tell_nothing_however_clear_they_are() -> None:
    rules = replace(RULES, sample=20, odds=1)
    inverted = _votes([_AGAINST] * 10, [_FOR] * 10)

    assert classify(inverted, rules) is Model.INVERTED
    assert classify(inverted[1:], rules) is None
    # And many that are not clear enough tell nothing either.
    assert classify(inverted, replace(rules, odds=20)) is None


def test_abstentions_are_no_votes() -> None:
    assert classify(_votes([Choice.ABSTAIN] * 500), RULES) is None


@pytest.mark.parametrize("seed", range(20))
def test_chance_is_found_in_the_end(seed: int) -> None:
    assert classify(_drawn(seed, good=0.5, bad=0.5, each=300), RULES) is Model.RANDOM


@pytest.mark.parametrize("seed", range(20))
def test_inversion_is_found_on_both_sides_only(seed: int) -> None:
    assert classify(_drawn(seed, good=0.05, bad=0.95, each=60), RULES) is Model.INVERTED
    one_side = _drawn(seed, good=0.05, bad=0.95, each=60)
    assert classify([one for one in one_side if one.stood], RULES) in _HARMLESS
    assert classify([one for one in one_side if not one.stood], RULES) in _HARMLESS


def test_whoever_only_ever_dissents_is_neither_broken_nor_malicious() -> None:
    for stood, fell in ((200, 0), (0, 200), (200, 3), (50, 150)):
        assert classify(_votes([_AGAINST] * stood, [_AGAINST] * fell), RULES) in _HARMLESS


def test_whoever_approves_of_everything_is_neither_broken_nor_malicious() -> None:
    for stood, fell in ((200, 0), (0, 200), (3, 200), (50, 150)):
        assert classify(_votes([_FOR] * stood, [_FOR] * fell), RULES) in _HARMLESS


@pytest.mark.parametrize("bad", [0.6, 0.75, 0.9, 1.0])
def test_most_honest_voters_were_for_what_fell_later_and_that_is_no_inversion(bad: float) -> None:
    # Only what was accepted can be reversed, so its voters were mostly for it. They are looked at
    # after each vote, not only in the end.
    for seed in range(60):
        samples = _drawn(seed, good=0.75, bad=bad, each=150)
        Random(seed).shuffle(samples)
        for upto in range(20, len(samples), 10):
            assert classify(samples[:upto], RULES) in _HARMLESS


@pytest.mark.parametrize("errs", [0.05, 0.15, 0.25])
def test_honest_voters_are_left_alone_whatever_they_got_wrong(errs: float) -> None:
    for seed in range(300):
        for each in (20, 100, 400):
            samples = _drawn(seed, good=1 - errs, bad=0.5, each=each)
            assert classify(samples, RULES) in _HARMLESS


@given(st.lists(st.builds(Sample, choice=st.sampled_from(Choice), stood=st.booleans())))
def test_the_order_of_votes_says_nothing(samples: list[Sample]) -> None:
    assert classify(samples, RULES) == classify(samples[::-1], RULES)
    assert all(bits(model, []) == 0 for model in Model)


@given(st.lists(st.booleans(), max_size=200))
def test_no_record_of_one_side_alone_is_taken_for_inversion(choices: list[bool]) -> None:
    made = [_FOR if one else _AGAINST for one in choices]

    assert classify(_votes(made), RULES) is not Model.INVERTED
    assert classify(_votes([], made), RULES) is not Model.INVERTED
