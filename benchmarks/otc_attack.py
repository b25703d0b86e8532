"""What Sybils get on a real graph of trust, if they fool some of its agents.

An attacker makes any number of identities, and g real agents judge well of one each, as heavily as
an edge can.
Real agents are drawn from those who judge anybody, or are the most trusted ones, which is worse.
The identities judge one another as heavily as can be: in a ring, or each the next eight, which is
what gets round the rule that nobody passes more than an eighth over one edge.
"""

from typing import Final, Literal

import numpy as np

from benchmarks.otc_data import HEAVIEST, Ints, Judgements
from benchmarks.otc_methods import Method, Scores, Seeds, rules
from federation.core import MILLION
from federation.trust.eigentrust import M
from federation.trust.weights import weight

Shape = Literal["ring", "eight"]
Fooled = Literal["drawn", "most trusted"]
SHAPES: Final[tuple[Shape, ...]] = ("ring", "eight")
FOOLED: Final[tuple[Fooled, ...]] = ("drawn", "most trusted")
METHODS: Final[tuple[str, ...]] = ("folkmoot", "folkmoot_uncapped", "igraph_ppr", "pagerank")
_SEED: Final = 5

Found = dict[str, object]


class TheoremError(Exception):
    """Sybils got more weight than the theorem of bounded influence allows."""


def attack(
    real: Judgements,
    seeds: Seeds,
    methods: dict[str, Method],
    *,
    sybils: int,
    victims: Ints,
    shape: Shape,
) -> Found:
    """Give the Sybils' share of trust and of voting weight under every method.

    Voting weight is made in the same way for all: a ticket, then trust in seats, at most one, with
    the seats of the realm as it was before the attack. `bound` is what the theorem allows them,
    as a share of the weight that there is under `folkmoot`; the theorem is checked.
    """
    attacked = with_sybils(real, victims, sybils=sybils, shape=shape)
    charter = rules(real.seats)
    bound = charter.kappa * charter.w_max * len(victims)
    found: Found = {"sybils": sybils, "edges": len(victims), "shape": shape}
    for name, method in methods.items():
        trust = in_mass(method.score(attacked, seeds))
        held = voting(trust, seats=real.seats)
        theirs, all_of_it = int(held[real.agents :].sum()), int(held.sum())
        found[name] = {
            "trust": round(float(trust[real.agents :].sum() / trust.sum()), 5),
            "weight": round(theirs / all_of_it, 5),
            "full_seats": round(theirs / charter.w_max, 2),
        }
        if name == "folkmoot":
            if theirs > bound:
                raise TheoremError(f"the theorem does not hold: {theirs} above {bound}")
            honest = all_of_it - theirs
            found["bound"] = round(bound / (bound + honest), 5)
    return found


def with_sybils(real: Judgements, victims: Ints, *, sybils: int, shape: Shape) -> Judgements:
    """Add the identities behind the real agents, and the edges of the fooled ones to them.

    Those edges reach identities spread evenly, so that no two caps are shared.
    """
    if sybils <= max(len(victims), 8):
        raise ValueError("an attack needs more identities than edges, and more than eight")
    new = real.agents + np.arange(sybils)
    steps = np.arange(1, 2 if shape == "ring" else 9)
    judging = np.repeat(new, len(steps))
    judged = (
        real.agents + (np.repeat(np.arange(sybils), len(steps)) + np.tile(steps, sybils)) % sybils
    )
    reached = real.agents + np.arange(len(victims)) * (sybils // len(victims))
    heavy = np.full(len(victims) + len(judging), HEAVIEST, np.int64)
    return Judgements(
        agents=real.agents + sybils,
        seats=real.seats,
        sources=np.concatenate([real.sources, victims, judging]),
        targets=np.concatenate([real.targets, reached, judged]),
        weights=np.concatenate([real.weights, heavy]),
    )


def victims_of(real: Judgements, trust: Ints, *, edges: int, fooled: Fooled) -> Ints:
    """Choose whom the attacker fools: different agents that judge somebody."""
    judging = np.unique(real.sources)
    if fooled == "drawn":
        return np.sort(np.random.default_rng(_SEED).choice(judging, edges, replace=False))
    most: Ints = judging[np.argsort(-trust[judging], kind="stable")[:edges]]
    return np.sort(most)


def in_mass(scores: Scores) -> Ints:
    """Give scores as trust of M, as `folkmoot` gives it already."""
    if scores.dtype.kind == "i":
        return np.asarray(scores, np.int64)
    mass: Ints = np.floor(scores / scores.sum() * M).astype(np.int64)
    return mass


def voting(trust: Ints, *, seats: int) -> Ints:
    """Make voting weights by the shipped rule, everybody being fully competent."""
    charter = rules(seats)
    made = [weight(charter, t=int(t), competence=MILLION, r=MILLION) for t in trust]
    return np.array(made, np.int64)
