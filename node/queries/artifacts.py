"""Artifacts as this instance knows them, and proposals that no cut contains yet.

The list is newest first: by the cut that first contained each, and inside a cut by author and
place in the author's chain, backwards. An artifact never changes its place and is never removed,
so a cursor (the id of the last one shown) stays good: what comes later comes before it.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import dropwhile, islice

import msgspec

from federation.artifacts import Artifact, Flag, covers
from federation.certificates import Phase
from federation.charter import sensitivity_of
from federation.core import ArtifactId, Code, Millis
from federation.protocol import Fate, Judgement, World, judge
from federation.records import Propose, Record
from node.base.errors import NodeCode, RequestError
from node.queries.curation import Curation, curation_of, ended_by
from node.queries.live_rounds import artifact_now, live_slot, round_now, round_waits, settling
from node.queries.names import Thing, Who, cid_of, unknown, who
from node.queries.texts import (
    Claim,
    HiddenPage,
    TextState,
    article,
    claims_of,
    hidden,
    shown,
)
from node.queries.verdicts import Verdict, verdict_of
from node.queries.waits import Wait, WaitCode
from node.queries.windows import Window, window_of

MOST: int = 200
"""Artifacts of one page."""


class ArtifactState(StrEnum):
    """Where an artifact, or a proposal that is none yet, stands here."""

    WAITING = "waiting"
    """Proposed, and no cut contains it yet."""
    VOID = "void"
    """It does not count: its guard failed in the cut that contains it, or would fail now."""
    PROPOSED = "proposed"
    """Its objection window is open, or its round is about to begin."""
    UNDER_REVIEW = "under_review"
    """A formal vote decides."""
    ACTIVE = "active"
    """It stands."""
    DISPUTED = "disputed"
    """It stood, and a fresh panel decides whether it still does."""
    RETRACTED = "retracted"
    """It does not stand; it and its reasons stay readable."""
    SUPERSEDED = "superseded"
    """An accepted revision stands in its place."""


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal that no cut contains yet."""

    id: str
    """Id of its record, in hex: the artifact's id once a cut contains it."""
    cid: str
    """The same as a CIDv1."""
    title: str | None
    """Its title; nil if its text is not held here."""
    topics: tuple[str, ...]
    """Its topics."""
    author: Who
    """Who proposes it."""
    state: ArtifactState
    """`waiting`, or `void` if it would not count as things stand."""
    code: Code | None
    """Stable name of the reason."""
    why: str
    """The reason as a sentence."""


class ArtifactBrief(msgspec.Struct, frozen=True, kw_only=True):
    """One artifact in a list."""

    id: str
    """Id of its `artifact.propose` record, in hex."""
    cid: str
    """The same as a CIDv1."""
    title: str | None
    """Its title; nil if its text is not readable here."""
    topics: tuple[str, ...]
    """Its topics."""
    sensitivity: str
    """`low` or `high`: the highest class of its topics."""
    author: Who
    """Who proposed it."""
    home: Who
    """The instance that admitted the author."""
    cut: int
    """Number of the cut that first contained it."""
    state: ArtifactState
    """Where it stands here."""
    settled: bool
    """A cut contains all that led there; if not, it is final here and the next cuts will."""
    flags: tuple[Flag, ...]
    """What is known beside its state."""
    round: str | None
    """Id of the round that decides about it, in hex: the newest that runs, else the newest."""
    phase: Phase | None
    """Open phase of that round here; nil if none is open."""
    verdict: Verdict | None
    """What its newest ended round decided, with its narrow reasons."""


class ArtifactList(msgspec.Struct, frozen=True, kw_only=True):
    """One page of artifacts, newest first."""

    items: tuple[ArtifactBrief, ...]
    """The artifacts."""
    next: str | None
    """Cursor of the next page; nil when this is the last."""
    waiting: tuple[Waiting, ...]
    """On the first page: proposals that no cut contains yet, by id, no more than it has artifacts."""


