import math
import random

import pytest

from node.minting import estimate

MANY = 20_000


def searched(parts: int, part_s: float, gate_s: float, dice: random.Random) -> float:
    """Give how long one search takes: each stage lasts without a memory."""
    stages = [part_s] * parts + [gate_s]
    return sum(-one * math.log(1 - dice.random()) for one in stages if one)


@pytest.mark.parametrize(
    ("parts", "part_s", "gate_s"),
    [(4, 5.0, 1.0), (1, 5.0, 0.1), (1, 3.0, 3.0), (16, 2.0, 0.5), (2, 1.0, 30.0), (0, 0.0, 4.0)],
)
def test_as_many_searches_end_in_time_as_it_says(parts: int, part_s: float, gate_s: float) -> None:
    dice = random.Random(parts)
    told = estimate(
        parts=parts,
        part_tries=512,
        part_speed=512 / part_s if part_s else 1.0,
        gate_tries=1_000,
        gate_speed=1_000 / gate_s,
    )
    took = [searched(parts, part_s, gate_s, dice) for _ in range(MANY)]

    assert told.mean_s == pytest.approx(sum(took) / MANY, rel=0.03)
    assert sum(one <= told.half_s for one in took) / MANY == pytest.approx(0.5, abs=0.02)
    assert sum(one <= told.most_s for one in took) / MANY == pytest.approx(0.95, abs=0.01)


def test_what_is_over_takes_no_time() -> None:
    told = estimate(parts=0, part_tries=512, part_speed=1, gate_tries=0, gate_speed=1)

    assert (told.mean_s, told.half_s, told.most_s) == (0, 0, 0)


@pytest.mark.parametrize("speed", [0.0, -1.0])
def test_without_a_speed_nothing_is_estimated(speed: float) -> None:
    with pytest.raises(ValueError, match="speeds above 0"):
        estimate(parts=1, part_tries=512, part_speed=speed, gate_tries=0, gate_speed=1)
    with pytest.raises(ValueError, match="speeds above 0"):
        estimate(parts=1, part_tries=512, part_speed=1, gate_tries=0, gate_speed=speed)


def test_less_than_nothing_is_not_estimated() -> None:
    with pytest.raises(ValueError, match="tries from 0"):
        estimate(parts=-1, part_tries=512, part_speed=1, gate_tries=0, gate_speed=1)
