import pytest
from msgspec.structs import replace

from federation.charter import HOUR, MINUTE, SECOND, preset, spell, worst_case_time
from federation.charter.duration import agreement_time
from tests.federation.charter.founding import founded, genesis_of


def test_the_longest_path_is_the_sum_of_its_phases() -> None:
    charter = founded("test", genesis_of([5]))
    worst = worst_case_time(charter, "high")

    assert [(step.name, step.window) for step in worst.steps] == [
        ("cut", 500),
        ("deliberate", 1_000),
        ("commit", 5_000),
        ("commit2", 5_000),
        ("decide", 5_000),
    ]
    # One operator: f = 0, two fences of 400 and 800 ms, 100 ms of grace, five agreements.
    assert worst.total == 16_500 + 5 * 1_300


def test_low_sensitivity_adds_the_fast_window() -> None:
    charter = founded("community", genesis_of([2] * 4))
    low, high = worst_case_time(charter, "low"), worst_case_time(charter, "high")

    assert low.total - high.total == 3 * HOUR + agreement_time(charter)


def test_a_rule_phase_adds_nothing_while_there_is_no_arbitration() -> None:
    charter = founded("community", genesis_of([2] * 4))
    review = charter.review
    names = [step.name for step in worst_case_time(charter, "high").steps]

    assert review.rule > 0
    assert names == ["cut", "deliberate", "commit", "commit2", "decide", "contest"]
    assert worst_case_time(charter, "high") == worst_case_time(
        replace(charter, review=replace(review, rule=0)), "high"
    )


def test_every_possible_liar_may_waste_one_fence() -> None:
    seven = founded("community", genesis_of([1] * 7))

    # f = 2: fences of 5, 10, 20 and 40 s, and 2 s of grace.
    assert agreement_time(seven) == 77 * SECOND


def test_fence_timers_stop_doubling_at_the_tenth() -> None:
    many = founded("test", genesis_of([1] * 34), timing=replace(preset("test").timing, grace=0))

    # f = 11: thirteen fences, 0 to 12, of which the last three are equal.
    assert agreement_time(many) == 400 * (2**11 - 1 + 2 * 2**10)


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_500, "1 s"),
        (90 * MINUTE, "1 h 30 min"),
        (49 * HOUR + 3 * SECOND, "2 d 1 h 3 s"),
    ],
)
def test_durations_are_spelled_for_people(span: int, text: str) -> None:
    assert spell(span) == text
