"""Who vouched answers: a share of a bad agent's negative evidence, along vouches (design: evidence).

A vouch lends trust, so it must cost something when it was wrong; otherwise vouches would be sold.
The share halves with each hop, and everybody pays once, for its shortest way to the bad agent.

Rows of this kind are nobody's own doing. So they never make their subject bad in turn, and what
those who vouched for it pay is a share of its own outcomes alone (`Ledger.own_negative`): nothing
is ever passed on twice.
"""

from dataclasses import dataclass

from federation.charter import EvidenceTable
from federation.core import MILLION, AgentId, Digest, Micro, OperatorId
from federation.trust.evidence import Evidence, EvidenceKind, in_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Liability:
    """An agent was found bad (ADR 35)."""

    cause: Digest
    """What names it in the books: the bad agent's id."""
    tick: int
    agent: AgentId
    operator: OperatorId
    """The bad agent's operator, the source of the rows."""
    negative: Micro
    """The negative evidence that is shared: `Ledger.own_negative`."""
    vouches: tuple[tuple[AgentId, AgentId], ...]
    """Who vouched for whom when it did what it is found bad for, in any order.

    Not the vouches of today alone: otherwise an unvouch in time would be a way out.
    """


def liability_evidence(liability: Liability, table: EvidenceTable) -> tuple[Evidence, ...]:
    """Turn a bad agent into rows of those who vouched for it, directly or through others.

    `liability` of the charter is the share of the first hop, `liability_hops` how far it goes.
    """
    vouchers: dict[AgentId, set[AgentId]] = {}
    for by, agent in liability.vouches:
        vouchers.setdefault(agent, set()).add(by)
    share = liability.negative * table.liability // MILLION
    reached, edge = {liability.agent}, {liability.agent}
    rows: list[Evidence] = []
    for _ in range(table.liability_hops):
        edge = set().union(*(vouchers.get(agent, set()) for agent in edge)) - reached
        if not edge or not share:
            break
        reached |= edge
        rows.extend(
            Evidence(
                tick=liability.tick,
                cause=liability.cause,
                kind=EvidenceKind.LIABILITY,
                subject=agent,
                source=liability.operator,
                positive=0,
                negative=share,
                practice=False,
            )
            for agent in edge
        )
        share //= 2
    return in_order(rows)