class ArtifactPage(msgspec.Struct, frozen=True, kw_only=True):
    """One artifact with its text, or one proposal that no cut contains."""

    now: Millis
    """This instance's own clock when the answer was made; all times in it are on that clock."""
    id: str
    """Id of its `artifact.propose` record, in hex."""
    cid: str
    """The same as a CIDv1."""
    text: TextState
    """Whether title, prose and the words of claims can be read here."""
    hidden: HiddenPage | None
    """Who hides it, and why: then its text is not shown; nil if nobody does."""
    title: str | None
    """Its title."""
    prose: str | None
    """Its text."""
    claims: tuple[Claim, ...]
    """What it claims."""
    sources: tuple[str, ...]
    """Sources as its text names them."""
    source_digests: tuple[str, ...]
    """Digests of sources that the record binds, in hex."""
    cites: tuple[str, ...]
    """Artifacts that it rests on, ids in hex."""
    topics: tuple[str, ...]
    """Its topics."""
    lang: str
    """Language of its text."""
    sensitivity: str
    """`low` or `high`: the highest class of its topics."""
    author: Who
    """Who proposed it."""
    operator: Who | None
    """The author's operator when it was submitted; nil if the author is not admitted."""
    home: Who | None
    """The instance that admitted the author; nil if none has."""
    text_id: str
    """Equal ids mean exact duplicates; in hex."""
    claimed_at: Millis
    """When its author says that it was made, Unix time in ms: decides nothing."""
    cut: int | None
    """Number of the cut that first contained it; nil while none does."""
    state: ArtifactState
    """Where it stands here."""
    settled: bool
    """A cut contains all that led there."""
    code: Code | None
    """Why it waits or is void, as a stable name; nil for an artifact."""
    flags: tuple[Flag, ...]
    """What is known beside its state."""
    round: str | None
    """Id of the round that decides about it, in hex: the newest that runs, else the newest."""
    phase: Phase | None
    """Open phase of that round here; nil if none is open."""
    window: Window | None
    """That phase's window here."""
    verdict: Verdict | None
    """What its newest ended round decided, with its narrow reasons."""
    waits: Wait
    """What it waits for."""
    curation: Curation | None
    """Disputes, revisions, the way back; nil for a proposal that no cut contains."""


def listing(
    world: World,
    *,
    state: ArtifactState | None = None,
    topic: str | None = None,
    after: ArtifactId | None = None,
    most: int = 50,
) -> ArtifactList:
    """List artifacts, newest first; with `state`, `topic` (a branch) or both only those.

    `after` is the id of the last one of the page before; `most` is 1 to 200. States are those of
    this instance, which may be ahead of the last cut. Raises RequestError BAD_REQUEST or, for an
    unknown cursor, NOT_FOUND.
    """
    if not 1 <= most <= MOST:
        raise RequestError(
            "list refused",
            why=f"a page holds 1 to {MOST} artifacts, not {most}",
            fix="ask for fewer, and follow the cursor",
            code=NodeCode.BAD_REQUEST,
        )
    found = list(islice(_matching(world, state, topic, after), most + 1))
    first = after is None and state in {None, ArtifactState.WAITING, ArtifactState.VOID}
    held = waiting(world, state, topic) if first else iter(())
    return ArtifactList(
        items=tuple(brief(world, artifact) for artifact in found[:most]),
        next=found[most - 1].id.hex() if len(found) > most else None,
        waiting=tuple(islice(held, most)),
    )


def waiting(
    world: World, state: ArtifactState | None = None, topic: str | None = None
) -> Iterator[Waiting]:
    """Go through the proposals that no cut contains and that ask for one, by id."""
    for name in sorted(world.triggers):
        record = world.log.get(name)
        if record is None or not isinstance(record.body, Propose):
            continue
        if topic is not None and not any(covers(topic, path) for path in record.body.topics):
            continue
        judged = judge(world, record)
        if state in {None, _state(judged)}:
            yield _waiting(world, record, record.body, judged)


def brief(world: World, certified: Artifact) -> ArtifactBrief:
    """Show an artifact in a list."""
    artifact = artifact_now(world, certified)
    _, text = article(world, artifact)
    found = round_now(world, artifact)
    return ArtifactBrief(
        id=artifact.id.hex(),
        cid=cid_of(artifact.id),
        title=text.title if text else None,
        topics=artifact.topics,
        sensitivity=artifact.sensitivity,
        author=who(world, artifact.author),
        home=who(world, artifact.home),
        cut=artifact.cut,
        state=ArtifactState(artifact.state.value),
        settled=artifact == certified,
        flags=tuple(sorted(artifact.flags)),
        round=found.pin.round.hex() if found else None,
        phase=found.phase if found else None,
        verdict=_verdict(world, artifact),
    )


