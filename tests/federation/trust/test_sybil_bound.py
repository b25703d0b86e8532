"""Theorem (bounded influence): who fools g edges gets no more than g edges are worth.

Let S contain no seed and receive g edges from outside. Then T(S) <= g·κ·t_ref, and the voting
weights of S come to at most κ·w_max·g, whatever its size and whatever stands inside it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import Trust, preset
from federation.core import MILLION
from federation.trust import eigentrust, sparse
from federation.trust.eigentrust import HEAVIEST, M, Problem, edge_cap, trust_ref, unpack
from federation.trust.weights import has_ticket, weight

COMMUNITY: Final = preset("community").trust
TIGHT: Final = replace(COMMUNITY, kappa=1, seats=100)
"""A charter whose cap binds what a seed passes on."""

Edges = dict[tuple[int, int], int]
"""Weights by source and target."""
Inside = Callable[[Sequence[int], Random], Iterable[tuple[int, int]]]
"""Draws the edges between Sybils."""


# What Sybils build among themselves.


def nothing(_sybils: Sequence[int], _random: Random) -> Iterable[tuple[int, int]]:
    return ()


def ring(sybils: Sequence[int], _random: Random) -> Iterable[tuple[int, int]]:
    return zip(sybils, [*sybils[1:], sybils[0]], strict=True)


def rings(sybils: Sequence[int], _random: Random) -> Iterable[tuple[int, int]]:
    """Let everybody judge the next ten: each passes all that anybody can."""
    size = len(sybils)
    return (
        (one, sybils[(at + step) % size]) for at, one in enumerate(sybils) for step in range(11)
    )


def star(sybils: Sequence[int], _random: Random) -> Iterable[tuple[int, int]]:
    hub = sybils[0]
    return ((a, b) for one in sybils[1:] for a, b in ((hub, one), (one, hub)))


def cliques(sybils: Sequence[int], _random: Random) -> Iterable[tuple[int, int]]:
    for at in range(0, len(sybils), 15):
        clique = sybils[at : at + 15]
        yield from ((a, b) for a in clique for b in clique)


def tree(sybils: Sequence[int], _random: Random) -> Iterable[tuple[int, int]]:
    return ((sybils[(at - 1) // 9], one) for at, one in enumerate(sybils) if at)


def chance(sybils: Sequence[int], random: Random) -> Iterable[tuple[int, int]]:
    return ((random.choice(sybils), random.choice(sybils)) for _ in range(6 * len(sybils)))


INSIDE: Final[Mapping[str, Inside]] = {
    one.__name__: one for one in (nothing, ring, rings, star, cliques, tree, chance)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A community, and Sybils beside it."""

    problem: Problem
    sybils: range
    fooled: int
    """Edges from outside into the Sybils: g."""


def attacked(
    random: Random,
    trust: Trust,
    *,
    honest: int = 200,
    seeds: int = 5,
    sybils: int = 100,
    fooled: int = 10,
    inside: Inside = rings,
    heaviest: bool = True,
    fool_seeds: bool = False,
    cap: int | None = None,
) -> Attack:
    """Draw an attack: honest nodes come first, and the first of them are the seeds."""
    edges: Edges = {}
    for source in range(honest):
        for _ in range(random.randrange(12)):
            edges[source, random.randrange(honest)] = random.randint(1, HEAVIEST)
    names = range(honest, honest + sybils)

    def weigh() -> int:
        return HEAVIEST if heaviest else random.randint(1, HEAVIEST)

    for pair in inside(names, random):
        edges[pair] = weigh()
    # Back to honest nodes, to be thanked, and out of the way of nothing.
    for one in random.sample(names, min(len(names), 20)):
        edges[one, random.randrange(honest)] = weigh()
    dupes = [
        (random.randrange(seeds if fool_seeds else honest), random.choice(names))
        for _ in range(fooled)
    ]
    for pair in dupes:
        edges[pair] = random.choice((1, 100, HEAVIEST))
    return Attack(
        problem=_problem(honest + sybils, edges, seeds, edge_cap(trust) if cap is None else cap),
        sybils=names,
        fooled=len(set(dupes)),
    )


