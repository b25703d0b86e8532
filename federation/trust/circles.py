"""Vouches never run in a circle: nobody stands behind somebody who stands behind them.

In a circle of vouches all answer for each other and nobody for the circle, and trust that enters
it goes round before it comes out. So a vouch is refused when its vouchee vouches for its voucher,
itself or through others. It is looked for from both ends, first where fewer agents wait: a newcomer
that vouches for nobody costs nothing, however many vouches lead to who vouches for it.
"""

from collections.abc import Set as AbstractSet
from typing import Final

from federation.core import AgentId
from federation.trust.graph import Graph

MOST_LOOKED_AT: Final = 10_000
"""Vouches that one search looks at; what it takes more for is refused; deployment choice.

Every node decides alike, so the limit counts vouches and no time. Whole rings of agents are looked
at, one after the other, so that the order within a ring cannot change the answer.
"""


def closes_circle(graph: Graph, by: AgentId, agent: AgentId, *, most: int = MOST_LOOKED_AT) -> bool:
    """Tell whether a vouch of `by` for `agent` would close a circle of standing vouches.

    True also if more than `most` vouches would have to be looked at to know.
    """
    if by == agent:
        return True
    ahead: AbstractSet[AgentId] = {agent}
    behind: AbstractSet[AgentId] = {by}
    below, above = set(ahead), set(behind)
    looked = 0
    while ahead and behind:
        forward = len(ahead) <= len(behind)
        step, seen, goal = (
            (graph.vouchees, below, above) if forward else (graph.vouchers, above, below)
        )
        ring: set[AgentId] = set()
        for one in ahead if forward else behind:
            found = step(one)
            looked += len(found)
            if looked > most or not goal.isdisjoint(found):
                return True
            ring |= found
        ring -= seen
        seen |= ring
        if forward:
            ahead = ring
        else:
            behind = ring
    return False
