"""Verdicts for readers: what was decided, by which rule, from which tally, and how narrowly.

A verdict is never shown without its `narrow` reasons (design: small communities). Everything
here is made from final lists; ballots exist for these functions only once `decide` is final.
"""

from typing import Final

import msgspec

from federation.artifacts import DecidedBy, Narrow, OpenedBallot, RoundKind
from federation.artifacts import Verdict as Decided
from federation.charter import SAFE_MEMBERS, SAFE_VOTERS, Charter
from federation.core import MILLION, Ppm, Weight, short
from federation.crypto import Basis, Choice, Reason
from federation.protocol import World
from federation.trust import Decision, Unrevealed
from node.queries.names import Who, who

CHOICES: Final = {Choice.FOR: "for", Choice.ABSTAIN: "abstain", Choice.AGAINST: "against"}
"""A ballot's choice as a word."""


class NarrowReason(msgspec.Struct, frozen=True, kw_only=True):
    """One safeguard that a verdict lacked."""

    reason: Narrow
    """Which one, as a stable word."""
    why: str
    """The same as a sentence."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a round decided; every node computes the same from the same lists."""

    round: str
    """Id of the round, in hex."""
    kind: RoundKind
    """What the round was about: `review`, `dispute`, `report` or `appeal`."""
    decision: Decision
    """`accept` or `reject`; of a dispute, keep or retract; of an appeal, granted or not; `none` if
    the round decided nothing."""
    by: DecidedBy
    """The rule that gave the decision."""
    why: str
    """The decision and its rule as a sentence, with the numbers."""
    v: Ppm | None
    """V = Σ w·v / Σ w in ppm, between -1,000,000 and 1,000,000, rounded down; nil if Σ w is 0."""
    numerator: int
    """Σ w·v over the counted ballots."""
    denominator: Weight
    """Σ w over the counted ballots; 0 if there is none."""
    tau_accept: Ppm
    """V from which the charter of the round accepts, in ppm."""
    tau_reject: Ppm
    """V down to which it rejects, in ppm."""
    tau_retract: Ppm
    """-V from which a dispute retracts, in ppm."""
    strong: bool
    """A quorum's result far enough from 0 to be strong evidence for or against people."""
    quorum: bool
    """Enough ballots, of enough operators, were opened."""
    quorum_needed: int
    """Opened ballots of reviewers that were needed: of a review min(q_min, reviewers there were), of
    a dispute always q_dispute."""
    revealed: int
    """Ballots of reviewers that were opened."""
    practice: int
    """Opened ballots of agents below tier 1: weight 0, outside the quorum."""
    unrevealed: int
    """Listed commitments that nobody opened."""
    operators: int
    """Operators with a counted ballot."""
    objections: int
    """Objections that the fast track's list holds."""
    rulers: tuple[str, ...]
    """Arbiters or operators whose word decided, or the moderator of a report; ids in hex."""
    contested: bool
    """Somebody who took part has contested the process."""
    frivolous: bool
    """Of a dismissed dispute: hardly any weight was against the artifact."""
    narrow: tuple[NarrowReason, ...]
    """Safeguards that lacked; empty where all held. Show them wherever the verdict is shown."""


class Ballot(msgspec.Struct, frozen=True, kw_only=True):
    """One opened ballot."""

    voter: Who
    """The agent that voted."""
    operator: Who
    """Who answers for it."""
    choice: str
    """`for`, `abstain` or `against`."""
    reason: Reason
    """Why, in one word."""
    basis: Basis
    """How the voter came to its answer."""
    evidence: tuple[str, ...]
    """Digests of what the voter looked at, in hex."""
    arguments: tuple[str, ...]
    """Ids of the arguments it relies on, in hex."""
    weight: Weight
    """In ppm of a full weight, after caps; 0 for a practice ballot."""
    practice: bool
    """Cast below tier 1: it decides nothing."""


class Closed(msgspec.Struct, frozen=True, kw_only=True):
    """A listed commitment that nobody opened."""

    voter: Who
    """The agent that did not reveal."""
    practice: bool
    """Cast below tier 1."""


def verdict_of(decided: Decided, charter: Charter) -> Verdict:
    """Show a verdict; `charter` is that of the round."""
    review = charter.review
    practice = sum(one.practice for one in decided.ballots)
    return Verdict(
        round=decided.round.hex(),
        kind=decided.kind,
        decision=decided.decision,
        by=decided.by,
        why=explain(decided, charter),
        v=decided.v_ppm if decided.denominator else None,
        numerator=decided.numerator,
        denominator=decided.denominator,
        tau_accept=review.tau_accept,
        tau_reject=review.tau_reject,
        tau_retract=charter.disputes.tau_retract,
        strong=decided.strong,
        quorum=decided.quorum,
        quorum_needed=decided.quorum_needed,
        revealed=decided.revealed,
        practice=practice,
        unrevealed=len(decided.unrevealed),
        operators=decided.operators,
        objections=decided.objections,
        rulers=tuple(name.hex() for name in decided.rulers),
        contested=decided.contested,
        frivolous=decided.frivolous,
        narrow=tuple(
            NarrowReason(reason=reason, why=_NARROW[reason].format(q_min=review.q_min))
            for reason in decided.narrow
        ),
    )


