from collections.abc import Iterable, Mapping

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.charter import preset
from federation.core import MILLION, ParameterError
from federation.trust import weight
from federation.trust.eigentrust import M, edge_cap, reckon, trust_ref, unpack
from federation.trust.foreign import EXPIRY, HALF_LIFE, Link
from federation.trust.graph import Graph
from federation.trust.local import NOBODY_TRUSTED, LocalProblem, LocalTrust, Outlook, local_problem
from tests.builders import OTHER_REALM, named
from tests.federation.trust.test_foreign import head, key, known, link, ours

TRUST = preset("community").trust
SEEDS = frozenset(named("seed", n) for n in range(3))
HONEST = [named("honest", n) for n in range(4)]


def graph(edges: Iterable[tuple[bytes, bytes, int]] = ()) -> Graph:
    made = Graph(TRUST.approval)
    for by, agent, vouch in edges:
        made.vouch(by, agent, vouch)
    return made


def small() -> Graph:
    """Three seeds vouch for four honest agents, and these for each other in a ring."""
    first = [(seed, HONEST[n], 100) for n, seed in enumerate(sorted(SEEDS))]
    ring = [(HONEST[n], HONEST[(n + 1) % 4], 50) for n in range(4)]
    return graph([*first, *ring])


def asked(
    of: Graph, outlook: Outlook, *, cut: int = 10, silent: Iterable[bytes] = (), **rest: object
) -> LocalProblem:
    keys: Mapping[bytes, bytes] = rest.pop("keys", {})  # type: ignore[assignment]
    return local_problem(
        of, TRUST, outlook, charter_seeds=SEEDS, silent=frozenset(silent), keys=keys, cut=cut
    )


def trusted(of: Graph, outlook: Outlook, **rest: object) -> LocalTrust:
    problem = asked(of, outlook, **rest)  # type: ignore[arg-type]
    return NOBODY_TRUSTED if problem.problem is None else problem.read(reckon(problem.problem))


def linked(
    *weights: int, of: Graph | None = None, known_to_us: tuple[int, ...] = (0,), **rest: int
) -> LocalTrust:
    cut = rest.pop("cut", 10)
    outlook = Outlook(seeds=SEEDS, links=(link(*weights, **rest),))
    return trusted(of or small(), outlook, keys=known(*known_to_us), cut=cut)


def test_the_charters_seeds_and_no_policy_are_the_canonical_problem() -> None:
    one = small()
    canonical = one.problem(seeds=SEEDS, silent=[HONEST[1]], edge_cap=edge_cap(TRUST))
    mine = asked(one, Outlook(seeds=SEEDS), silent=[HONEST[1]])

    assert mine.problem == canonical
    assert mine.read(reckon(canonical)).agents == one.named(
        canonical, unpack(canonical, reckon(canonical))
    )


def test_my_own_seeds_move_trust_to_whom_they_trust() -> None:
    mine = trusted(small(), Outlook(seeds=frozenset({HONEST[3]}))).agents
    theirs = trusted(small(), Outlook(seeds=SEEDS)).agents

    assert mine[HONEST[3]] > theirs[HONEST[3]]
    assert not SEEDS & mine.keys()
    assert sum(mine.values()) == M


def test_a_seed_that_nobody_has_ever_judged_can_be_mine() -> None:
    stranger = named("stranger")

    assert trusted(small(), Outlook(seeds=frozenset({stranger}))).agents == {stranger: M}


def test_my_seeds_leave_no_mark_on_the_graph() -> None:
    one = small()
    before = (one.version, one.edges, one.agents(), tuple(one.vouches()))
    canonical = one.problem(seeds=SEEDS, silent=(), edge_cap=edge_cap(TRUST))
    outlook = Outlook(
        seeds=frozenset({named("mine")}), ignored=frozenset(HONEST[:2]), links=(link(200, 9),)
    )
    asked(one, outlook, keys=known(0, 1))

    assert (one.version, one.edges, one.agents(), tuple(one.vouches())) == before
    assert one.problem(seeds=SEEDS, silent=(), edge_cap=edge_cap(TRUST)) == canonical


def test_whom_i_ignore_holds_nothing_and_passes_nothing_on() -> None:
    everybody = trusted(small(), Outlook(seeds=SEEDS)).agents
    first = [HONEST[0], HONEST[1], HONEST[2]]
    mine = trusted(small(), Outlook(seeds=SEEDS, ignored=frozenset(first))).agents

    # HONEST[3] is trusted by one of them only.
    assert everybody[HONEST[3]] > 0
    assert mine.keys() == SEEDS


def test_a_seed_that_i_ignore_is_none() -> None:
    gone = min(SEEDS)
    mine = trusted(small(), Outlook(seeds=SEEDS, ignored=frozenset({gone}))).agents

    assert gone not in mine
    assert HONEST[0] not in {one for one in mine if mine[one] > mine[HONEST[1]]}


def test_without_a_seed_left_nobody_is_trusted() -> None:
    nobody = asked(small(), Outlook(seeds=SEEDS, ignored=SEEDS))

    assert nobody.problem is None
    assert nobody.read(b"") == NOBODY_TRUSTED
    assert trusted(small(), Outlook(seeds=frozenset())) == NOBODY_TRUSTED