def worst(cap: int, *, sybils: int = 40) -> Attack:
    """Fool five seeds by one edge each; all that it brings goes round among the Sybils."""
    names = range(5, 5 + sybils)
    edges: Edges = dict.fromkeys(rings(names, Random()), HEAVIEST)
    edges |= {(seed, names[seed]): HEAVIEST for seed in range(5)}
    return Attack(problem=_problem(5 + sybils, edges, 5, cap), sybils=names, fooled=5)


def _problem(nodes: int, edges: Edges, seeds: int, cap: int) -> Problem:
    return Problem(
        nodes=nodes,
        sources=np.array([source for source, _ in edges], "<u4").tobytes(),
        targets=np.array([target for _, target in edges], "<u4").tobytes(),
        weights=bytes(edges.values()),
        seeds=tuple(range(seeds)),
        silent=(),
        edge_cap=cap,
    )


def reach(attack: Attack, trust: Trust) -> float:
    """Give the Sybils' trust in parts of the bound; for reports and comparisons only."""
    return sum(trust_of_sybils(attack)) / (attack.fooled * trust.kappa * trust_ref(trust))


def trust_of_sybils(attack: Attack) -> Sequence[int]:
    all_ = unpack(attack.problem, sparse.reckon(attack.problem))
    return all_[attack.sybils.start : attack.sybils.stop]


def weigh_all(trust: Trust, given: Iterable[int]) -> int:
    """Weigh Sybils as strongly as can be: each is always right."""
    return sum(weight(trust, t=t, competence=MILLION, r=MILLION) for t in given)


def check(attack: Attack, trust: Trust) -> None:
    """Hold an attack against both halves of the theorem."""
    given = trust_of_sybils(attack)
    weighed = weigh_all(trust, given)
    holders = sum(has_ticket(trust, t) for t in given)

    assert sum(given) <= attack.fooled * trust.kappa * trust_ref(trust)
    assert weighed <= attack.fooled * trust.kappa * trust.w_max
    # The same line before the bound is put in; a ticket's price is rounded down by less than 1.
    assert weighed * trust_ref(trust) <= trust.w_max * (sum(given) + holders)


# The bound.


@pytest.mark.parametrize("inside", INSIDE)
@given(
    seed=st.integers(0, 2**32),
    sybils=st.integers(1, 60),
    fooled=st.integers(0, 40),
    seats=st.integers(1, 1_000) | st.just(1_000_000),
    kappa=st.integers(1, 256),
    heaviest=st.booleans(),
    fool_seeds=st.booleans(),
)
def test_no_attack_gets_more_than_its_edges_are_worth(  # noqa: PLR0917 # by name
    inside: str,
    seed: int,
    sybils: int,
    fooled: int,
    seats: int,
    kappa: int,
    heaviest: bool,
    fool_seeds: bool,
) -> None:
    trust = replace(COMMUNITY, seats=seats, kappa=kappa)
    attack = attacked(
        Random(seed),
        trust,
        honest=40,
        seeds=1 + seed % 8,
        sybils=sybils,
        fooled=fooled,
        inside=INSIDE[inside],
        heaviest=heaviest,
        fool_seeds=fool_seeds,
    )

    check(attack, trust)
    if seed % 8 == 0:
        assert sparse.reckon(attack.problem) == eigentrust.reckon(attack.problem)


def large_attack(seed: int) -> None:
    random = Random(seed)
    trust = replace(
        COMMUNITY,
        kappa=random.choice((1, 4, 16, 64)),
        seats=random.choice((20, 100, 1_000, 100_000)),
        w_min=random.choice((1, 50_000, MILLION)),
    )
    attack = attacked(
        random,
        trust,
        honest=random.randint(20, 3_000),
        seeds=random.randint(1, 20),
        sybils=int(20_000 ** random.random()),
        fooled=int(500 ** random.random()),
        inside=random.choice(list(INSIDE.values())),
        heaviest=random.random() < 0.7,
        fool_seeds=random.random() < 0.5,
    )
    check(attack, trust)


