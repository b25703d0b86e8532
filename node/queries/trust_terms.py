"""The terms of an agent's standing: ticket, tier, and weight before caps.

Each says what is asked and what the agent shows, so that a reader can reckon again what `epochs`
has reckoned at the last tick. Trust is told in seats: 1,000,000 is what an average member of a
realm of the charter's size would hold.
"""

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from federation.charter import Trust
from federation.core import MILLION, Ppm, Weight
from federation.protocol.epochs import charter_seeds
from federation.protocol.state import Agent, State
from federation.trust import (
    M,
    Requirement,
    badges_of,
    has_ticket,
    in_seats,
    requirements,
    ticket_price,
    trust_ref,
)
from node.queries.names import Who


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """How much trust an agent holds, as of the last tick."""

    seats: Ppm
    """In ppm of an average seat: 1,000,000 is one."""
    share: Ppm
    """In ppm of all trust there is, rounded down."""
    of_seats: int
    """Seats that the charter sizes the realm for: all trust is so many seats."""
    seed: bool
    """Trust starts at it, by the charter."""


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """Whether trust is enough for a voting weight."""

    has: bool
    """It is."""
    needs: Ppm
    """Trust that a ticket costs, in ppm of a seat."""
    missing: Ppm
    """What is missing of it, in ppm of a seat; 0 with a ticket."""


class Condition(StrEnum):
    """What a tier can ask for."""

    TICKET = "ticket"
    """Trust, in ppm of a seat."""
    INTERACTIONS = "interactions"
    """Outcomes that count."""
    REPUTATION = "reputation"
    """Beta reputation, in ppm."""
    AGE = "age"
    """Ticks since admission."""
    WAYS = "ways"
    """Other operators through whose ticket holders its trust comes."""


class TierNeed(msgspec.Struct, frozen=True, kw_only=True):
    """One condition of a tier."""

    condition: Condition
    """Which one; its unit stands there."""
    needs: int
    """How much is asked: of who has the tier already, less."""
    shows: int
    """What the agent shows."""
    met: bool
    """It is enough."""
    exempt: bool
    """The agent is a founder, and not asked."""


class TierRow(msgspec.Struct, frozen=True, kw_only=True):
    """One tier above newcomer."""

    tier: int
    """1 established, 2 trusted."""
    held: bool
    """The agent has it, or a higher one."""
    earned: bool
    """The agent meets all its conditions."""
    needs: tuple[TierNeed, ...]
    """Its conditions."""


