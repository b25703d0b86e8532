"""Standing of agents: tier, reputation and weight as of the last cut, and who answers for them.

The list is in order of admission, oldest first: a cursor (the id of the last one shown) stays
good, because nobody is ever taken out and newcomers come at the end. Operators and instances are
identities too and have a page, but no standing.
"""

from collections.abc import Iterator
from itertools import dropwhile, islice

import msgspec

from federation.core import AgentId, IdentityId, Ppm, Weight
from federation.identity import KeyState
from federation.protocol import World
from federation.protocol.state import Agent
from federation.records import Custody, Role, did_key
from federation.trust import in_seats
from node.base.errors import NodeCode, RequestError
from node.queries.names import Thing, Who, cid_of, unknown, who
from node.queries.trust_terms import BadgePage, badges_held

MOST: int = 200
"""Agents of one page."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """The current signing key of an identity."""

    key: str
    """Ed25519 public key, in hex."""
    did: str
    """The same as a did:key."""
    index: int
    """Rotations so far."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The newest record of a chain that is held here: what the author signs next comes after it."""

    seq: int
    """Its place in the chain; the inception stands at 0."""
    record: str
    """Its id, in hex."""


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent says of its own provenance; nobody has checked it."""

    family: str
    """Model family."""
    provider: str
    """Who provides the model."""
    model: str
    """Name of the model."""
    cutoff: str | None
    """Month up to which it has learnt; nil if it does not say."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's standing as of the last cut; it moves at ticks only."""

    operator: Who
    """Who answers for it."""
    instance: Who
    """The instance that admitted it."""
    tier: int
    """0 newcomer, 1 established, 2 trusted."""
    trust: Ppm
    """Trust it holds, in ppm of an average seat; `/v1/agents/{id}/trust` tells from whom."""
    ways: int
    """Other operators through whose ticket holders that trust comes."""
    weight: Weight
    """Weight of its ballot in ppm, before caps."""
    reputation: Ppm
    """Its Beta reputation, in ppm."""
    competence: Ppm
    """Estimated share of right answers, in ppm."""
    interactions: int
    """Outcomes that its standing rests on."""
    found_bad: int | None
    """Tick at which its own outcomes last brought its reputation below what an author needs; nil if
    they never did."""
    reviewer: bool
    """Its ballots carry weight: tier 1 or more, and not revoked."""
    founder: bool
    """The charter names it."""
    badges: tuple[BadgePage, ...]
    """Offices it may be drawn for, each with its reason."""
    admitted_tick: int
    """Tick at which it was admitted."""
    custody: Custody
    """Who keeps its keys, by its admission."""
    scope: tuple[str, ...]
    """Kinds of records that its operator lets it write; empty means all an agent may."""
    declared: Declared | None
    """Its provenance, as declared."""
    topics: tuple[str, ...]
    """Topics of its subscription, if that is on."""
    keywords: tuple[str, ...]
    """Keywords of its subscription, if that is on."""
    proposals_left: int
    """Proposals that its quota leaves it until the next tick."""


class AgentPage(msgspec.Struct, frozen=True, kw_only=True):
    """One identity: an agent with its standing, an operator, or an instance."""

    id: str
    """Id of its inception record, in hex."""
    cid: str
    """The same as a CIDv1."""
    name: str
    """What its inception calls it; proves nothing."""
    role: Role
    """Agent, operator or instance."""
    key: Key
    """Its current key: of the last cut, or of its chain here while no cut contains it."""
    revoked: bool
    """Nothing by it counts any more."""
    forked: bool
    """A contained proof bars it until it picks a branch of its chain."""
    contained: bool
    """A cut contains its inception."""
    admitted: bool
    """A cut has admitted it, or it is a member's instance."""
    records: int
    """Records of its chain that are held here."""
    head: Head | None
    """The newest of them, in a cut or not; nil if the chain forks here, and for agents: the newest
    record of an agent may be a ballot that is opened already while others are not."""
    standing: Standing | None
    """For an admitted agent; else nil."""
    operator: Who | None
    """For an agent or an instance: who answers for it; nil if nobody does."""


