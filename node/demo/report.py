"""What the demo tells: one line of data for programs, one round and a table for people.

The data's keys are an interface (docs/reference/cli.md); people get the same numbers, and one
round close up, because a table does not show what a vote is.
"""

import textwrap
from collections.abc import Iterator, Sequence

import msgspec

from federation.core import MILLION
from federation.crypto import Choice
from node.demo.metrics import Judged, Score, by_majority, by_protocol, score
from node.demo.outcome import Outcome
from node.demo.over_network import Staged

_WORDS = {Choice.FOR: "for", Choice.AGAINST: "against", Choice.ABSTAIN: "abstains"}


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The demo as data; shares are of one, null where there is nothing to share."""

    instances: int
    artifacts: int
    """Rounds that ended: `decided` and `ambiguous` together, because all ballots are cast."""
    decided: int
    """Rounds whose weighted tally passed a threshold."""
    ambiguous: int
    """Rounds between the thresholds, settled by the sign of the tally."""
    agents: int
    records: int
    """Signed records that each instance holds."""
    precision: float | None
    recall: float | None
    accuracy: float | None
    """Over decided rounds, as are `precision` and `recall`."""
    majority_accuracy: float | None
    """Of a plain majority of the same ballots, over decided rounds."""
    accuracy_all: float | None
    majority_accuracy_all: float | None
    digests: tuple[str, ...]
    """World digest of each instance at the last cut."""
    verdicts_equal: bool
    seconds: float
    """Time on this machine's clock."""


def summary(outcome: Outcome, *, seconds: float) -> Summary:
    """Summarise a run; `seconds` is how long it took."""
    decided = [one for one in outcome.judged if one.is_decided]
    protocol, majority = score(decided, by_protocol), score(decided, by_majority)
    return Summary(
        instances=len(outcome.digests),
        artifacts=len(outcome.judged),
        decided=len(decided),
        ambiguous=sum(one.is_ambiguous for one in outcome.judged),
        agents=outcome.agents,
        records=outcome.records,
        precision=protocol.precision,
        recall=protocol.recall,
        accuracy=protocol.accuracy,
        majority_accuracy=majority.accuracy,
        accuracy_all=score(outcome.judged, by_protocol).accuracy,
        majority_accuracy_all=score(outcome.judged, by_majority).accuracy,
        digests=tuple(digest.hex() for digest in outcome.digests),
        verdicts_equal=outcome.verdicts_equal,
        seconds=round(seconds, 3),
    )


class NetworkSummary(Summary, frozen=True, kw_only=True):
    """The same of a demo over a real network."""

    transport: str


def network_summary(staged: Staged, *, seconds: float) -> NetworkSummary:
    """Summarise a run over the network; `seconds` is how long all of it took."""
    told = summary(staged.outcome, seconds=seconds)
    return NetworkSummary(**msgspec.structs.asdict(told), transport="libp2p")


def network_facts(staged: Staged) -> Iterator[str]:
    """Tell what only a real network has to tell."""
    for place in staged.killed:
        yield f"Instance {place} was killed in the middle, and came back."
    lost = "none is lost" if not staged.lost else f"{staged.lost} are LOST"
    yield f"{staged.acknowledged} records were acknowledged; {lost}."
    if staged.missed:
        yield f"{staged.missed} votes came too late to count."
    peaks = ", ".join(f"{peak:.0f}" for peak in staged.peaks_mb)
    yield f"Largest memory of the three processes: {peaks} MB."


def close_up(outcome: Outcome) -> str:
    """Tell one round: the first that was not unanimous, or the first at all; "" if none ended."""
    divided = (one for one in outcome.judged if len(_choices(one)) > 1)
    shown = next(divided, outcome.judged[0] if outcome.judged else None)
    return "" if shown is None else "\n".join(_story(outcome, shown))


def _choices(one: Judged) -> set[Choice]:
    return {opened.ballot.choice for opened in one.verdict.ballots}


def _story(outcome: Outcome, one: Judged) -> Iterator[str]:
    question, verdict = one.question, one.verdict
    text = question.text()
    models = outcome.scenario.crux.models
    names = {
        agent: model.name for agent, model in zip(outcome.agents_in_order, models, strict=True)
    }
    yield f"One round, close up: {question.item.id}"
    yield textwrap.indent(text.prose, "    ")
    yield f"  {models[question.proposer].name} proposes: {text.claims[0]}"
    yield f"  It is false if {text.falsification[0]}."
    yield f"  The box is shut over {len(verdict.ballots)} sealed ballots; only now they open:"
    for opened in verdict.ballots:
        weight = opened.weight / MILLION
        word = _WORDS[opened.ballot.choice]
        yield f"    {word:<8}  weight {weight:.3f}  {names[opened.voter]}"
    result = "accepted" if verdict.accepted else "retracted"
    yield (
        f"  V = {verdict.numerator / MILLION:+.3f} / {verdict.denominator / MILLION:.3f} "
        f"= {verdict.numerator / max(verdict.denominator, 1):+.3f}: "
        f"{result} by {verdict.by}."
    )
    right = "right" if one.accepted == question.is_true else "wrong"
    yield f"  Executing the function gives {question.item.truth}: the community was {right}."


def tables(outcome: Outcome, told: Summary) -> str:
    """Lay out the results for people."""
    decided = [one for one in outcome.judged if one.is_decided]
    rows = [
        _row("the protocol, decided rounds", score(decided, by_protocol)),
        _row("plain majority, same rounds", score(decided, by_majority)),
        _row("the protocol, all rounds", score(outcome.judged, by_protocol)),
        _row("plain majority, all rounds", score(outcome.judged, by_majority)),
    ]
    head = ("", "accepted", "retracted", "precision", "recall", "accuracy")
    return "\n".join([_table(head, rows), "", *_facts(outcome, told)])


def _facts(outcome: Outcome, told: Summary) -> Iterator[str]:
    yield (
        f"{told.artifacts} artifacts: {told.decided} decided by a weighted vote, {told.ambiguous} "
        "too close and settled by sign."
    )
    yield (
        f"{told.agents} agents on {told.instances} instances signed {told.records} records; "
        f"{outcome.cuts} cuts, {outcome.ticks} ticks, "
        f"{outcome.network_ms / 1000:.1f} s on the network's clock, {told.seconds:.1f} s in all."
    )
    equal = "equal" if len(set(told.digests)) == 1 else "DIFFERENT"
    yield f"World digests after the last cut: {equal}."
    for place, digest in enumerate(told.digests):
        yield f"  instance {place}  {digest}"


def _row(name: str, one: Score) -> tuple[str, ...]:
    shares = (one.precision, one.recall, one.accuracy)
    spelled = ("-" if share is None else f"{share:.3f}" for share in shares)
    return (name, str(one.accepted), str(one.retracted), *spelled)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table: the first column to the left, all others to the right."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    laid = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([laid[0], "-" * (sum(widths) + 2 * (len(widths) - 1)), *laid[1:]])