@pytest.mark.parametrize("seed", range(24))
def test_no_large_attack_gets_more_than_its_edges_are_worth(seed: int) -> None:
    large_attack(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24, 400))
def test_no_large_attack_of_many_gets_more_than_its_edges_are_worth(seed: int) -> None:
    large_attack(seed)


def test_sybils_that_nobody_judged_have_nothing() -> None:
    attack = attacked(Random(1), COMMUNITY, sybils=5_000, fooled=0)

    assert set(trust_of_sybils(attack)) == {0}


@pytest.mark.parametrize("fooled", [1, 7, 50])
@pytest.mark.parametrize("inside", ["rings", "tree", "cliques"])
def test_splitting_into_many_gains_nothing(fooled: int, inside: str) -> None:
    worth = fooled * TIGHT.kappa * TIGHT.w_max
    for sybils in (1, 2, 10, 100, 1_000, 20_000):
        attack = attacked(
            Random(fooled),
            TIGHT,
            sybils=sybils,
            fooled=fooled,
            inside=INSIDE[inside],
            fool_seeds=True,
        )
        check(attack, TIGHT)

        assert weigh_all(TIGHT, trust_of_sybils(attack)) <= worth


# The bound is no larger than it must be, and falls without what it rests on.


def test_an_attack_on_seeds_comes_as_close_to_the_bound_as_rounding_allows() -> None:
    # So nothing smaller can be promised: of the bound only (3/4)^63 and some roundings are left.
    attack = worst(edge_cap(TIGHT))

    check(attack, TIGHT)
    assert 0.999_999 < reach(attack, TIGHT) <= 1


def test_weights_come_close_to_the_bound_too() -> None:
    attack = worst(edge_cap(TIGHT))
    weighed = weigh_all(TIGHT, trust_of_sybils(attack))

    check(attack, TIGHT)
    assert 0.9 < weighed / (attack.fooled * TIGHT.kappa * TIGHT.w_max) <= 1


def test_a_random_attack_on_seeds_reaches_most_of_it() -> None:
    attack = attacked(Random(2), TIGHT, fooled=5, fool_seeds=True)

    check(attack, TIGHT)
    assert 0.5 < reach(attack, TIGHT) < 0.9


def test_an_attack_on_members_stays_far_below_it() -> None:
    attack = attacked(Random(2), COMMUNITY, sybils=100, fooled=20)

    assert 0 < reach(attack, COMMUNITY) < 0.1


def test_without_the_cap_on_edges_the_bound_breaks() -> None:
    attack = worst(M)

    assert reach(attack, TIGHT) > 5
    with pytest.raises(AssertionError):
        check(attack, TIGHT)


def test_with_a_seed_among_them_the_bound_says_nothing() -> None:
    # The theorem's one condition: the seeds are who must not be fooled.
    attack = attacked(Random(3), TIGHT, sybils=10, fooled=1)
    one = attack.problem
    with_seed = Problem(
        nodes=one.nodes,
        sources=one.sources,
        targets=one.targets,
        weights=one.weights,
        seeds=(*one.seeds, attack.sybils[0]),
        silent=(),
        edge_cap=one.edge_cap,
    )

    assert reach(Attack(problem=with_seed, sybils=attack.sybils, fooled=1), TIGHT) > 1


def test_the_papers_blend_has_no_such_bound() -> None:
    # Everybody weighs at least w_min there: identities alone are weight.
    blend = replace(TIGHT, voting="blend")
    attack = attacked(Random(4), blend, sybils=2_000, fooled=1)

    assert weigh_all(blend, trust_of_sybils(attack)) > 10 * blend.kappa * blend.w_max