def one(world: World, artifact_id: ArtifactId, now: Millis) -> ArtifactPage:
    """Show one artifact, or a proposal that is none yet; `now` in ms on this instance's clock.

    Raises RequestError NOT_FOUND if no proposal of this id is held here.
    """
    record = world.log.get(artifact_id)
    body = record.body if record is not None else None
    if record is None or not isinstance(body, Propose):
        raise unknown(artifact_id, {Thing.ARTIFACT})
    certified = world.state.artifacts.get(artifact_id)
    artifact = None if certified is None else artifact_now(world, certified)
    held, text = shown(world, artifact_id) if artifact is None else article(world, artifact)
    found = round_now(world, artifact) if artifact else None
    live = live_slot(world, found) if found else None
    agent = world.state.agents.get(record.author)
    operator = artifact.author_operator if artifact else agent.operator if agent else None
    home = artifact.home if artifact else agent.instance if agent else None
    judged = None if artifact else judge(world, record)
    return ArtifactPage(
        now=now,
        id=artifact_id.hex(),
        cid=cid_of(artifact_id),
        text=held,
        hidden=hidden(world, artifact_id, artifact),
        title=text.title if text else None,
        prose=text.prose if text else None,
        claims=claims_of(body, text),
        sources=text.sources if text else (),
        source_digests=tuple(name.hex() for name in body.sources),
        cites=tuple(name.hex() for name in body.cites),
        topics=body.topics,
        lang=body.lang,
        sensitivity=artifact.sensitivity
        if artifact
        else sensitivity_of(world.charter.review, body.topics),
        author=who(world, record.author),
        operator=who(world, operator) if operator else None,
        home=who(world, home) if home else None,
        text_id=body.text_id.hex(),
        claimed_at=record.statement.at,
        cut=artifact.cut if artifact else None,
        state=ArtifactState(artifact.state.value) if artifact else _state(judged),
        settled=artifact is not None and artifact == certified,
        code=judged.code if judged else None,
        flags=tuple(sorted(artifact.flags)) if artifact else (),
        round=found.pin.round.hex() if found else None,
        phase=found.phase if found else None,
        window=window_of(world, live, now) if live else None,
        verdict=_verdict(world, artifact) if artifact else None,
        waits=waits_of(world, artifact_id, now),
        curation=curation_of(world, artifact) if artifact else None,
    )


def waits_of(world: World, artifact_id: ArtifactId, now: Millis) -> Wait:
    """Tell what an artifact, or a proposal held here, waits for; settled ones wait for nothing."""
    artifact = world.state.artifacts.get(artifact_id)
    if artifact is None:
        return _proposal_waits(world, artifact_id, now)
    found = round_now(world, artifact)
    by_hand = ended_by(world, artifact)
    if found is not None and (by_hand is None or not found.closed):
        return round_waits(world, found, now)
    told = _verdict(world, artifact)
    why = by_hand or (told.why if told else "It stands.")
    return Wait(code=WaitCode.NOTHING, what="the verdict", sentence=why)


def _proposal_waits(world: World, name: ArtifactId, now: Millis) -> Wait:
    record = world.log.get(name)
    assert record is not None, "the caller holds the proposal"  # noqa: S101 # our own invariant
    judged = judge(world, record)
    if judged.fate is Fate.VOID:
        return Wait(
            code=WaitCode.VOID,
            what="the proposal",
            sentence=f"The proposal does not count ({judged.code}): {judged.why}.",
        )
    return settling(
        world, "No cut contains the proposal yet; the one that does opens its round.", now
    )


def _matching(
    world: World, state: ArtifactState | None, topic: str | None, after: ArtifactId | None
) -> Iterator[Artifact]:
    """Go through artifacts, newest first, from behind the cursor."""
    artifacts = world.state.artifacts
    if after is not None and after not in artifacts:
        raise unknown(after, {Thing.ARTIFACT})
    # A map keeps the order in which cuts brought its keys, however often a value is replaced.
    names = reversed(artifacts)
    if after is not None:
        names = dropwhile(lambda name: name != after, names)
        next(names)
    for name in names:
        artifact = artifacts[name]
        if topic is not None and not any(covers(topic, path) for path in artifact.topics):
            continue
        if state is None or artifact_now(world, artifact).state.value == state.value:
            yield artifact


def _waiting(world: World, record: Record, body: Propose, judged: Judgement) -> Waiting:
    _, text = shown(world, record.id)
    return Waiting(
        id=record.id.hex(),
        cid=cid_of(record.id),
        title=text.title if text else None,
        topics=body.topics,
        author=who(world, record.author),
        state=_state(judged),
        code=judged.code,
        why=judged.why,
    )


def _state(judged: Judgement | None) -> ArtifactState:
    is_void = judged is not None and judged.fate is Fate.VOID
    return ArtifactState.VOID if is_void else ArtifactState.WAITING


def _verdict(world: World, artifact: Artifact) -> Verdict | None:
    """Show the verdict of an artifact's newest ended round, with that round's thresholds."""
    decided = artifact.verdict
    if decided is None:
        return None
    found = world.rounds.get(decided.round)
    return verdict_of(decided, found.pin.charter if found else world.charter)
