"""The graph of trust: who judged whose own work well, and how strongly (§2.3; design: EigenTrust).

An edge is made of *acts of judgement*: the standing artifacts of another that an agent approved,
and its vouch. Voting alike makes none: with edges between those who vote alike, Sybils that merely
followed the majority took most of the weight in simulation.

The graph depends on what was done and not on its order, except that of vouches of one agent for
another, where the latest call counts. Only the places of its agents, which a `Problem` speaks of,
depend on who came first; `named` gives results by agent. An act costs the same however large the
graph is: it changes one row of the packed columns that a problem is copied from.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from federation.core import AgentId, ParameterError
from federation.trust.eigentrust import HEAVIEST, Problem, packed


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Acts of judgement of one agent about another's own work."""

    approvals: int
    """The other's standing artifacts that it approved."""
    vouch: int
    """Weight of its vouch, 1 to 255; 0 is none."""

    def weight(self, approval: int) -> int:
        """Weigh the edge, 0 to 255; `approval` is the weight of one approved artifact."""
        return min(HEAVIEST, approval * self.approvals + self.vouch)


NO_EDGE: Final = Edge(approvals=0, vouch=0)
"""What stands between two agents of whom one did not judge the other."""
_NOBODY: Final[AbstractSet[AgentId]] = frozenset()


