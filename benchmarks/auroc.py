"""How well a score tells two kinds of cases apart, and how sure one may be of that.

The area under the ROC curve is the chance that a random positive case scores higher than a random
negative one, a tie counting half: .5 is guessing, 1 is perfect, below .5 is worse than guessing.
Intervals come from drawing whole groups anew (all cases about one agent stay together), because
cases about the same agent are not independent.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]
DRAWS: Final = 1000
_TAILS: Final = (2.5, 97.5)  # of a 95 % interval, in per cent


def auroc(scores: ArrayLike, positive: ArrayLike, counts: ArrayLike | None = None) -> float:
    """Give the area; `counts` says how often each case counts (once if not given).

    NaN if there is no positive or no negative case.
    """
    order = Order(scores, positive)
    once = np.ones(order.cases) if counts is None else np.asarray(counts, float)
    return order.area(once)


class Order:
    """Cases sorted by score once, so that many draws over them are cheap."""

    def __init__(self, scores: ArrayLike, positive: ArrayLike) -> None:
        """Sort; integers are compared as integers."""
        values, is_positive = np.asarray(scores), np.asarray(positive, bool)
        if values.ndim != 1 or values.shape != is_positive.shape:
            raise ValueError("give one score and one label for each case")
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise ValueError("a score is not a number: an order over it would mean nothing")
        self._order = np.argsort(values, kind="stable")
        ranked = values[self._order]
        self._positive = is_positive[self._order]
        new = np.r_[True, ranked[1:] != ranked[:-1]] if len(ranked) else np.empty(0, bool)
        self._ties = np.flatnonzero(new)
        self.cases = len(values)

    def area(self, counts: Numbers) -> float:
        """Give the area when case i counts `counts[i]` times."""
        if not self.cases:
            return float("nan")
        counted = counts[self._order]
        positive = np.add.reduceat(np.where(self._positive, counted, 0.0), self._ties)
        negative = np.add.reduceat(np.where(self._positive, 0.0, counted), self._ties)
        pairs = positive.sum() * negative.sum()
        if pairs == 0:
            return float("nan")
        below = np.cumsum(negative) - negative
        return float((positive * (below + negative / 2)).sum() / pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """How often each case counts in each draw; the same draws serve every score."""

    counts: tuple[Numbers, ...]

    @classmethod
    def by(cls, groups: NDArray[np.int64], *, seed: int, draws: int = DRAWS) -> "Draws":
        """Draw as many groups as there are, with replacement, again and again."""
        chance = np.random.default_rng(seed)
        _, group = np.unique(groups, return_inverse=True)
        size = int(group.max(initial=-1)) + 1
        return cls(
            counts=tuple(
                np.bincount(chance.integers(0, size, size), minlength=size)[group].astype(float)
                for _ in range(draws)
            )
        )

    def areas(self, order: Order) -> Numbers:
        """Give the area in each draw."""
        return np.array([order.area(counts) for counts in self.counts])


def interval(values: Numbers) -> tuple[float, float]:
    """Give the middle 95 % of what draws gave; draws with only one kind of case do not count."""
    low, high = np.nanpercentile(values, _TAILS)
    return float(low), float(high)
