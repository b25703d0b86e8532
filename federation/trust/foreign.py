"""Another realm in my own graph: one node, whose row is what that realm says of itself (design: links).

A link is my operator's: nobody else's graph has it, and it never enters canonical state. Each of
my seeds has an edge of the link's weight to the realm's node. The node's row is the newest accepted
trust head of that realm: who stands in it passes trust on to the agent of ours that holds the same
key, and to nobody if none of ours does, so a realm that trusts many gives each of them little.

A head grows old in cuts of *our* realm since its import, because the other realm's cuts tell
nothing about our time. Each half-life the weights of the row are halved. EigenTrust divides by the
sum of a row, so halving all of it would change nothing: what age takes goes to nobody instead, and
so back to the seeds.

Reputation of another realm is no evidence here. It counts as a few outcomes of a prior, at most.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from federation.core import MILLION, AgentId, Micro, Ppm, PublicKey, Realm
from federation.records import TrustHead
from federation.trust.eigentrust import HEAVIEST

HALF_LIFE: Final = 30
"""Cuts of our realm after which a head's weights are halved (Folkmoot)."""
EXPIRY: Final = 90
"""Cuts of our realm after which a head is gone (Folkmoot)."""
PRIOR: Final = 4
"""Outcomes that a realm's word about one agent is worth at most, and those of all realms (Folkmoot)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """My operator's word for another realm, and the newest head of it that was accepted."""

    realm: Realm
    weight: int
    """Of the edge from each of my seeds, 1 to 255."""
    head: TrustHead
    imported: int
    """Number of our cut at which this head was accepted."""

    def age(self, cut: int) -> int:
        """Count the cuts since the import, at our cut `cut`."""
        return max(0, cut - self.imported)

    def is_expired(self, cut: int) -> bool:
        """Tell whether the head is too old to say anything."""
        return self.age(cut) >= EXPIRY


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Edges of a realm's node."""

    agents: tuple[tuple[AgentId, int], ...]
    """Agents of ours with the weights of their edges, by id; weights of 0 are left out."""
    nobody: tuple[int, ...]
    """Weights of the edges that lead to nobody: to keys that none of ours has, and what age took."""


def faded(weight: int, age: int) -> int:
    """Give what a weight is after `age` cuts: halved each half-life, 0 from the expiry on."""
    return 0 if age >= EXPIRY else weight >> (age // HALF_LIFE)


def row_of(link: Link, keys: Mapping[PublicKey, AgentId], cut: int) -> Row:
    """Give the row of a realm's node at our cut `cut`; `keys` are the current keys of our agents.

    What the computation divides by, the larger of its sum and eight times its largest weight, stays
    what it was when the head was fresh, so that an agent's part of it does fade.
    """
    if link.is_expired(cut):
        return Row(agents=(), nobody=())
    fresh = [row.weight for row in link.head.top]
    held: dict[AgentId, int] = {}
    for row in link.head.top:
        agent = keys.get(row.key)
        left = faded(row.weight, link.age(cut))
        if agent is not None and left:
            # A key counts once, however many of the other realm's agents hold it.
            held[agent] = max(held.get(agent, 0), left)
    agents = tuple(sorted(held.items()))
    lost = sum(fresh) - sum(held.values())
    heaviest = max(fresh, default=0)
    if max(held.values(), default=0) < heaviest:
        # One edge to nobody keeps the largest weight in the row.
        lost = max(lost, heaviest)
    return Row(agents=agents, nobody=tuple(_parts(lost, heaviest)))


def keys_of(agents: Iterable[tuple[AgentId, PublicKey]]) -> dict[PublicKey, AgentId]:
    """Map current keys to agents; of two that share a key the lowest id stands for both."""
    return {key: agent for agent, key in sorted(agents, reverse=True)}


def prior_pseudo_counts(weight: int, realm_trust_e: Ppm) -> Micro:
    """Give the prior that a realm's word for an agent is worth: 4·(weight/255)·min(1, e) outcomes.

    `weight` is the agent's in the realm's row, 0 to 255; e is the realm's own trust here, in ppm
    of one average seat.
    """
    return PRIOR * MILLION * weight * min(MILLION, realm_trust_e) // (HEAVIEST * MILLION)


def priors(rows: Iterable[tuple[Row, Ppm]]) -> dict[AgentId, Micro]:
    """Add up the priors that several realms give, each with its trust e; at most 4 outcomes each."""
    counts: dict[AgentId, Micro] = {}
    for row, realm_trust_e in rows:
        for agent, weight in row.agents:
            more = counts.get(agent, 0) + prior_pseudo_counts(weight, realm_trust_e)
            counts[agent] = min(PRIOR * MILLION, more)
    return counts


def with_prior(alpha: Micro, beta: Micro, prior: Micro) -> Ppm:
    """Give the mean of a Beta reputation with so much prior for the agent."""
    return (alpha + prior) * MILLION // (alpha + beta + prior)


def _parts(total: int, most: int) -> Iterator[int]:
    """Split a sum into weights of at most `most`."""
    while total > 0:
        yield min(total, most)
        total -= most
