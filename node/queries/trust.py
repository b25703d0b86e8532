"""Where an agent's trust, tier and weight come from: every term, every path, and why in words.

Trust, tier and weight are those of the last tick. Judgements (approvals of standing artifacts, and
vouches) are those of the last cut and count from the next tick on; what they pass is shown with
the trust that their authors have now.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from federation.core import AgentId, Ppm
from federation.protocol import World, epochs, judgements
from federation.protocol.progress import is_contained
from federation.records import AgentVouch, Kind, Record
from federation.trust import in_seats
from federation.trust.paths import Inflow, inflows, paths
from node.base.errors import NodeCode, RequestError
from node.queries import trust_caps
from node.queries import trust_terms as terms
from node.queries.names import Thing, Who, unknown, who
from node.queries.per_cut import PerCut
from node.queries.trust_evidence import EvidencePage, evidence_of
from node.queries.trust_liability import AnswerPage, answers_of, found_bad
from node.queries.trust_why import reasons

MOST_INFLOWS: Final = 50
"""Agents that pass trust on to one, the largest flows first."""
MOST_PATHS: Final = 5
MOST_VOUCHES: Final = 50
"""Vouches of each direction, the heaviest first."""


class InflowPage(msgspec.Struct, frozen=True, kw_only=True):
    """One agent that passes trust on to this one."""

    by: Who
    """Who passes it."""
    operator: Who | None
    """Who answers for that agent."""
    approvals: int
    """Standing artifacts of this agent that it approved."""
    vouch: int
    """Weight of its vouch; 0 is none."""
    weight: int
    """Weight of the edge, 1 to 255."""
    flow: Ppm
    """Trust that comes over it, in ppm of a seat."""
    capped: bool
    """More would come without the cap on a single edge."""


class PathPage(msgspec.Struct, frozen=True, kw_only=True):
    """One way from where trust starts to this agent."""

    agents: tuple[Who, ...]
    """From a seed to the agent itself, which for a seed is all."""
    flow: Ppm
    """The smallest flow on it, in ppm of a seat; of a seed's own, its trust."""


class VouchPage(msgspec.Struct, frozen=True, kw_only=True):
    """One vouch that stands."""

    by: Who
    """Who vouches."""
    agent: Who
    """For whom."""
    weight: int
    """1 to 255."""
    reason: str | None
    """What its author wrote; nil if that record is not held here."""
    record: str | None
    """Id of the record, in hex."""
    found_bad: int | None
    """Tick at which the agent vouched for was last found bad; nil if it never was."""


