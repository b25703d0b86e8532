"""A page of trust in a few plain sentences: what the agent has, from whom, and what is missing.

Names are quoted as their owners wrote them; whoever shows a sentence must treat it as a
stranger's text.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from federation.core import MILLION
from node.queries.names import Who
from node.queries.trust_terms import Condition, TierNeed, TierRow, called, decimal, percent

if TYPE_CHECKING:
    from node.queries.trust import TrustPage

_NAMED: Final = 3
"""Agents that a sentence names at most."""
_TIERS: Final = ("newcomer", "established", "trusted")


def reasons(page: "TrustPage") -> tuple[str, ...]:
    """Explain a page; its own `why` is ignored."""
    return (
        *_barred(page),
        *_score(page),
        *_flows(page),
        *_ticket(page),
        *_tier(page),
        *_reputation(page),
        *_bad(page),
        *_answers(page),
        *_weight(page),
    )


def _barred(page: "TrustPage") -> Iterator[str]:
    if page.revoked:
        yield "It is revoked: nothing by it counts any more, and it passes no trust on."
    elif page.forked:
        yield "Its chain is forked: it passes no trust on until it picks a branch."


def _score(page: "TrustPage") -> Iterator[str]:
    score = page.score
    if not score.seats and not score.share:
        if any(one.flow for one in page.inflows):
            # Who judged it is known from the cut on; the trust itself moves at ticks only.
            yield "It holds no trust yet: what is passed to it now arrives at the next tick."
            return
        yield (
            "It holds no trust: nobody who holds some has approved its standing work or vouched "
            "for it, or not before the last tick."
        )
        return
    yield (
        f"It holds the trust of {decimal(score.seats)} seats, {percent(score.share)} of all, in a "
        f"realm sized for {score.of_seats}."
    )


def _flows(page: "TrustPage") -> Iterator[str]:
    if page.score.seed:
        yield (
            "The charter makes it a seed: trust starts there, and what nobody passes on comes back "
            "to the seeds."
        )
    passing = [one for one in page.inflows if one.flow]
    if not passing:
        return
    named = [f"{called(one.by)} {decimal(one.flow)} seats" for one in passing[:_NAMED]]
    more = len(passing) - len(named) + page.inflows_left_out
    rest = f", and {more} more" if more else ""
    yield f"Others pass trust to it: {_joined(named, last=not more)}{rest}."
    if page.paths and len(page.paths[0].agents) > 1:
        yield f"Most of it comes along the path {_path(page.paths[0].agents)}."


def _ticket(page: "TrustPage") -> Iterator[str]:
    ticket = page.ticket
    if ticket.has:
        yield f"It has a ticket: a ticket costs {decimal(ticket.needs)} seats."
        return
    # All places in both: nobody lacks more than the price.
    needs, missing = decimal(ticket.needs, places=6), decimal(ticket.missing, places=6)
    yield f"It has no ticket: a ticket costs {needs} seats, and {missing} are missing."


def _tier(page: "TrustPage") -> Iterator[str]:
    tier = page.tier
    name = f"tier {tier.tier}, {_TIERS[tier.tier]}"
    if tier.by_charter:
        yield (
            f"It has {name}, by the charter: a founder keeps that until it has "
            f"{tier.charter_until} interactions of its own, and has {page.evidence.interactions}."
        )
    else:
        yield f"It has {name}."
    above = next((row for row in tier.rows if not row.earned), None)
    if above is not None:
        what = f"tier {above.tier}"
        if above.held:
            what = f"by itself what the charter gives it, {what},"
        yield f"To earn {what} it lacks {_joined(list(_lacks(above)))}."
        if any(one.condition is Condition.INTERACTIONS and not one.met for one in above.needs):
            yield "Interactions are outcomes: of its ballots, practice ballots too, and of its own work."


def _lacks(row: TierRow) -> Iterator[str]:
    for need in row.needs:
        if not need.met and not need.exempt:
            yield _lack(need)


def _lack(need: TierNeed) -> str:
    match need.condition:
        case Condition.TICKET:
            return "a ticket"
        case Condition.INTERACTIONS:
            return f"{_counted(need, 'interaction')} ({need.shows} of {need.needs})"
        case Condition.REPUTATION:
            return f"reputation ({decimal(need.shows)} of {decimal(need.needs)})"
        case Condition.AGE:
            return f"{_counted(need, 'tick')} of age ({need.shows} of {need.needs})"
        case Condition.WAYS:
            return f"trust through other operators ({need.shows} of {need.needs})"


def _counted(need: TierNeed, what: str) -> str:
    lack = need.needs - need.shows
    return f"1 {what}" if lack == 1 else f"{lack} {what}s"


def _reputation(page: "TrustPage") -> Iterator[str]:
    evidence = page.evidence
    if not evidence.interactions:
        yield (
            f"Its reputation {decimal(evidence.reputation)} is the prior alone: "
            "no outcome speaks for or against it."
        )
        return
    outcomes = "1 outcome" if evidence.interactions == 1 else f"{evidence.interactions} outcomes"
    yield (
        f"Its reputation {decimal(evidence.reputation)} rests on {outcomes}: "
        f"{decimal(evidence.alpha - MILLION)} for it and {decimal(evidence.beta - MILLION)} "
        "against it are left after discount, caps and decay."
    )


def _bad(page: "TrustPage") -> Iterator[str]:
    if page.found_bad is not None:
        yield (
            f"It was found bad at tick {page.found_bad}: its own outcomes brought its reputation "
            "below what an author needs, and those who vouched for it answer for that."
        )


def _answers(page: "TrustPage") -> Iterator[str]:
    for one in page.answers_for[:_NAMED]:
        whom = "" if one.vouched else "an agent that stood behind "
        yield (
            f"It vouched for {whom}{called(one.agent)}, which was found bad at tick {one.tick}: "
            f"{decimal(one.negative)} against it for that, of which {decimal(one.counts_negative)} "
            "are left."
        )
    more = len(page.answers_for) - _NAMED
    if more > 0:
        agents = "1 more agent that was" if more == 1 else f"{more} more agents that were"
        yield f"It answers for {agents} found bad."


def _weight(page: "TrustPage") -> Iterator[str]:
    yield f"Its weight: {page.weight.formula}."
    counted = page.counted
    if not counted.caps:
        if page.revoked:
            why = "it is revoked"
        elif page.forked:
            why = "its chain is forked"
        elif not page.weight.weight:
            why = "it has no ticket"
        else:
            why = "only tier 1 and above review, the others practise"
        yield f"Its ballots decide nothing now: {why}."
        return
    for one in counted.caps:
        if one.bounds:
            yield one.why
    yield (
        f"In a vote by all {counted.reviewers} reviewers its ballot would be "
        f"{percent(counted.share)} of the weight."
    )


def _path(agents: tuple[Who, ...]) -> str:
    return " → ".join(called(one) for one in agents)


def _joined(parts: list[str], *, last: bool = True) -> str:
    if len(parts) < 2 or not last:  # noqa: PLR2004 # two are joined by a word
        return ", ".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
