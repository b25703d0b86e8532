"""Bodies of records about trust: vouches, and what one realm shows another (design: trust).

A vouch is an act of judgement about another agent, and the only edge of the graph that needs no
artifact. What it is worth, and what its giver answers for, is told by the charter and the fold.
"""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from federation.codec import check_set, encode
from federation.core import AgentId, Digest, IdentityId, PublicKey
from federation.crypto import Domain, digest
from federation.records.bodies import Body, Words
from federation.records.statement import Count

HEAD_ROWS: Final = 256
"""Agents that one trust head names at most."""

VouchWeight = Annotated[int, Meta(ge=1, le=255)]
"""What a vouch weighs on its edge; it is taken back by a record of its own, not by a 0."""


class AgentVouch(Body, frozen=True, kw_only=True):
    """agent.vouch: its author trusts another agent. A trigger; the latest counts."""

    agent: AgentId
    weight: VouchWeight
    reason: Words


class AgentUnvouch(Body, frozen=True, kw_only=True):
    """agent.unvouch: takes the author's vouch for an agent back. A trigger."""

    agent: AgentId
    reason: Words


class TrustRow(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One agent of a trust head."""

    key: PublicKey
    """Its current key: another realm knows it by nothing else."""
    agent: IdentityId
    weight: VouchWeight
    """Its trust beside that of the most trusted agent, which has 255."""


class TrustHead(Body, frozen=True, kw_only=True):
    """instance.trust_head: whom this realm trusts most, for other realms; no effect in its own."""

    cut: Count
    """The cut that it tells of."""
    root: Digest
    """`trust_head_root` of the rows."""
    top: Annotated[tuple[TrustRow, ...], Meta(max_length=HEAD_ROWS)]
    """Ascending by agent, each once."""
    digest: Digest
    """World digest at that cut."""

    def __post_init__(self) -> None:
        """Hold the rows to one order, and the root to the rows."""
        check_set("top", [row.agent for row in self.top])
        if self.root != trust_head_root(self.top):
            raise ValueError("root: it is not the hash of the rows")


def trust_head_root(rows: Sequence[TrustRow]) -> Digest:
    """SHA-256("folkmoot/1/trust_head" ‖ canonical rows), in the order given."""
    return digest(Domain.TRUST_HEAD, encode(tuple(rows)))
