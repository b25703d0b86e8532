"""Whether low trust, computed from the positive ratings of the past, foretells negative ones.

A case is a later rating about somebody who was known in the past; it is positive (in the sense of
the measurement) if the rating is negative, and its score is minus the trust of who is rated.
Nothing from after the cut in time, and no negative rating at all, goes into trust.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from benchmarks.auroc import Draws, Numbers, Order, auroc, interval
from benchmarks.otc_data import Ints, Judgements, Split
from benchmarks.otc_methods import (
    Method,
    Scores,
    folkmoot,
    folkmoot_uncapped,
    in_degree,
    seed_sets,
    stationary,
)
from federation.trust.eigentrust import M

MAIN: Final = "earliest 20"
_DRAW_SEED: Final = 12
_KNOWING_NOTHING: Final = 500
_REFERENCE: Final = "folkmoot"

Found = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cases:
    """Later ratings, or some of them, and the draws over who they are about."""

    targets: Ints
    negative: Numbers
    draws: Draws

    @classmethod
    def of(cls, later: Split, places: Ints | None = None) -> "_Cases":
        """Take all later ratings, or those at the given places."""
        chosen = slice(None) if places is None else places
        targets = later.targets[chosen]
        return cls(
            targets=targets,
            negative=later.negative[chosen].astype(float),
            draws=Draws.by(targets, seed=_DRAW_SEED),
        )

    def areas(self, distrust: Scores) -> tuple[float, Numbers]:
        """Give the area for a score of agents, and in every draw."""
        order = Order(distrust[self.targets], self.negative)
        return order.area(np.ones(order.cases)), self.draws.areas(order)

    def chance(self, agents: int) -> Found:
        """Give what scores get that know nothing: the mean of many, and the middle 95 %."""
        random = np.random.default_rng(_DRAW_SEED)
        once = np.ones(len(self.targets))
        areas = np.array(
            [
                Order(random.random(agents)[self.targets], self.negative).area(once)
                for _ in range(_KNOWING_NOTHING)
            ]
        )
        return {
            "auroc": _rounded(float(areas.mean())),
            "interval": [_rounded(end) for end in interval(areas)],
        }

    def counts(self) -> Found:
        """Say how large the measurement is."""
        bad = np.sort(np.bincount(self.targets, weights=self.negative))[::-1]
        return {
            "ratings": len(self.targets),
            "agents": len(np.unique(self.targets)),
            "negative_share": _rounded(float(self.negative.mean())),
            "ten_worst_share": _rounded(float(bad[:10].sum() / bad.sum())),
        }


def foretell(later: Split, methods: dict[str, Method]) -> Found:
    """Measure every method at one cut in time, over all later ratings and over first ones."""
    sets = seed_sets(later.past)
    trust = {name: one.score(later.past, sets[MAIN]) for name, one in methods.items()}
    trust["past_complaints"] = -later.complaints
    every, first = _Cases.of(later), _Cases.of(later, later.first_each())
    seated = later.raters >= 0
    seated[seated] = trust[_REFERENCE][later.raters[seated]] >= M // later.past.seats
    return {
        "past_share": later.share,
        "agents": later.past.agents,
        "edges": len(later.past.sources),
        "reached_share": {
            name: _rounded(float((trust[name] > 0)[np.unique(later.targets)].mean()))
            for name in trust
            if name in methods and methods[name].seeded
        },
        "all": {**every.counts(), "auroc": _compared(trust, every)},
        "first": {**first.counts(), "auroc": _compared(trust, first)},
        "looked_at_afterwards": {
            **_by_agent(trust, later),
            "raters_with_a_seat": {
                name: _rounded(auroc(-scores[later.targets[seated]], later.negative[seated]))
                for name, scores in trust.items()
            },
        },
        "seeds": _sensitivity(later, methods, sets),
    }


def _compared(trust: dict[str, Scores], cases: _Cases) -> Found:
    """Give each method's area, its interval, and how far it is from the reference's."""
    areas = {name: cases.areas(-scores) for name, scores in trust.items()}
    point, drawn = areas[_REFERENCE]
    found: Found = {
        name: {
            "auroc": _rounded(area),
            "interval": [_rounded(end) for end in interval(draws)],
            "folkmoot_ahead": _rounded(point - area),
            "ahead_interval": [_rounded(end) for end in interval(drawn - draws)],
        }
        for name, (area, draws) in areas.items()
    }
    return {**found, "chance": cases.chance(len(trust[_REFERENCE]))}


def _by_agent(trust: dict[str, Scores], later: Split) -> Found:
    """Give the areas with agents as cases: with any bad later rating, and with mostly bad ones."""
    got = np.bincount(later.targets, minlength=later.past.agents)
    bad = np.bincount(later.targets, weights=later.negative, minlength=later.past.agents)
    agents = np.flatnonzero(got)
    return {
        view: {
            name: _rounded(auroc(-scores[agents], labels[agents])) for name, scores in trust.items()
        }
        for view, labels in (("ever_negative", bad > 0), ("mostly_negative", bad > got / 2))
    }


def _sensitivity(later: Split, methods: dict[str, Method], sets: dict[str, list[int]]) -> Found:
    """Give the areas over all later ratings for every set of seeds."""
    return {
        rule: {
            name: _rounded(auroc(-one.score(later.past, seeds)[later.targets], later.negative))
            for name, one in methods.items()
            if one.seeded
        }
        for rule, seeds in sets.items()
    }


def own_eyes(later: Split, *, most: int) -> Found:
    """Let each rater ask with seeds of its own: itself and whom it rated well in the past.

    Only later ratings by raters that had rated somebody well; `most` raters are drawn. Beside it
    stand the areas of the common seeds and of plain counting over the same ratings.
    """
    past = later.past
    may = np.isin(later.raters, past.sources)
    raters = np.unique(later.raters[may])
    chosen = np.random.default_rng(_DRAW_SEED).choice(raters, min(most, len(raters)), replace=False)
    cases = np.flatnonzero(np.isin(later.raters, chosen))
    targets = later.targets[cases]
    scores = {"folkmoot": np.zeros(len(cases)), "folkmoot_uncapped": np.zeros(len(cases))}
    scores["ppr"] = np.zeros(len(cases))
    for rater in chosen:
        mine = later.raters[cases] == rater
        seeds = _circle(past, int(rater))
        start = np.zeros(past.agents)
        start[seeds] = 1 / len(seeds)
        scores["folkmoot"][mine] = folkmoot(past, seeds)[targets[mine]]
        scores["folkmoot_uncapped"][mine] = folkmoot_uncapped(past, seeds)[targets[mine]]
        scores["ppr"][mine] = stationary(past, start)[targets[mine]]
    common = folkmoot(past, seed_sets(past)[MAIN])[targets]
    negative, draws = later.negative[cases], Draws.by(targets, seed=_DRAW_SEED)
    counted = in_degree(past, [])[targets]
    found: Found = {
        "past_share": later.share,
        "raters": len(chosen),
        "ratings": len(cases),
        "negative_share": _rounded(float(negative.mean())),
    }
    for name, values in {**scores, "common_seeds": common, "in_degree": counted}.items():
        order = Order(-values, negative)
        found[name] = {
            "auroc": _rounded(order.area(np.ones(len(cases)))),
            "interval": [_rounded(end) for end in interval(draws.areas(order))],
        }
    return found


def _circle(past: Judgements, rater: int) -> list[int]:
    return sorted({rater, *past.targets[past.sources == rater].tolist()})


def _rounded(value: float) -> float:
    return round(value, 4)