class Graph:
    """All edges of a realm; changed act by act."""

    def __init__(self, approval: int) -> None:
        """Start without edges; `approval` is the charter's weight of one approved artifact."""
        self._approval = approval
        self._agents: list[AgentId] = []
        self._places: dict[AgentId, int] = {}
        self._out: dict[AgentId, dict[AgentId, Edge]] = {}
        self._into: dict[AgentId, dict[AgentId, Edge]] = {}
        # Vouches once more, alone: whoever follows them must not pay for all approvals beside them.
        self._vouchees: dict[AgentId, set[AgentId]] = {}
        self._vouchers: dict[AgentId, set[AgentId]] = {}
        # The packed columns have a row for each edge and no other; `_rows` tells which, by both
        # places in one number.
        self._rows: dict[int, int] = {}
        self._sources = array("I")
        self._targets = array("I")
        self._weights = bytearray()
        self.version = 0
        """Grows with every change of a weight; equal versions of one graph are equal graphs."""

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self._weights)

    @property
    def approval(self) -> int:
        """What one approved artifact weighs."""
        return self._approval

    def under(self, approval: int) -> None:
        """Weigh every edge anew, under a charter in which one approved artifact weighs `approval`."""
        before, self._approval = self._approval, approval
        for by, edges in self._out.items():
            for agent, edge in edges.items():
                weight = edge.weight(approval)
                if weight != edge.weight(before):
                    self.version += 1
                    self._weigh(self._places[by], self._places[agent], weight)

    def approve(self, by: AgentId, author: AgentId, count: int = 1) -> None:
        """Note that `by` approved `count` more standing artifacts of `author`.

        A negative count takes approvals back: the artifact no longer stands. Nobody approves its
        own work: that is ignored.
        """
        if by == author:
            return
        old = self.edge(by, author)
        assert old.approvals + count >= 0, "more approvals taken back than given"  # noqa: S101 # our own
        self._put(by, author, Edge(approvals=old.approvals + count, vouch=old.vouch))

    def vouch(self, by: AgentId, agent: AgentId, weight: int) -> None:
        """Let `by` vouch for an agent with a weight of 1 to 255, or with 0 no longer.

        The latest call counts. Nobody vouches for itself: that is ignored.
        """
        assert 0 <= weight <= HEAVIEST, "a vouch of no legal weight"  # noqa: S101 # our own
        if by == agent:
            return
        self._put(by, agent, Edge(approvals=self.edge(by, agent).approvals, vouch=weight))
        for ends, one, other in ((self._vouchees, by, agent), (self._vouchers, agent, by)):
            if weight:
                ends.setdefault(one, set()).add(other)
            elif one in ends:
                ends[one].discard(other)
                if not ends[one]:
                    del ends[one]

    def edge(self, by: AgentId, agent: AgentId) -> Edge:
        """Give what one agent judged of another; all zero without an edge."""
        return self._out.get(by, {}).get(agent, NO_EDGE)

    def out_of(self, agent: AgentId) -> Mapping[AgentId, Edge]:
        """Give the edges of an agent by whom it judged: a view, good until the next act."""
        return MappingProxyType(self._out.get(agent, {}))

    def into(self, agent: AgentId) -> Mapping[AgentId, Edge]:
        """Give the edges to an agent by who judged it: a view, good until the next act."""
        return MappingProxyType(self._into.get(agent, {}))

    def vouchees(self, by: AgentId) -> AbstractSet[AgentId]:
        """Give for whom an agent vouches, in no order: a view, good until the next act."""
        return self._vouchees.get(by, _NOBODY)

    def vouchers(self, agent: AgentId) -> AbstractSet[AgentId]:
        """Give who vouches for an agent, in no order: a view, good until the next act."""
        return self._vouchers.get(agent, _NOBODY)

    def agents(self) -> Iterable[AgentId]:
        """List who has a place: whoever had an edge, and seeds of a problem; first come first."""
        return tuple(self._agents)

    def vouches(self) -> Iterator[tuple[AgentId, AgentId, int]]:
        """List who vouches for whom with which weight, sorted."""
        for by in sorted(self._out):
            for agent, edge in sorted(self._out[by].items(), key=lambda item: item[0]):
                if edge.vouch:
                    yield by, agent, edge.vouch

    def problem(
        self, *, seeds: Iterable[AgentId], silent: Collection[AgentId], edge_cap: int
    ) -> Problem:
        """Copy the graph for a computation of trust; later acts do not touch the copy.

        `silent` agents pass nothing on. Raises ParameterError without a seed.
        """
        starts = tuple(self._place(seed) for seed in sorted(set(seeds)))
        if not starts:
            raise ParameterError(
                "no trust to compute", why="there is no seed", fix="name at least one seed"
            )
        mute = sorted(self._places[agent] for agent in set(silent) if agent in self._places)
        return Problem(
            nodes=len(self._agents),
            sources=packed(self._sources),
            targets=packed(self._targets),
            weights=bytes(self._weights),
            seeds=starts,
            silent=tuple(mute),
            edge_cap=edge_cap,
        )

    def named(self, problem: Problem, trust: Sequence[int]) -> dict[AgentId, int]:
        """Give the trust of a problem of this graph by agent, in id order; who has none is left out.

        Agents keep their places, so the graph may have grown since.
        """
        assert len(trust) == problem.nodes <= len(self._agents), "trust of another graph"  # noqa: S101 # our own
        having = [(self._agents[place], t) for place, t in enumerate(trust) if t]
        return dict(sorted(having))

    def _put(self, by: AgentId, agent: AgentId, edge: Edge) -> None:
        """Replace an edge everywhere; an edge without acts is none."""
        old = self.edge(by, agent)
        if edge == old:
            return
        if edge == NO_EDGE:
            self._drop(by, agent)
        else:
            self._out.setdefault(by, {})[agent] = edge
            self._into.setdefault(agent, {})[by] = edge
        weight = edge.weight(self._approval)
        if weight != old.weight(self._approval):
            self.version += 1
            self._weigh(self._place(by), self._place(agent), weight)

    def _drop(self, by: AgentId, agent: AgentId) -> None:
        for ends, one, other in ((self._out, by, agent), (self._into, agent, by)):
            del ends[one][other]
            if not ends[one]:
                del ends[one]

    def _weigh(self, source: int, target: int, weight: int) -> None:
        """Write a weight into the packed columns."""
        key = _key(source, target)
        row = self._rows.get(key)
        if row is None:
            self._rows[key] = len(self._weights)
            self._sources.append(source)
            self._targets.append(target)
            self._weights.append(weight)
        elif weight:
            self._weights[row] = weight
        else:
            self._empty(key, row)

    def _empty(self, key: int, row: int) -> None:
        """Take a row out: the last one moves into its place, so that no hole stays."""
        source, target = self._sources.pop(), self._targets.pop()
        weight = self._weights.pop()
        del self._rows[key]
        if row < len(self._weights):
            self._sources[row], self._targets[row] = source, target
            self._weights[row] = weight
            self._rows[_key(source, target)] = row

    def _place(self, agent: AgentId) -> int:
        place = self._places.setdefault(agent, len(self._agents))
        if place == len(self._agents):
            self._agents.append(agent)
        return place


def _key(source: int, target: int) -> int:
    return source << 32 | target
