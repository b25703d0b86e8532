"""Trust as *I* see it: the same computation with my own seeds, my own policy, and my links.

It changes what this node shows beside canonical verdicts, and nothing else: nobody signs it, and
nothing that is certified or exported depends on it. Whom I ignore holds no trust here and passes
none on. What others make of the same graph I do not ask: a realm that I link is one node with the
row that it shows, never its links in turn.

The graph is only read. It is shared with the certified state, so even places for my own seeds are
given here, behind its own.
"""

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from federation.charter import Trust
from federation.core import AgentId, PublicKey, Realm
from federation.trust.eigentrust import Problem, edge_cap, packed, unpack
from federation.trust.foreign import Link, Row, row_of
from federation.trust.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTrust:
    """Trust of agents and of linked realms, of M; who has none is left out."""

    agents: Mapping[AgentId, int]
    realms: Mapping[Realm, int]


NOBODY_TRUSTED: Final = LocalTrust(agents={}, realms={})
"""Where no seed is left, trust starts nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalProblem:
    """What is to be computed, and whose trust is in which place."""

    problem: Problem | None
    """None if no seed is left: then nobody is trusted."""
    places: Mapping[AgentId, int]
    realms: Mapping[Realm, int]
    rows: Mapping[Realm, Row]
    """The row of each linked realm whose head has not expired."""
    ignored: frozenset[AgentId]

    def read(self, raw: bytes) -> LocalTrust:
        """Read trust from whoever computed it; raises ParameterError if it is no solution."""
        if self.problem is None:
            return NOBODY_TRUSTED
        trust = unpack(self.problem, raw)
        return LocalTrust(
            agents={
                agent: trust[place]
                for agent, place in sorted(self.places.items())
                if trust[place] and agent not in self.ignored
            },
            realms={realm: trust[place] for realm, place in self.realms.items() if trust[place]},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """From where, and past whom, I look at the graph."""

    seeds: frozenset[AgentId]
    """Where trust starts."""
    ignored: frozenset[AgentId] = frozenset()
    """Agents that weigh 0 for me and pass nothing on: of instances that I only observe."""
    links: tuple[Link, ...] = ()
    """Other realms, each once."""


def local_problem(
    graph: Graph,
    trust: Trust,
    outlook: Outlook,
    *,
    charter_seeds: Collection[AgentId],
    silent: Collection[AgentId],
    keys: Mapping[PublicKey, AgentId],
    cut: int,
) -> LocalProblem:
    """Build the problem of one outlook on the graph at our cut `cut`.

    `silent` are the revoked and forked; as in the canonical computation they stay seeds. With the
    charter's seeds, nobody ignored and no link it is the canonical problem, edge by edge.
    """
    shared = graph.problem(seeds=charter_seeds, silent=silent, edge_cap=edge_cap(trust))
    places = {agent: place for place, agent in enumerate(graph.agents())}
    seeds = sorted(outlook.seeds - outlook.ignored)
    rows = {
        link.realm: row_of(link, keys, cut) for link in outlook.links if not link.is_expired(cut)
    }
    named = (agent for row in rows.values() for agent, _ in row.agents)
    for agent in (*seeds, *named):
        places.setdefault(agent, len(places))
    added = _Added(first=len(places))
    realms = {}
    for link in outlook.links:
        row = rows.get(link.realm)
        if row is not None:
            realms[link.realm] = added.realm(link, row, [places[seed] for seed in seeds], places)
    mute = frozenset(silent) | outlook.ignored
    problem = replace(
        shared,
        nodes=added.nodes,
        sources=shared.sources + packed(added.sources),
        targets=shared.targets + packed(added.targets),
        weights=shared.weights + bytes(added.weights),
        seeds=tuple(places[seed] for seed in seeds),
        silent=tuple(sorted(places[agent] for agent in mute if agent in places)),
    )
    return LocalProblem(
        problem=problem if seeds else None,
        places=places,
        realms=realms,
        rows=rows,
        ignored=outlook.ignored,
    )


class _Added:
    """Nodes and edges behind those of the graph."""

    def __init__(self, first: int) -> None:
        self.nodes = first
        self.sources = array("I")
        self.targets = array("I")
        self.weights = bytearray()

    def realm(
        self, link: Link, row: Row, seeds: Sequence[int], places: Mapping[AgentId, int]
    ) -> int:
        """Add a realm's node, the edges to it and its row; give its place."""
        realm = self._node()
        for seed in seeds:
            self._edge(seed, realm, link.weight)
        for agent, weight in row.agents:
            self._edge(realm, places[agent], weight)
        for weight in row.nobody:
            # A node of its own each: one edge of one pair. It passes nothing on.
            self._edge(realm, self._node(), weight)
        return realm

    def _node(self) -> int:
        self.nodes += 1
        return self.nodes - 1

    def _edge(self, source: int, target: int, weight: int) -> None:
        self.sources.append(source)
        self.targets.append(target)
        self.weights.append(weight)
