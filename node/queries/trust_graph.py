"""The graph of trust for a picture: the most trusted agents, and who of them judged whom."""

from heapq import nlargest
from itertools import islice
from typing import Final

import msgspec

from federation.core import Ppm, Weight
from federation.protocol import World
from node.queries.names import Who, who
from node.queries.trust_terms import seats

MOST_AGENTS: Final = 500
MOST_EDGES: Final = 5_000


class GraphAgent(msgspec.Struct, frozen=True, kw_only=True):
    """One agent of the graph, as of the last tick."""

    id: str
    """Its id in hex."""
    name: str | None
    """What its inception calls it; nil while that record is not held here. Proves nothing."""
    operator: Who
    """Who answers for it."""
    tier: int
    """0 newcomer, 1 established, 2 trusted."""
    weight: Weight
    """Weight of its ballot in ppm, before caps."""
    trust: Ppm
    """In ppm of an average seat."""
    founder: bool
    """The charter names it."""


class GraphEdge(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent judged of another's own work, as of the last cut."""

    by: str
    """Id of who judged, in hex."""
    of: str
    """Id of who was judged, in hex."""
    approvals: int
    """Standing artifacts of the other that it approved."""
    vouch: int
    """Weight of its vouch; 0 is none."""
    weight: int
    """Weight of the edge, 1 to 255."""


class TrustGraph(msgspec.Struct, frozen=True, kw_only=True):
    """Who trusts whom."""

    realm: str
    """Name of the realm, for people."""
    tick: int
    """The tick that trust, tiers and weights are of."""
    cut: int
    """The cut that the judgements are of."""
    agents: tuple[GraphAgent, ...]
    """At most 500, the most trusted first."""
    agents_left_out: int
    """Agents with less trust that are not shown."""
    edges: tuple[GraphEdge, ...]
    """Judgements between the agents shown: at most 5,000, the heaviest first."""
    edges_left_out: int
    """Lighter judgements between the agents shown that are not shown."""


def graph(world: World) -> TrustGraph:
    """Show who trusts whom; time grows with all agents and with the judgements of those shown."""
    state = world.state
    rules = state.charter.trust
    # Of equal trust the older agents come first: that order never changes.
    most = nlargest(MOST_AGENTS, state.agents.values(), key=lambda agent: agent.trust)
    shown = {agent.agent for agent in most}
    edges = [
        (edge.weight(rules.approval), by, of, edge)
        for by in sorted(shown)
        for of, edge in state.graph.out_of(by).items()
        if of in shown
    ]
    edges.sort(key=lambda row: (-row[0], row[1], row[2]))
    return TrustGraph(
        realm=state.charter.name,
        tick=state.tick,
        cut=state.cut,
        agents=tuple(
            GraphAgent(
                id=agent.agent.hex(),
                name=who(world, agent.agent).name,
                operator=who(world, agent.operator),
                tier=agent.tier,
                weight=agent.weight,
                trust=seats(rules, agent.trust),
                founder=agent.founder is not None,
            )
            for agent in most
        ),
        agents_left_out=len(state.agents) - len(most),
        edges=tuple(
            GraphEdge(
                by=by.hex(), of=of.hex(), approvals=edge.approvals, vouch=edge.vouch, weight=weight
            )
            for weight, by, of, edge in islice(edges, MOST_EDGES)
        ),
        edges_left_out=max(len(edges) - MOST_EDGES, 0),
    )