class TrustPage(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent's trust, tier and weight come from."""

    tick: int
    """The tick that trust, tier and weight are of."""
    agent: Who
    """The agent."""
    operator: Who
    """Who answers for it."""
    instance: Who
    """The instance that admitted it."""
    founder: bool
    """The charter names it."""
    revoked: bool
    """Nothing by it counts any more."""
    forked: bool
    """A contained proof bars it until it picks a branch of its chain."""
    found_bad: int | None
    """Tick at which its own outcomes last brought it below what an author needs; nil if never."""
    why: tuple[str, ...]
    """The whole page in a few sentences."""
    score: terms.Score
    """How much trust it holds."""
    ticket: terms.Ticket
    """Whether that is enough for a voting weight."""
    tier: terms.Tier
    """What it may do, and what each tier asks."""
    weight: terms.WeightTerms
    """How its weight comes about, before caps."""
    counted: trust_caps.CountedWeight
    """What it would count in a vote by all reviewers, and which caps bound it."""
    evidence: EvidencePage
    """What its reputation rests on."""
    inflows: tuple[InflowPage, ...]
    """Who passes trust on to it, the most first."""
    inflows_left_out: int
    """How many more do."""
    paths: tuple[PathPage, ...]
    """The ways by which most of it comes."""
    ways: int
    """Other operators through whose ticket holders its trust came at the last tick."""
    vouches_given: tuple[VouchPage, ...]
    """For whom it vouches, the heaviest first."""
    vouches_received: tuple[VouchPage, ...]
    """Who vouches for it, the heaviest first."""
    answers_for: tuple[AnswerPage, ...]
    """Agents found bad for which it answers, because it stood behind them; the newest first."""
    vouches_left_out: int
    """Vouches of both kinds that are not shown."""
    vouches_left: int
    """Vouches that its own quota leaves it until the next tick; 0 below tier 1."""
    badges: tuple[terms.BadgePage, ...]
    """Offices it may be drawn for."""


def trust(world: World, name: AgentId) -> TrustPage:
    """Show where an agent's standing comes from.

    Raises RequestError NOT_FOUND if its inception is not held here, and BAD_REQUEST for what is no
    admitted agent: it has no standing. Time grows with the reviewers and with its own judgements.
    """
    state = world.state
    agent = state.agents.get(name)
    if agent is None:
        raise _no_agent(world, name)
    rules = state.charter.trust
    given = {of: edge.vouch for of, edge in state.graph.out_of(name).items() if edge.vouch}
    received = {by: edge.vouch for by, edge in state.graph.into(name).items() if edge.vouch}
    records = _vouches(world)
    held, silent = _held(world), epochs.silent(state)
    flows = inflows(state.graph, held, rules, name, silent)
    left = state.charter.quotas.vouches_epoch - judgements.used(state, agent)
    page = TrustPage(
        tick=state.tick,
        agent=who(world, name),
        operator=who(world, agent.operator),
        instance=who(world, agent.instance),
        founder=agent.founder is not None,
        revoked=state.identities[name].keys.revoked,
        forked=state.identities[name].forked_in is not None,
        found_bad=agent.found_bad,
        why=(),
        score=terms.score_of(state, agent),
        ticket=terms.ticket_of(rules, agent.trust),
        tier=terms.tier_of(state, agent),
        weight=terms.weight_of(rules, agent),
        counted=trust_caps.counted_of(world, name),
        evidence=evidence_of(world, name),
        inflows=tuple(_flow(world, name, one) for one in flows[:MOST_INFLOWS]),
        inflows_left_out=max(len(flows) - MOST_INFLOWS, 0),
        paths=_paths(world, name, held, silent),
        ways=agent.ways,
        vouches_given=tuple(
            _vouch(world, name, of, weight, records) for of, weight in _heaviest(given)
        ),
        vouches_received=tuple(
            _vouch(world, by, name, weight, records) for by, weight in _heaviest(received)
        ),
        answers_for=answers_of(world, name, records.keys()),
        vouches_left_out=sum(max(len(one) - MOST_VOUCHES, 0) for one in (given, received)),
        vouches_left=max(left, 0) if agent.tier else 0,
        badges=terms.badges_held(rules, agent),
    )
    return msgspec.structs.replace(page, why=reasons(page))


def _no_agent(world: World, name: AgentId) -> RequestError:
    known = world.log.entry(name)
    if known is None:
        return unknown(name, {Thing.AGENT})
    return RequestError(
        "no trust to show",
        why=f"{terms.called(who(world, name))} is no agent that a cut has admitted",
        fix="name an admitted agent; `folkmoot agent list` shows them",
        code=NodeCode.BAD_REQUEST,
    )


def _held(world: World) -> Mapping[AgentId, int]:
    return {name: one.trust for name, one in world.state.agents.items()}


def _flow(world: World, name: AgentId, one: Inflow) -> InflowPage:
    state = world.state
    edge = state.graph.edge(one.by, name)
    by = state.agents.get(one.by)
    return InflowPage(
        by=who(world, one.by),
        operator=who(world, by.operator) if by is not None else None,
        approvals=edge.approvals,
        vouch=edge.vouch,
        weight=one.weight,
        flow=in_seats(state.charter.trust, one.flow),
        capped=one.capped,
    )


def _paths(
    world: World, name: AgentId, held: Mapping[AgentId, int], silent: Collection[AgentId]
) -> tuple[PathPage, ...]:
    state = world.state
    seeds = epochs.charter_seeds(state.charter)
    found = paths(state.graph, held, state.charter.trust, name, seeds, silent, most=MOST_PATHS)
    return tuple(
        PathPage(
            agents=tuple(who(world, one) for one in path.agents),
            flow=in_seats(state.charter.trust, path.flow),
        )
        for path in found
    )


def _heaviest(vouches: Mapping[AgentId, int]) -> Sequence[tuple[AgentId, int]]:
    by_weight = sorted(vouches.items(), key=lambda item: (-item[1], item[0]))
    return by_weight[:MOST_VOUCHES]


def _latest_vouches(world: World) -> dict[tuple[AgentId, AgentId], Record]:
    """Find of each pair of agents the record of its latest vouch that a cut holds and counts."""
    latest: dict[tuple[AgentId, AgentId], Record] = {}
    for record in world.log.by_kind(Kind.AGENT_VOUCH):
        body = record.body
        if (
            not isinstance(body, AgentVouch)
            or record.id in world.state.refused
            or not is_contained(world, record)
        ):
            continue
        pair = record.author, body.agent
        known = latest.get(pair)
        if known is None or known.seq < record.seq:
            latest[pair] = record
    return latest


_vouches: Final = PerCut(_latest_vouches)


def _vouch(
    world: World,
    by: AgentId,
    of: AgentId,
    weight: int,
    records: Mapping[tuple[AgentId, AgentId], Record],
) -> VouchPage:
    record = records.get((by, of))
    body = record.body if record is not None else None
    return VouchPage(
        by=who(world, by),
        agent=who(world, of),
        weight=weight,
        reason=body.reason if isinstance(body, AgentVouch) else None,
        record=record.id.hex() if record is not None else None,
        found_bad=found_bad(world.state, of),
    )
