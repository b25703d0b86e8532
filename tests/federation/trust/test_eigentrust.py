from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from federation.charter import preset
from federation.core import MILLION, ParameterError
from federation.trust.eigentrust import (
    HEAVIEST,
    MOST_NODES,
    ROUNDS,
    M,
    Problem,
    check,
    column,
    edge_cap,
    in_seats,
    packed,
    reckon,
    share,
    ticket_price,
    trust_ref,
    unpack,
)

TRUST = preset("community").trust
SEAT = trust_ref(TRUST)

Edges = Sequence[tuple[int, int, int]]
"""Source, target and weight."""


def problem(
    nodes: int,
    edges: Edges = (),
    *,
    seeds: Iterable[int] = (0,),
    silent: Iterable[int] = (),
    cap: int = M,
) -> Problem:
    return Problem(
        nodes=nodes,
        sources=packed(array("I", [source for source, _, _ in edges])),
        targets=packed(array("I", [target for _, target, _ in edges])),
        weights=bytes(weight for _, _, weight in edges),
        seeds=tuple(seeds),
        silent=tuple(silent),
        edge_cap=cap,
    )


def trust_of(one: Problem) -> list[int]:
    return list(unpack(one, reckon(one)))


def by_hand(one: Problem, rounds: int = 64) -> list[int]:
    """Follow the definition of the design line by line, over a table of all pairs."""
    nodes = range(one.nodes)
    w = [[0] * one.nodes for _ in nodes]
    for i, j, weight in zip(
        column("I", one.sources), column("I", one.targets), one.weights, strict=True
    ):
        w[i][j] = weight
    t = [0] * one.nodes
    y = t
    for _ in range(rounds + 1):
        t = [*y]
        for k, seed in enumerate(one.seeds):
            t[seed] += (M - sum(y)) // len(one.seeds) + (k < (M - sum(y)) % len(one.seeds))
        sh = [0] * one.nodes
        for i in nodes:
            if max(w[i]) and i not in one.silent:
                divisor = max(sum(w[i]), 8 * max(w[i]))
                sh[i] = min(3 * t[i] // 4 // divisor, one.edge_cap // max(w[i]))
        y = [sum(w[i][j] * sh[i] for i in nodes) for j in nodes]
    return t


# Constants of a charter.


def test_a_seat_a_ticket_and_the_edge_cap_follow_from_the_charter() -> None:
    trust = changed(TRUST, seats=100, w_min=50_000, w_max=1_000_000, kappa=16)

    assert trust_ref(trust) == M // 100
    assert ticket_price(trust) == -(-(M // 100) // 20)
    assert edge_cap(trust) == 4 * (M // 100)
    assert in_seats(trust, trust_ref(trust)) == MILLION
    assert in_seats(trust, trust_ref(trust) - 1) == MILLION - 1


@given(seats=st.integers(1, 1_000_000), kappa=st.integers(1, 256))
def test_no_legal_charter_has_an_edge_cap_outside_the_mass(seats: int, kappa: int) -> None:
    trust = changed(TRUST, seats=seats, kappa=kappa)

    # Above the heaviest weight, so that the cap never shuts an edge altogether.
    assert HEAVIEST < edge_cap(trust) <= M
    # The bound of the theorem: what flows in over one edge is kept by 3/4 each round.
    assert 4 * edge_cap(trust) <= kappa * trust_ref(trust)


# The computation.


def test_a_seed_alone_has_everything() -> None:
    assert trust_of(problem(1)) == [M]
    assert trust_of(problem(3)) == [M, 0, 0]


def test_seeds_share_equally_and_the_first_get_what_is_left() -> None:
    order = [3, 1, 0, 2, 4, 6, 5]
    # 2^60 is 7 times something, and 1.
    expected = [M // 7] * 7
    expected[3] += 1

    assert trust_of(problem(7, seeds=order)) == expected
    assert trust_of(problem(3, seeds=[2, 0])) == [M // 2, 0, M // 2]


def test_nobody_passes_more_than_an_eighth_over_one_edge() -> None:
    seed, friend = trust_of(problem(2, [(0, 1, 1)]))

    # The friend gets 3/4 · 1/8 of what the seed has, whatever the weight.
    assert friend == pytest.approx(seed * 3 / 32, rel=1e-6)
    assert trust_of(problem(2, [(0, 1, 255)]))[1] == pytest.approx(friend, rel=1e-6)


def test_eight_friends_share_what_one_seed_passes_on() -> None:
    trust = trust_of(problem(9, [(0, friend, 10) for friend in range(1, 9)]))

    assert sum(trust[1:]) == pytest.approx(trust[0] * 3 / 4, rel=1e-6)
    assert len(set(trust[1:])) == 1


def test_the_cap_binds_the_heaviest_edge_and_scales_the_others() -> None:
    cap = 10**12
    trust = trust_of(problem(3, [(0, 1, 200), (0, 2, 100)], cap=cap))

    assert trust[1:] == [cap // 200 * 200, cap // 200 * 100]


def test_an_edge_cap_of_nothing_leaves_everything_with_the_seeds() -> None:
    assert trust_of(problem(2, [(0, 1, 255)], cap=0)) == [M, 0]


def test_the_silent_keep_what_they_receive_from_others_and_pass_nothing_on() -> None:
    edges = [(0, 1, 5), (1, 2, 5)]
    heard, unheard = (trust_of(problem(3, edges, silent=who)) for who in ([], [1]))

    assert heard[2] > 0
    assert unheard[1] > 0
    assert unheard[2] == 0


def test_a_silent_seed_still_starts_with_its_part() -> None:
    assert trust_of(problem(2, [(0, 1, 5)], silent=[0])) == [M, 0]


def test_an_edge_of_no_weight_is_none() -> None:
    with_it = problem(3, [(0, 1, 9), (0, 2, 0), (1, 2, 0)])

    assert trust_of(with_it) == trust_of(problem(3, [(0, 1, 9)]))


def test_trust_goes_nowhere_without_a_path_from_a_seed() -> None:
    ring = [(2, 3, 255), (3, 4, 255), (4, 2, 255), (4, 0, 255)]

    assert trust_of(problem(5, [(0, 1, 1), *ring]))[2:] == [0, 0, 0]


def test_trust_travels_one_step_a_round() -> None:
    length = ROUNDS + 6
    chain = problem(length, [(here, there, 255) for here, there in pairwise(range(length))])
    reached = [place for place, t in enumerate(trust_of(chain)) if t]

    # A step passes on 3/32 at most: of 2^60 nothing is left after 18 of them.
    assert reached == list(range(len(reached)))
    assert 16 <= len(reached) <= 19


def test_exactly_64_rounds_are_made() -> None:
    # Ten that judge each other keep three quarters from round to round: each round still shows.
    one = problem(11, [(0, 1, 1), *((i, j, 1) for i in range(1, 11) for j in range(1, 11))])

    assert trust_of(one) == by_hand(one, rounds=64)
    assert by_hand(one, rounds=63) != by_hand(one, rounds=64) != by_hand(one, rounds=65)


def problems(most_nodes: int = 8) -> st.SearchStrategy[Problem]:
    @st.composite
    def drawn(draw: st.DrawFn) -> Problem:
        nodes = draw(st.integers(1, most_nodes))
        places = st.integers(0, nodes - 1)
        pairs = draw(st.sets(st.tuples(places, places), max_size=40))
        edges = [(i, j, draw(st.integers(0, HEAVIEST))) for i, j in sorted(pairs)]
        return problem(
            nodes,
            edges,
            seeds=draw(st.lists(places, min_size=1, unique=True)),
            silent=draw(st.sets(places)),
            cap=draw(st.integers(0, M) | st.integers(0, 10**6)),
        )

    return drawn()


@given(one=problems())
def test_it_is_what_the_definition_says(one: Problem) -> None:
    assert trust_of(one) == by_hand(one)


@given(one=problems(), random=st.randoms(use_true_random=False))
def test_the_order_of_edges_never_shows(one: Problem, random: Random) -> None:
    rows = [
        *zip(column("I", one.sources), column("I", one.targets), one.weights, strict=True),
    ]
    random.shuffle(rows)
    other = problem(one.nodes, rows, seeds=one.seeds, silent=one.silent[::-1], cap=one.edge_cap)

    assert reckon(other) == reckon(one)


@given(one=problems(), random=st.randoms(use_true_random=False))
def test_the_places_of_nodes_never_show(one: Problem, random: Random) -> None:
    names = list(range(one.nodes))
    random.shuffle(names)
    rows = [
        (names[i], names[j], weight)
        for i, j, weight in zip(
            column("I", one.sources), column("I", one.targets), one.weights, strict=True
        )
    ]
    other = problem(
        one.nodes,
        rows,
        seeds=[names[seed] for seed in one.seeds],
        silent=[names[place] for place in one.silent],
        cap=one.edge_cap,
    )
    mine, theirs = trust_of(one), trust_of(other)

    assert [theirs[name] for name in names] == mine


def test_a_node_that_many_judge_stays_below_the_mass() -> None:
    # All there is flows into node 1 from both sides: the extremes of every line.
    full = [(i, j, HEAVIEST) for i in range(12) for j in range(12) if i != j]

    for cap in (0, 1, 254, 255, M - 1, M):
        one = problem(12, full, seeds=range(12), cap=cap)
        assert trust_of(one) == by_hand(one)
        assert max(trust_of(one)) < 1 << 62


@given(
    trust=st.integers(0, M),
    weights=st.lists(st.integers(1, HEAVIEST), min_size=1, max_size=50),
    cap=st.integers(0, M),
)
def test_no_node_passes_on_more_than_three_quarters(
    trust: int, weights: list[int], cap: int
) -> None:
    each = share(trust, total=sum(weights), heaviest=max(weights), cap=cap)

    assert each * sum(weights) <= trust * 3 // 4
    assert each * max(weights) <= min(cap, trust * 3 // 32)


# What is refused.


@pytest.mark.parametrize(
    "broken",
    [
        {"nodes": 0},
        {"nodes": -1},
        {"nodes": MOST_NODES + 1},
        {"nodes": 1},
        {"seeds": ()},
        {"seeds": (0, 0)},
        {"seeds": (2,)},
        {"seeds": (-1,)},
        {"silent": (2,)},
        {"silent": (-1,)},
        {"edge_cap": -1},
        {"edge_cap": M + 1},
        {"sources": b""},
        {"sources": b"\0\0\0"},
        {"targets": bytes(8)},
        {"targets": b"\2\0\0\0"},
        {"targets": b"\xff\xff\xff\xff"},
        {"weights": b""},
        {"sources": bytes(8), "targets": b"\1\0\0\0" * 2, "weights": b"\1\1"},
    ],
    ids=str,
)
def test_a_problem_that_is_none_is_refused(broken: dict[str, object]) -> None:
    good = problem(2, [(0, 1, 1)])

    assert trust_of(good)
    with pytest.raises(ParameterError):
        reckon(replace(good, **broken))  # type: ignore[arg-type]


def test_more_edges_than_32_bits_count_are_refused() -> None:
    class Long(bytes):
        def __len__(self) -> int:
            return MOST_NODES + 1

    with pytest.raises(ParameterError, match="edges"):
        check(replace(problem(2), weights=Long()), highest=-1, pairs=MOST_NODES + 1)


def test_a_right_answer_is_read_back() -> None:
    one = problem(2, [(0, 1, 1)])

    assert list(unpack(one, reckon(one))) == trust_of(one)
    assert sum(unpack(one, reckon(one))) == M


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        bytes(15),
        bytes(16),
        bytes(17),
        packed(array("q", [M])),
        packed(array("q", [M, 0, 0])),
        packed(array("q", [M, 1])),
        packed(array("q", [M - 1, 0])),
        packed(array("q", [M + 1, -1])),
        packed(array("q", [-M, M])),
        packed(array("q", [-(1 << 63), (1 << 63) - 1])),
        M.to_bytes(8, "big") + bytes(8),
    ],
    ids=bytes.hex,
)
def test_an_answer_that_cannot_be_right_is_refused(raw: bytes) -> None:
    with pytest.raises(ParameterError, match="refused"):
        unpack(problem(2), raw)


# Columns.


@given(numbers=st.lists(st.integers(0, (1 << 32) - 1)))
def test_a_column_is_little_endian_on_every_machine(numbers: list[int]) -> None:
    wire = b"".join(number.to_bytes(4, "little") for number in numbers)
    own = array("I", numbers)
    swapped = own[:]
    swapped.byteswap()

    # This test runs where the first is the machine's own order.
    assert column("I", wire, order="little") == own
    assert packed(own, order="little") == wire
    # Where numbers are stored the other way round, the wire is the same.
    assert column("I", wire, order="big") == swapped
    assert packed(swapped, order="big") == wire


def test_half_a_number_is_refused() -> None:
    with pytest.raises(ParameterError, match="whole number"):
        column("q", bytes(12))
