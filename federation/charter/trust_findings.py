"""What a charter implies about trust: seats, tickets, seeds, and what Sybils can gain (§2.3, §4.5).

A part of `check`. The numbers are those of the genesis, when the seeds hold all trust; which model
family a founder is of does not stand in a charter, so that seeds of one family are not found here.
"""

from collections.abc import Iterator
from typing import Final

from federation.charter.findings import Finding, FindingCode, info, warning
from federation.charter.schema import Charter
from federation.charter.tickets import Tickets, tickets_of
from federation.core import MILLION

SAFE_SEEDS: Final = 3
"""Seeds below which one that is fooled or stolen moves too much of all trust (design: trust)."""


def trust_findings(charter: Charter) -> Iterator[Finding]:
    """Explain seats, tickets and seeds, and each choice that weakens the bound on Sybils."""
    tickets = tickets_of(charter)
    yield from _seats(charter)
    yield _ticket(charter, tickets)
    yield from _seeds(tickets)
    yield _sybils(charter, tickets)
    if charter.trust.competence == "audited":
        yield warning(
            FindingCode.NO_AUDITS,
            "competence is audited, and no audits are drawn in this version",
            why=f"every agent stays at the prior, a share of {charter.trust.audit_prior} ppm of "
            "right votes: competence moves no weight",
            fix="choose agreement, or accept that until audits are drawn only trust moves weights",
        )


def _seats(charter: Charter) -> Iterator[Finding]:
    seats, members = charter.trust.seats, len(charter.genesis.founders)
    if not seats <= 4 * members <= 8 * seats:
        yield warning(
            FindingCode.SEATS,
            f"{members} founders, sized for {seats} seats",
            why="there is as much trust as seats, whoever holds it: below a quarter of the seats "
            "one judgement brings many tickets, above twice the seats too little for one",
            fix="choose seats near the number of agents you expect",
        )


def _ticket(charter: Charter, tickets: Tickets) -> Finding:
    needed = tickets.seeds_for_one
    if needed == 1:
        enough = "one standing approval or vouch by an average seed brings one"
    else:
        enough = f"it takes a standing approval or vouch by each of {needed} average seeds"
    spelled = (
        f"a seat is 1/{charter.trust.seats} of all trust, and a ticket the share w_min / w_max of "
        f"it: {_ppm(tickets.ticket, tickets.seat)} ppm; the first judgement of one of "
        f"{tickets.seeds} seeds carries {_ppm(tickets.judgement, tickets.seat)} ppm of a seat"
    )
    if needed > tickets.seeds:
        return warning(
            FindingCode.TICKET,
            f"a vote needs a ticket: {enough}",
            why=f"{spelled}; a newcomer that all seeds judge may still have no weight",
            fix="choose more seats, a larger trust.kappa, or a smaller trust.w_min",
        )
    return info(
        FindingCode.TICKET,
        f"a vote needs a ticket: {enough}; at most {tickets.most} agents can hold one at a time",
        why=f"{spelled}; a full vote needs a whole seat",
        fix="nothing; more seats make tickets cheaper and more",
    )


def _seeds(tickets: Tickets) -> Iterator[Finding]:
    if tickets.seed_least < tickets.ticket:
        yield warning(
            FindingCode.SEEDS,
            f"{tickets.seeds} seeds may fall below a ticket",
            why="a quarter of all trust returns to the seeds in equal shares, and such a share is "
            "less than a ticket: seeds that nobody trusts would have no weight",
            fix="name fewer seeds, or choose more seats",
        )
    if tickets.seeds < SAFE_SEEDS:
        yield warning(
            FindingCode.SEEDS,
            f"trust starts at {tickets.seeds} of the founders",
            why="who fools or steals a seed holds its share of where all trust starts",
            fix=f"name {SAFE_SEEDS} seeds or more, of different model families and operators",
        )


def _sybils(charter: Charter, tickets: Tickets) -> Finding:
    trust = charter.trust
    if trust.voting == "blend":
        most = min(tickets.most, trust.kappa * trust.w_max // trust.w_min)
        return warning(
            FindingCode.SYBILS,
            "voting is blend: nothing bounds what Sybils weigh",
            why="each identity with a ticket weighs by its own reputation, so that splitting trust "
            f"gains weight: one edge can bring as many as {most} tickets",
            fix="choose ticketed; blend is there to reproduce the paper",
        )
    return info(
        FindingCode.SYBILS,
        f"each edge from outside brings a group of identities at most the weight of "
        f"{trust.kappa} seats, however many they are",
        why="kappa bounds the trust that flows over one edge; it bounds what is lost by each agent "
        "that is fooled, not how many are fooled",
        fix="nothing; a smaller trust.kappa loses less, and carries less for the honest",
    )


def _ppm(part: int, whole: int) -> int:
    """Round to the nearest millionth, for people."""
    return (part * MILLION + whole // 2) // whole
