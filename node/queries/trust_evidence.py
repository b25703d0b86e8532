"""The evidence behind an agent's reputation: which outcome brought how much, and what is left of it."""

from heapq import nlargest
from typing import Final

import msgspec

from federation.core import MILLION, AgentId, ArtifactId, Digest, Micro, Ppm
from federation.protocol import World
from federation.records import Argue
from federation.trust import Entry, EvidenceKind
from federation.trust.explain import discounted
from node.queries.names import Who, who
from node.queries.texts import article
from node.queries.trust_liability import found_bad_by

MOST_ROWS: Final = 50
"""Rows of evidence that are shown; totals are over all."""
MOST_TOPICS: Final = 50
"""Topics that are shown, those with most interactions."""


class EvidenceRow(msgspec.Struct, frozen=True, kw_only=True):
    """One outcome's row; amounts are in millionths of one outcome."""

    kind: EvidenceKind
    """What the outcome is about."""
    tick: int
    """Tick at which it began to count."""
    cause: str
    """Id of the round, the argument or the agent found bad that it comes from, in hex."""
    artifact: str | None
    """Id of the artifact that it is about, in hex; nil if its round is not held here."""
    title: str | None
    """Title of that artifact; nil if its text is not readable here."""
    bad: Who | None
    """The agent found bad that a row of kind `liability` is about; nil for all others."""
    topic: str
    """Top component of the artifact's first topic; empty if there is none."""
    source: Who
    """The operator whose judgement or artifact it rests on."""
    practice: bool
    """From a ballot below tier 1."""
    positive: Micro
    """For the agent, as the charter prices it."""
    negative: Micro
    """Against it, as the charter prices it."""
    discount: Ppm
    """What the rows of the same source before it in the window have left of it, in ppm."""
    capped: tuple[str, ...]
    """Farming caps that took part of it: `source_cap`, `farm_cap`."""
    counts_positive: Micro
    """What is left of the positive amount now: discounted, capped, faded."""
    counts_negative: Micro
    """What is left of the negative amount now: discounted, faded."""


class EvidenceTotal(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of one kind together; amounts are in millionths of one outcome."""

    kind: EvidenceKind
    """Which kind."""
    rows: int
    """How many."""
    counts_positive: Micro
    """What they count for the agent now."""
    counts_negative: Micro
    """What they count against it now."""


class TopicReputation(msgspec.Struct, frozen=True, kw_only=True):
    """Reputation from the evidence of one topic alone; it is shown and steers nothing."""

    topic: str
    """Top component of topic paths; empty for artifacts without one."""
    reputation: Ppm
    """Mean of its Beta distribution, in ppm."""
    interactions: int
    """Outcomes in it."""


class EvidencePage(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent's reputation rests on, as of the last tick."""

    reputation: Ppm
    """Beta reputation: alpha in alpha + beta, in ppm."""
    alpha: Micro
    """Evidence for the agent, faded, and 1,000,000 of prior."""
    beta: Micro
    """Evidence against it, faded, and 1,000,000 of prior."""
    interactions: int
    """Outcomes so far; one that is split over several operators is one."""
    rows: tuple[EvidenceRow, ...]
    """The newest rows first."""
    left_out: int
    """Older rows that are not shown."""
    totals: tuple[EvidenceTotal, ...]
    """All rows by kind."""
    topics: tuple[TopicReputation, ...]
    """By topic, those with most interactions first."""


def evidence_of(world: World, name: AgentId) -> EvidencePage:
    """Show what an agent's reputation rests on."""
    state = world.state
    entries = state.ledger.explain(name, state.tick)
    standing = state.ledger.standing(name, state.tick)
    return EvidencePage(
        reputation=standing.r,
        alpha=standing.alpha,
        beta=standing.beta,
        interactions=standing.interactions,
        rows=tuple(_row(world, one) for one in reversed(entries[-MOST_ROWS:])),
        left_out=max(len(entries) - MOST_ROWS, 0),
        totals=_totals(entries),
        topics=_topics(world, name),
    )


def _row(world: World, entry: Entry) -> EvidenceRow:
    row = entry.evidence
    found = _artifact(world, row.cause)
    slack = world.state.charter.trust.pair_discount
    return EvidenceRow(
        kind=row.kind,
        tick=row.tick,
        cause=row.cause.hex(),
        artifact=found.hex() if found else None,
        title=_title(world, found) if found else None,
        bad=who(world, found_bad_by(world.state, row.cause))
        if row.kind is EvidenceKind.LIABILITY
        else None,
        topic=row.topic,
        source=who(world, row.source),
        practice=row.practice,
        positive=row.positive,
        negative=row.negative,
        discount=discounted(MILLION, earlier=entry.earlier, slack=slack),
        capped=tuple(bound.value for bound in entry.bounds),
        counts_positive=entry.positive,
        counts_negative=entry.negative,
    )


def _artifact(world: World, cause: Digest) -> ArtifactId | None:
    """Find the artifact of a round, or of the round that an argument was made in."""
    record = world.log.get(cause)
    if record is not None and isinstance(record.body, Argue):
        cause = record.body.round
    one = world.rounds.get(cause)
    return one.pin.artifact if one is not None else None


def _title(world: World, name: ArtifactId) -> str | None:
    artifact = world.state.artifacts.get(name)
    if artifact is None:
        return None
    _, text = article(world, artifact)
    return text.title if text else None


def _totals(entries: tuple[Entry, ...]) -> tuple[EvidenceTotal, ...]:
    by_kind: dict[EvidenceKind, list[Entry]] = {}
    for entry in entries:
        by_kind.setdefault(entry.evidence.kind, []).append(entry)
    return tuple(
        EvidenceTotal(
            kind=kind,
            rows=len(found),
            counts_positive=sum(one.positive for one in found),
            counts_negative=sum(one.negative for one in found),
        )
        for kind, found in sorted(by_kind.items())
    )


def _topics(world: World, name: AgentId) -> tuple[TopicReputation, ...]:
    by_topic = world.state.ledger.by_topic(name, world.state.tick)
    most = nlargest(MOST_TOPICS, sorted(by_topic.items()), key=lambda item: item[1].interactions)
    return tuple(
        TopicReputation(topic=topic, reputation=one.r, interactions=one.interactions)
        for topic, one in most
    )
