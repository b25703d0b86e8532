"""What a level takes of weight and quotas."""

import pytest

from federation.charter import preset
from federation.core import Code
from federation.sanctions import FREE, LADDER, Held, held

_RULES = preset("community").sanctions


def _held(level: int, *, quarantined: bool = False) -> Held:
    return held(
        level=level,
        effects=LADDER[level].effects,
        points=0,
        inherited=0,
        quarantined=quarantined,
        rules=_RULES,
    )


@pytest.mark.parametrize(
    ("level", "quota", "weight", "refusal"),
    [
        (0, 20, 100, None),
        (1, 20, 100, None),
        (2, 5, 100, None),
        (3, 5, 50, None),
        (4, 5, 0, Code.SUSPENDED),
        (5, 5, 0, Code.AGENT_BANNED),
    ],
)
def test_each_level_takes_at_least_what_the_one_below_takes(
    level: int, quota: int, weight: int, refusal: Code | None
) -> None:
    one = _held(level)

    assert (one.quota(20), one.weighs(100), one.refusal) == (quota, weight, refusal)
    assert (one.suspended, one.banned) == (level == 4, level == 5)
    assert one.probation is (level >= 3)


def test_a_quota_is_divided_but_never_to_nothing() -> None:
    assert [_held(2).quota(allowed) for allowed in (0, 1, 3, 4, 9)] == [0, 1, 1, 1, 2]


def test_a_quarantine_takes_all_weight_and_nothing_else() -> None:
    one = _held(0, quarantined=True)

    assert (one.weighs(100), one.quota(20), one.refusal) == (0, 20, None)


def test_an_agent_against_which_nothing_stands_keeps_everything() -> None:
    assert (FREE.weighs(99), FREE.quota(7), FREE.refusal, FREE.level) == (99, 7, None, 0)
