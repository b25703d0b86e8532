"""Ways to say how far an agent is trusted, all from the positive judgements of the past.

`folkmoot` is the shipped computation in a realm with as many seats as there are agents.
`folkmoot_uncapped` is the same with no cap on an edge: what is left is that nobody passes more than
an eighth over one edge.
Personalised PageRank has neither, so that the three together say what each rule costs.
"""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from msgspec.structs import replace
from scipy.sparse import csr_array

from benchmarks.otc_data import Floats, Ints, Judgements
from federation.charter import Trust, preset
from federation.trust.eigentrust import M, Problem, edge_cap, unpack
from federation.trust.sparse import reckon

DAMPING: Final = 0.75
_TOLERANCE: Final = 1e-14
_MOST_ROUNDS: Final = 500

Seeds = Sequence[int]
Scores = Floats | Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way, and what it needs."""

    score: Callable[[Judgements, Seeds], Scores]
    """Trust of each agent; only the order matters."""
    seeded: bool
    """Whether it starts from seeds."""
    says: str
    """What it is, in a few words."""


def rules(seats: int) -> Trust:
    """Give the community preset's rules of trust for so many seats."""
    return replace(preset("community").trust, seats=seats)


def folkmoot(past: Judgements, seeds: Seeds) -> Ints:
    """Compute trust as a realm does, of M = 2^60 in all."""
    return _reckoned(past, seeds, edge_cap(rules(past.seats)))


def folkmoot_uncapped(past: Judgements, seeds: Seeds) -> Ints:
    """Compute it with no cap on what one edge brings."""
    return _reckoned(past, seeds, M)


def _reckoned(past: Judgements, seeds: Seeds, cap: int) -> Ints:
    problem = Problem(
        nodes=past.agents,
        sources=past.sources.astype("<u4").tobytes(),
        targets=past.targets.astype("<u4").tobytes(),
        weights=past.weights.astype(np.uint8).tobytes(),
        seeds=tuple(sorted(seeds)),
        silent=(),
        edge_cap=cap,
    )
    return np.array(unpack(problem, reckon(problem)), np.int64)


def personalised(past: Judgements, seeds: Seeds) -> Floats:
    """Compute personalised PageRank by igraph, in shares of 1."""
    igraph = importlib.import_module("igraph")  # it may be missing; `available` knows
    graph = igraph.Graph(
        n=past.agents, edges=np.column_stack([past.sources, past.targets]), directed=True
    )
    return np.array(
        graph.personalized_pagerank(
            damping=DAMPING,
            reset_vertices=list(seeds),
            weights=past.weights.astype(float).tolist(),
            implementation="prpack",
        )
    )


def pagerank(past: Judgements, seeds: Seeds) -> Floats:
    """Compute plain PageRank, in shares of 1: everybody is a seed."""
    del seeds
    return stationary(past, np.full(past.agents, 1 / past.agents))


def stationary(past: Judgements, start: Floats) -> Floats:
    """Iterate in floating point until nothing moves; who judges nobody hands back to `start`."""
    passed = np.bincount(past.sources, weights=past.weights, minlength=past.agents)
    shares = DAMPING * past.weights / passed[past.sources]
    matrix = csr_array((shares, (past.targets, past.sources)), shape=(past.agents, past.agents))
    trust: Floats = start
    for _ in range(_MOST_ROUNDS):
        flow: Floats = matrix @ trust
        grown: Floats = flow + (1 - flow.sum()) * start
        if np.abs(grown - trust).sum() < _TOLERANCE:
            return grown
        trust = grown
    return trust


def in_degree(past: Judgements, seeds: Seeds) -> Ints:
    """Count who judged well of each."""
    del seeds
    counts: Ints = np.bincount(past.targets, minlength=past.agents)
    return counts


def in_weight(past: Judgements, seeds: Seeds) -> Ints:
    """Add up the weights of who judged well of each."""
    del seeds
    return np.bincount(past.targets, weights=past.weights, minlength=past.agents).astype(np.int64)


METHODS: Final[dict[str, Method]] = {
    "folkmoot": Method(score=folkmoot, seeded=True, says="integer EigenTrust with its caps"),
    "folkmoot_uncapped": Method(
        score=folkmoot_uncapped, seeded=True, says="the same, no cap on an edge"
    ),
    "igraph_ppr": Method(score=personalised, seeded=True, says="personalised PageRank of igraph"),
    "pagerank": Method(score=pagerank, seeded=False, says="plain PageRank, no seeds"),
    "in_degree": Method(score=in_degree, seeded=False, says="how many judged well of it"),
    "in_weight": Method(score=in_weight, seeded=False, says="the same, by weight"),
}


def available() -> tuple[dict[str, Method], dict[str, str]]:
    """Give the methods that can run here, and how to install what the others need."""
    there = importlib.util.find_spec("igraph") is not None
    methods = {name: one for name, one in METHODS.items() if there or name != "igraph_ppr"}
    return methods, {} if there else {"igraph_ppr": "pip install igraph"}


def seed_sets(past: Judgements, *, draws: int = 5) -> dict[str, list[int]]:
    """Give sets of seeds by fixed rules over the past alone.

    `earliest k`: the first k agents that judged anybody; founders of a realm are such.
    `busiest k`: those who judged most within the first tenth of the past.
    `drawn k`: drawn from all who judged within the first quarter of the past.
    """
    _, first = np.unique(past.sources, return_index=True)
    by_age = past.sources[np.sort(first)]
    sets = {f"earliest {k}": by_age[:k].tolist() for k in (20, 5, 50)}
    counts = np.bincount(past.sources[: max(1, len(past.sources) // 10)])
    busiest = np.argsort(-counts, kind="stable")[:20]
    sets["busiest 20"] = busiest[counts[busiest] > 0].tolist()
    early = np.unique(past.sources[: max(1, len(past.sources) // 4)])
    chance = np.random.default_rng(20)
    for number in range(draws):
        drawn = chance.choice(early, min(20, len(early)), replace=False)
        sets[f"drawn 20 ({number + 1})"] = sorted(drawn.tolist())
    return sets