def ballot_of(world: World, opened: OpenedBallot) -> Ballot:
    """Show an opened ballot; the caller has made sure that `decide` is final."""
    ballot = opened.ballot
    return Ballot(
        voter=who(world, opened.voter),
        operator=who(world, opened.operator),
        choice=CHOICES[ballot.choice],
        reason=ballot.reason,
        basis=ballot.basis,
        evidence=tuple(one.hex() for one in ballot.evidence),
        arguments=tuple(one.hex() for one in ballot.arguments),
        weight=opened.weight,
        practice=opened.practice,
    )


def closed_of(world: World, one: Unrevealed) -> Closed:
    """Show a commitment that stayed closed."""
    return Closed(voter=who(world, one.voter), practice=one.practice)


def explain(decided: Decided, charter: Charter) -> str:
    """Say in one or two sentences what was decided and by which rule."""
    said = _rule(decided, charter)
    if decided.frivolous:
        said += " Hardly any weight was against the artifact: the dispute was frivolous."
    return said


def _rule(decided: Decided, charter: Charter) -> str:
    word = _word(decided)
    tally = f"V = {spell(decided.v_ppm)} ({decided.numerator} of {decided.denominator})"
    counted = f"{decided.revealed} opened, {decided.quorum_needed} needed"
    match decided.by:
        case DecidedBy.VOTE:
            return f"{word} by vote: {tally} {_threshold(decided, charter)}; ballots: {counted}."
        case DecidedBy.SIGN:
            return (
                f"{word} by the sign of the tally, where a tie {_tie(decided)}: {tally} lies between "
                f"the thresholds, or the result was contested, and nobody arbitrates; {counted}."
            )
        case DecidedBy.FAST_TRACK:
            return f"{word} by the fast track: its window closed and nobody had objected."
        case DecidedBy.SHORTFALL:
            return (
                f"{word} by the charter's policy for too few ballots: {counted}, "
                f"of {decided.operators} operators."
            )
        case DecidedBy.ARBITER:
            return (
                f"{word} by the ruling of a drawn arbiter ({_names(decided)}); ballots: {counted}."
            )
        case DecidedBy.ADMIN:
            return f"{word} by hand: a quorum of operators said so ({_names(decided)})."
        case DecidedBy.RERUN:
            return (
                f"Nothing is decided: an arbiter ({_names(decided)}) asked for a fresh panel, and "
                "another round follows."
            )
        case DecidedBy.UNFOUNDED:
            return (
                f"A moderator ({_names(decided)}) found the report not credible: nothing happens to "
                "the artifact, and it counts against who reported."
            )
        case DecidedBy.LAPSED:
            return "No moderator looked at the report in time: nothing happens."
        case DecidedBy.ASSESSED:
            return (
                f"A moderator ({_names(decided)}) found the report credible: the artifact is hidden, "
                "and its running round, or the operators, decide."
            )
        case DecidedBy.TIMEOUT:
            return (
                f"{word} because the round passed its deadline before a box was shut, or nobody "
                "decided in the end."
            )


def _word(decided: Decided) -> str:
    match decided.kind:
        case "review":
            return "Accepted" if decided.accepted else "Rejected"
        case "appeal":
            return "Appeal granted" if decided.accepted else "Sanction upheld"
        case _:
            return "Kept" if decided.accepted else "Retracted"


def _threshold(decided: Decided, charter: Charter) -> str:
    review, retract = charter.review, spell(charter.disputes.tau_retract)
    if decided.kind != "review":
        return (
            f"is not as far below 0 as the {retract} that retracts"
            if decided.accepted
            else f"is as far below 0 as the {retract} that retracts"
        )
    if decided.accepted:
        return f"is at or above the {spell(review.tau_accept)} that accepts"
    return f"is at or below the {spell(review.tau_reject)} that rejects"


def _tie(decided: Decided) -> str:
    return "rejects" if decided.kind == "review" else "keeps"


def _names(decided: Decided) -> str:
    return ", ".join(short(name) for name in decided.rulers) or "nobody"


def spell(share: Ppm) -> str:
    """Spell parts per million with three places: -0.200, 1.000; rounded towards zero."""
    sign = "-" if share < 0 else ""
    whole, rest = divmod(abs(share), MILLION)
    return f"{sign}{whole}.{rest // 1_000:03}"


_NARROW: Final = {
    Narrow.QUORUM: "Fewer reviewers than the charter's {q_min} could review this.",
    Narrow.RELAXED: "Agents of the author's operator were let in: there were too few others.",
    Narrow.SHORTFALL: "The charter's policy for too few ballots decided, not a quorum.",
    Narrow.BY_SIGN: "The sign of the tally decided, without a clear result or an arbiter.",
    Narrow.FEW_OPERATORS: f"Fewer than {SAFE_VOTERS} operators stand behind the counted ballots.",
    Narrow.FEW_MEMBERS: f"Fewer than {SAFE_MEMBERS} operators run instances: one liar or one absence is felt.",
    Narrow.NOT_SEALED: "A fresh panel voted again: what the first had voted was known to it.",
    Narrow.CAP: "A cap would have taken more than half of the weight and took half: some operator or "
    "instance may count for more than its share.",
}
"""Each reason as a sentence."""
