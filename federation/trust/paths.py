"""Why an agent has its trust: what flows into it in a round, and along which paths it came.

Everything here explains trust that `eigentrust` computed, and repeats what its last round passed
on. It is shown to people and decides nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import islice, pairwise
from typing import Final

from federation.charter import Trust
from federation.core import AgentId
from federation.trust.eigentrust import M, edge_cap, share
from federation.trust.graph import Graph

MOST_STEPS: Final = 100_000
"""Edges that a search for paths looks at before it gives up: about a tenth of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inflow:
    """What one agent passes on to another in a round."""

    by: AgentId
    weight: int
    """Weight of its edge, 1 to 255."""
    flow: int
    """Trust that flows over it in one round, of M = 2^60."""
    capped: bool
    """The charter's cap on edges held it back, here or on a heavier edge of the same agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """One way from a seed to an agent."""

    agents: tuple[AgentId, ...]
    """From the seed to the agent; each judged the next one's work."""
    flow: int
    """Smallest flow on it, of M = 2^60; of a seed's own path the seed's trust."""


def inflows(
    graph: Graph,
    trust: Mapping[AgentId, int],
    charter_trust: Trust,
    agent: AgentId,
    silent: Collection[AgentId],
) -> tuple[Inflow, ...]:
    """List what flows into an agent in a round, largest first, then by id.

    Whoever judged it is listed, with a flow of 0 if it has nothing to pass on or is silent.
    """
    flows = _Flows(graph=graph, trust=trust, cap=edge_cap(charter_trust), silent=silent)
    found = [
        Inflow(
            by=by,
            weight=edge.weight(graph.approval),
            flow=flows.between(by, agent),
            capped=flows.is_capped(by),
        )
        for by, edge in graph.into(agent).items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.flow, one.by)))


def paths(  # noqa: PLR0917 # what `inflows` takes, and where trust starts
    graph: Graph,
    trust: Mapping[AgentId, int],
    charter_trust: Trust,
    agent: AgentId,
    seeds: Collection[AgentId],
    silent: Collection[AgentId],
    *,
    most: int = 5,
) -> tuple[Path, ...]:
    """Find the widest paths from seeds to an agent, at most `most`, widest first.

    Each is the widest that the ones before it leave: what they carry is taken off their edges, so
    no trust is shown twice. None has a cycle. A seed has the one path (seed,). In a very large
    graph a search gives up after `MOST_STEPS` edges; then there are fewer.
    """
    if agent in seeds:
        return (Path(agents=(agent,), flow=trust.get(agent, 0)),)
    flows = _Flows(graph=graph, trust=trust, cap=edge_cap(charter_trust), silent=silent)
    return tuple(islice(_widest(flows, agent, frozenset(seeds)), most))


@dataclass(slots=True, kw_only=True)
class _Flows:
    """What flows over edges in a round, worked out where somebody asks."""

    graph: Graph
    trust: Mapping[AgentId, int]
    cap: int
    silent: Collection[AgentId]
    steps: int = 0
    """Edges looked at so far."""
    sums: dict[AgentId, tuple[int, int]] = field(default_factory=dict)
    """Of agents that were looked at, the total and the largest weight of their edges."""
    taken: dict[tuple[AgentId, AgentId], int] = field(default_factory=dict)
    """What paths that were found carry over an edge."""

    def between(self, by: AgentId, agent: AgentId) -> int:
        """Give what flows over an edge, less what is taken."""
        weight = self.graph.edge(by, agent).weight(self.graph.approval)
        return weight * self._share(by) - self.taken.get((by, agent), 0)

    def is_capped(self, by: AgentId) -> bool:
        """Tell whether an agent would pass more on without the cap on edges."""
        return self._share(by) < self._share(by, cap=M)

    def take(self, agents: tuple[AgentId, ...], flow: int) -> None:
        """Take a path's flow off its edges."""
        for edge in pairwise(agents):
            self.taken[edge] = self.taken.get(edge, 0) + flow

    def _share(self, by: AgentId, *, cap: int | None = None) -> int:
        """Give what an agent passes on per unit of weight."""
        if by in self.silent or not self.trust.get(by):
            return 0
        found = self.sums.get(by)
        if found is None:
            weights = [edge.weight(self.graph.approval) for edge in self.graph.out_of(by).values()]
            self.steps += len(weights)
            found = self.sums[by] = (sum(weights), max(weights))
        total, heaviest = found
        return share(
            self.trust[by], total=total, heaviest=heaviest, cap=self.cap if cap is None else cap
        )


def _widest(flows: _Flows, agent: AgentId, seeds: frozenset[AgentId]) -> Iterator[Path]:
    """Give path after path, until none is left or the search has looked at too much."""
    while found := _search(flows, agent, seeds):
        flows.take(found.agents, found.flow)
        yield found


def _search(flows: _Flows, agent: AgentId, seeds: frozenset[AgentId]) -> Path | None:
    """Find the widest path, backwards from the agent.

    The widest end comes first out of the heap, then the shortest, then the lowest id; so the first
    seed to come out ends the widest path of all. No agent is passed twice.
    """
    onward: dict[AgentId, AgentId] = {}
    heap: list[tuple[int, int, AgentId, AgentId]] = [(-M, 0, agent, agent)]
    while heap and flows.steps <= MOST_STEPS:
        narrow, length, here, after = heappop(heap)
        if here in onward:
            continue
        onward[here] = after
        if here in seeds:
            return Path(agents=tuple(_walk(onward, here, agent)), flow=-narrow)
        for by in flows.graph.into(here):
            flows.steps += 1
            flow = 0 if by in onward else flows.between(by, here)
            if flow > 0:
                heappush(heap, (-min(-narrow, flow), length + 1, by, here))
    return None


def _walk(onward: Mapping[AgentId, AgentId], start: AgentId, end: AgentId) -> Iterable[AgentId]:
    yield start
    while start != end:
        start = onward[start]
        yield start
