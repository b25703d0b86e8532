"""The graph of trust for a picture: the most trusted agents, and who of them judged whom."""

from dataclasses import dataclass
from heapq import nlargest
from typing import Final

import msgspec

from federation.core import AgentId, Ppm, Weight
from federation.protocol import World
from federation.protocol.state import Agent
from federation.trust import Edge, in_seats
from node.queries.names import Who, who
from node.queries.per_cut import PerCut

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Picked:
    """What of the graph is shown."""

    agents: tuple[Agent, ...]
    """The most trusted first."""
    edges: tuple[tuple[int, AgentId, AgentId, Edge], ...]
    """Of each: its weight, negative; who judged; who was judged; what was judged."""
    more_edges: int
    """Lighter edges between these agents."""


def graph(world: World) -> TrustGraph:
    """Show who trusts whom; the first to ask after a cut waits for a look at all of it."""
    state = world.state
    rules = state.charter.trust
    picked = _picked(world)
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
                trust=in_seats(rules, agent.trust),
                founder=agent.founder is not None,
            )
            for agent in picked.agents
        ),
        agents_left_out=len(state.agents) - len(picked.agents),
        edges=tuple(
            GraphEdge(
                by=by.hex(), of=of.hex(), approvals=edge.approvals, vouch=edge.vouch, weight=-weight
            )
            for weight, by, of, edge in picked.edges
        ),
        edges_left_out=picked.more_edges,
    )


def _pick(world: World) -> _Picked:
    """Choose what is shown; time grows with all agents and with the judgements of those shown."""
    state = world.state
    approval = state.charter.trust.approval
    # Of equal trust the older agents come first: that order never changes.
    most = nlargest(MOST_AGENTS, state.agents.values(), key=lambda agent: agent.trust)
    shown = {agent.agent for agent in most}
    count, lightest = 0, 0
    heaviest: list[tuple[int, AgentId, AgentId, Edge]] = []
    for by in shown:
        between = [(of, edge) for of, edge in state.graph.out_of(by).items() if of in shown]
        count += len(between)
        # No two rows have the same pair, so edges themselves are never compared.
        heaviest += [
            (-weight, by, of, edge)
            for of, edge in between
            if (weight := edge.weight(approval)) >= lightest
        ]
        if len(heaviest) > 2 * MOST_EDGES:
            # Not all at once: in a dense graph they are a quarter of a million.
            heaviest.sort()
            del heaviest[MOST_EDGES:]
            lightest = -heaviest[-1][0]
    edges = tuple(sorted(heaviest)[:MOST_EDGES])
    return _Picked(agents=tuple(most), edges=edges, more_edges=count - len(edges))


_picked: Final = PerCut(_pick)
