import pytest
from msgspec.structs import replace

from federation.charter import (
    HOUR,
    MATTERS,
    MINUTE,
    SECOND,
    preset,
    spell,
    worst_case_of,
    worst_case_time,
)
from federation.charter.duration import WorstCase, agreement_time, boxed_within
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


PANEL = ["deliberate", "commit", "commit2", "decide", "contest"]


def _names(worst: WorstCase) -> list[str]:
    return [step.name for step in worst.steps]


def test_a_window_of_high_sensitivity_is_in_the_path_if_it_is_held() -> None:
    charter = founded("federation", genesis_of([2] * 4))
    begins_at_once = replace(charter, review=replace(charter.review, fast_high=0))
    held, at_once = worst_case_time(charter, "high"), worst_case_time(begins_at_once, "high")

    assert "fast" in _names(held)
    assert held.total - at_once.total == 6 * HOUR + agreement_time(charter)


def test_arbiters_ask_for_a_rerun_and_the_second_ruling_is_appealed_against() -> None:
    charter = founded("community", genesis_of([2] * 4))
    ruled = worst_case_time(charter, "high")

    assert _names(ruled) == ["cut", *PANEL, "rule", "cut", *PANEL, "rule", "appeal", "admin"]
    # The fresh round opens at the cut that tells of the ruling: within an epoch.
    assert ruled.steps[7].window == charter.timing.epoch


def test_without_arbiters_a_review_ends_by_its_sign() -> None:
    charter = founded("community", genesis_of([2] * 4))
    plain = replace(charter, review=replace(charter.review, rule=0))

    assert _names(worst_case_time(plain, "high")) == ["cut", *PANEL]


@pytest.mark.parametrize(
    ("mode", "debate"),
    [
        ("open", ["deliberate"]),
        ("rounds", ["deliberate", "turn2", "turn3"]),
        ("sealed_first", ["seal", "unseal", "deliberate"]),
    ],
)
def test_each_mode_of_debate_takes_its_own_time(mode: str, debate: list[str]) -> None:
    charter = founded("solo", genesis_of([5]))
    review = replace(charter.review, mode=mode, turns=3, seal=HOUR, fast_low=0)
    charter = replace(charter, review=review)
    names = _names(worst_case_time(charter, "high"))

    assert names == ["cut", *debate, "commit", "commit2", "decide"]
    assert boxed_within(charter) == 15 * MINUTE + len(debate) * HOUR + 2 * review.commit


def test_disputes_reports_and_appeals_end_with_the_operators() -> None:
    charter = founded("community", genesis_of([2] * 4))
    dispute, report, appeal = (_names(worst_case_of(charter, matter)) for matter in MATTERS)

    assert dispute == ["cut", *PANEL, "rule", "cut", *PANEL, "rule", "appeal", "admin"]
    assert report == ["cut", "assess", *dispute[1:]]
    assert appeal == ["cut", "rule", "appeal", "admin"]


def test_without_arbiters_disputes_and_appeals_come_to_the_operators_at_once() -> None:
    charter = founded("solo", genesis_of([5]))

    assert _names(worst_case_of(charter, "dispute")) == ["cut", *PANEL[:-1], "admin"]
    assert _names(worst_case_of(charter, "appeal")) == ["cut", "admin"]


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
