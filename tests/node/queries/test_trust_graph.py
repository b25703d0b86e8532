"""The graph of trust for a picture: who trusts whom, the most trusted first, and no more than fits."""

from dataclasses import replace

from federation.records import AgentVouch
from node.queries.trust_graph import MOST_AGENTS, MOST_EDGES, graph
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import here, plain, voted


def test_approvals_and_vouches_are_edges() -> None:
    town = Town.of(3, 6)
    voted(town, {1: 1, 2: 1, 4: -1})
    town.arrive(town.home(1), town.sign(1, AgentVouch(agent=town.agent(0), weight=7, reason="r")))
    town.settled()
    world, _ = here(town)
    found = graph(world)
    edges = {(one.by, one.of): one for one in found.edges}
    mine = edges[town.agent(1).hex(), town.agent(0).hex()]

    assert (mine.approvals, mine.vouch, mine.weight) == (1, 7, 16 + 7)
    assert (town.agent(4).hex(), town.agent(0).hex()) not in edges
    assert found.edges[0] == mine
    assert (found.realm, found.cut, found.tick) == ("town", world.state.cut, world.state.tick)
    assert {one.name for one in found.agents} == {f"agent {index}" for index in range(6)}
    assert all(one.founder and one.trust for one in found.agents)
    assert (found.agents_left_out, found.edges_left_out) == (0, 0)
    assert isinstance(plain(found), dict)


def test_a_large_graph_is_cut_to_the_most_trusted_and_says_so() -> None:
    world, _ = here(Town.of(1, 2))
    state = world.state
    founder = next(iter(state.agents.values()))
    names = [number.to_bytes(32) for number in range(1_000)]
    for number, name in enumerate(names):
        state.agents[name] = replace(founder, agent=name, trust=number, founder=None)
    for by in names[700:]:
        for of in names[700:720]:
            state.graph.vouch(by, of, 1)
    state.graph.vouch(names[0], names[999], 255)
    state.graph.vouch(names[999], names[0], 255)
    state.graph.vouch(names[701], names[999], 255)
    found = graph(world)

    assert len(found.agents) == MOST_AGENTS
    assert found.agents_left_out == 1_002 - MOST_AGENTS
    # Two founders hold all there is; names the log does not know are none.
    assert found.agents[2].id == names[999].hex()
    assert found.agents[2].name is None
    assert len(found.edges) == MOST_EDGES
    assert found.edges_left_out == 300 * 20 - 20 + 1 - MOST_EDGES
    assert (found.edges[0].by, found.edges[0].weight) == (names[701].hex(), 255)


def test_of_a_dense_graph_the_heaviest_are_shown_in_one_order() -> None:
    world, _ = here(Town.of(1, 2))
    state = world.state
    founder = next(iter(state.agents.values()))
    names = [number.to_bytes(32) for number in range(200)]
    for name in names:
        state.agents[name] = replace(founder, agent=name, trust=1, founder=None)
    for number, by in enumerate(names):
        for of in names[:number]:
            state.graph.vouch(by, of, 1 + (number * 7 + of[-1] * 13) % 255)
    found = graph(world)
    rows = [(-edge.weight, edge.by, edge.of) for edge in found.edges]
    whole = sorted(
        (-edge.weight(state.charter.trust.approval), by.hex(), of.hex())
        for by in names
        for of, edge in state.graph.out_of(by).items()
    )

    assert rows == whole[:MOST_EDGES]
    assert found.edges_left_out == len(whole) - MOST_EDGES == 19_900 - MOST_EDGES