class Tier(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's tier, and what each tier asks."""

    tier: int
    """0 newcomer, 1 established, 2 trusted."""
    by_charter: bool
    """The charter gives it to a founder, who has not earned it yet."""
    charter_until: int
    """Interactions up to which a founder keeps the charter's tier; 0 for all others."""
    rows: tuple[TierRow, ...]
    """The tiers above newcomer, lowest first."""


class WeightTerms(msgspec.Struct, frozen=True, kw_only=True):
    """How the weight of an agent's ballot comes about, before caps."""

    weight: Weight
    """The weight, in ppm."""
    voting: str
    """`ticketed`: competence times trust. `blend`: the paper's mixture of reputation and trust."""
    formula: str
    """The rule with the numbers put in."""
    competence: Ppm
    """b: estimated share of right answers, in ppm; `blend` ignores it."""
    competence_by: str
    """`agreement` with decisions taken without its ballot, or `audited` votes only."""
    reputation: Ppm
    """r: Beta reputation, in ppm; `ticketed` ignores it."""
    seats: Ppm
    """min(1, e): trust in ppm of a seat, at most one."""
    w_min: Weight
    """Least weight of who has one, in ppm."""
    w_max: Weight
    """Largest weight, in ppm."""
    gamma: Ppm
    """Share of reputation in `blend`, in ppm."""
    squared: bool
    """`blend` squares the mixture."""


class BadgePage(msgspec.Struct, frozen=True, kw_only=True):
    """An office that an agent may be drawn for."""

    badge: str
    """`arbiter` or `moderator`."""
    reason: str
    """Why it has it: `founder`, the charter names it."""


def badges_held(trust: Trust, agent: Agent) -> tuple[BadgePage, ...]:
    """List the badges that an agent holds."""
    held = badges_of(agent.founder, interactions=agent.interactions, tier=agent.tier, trust=trust)
    return tuple(BadgePage(badge=one.badge, reason=one.reason.value) for one in held)


def decimal(share: int, *, places: int = 3) -> str:
    """Spell parts per million as a decimal, rounded down: 0.050, 1.000, 12.340."""
    whole, rest = divmod(max(share, 0), MILLION)
    return f"{whole}.{rest:06}"[: len(str(whole)) + 1 + places]


def percent(share: Ppm) -> str:
    """Spell parts per million as per cent with one place, rounded down: 31.2 %."""
    return f"{share // 10_000}.{share % 10_000 // 1_000} %"


def score_of(state: State, agent: Agent) -> Score:
    """Tell how much trust an agent holds."""
    return Score(
        seats=in_seats(state.charter.trust, agent.trust),
        share=agent.trust * MILLION // M,
        of_seats=state.charter.trust.seats,
        seed=agent.agent in charter_seeds(state.charter),
    )


def ticket_of(trust: Trust, t: int) -> Ticket:
    """Tell whether trust of `t` (of M) is a ticket."""
    has = has_ticket(trust, t)
    # The price itself is rounded up by less than anybody sees; of what is missing a little is left.
    price, whole = ticket_price(trust), trust_ref(trust)
    lack = max(price, 1) - t
    return Ticket(
        has=has,
        needs=price * MILLION // whole,
        missing=0 if has else max(lack * MILLION // whole, 1),
    )


def tier_of(state: State, agent: Agent) -> Tier:
    """Tell what each tier asks of an agent, and what it shows."""
    trust = state.charter.trust
    rows = tuple(
        _row(state, agent, one) for one in sorted(requirements(trust), key=lambda one: one.tier)
    )
    earned = max((row.tier for row in rows if row.earned), default=0)
    by_charter = agent.founder is not None and agent.tier > earned
    return Tier(
        tier=agent.tier,
        by_charter=by_charter,
        charter_until=trust.founder_interactions if by_charter else 0,
        rows=rows,
    )


def _row(state: State, agent: Agent, row: Requirement) -> TierRow:
    trust = state.charter.trust
    held = agent.tier >= row.tier
    # Who has a tier loses it only at a share of its thresholds.
    share = trust.hysteresis if held else MILLION
    needs = tuple(_needs(state, agent, row, share))
    return TierRow(
        tier=row.tier,
        held=held,
        earned=all(one.met or one.exempt for one in needs),
        needs=needs,
    )


def _needs(state: State, agent: Agent, row: Requirement, share: Ppm) -> Iterator[TierNeed]:
    trust = state.charter.trust
    founder = agent.founder is not None
    ticket = ticket_of(trust, agent.trust)
    yield TierNeed(
        condition=Condition.TICKET,
        needs=ticket.needs,
        shows=in_seats(trust, agent.trust),
        met=ticket.has,
        exempt=False,
    )
    age = state.tick - agent.admitted_tick
    # Other operators with a reviewer: nobody is asked for more ways than there are.
    others = {view.operator for view in state.views.values() if view.reviewer} - {agent.operator}
    asked = (
        (Condition.INTERACTIONS, _least(row.interactions, share), agent.interactions, False),
        (Condition.REPUTATION, _least(row.r, share), agent.r, False),
        (Condition.AGE, _least(row.age, share), age, founder),
        (Condition.WAYS, min(row.operators, len(others)), agent.ways, founder),
    )
    for condition, needs, shows, exempt in asked:
        if needs or condition in {Condition.INTERACTIONS, Condition.REPUTATION}:
            yield TierNeed(
                condition=condition, needs=needs, shows=shows, met=shows >= needs, exempt=exempt
            )


def _least(threshold: int, share: Ppm) -> int:
    """Give the least whole number that reaches a share of a threshold."""
    return -(-threshold * share // MILLION)


def weight_of(trust: Trust, agent: Agent) -> WeightTerms:
    """Tell how an agent's weight comes about."""
    capped = min(MILLION, in_seats(trust, agent.trust))
    return WeightTerms(
        weight=agent.weight,
        voting=trust.voting,
        formula=_formula(trust, agent, capped),
        competence=agent.competence,
        competence_by=trust.competence,
        reputation=agent.r,
        seats=capped,
        w_min=trust.w_min,
        w_max=trust.w_max,
        gamma=trust.gamma,
        squared=trust.squared,
    )


def _formula(trust: Trust, agent: Agent, capped: Ppm) -> str:
    low, high, e = decimal(trust.w_min), decimal(trust.w_max), decimal(capped)
    weight = decimal(agent.weight)
    if trust.voting == "blend":
        rest = decimal(MILLION - trust.gamma)
        mixed = f"{decimal(trust.gamma)} · r {decimal(agent.r)} + {rest} · trust {e}"
        if trust.squared:
            mixed = f"({mixed})²"
        return f"{mixed}, held between {low} and {high}, is {weight}"
    if not has_ticket(trust, agent.trust):
        return f"0 without a ticket: trust {decimal(in_seats(trust, agent.trust))} of a seat"
    return (
        f"{high} · competence {decimal(agent.competence)} · trust {e}, "
        f"held between {low} and {high}, is {weight}"
    )


def called(one: Who) -> str:
    """Call an identity by its name and the beginning of its id; names are not unique."""
    return f"{one.name or 'unknown'} ({one.id[:8]}…)"