def test_revoked_seeds_keep_their_part_and_pass_nothing_on() -> None:
    all_silent = trusted(small(), Outlook(seeds=SEEDS), silent=SEEDS).agents

    assert all_silent.keys() == SEEDS
    assert max(all_silent.values()) - min(all_silent.values()) <= 1


def test_a_linked_realm_lends_trust_to_those_of_ours_that_it_names() -> None:
    without = trusted(small(), Outlook(seeds=SEEDS)).agents
    lent = linked(255, 100)

    assert ours(0) not in without
    assert lent.agents[ours(0)] > 0
    assert lent.realms[OTHER_REALM] > lent.agents[ours(0)]


def test_a_realm_that_names_many_lends_each_of_them_less() -> None:
    few = linked(255).agents[ours(0)]
    many = linked(*[255] * 100).agents[ours(0)]

    assert 0 < many * 10 < few


def test_what_a_realm_lends_is_halved_each_half_life_and_ends() -> None:
    for weights in ((255,), (200, 10, 255), tuple([240] * 40)):
        fresh = linked(*weights).agents[ours(0)]
        older = linked(*weights, cut=10 + HALF_LIFE).agents[ours(0)]
        oldest = linked(*weights, cut=10 + EXPIRY - 1).agents[ours(0)]
        gone = linked(*weights, cut=10 + EXPIRY)

        # Weights are halved downwards, so a little less than one half is left.
        assert 0.49 * fresh < older <= 0.5 * fresh
        assert 0.24 * fresh < oldest <= 0.25 * fresh
        assert ours(0) not in gone.agents
        assert gone.realms == {}


def test_an_expired_link_leaves_the_canonical_problem() -> None:
    outlook = Outlook(seeds=SEEDS, links=(link(255),))

    assert (
        asked(small(), outlook, cut=10 + EXPIRY, keys=known(0)).problem
        == asked(small(), Outlook(seeds=SEEDS)).problem
    )


def test_two_links_are_two_nodes() -> None:
    other = Link(realm=named("third realm"), weight=7, head=head(9, 255), imported=10)
    mine = trusted(small(), Outlook(seeds=SEEDS, links=(link(255), other)), keys=known(0, 1))

    assert mine.realms.keys() == {OTHER_REALM, named("third realm")}
    assert {ours(0), ours(1)} <= mine.agents.keys()


def test_a_link_with_an_empty_head_is_a_node_without_edges() -> None:
    mine = linked()

    assert mine.realms[OTHER_REALM] > 0
    assert sum(mine.agents.values()) + sum(mine.realms.values()) == M


def test_a_solution_of_another_problem_is_refused() -> None:
    problem = asked(small(), Outlook(seeds=SEEDS, links=(link(1),)), keys=known(0))

    with pytest.raises(ParameterError):
        problem.read(bytes(8))


EDGES = st.lists(
    st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(1, 255)), max_size=40
)


@settings(max_examples=150, deadline=None)
@given(
    edges=EDGES,
    weights=st.lists(st.integers(1, 255), max_size=12),
    link_weight=st.integers(1, 255),
    kappa=st.sampled_from([1, 2, 16]),
    seats=st.sampled_from([3, 10, 100]),
    age=st.integers(0, EXPIRY + 1),
    data=st.data(),
)
def test_a_linked_realm_and_all_that_it_feeds_weigh_no_more_than_the_edges_into_them(
    *,
    edges: list[tuple[int, int, int]],
    weights: list[int],
    link_weight: int,
    kappa: int,
    seats: int,
    age: int,
    data: st.DataObject,
) -> None:
    """Σ w over S <= κ·w_max·g, where the realm is in S and g counts the edges into S."""
    trust = msgspec.structs.replace(TRUST, kappa=kappa, seats=seats)
    # Agents 0 to 2 are the seeds; any of the others may be in S, and so may agents of ours that
    # the realm names.
    names = [*sorted(SEEDS), *(named("agent", n) for n in range(9))]
    keys = {key(n): names[3 + n % 9] for n in range(len(weights))}
    inside = {names[n] for n in data.draw(st.sets(st.integers(3, 11)))} | set(keys.values())
    made = Graph(trust.approval)
    for by, agent, vouch in edges:
        made.vouch(names[by], names[agent], vouch)
    one = link(*weights, weight=link_weight)
    problem = local_problem(
        made,
        trust,
        Outlook(seeds=SEEDS, links=(one,)),
        charter_seeds=SEEDS,
        silent=frozenset(),
        keys=keys,
        cut=10 + age,
    )
    assert problem.problem is not None
    mine = problem.read(reckon(problem.problem))

    into = sum(by not in inside for agent in inside for by in made.into(agent)) + (
        0 if one.is_expired(10 + age) else len(SEEDS)
    )
    held = sum(mine.agents.get(agent, 0) for agent in inside) + sum(mine.realms.values())
    weighs = sum(
        weight(trust, t=mine.agents.get(agent, 0), competence=MILLION, r=MILLION)
        for agent in inside
    )
    assert held <= into * trust.kappa * trust_ref(trust)
    assert weighs <= trust.kappa * trust.w_max * into