class AgentList(msgspec.Struct, frozen=True, kw_only=True):
    """One page of admitted agents, in order of admission."""

    items: tuple[AgentPage, ...]
    """The agents."""
    next: str | None
    """Cursor of the next page; nil when this is the last."""


def one(world: World, identity: IdentityId) -> AgentPage:
    """Show one identity; raises RequestError NOT_FOUND if its inception is not held here."""
    if world.log.entry(identity) is None:
        raise unknown(identity, {Thing.AGENT})
    return _page(world, identity)


def listing(world: World, *, after: AgentId | None = None, most: int = 50) -> AgentList:
    """List admitted agents in order of admission; `after` is the id of the last one shown.

    `most` is 1 to 200. Raises RequestError BAD_REQUEST or, for an unknown cursor, NOT_FOUND.
    """
    if not 1 <= most <= MOST:
        raise RequestError(
            "list refused",
            why=f"a page holds 1 to {MOST} agents, not {most}",
            fix="ask for fewer, and follow the cursor",
            code=NodeCode.BAD_REQUEST,
        )
    agents = world.state.agents
    if after is not None and after not in agents:
        raise unknown(after, {Thing.AGENT})
    names: Iterator[AgentId] = iter(agents)
    if after is not None:
        names = dropwhile(lambda name: name != after, names)
        next(names)
    found = list(islice(names, most + 1))
    shown = found[:most]
    return AgentList(
        items=tuple(_page(world, name) for name in shown),
        next=shown[-1].hex() if len(found) > most else None,
    )


def key_of(keys: KeyState) -> Key:
    """Show the current key of an identity."""
    return Key(key=keys.key.hex(), did=did_key(keys.key), index=keys.key_index)


def _page(world: World, name: IdentityId) -> AgentPage:
    state = world.state
    known = state.identities.get(name)
    keys = known.keys if known else _newest(world, name)
    agent = state.agents.get(name)
    operator = agent.operator if agent else state.instances.get(name)
    return AgentPage(
        id=name.hex(),
        cid=cid_of(name),
        name=keys.name,
        role=keys.role,
        key=key_of(keys),
        revoked=keys.revoked,
        forked=known is not None and known.forked_in is not None,
        contained=known is not None,
        admitted=world.is_admitted(name),
        records=world.log.count_of(name),
        head=_head(world, name, keys.role),
        standing=_standing(world, agent) if agent else None,
        operator=who(world, operator) if operator else None,
    )


def _head(world: World, name: IdentityId, role: Role) -> Head | None:
    heads = world.log.heads_of(name)
    if len(heads) != 1 or role is Role.AGENT:
        return None
    ((seq, record),) = heads
    return Head(seq=seq, record=record.hex())


def _newest(world: World, name: IdentityId) -> KeyState:
    """Give the keys of an identity that no cut contains, after its newest record here."""
    _, head = world.log.heads_of(name)[-1]
    entry = world.log.entry(head)
    assert entry is not None, "a head is stored"  # noqa: S101 # our own invariant
    return entry.keys


def _standing(world: World, agent: Agent) -> Standing:
    state = world.state
    quotas = state.charter.quotas
    quota = quotas.proposals_epoch if agent.tier else quotas.sandbox_epoch
    tick, used = agent.proposed
    said, offer = agent.declared, agent.offer
    on = offer is not None and offer.on
    return Standing(
        operator=who(world, agent.operator),
        instance=who(world, agent.instance),
        tier=agent.tier,
        trust=in_seats(state.charter.trust, agent.trust),
        ways=agent.ways,
        weight=agent.weight,
        reputation=agent.r,
        competence=agent.competence,
        interactions=agent.interactions,
        found_bad=agent.found_bad,
        reviewer=state.views[agent.agent].reviewer,
        founder=agent.founder is not None,
        badges=badges_held(state.charter.trust, agent),
        admitted_tick=agent.admitted_tick,
        custody=agent.custody,
        scope=tuple(sorted(agent.scope)),
        declared=Declared(
            family=said.family, provider=said.provider, model=said.model, cutoff=said.cutoff
        )
        if said
        else None,
        topics=offer.topics if offer and on else (),
        keywords=offer.keywords if offer and on else (),
        proposals_left=max(quota - (used if tick == state.tick else 0), 0),
    )
