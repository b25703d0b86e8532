"""The debate of a round: who answered what, in which turn, what stands, and a digest of it.

What is sealed is not told before the list that opens it is final here, and no citation before
`decide` is: until then nothing depends on a ballot. Reading many texts takes long, so a page comes
about in three steps: `look` at the world, read the `words` anywhere, and make the `page`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from federation.artifacts import Flag
from federation.certificates import Phase
from federation.core import RecordId, RoundId
from federation.deliberation import (
    DEBATE,
    Debate,
    DebateDigest,
    Placed,
    Speaker,
    debate_of,
    digest_of,
    sides,
    speakers,
    unanswered,
    worth_reading,
)
from federation.protocol import Round, World
from federation.records import Level, Note, Stance, read_text
from federation.review import count, course
from node.base.errors import NodeCode, RequestError
from node.queries.live_rounds import artifact_now, artifact_of
from node.queries.names import Thing, Who, cid_of, unknown, who

USUAL: int = 50
"""Arguments of a page unless it is asked for more or fewer."""
MOST: int = 200
"""Arguments of the largest page."""
SPEAKERS: int = 100
"""Speakers that a page counts, the busiest first."""


class DebateArgument(msgspec.Struct, frozen=True, kw_only=True):
    """One argument in its place."""

    id: str
    """Id of its record, in hex."""
    cid: str
    """The same as a CIDv1."""
    author: Who
    """Who argues."""
    operator: Who
    """Who answers for the author, in the world of the round."""
    stance: Stance
    """For, against or neutral."""
    level: Level
    """What it is about."""
    claim: int | None
    """Number of the claim that it speaks to; nil for the whole."""
    note: str | None
    """Its words; nil if it has none, or they are not held here."""
    evidence: tuple[str, ...]
    """Digests that it names, in hex."""
    phase: Phase
    """The phase that it was written for."""
    turn: int
    """The same as a number from 1; 0 if it was sealed before any other was read."""
    certified: bool
    """The final list of that phase names it."""
    replies_to: str | None
    """Id of the argument that it answers, in hex."""
    strays: bool
    """It answers something that is no argument of this debate."""
    thread: str
    """Id of the argument that its thread began with, in hex."""
    depth: int
    """Answers between it and that argument; a depth of 32 stands for all that are deeper."""
    replies: tuple[str, ...]
    """Ids of the arguments that answer it, in hex."""
    answered_by: tuple[Who, ...]
    """Other operators whose agents answered it."""
    cited_by: tuple[Who, ...]
    """Other operators whose reviewers cite it in their ballots; none before `decide` is final here."""
    stands: bool
    """No reply that stands takes the other side: it tells who spoke last, not who is right."""


class SideCount(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of one stance on one level."""

    stance: Stance
    """For, against or neutral."""
    level: Level
    """What they are about."""
    arguments: int
    """All of them."""
    standing: int
    """Of these, those that no standing reply of the other side answers."""
    answered: int
    """Of these, those that an agent of another operator answered."""
    operators: int
    """Operators whose agents made them: many arguments of one are one voice."""


class SpeakerCount(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent did in the debate."""

    agent: Who
    """Who spoke."""
    operator: Who
    """Who answers for it, in the world of the round."""
    arguments: int
    """Its arguments."""
    replies: int
    """Of these, answers to arguments of other operators."""
    answered: int
    """Of these, those that an agent of another operator answered."""
    cited: int
    """Of these, those that a reviewer of another operator cites; 0 before `decide` is final here."""


class QuotePage(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence of a digest."""

    argument: str
    """Id of the argument whose words these are, in hex."""
    author: Who
    """Who wrote them."""
    stance: Stance
    """Where that argument stands."""
    start: int
    """Index of the sentence's first character in the argument's note."""
    words: str
    """The sentence, letter by letter."""
    part: bool
    """It is a part of a sentence of more than 300 characters."""


class DigestPage(msgspec.Struct, frozen=True, kw_only=True):
    """A digest: some sentences of the debate, chosen by counting; nobody wrote it."""

    is_digest: bool
    """Always true: this is never the whole debate."""
    quotes: tuple[QuotePage, ...]
    """Sentences, in reading order of the debate."""
    quoted: int
    """Arguments that are quoted."""
    unquoted: int
    """Arguments with a text that are not."""
    missing: int
    """Arguments that would have been read, and whose text is not held here."""


class DebatePage(msgspec.Struct, frozen=True, kw_only=True):
    """The debate of one round, as it stands on this instance."""

    round: str
    """Id of the round, in hex."""
    mode: str
    """`open`, `rounds` or `sealed_first`, as the charter of the round says."""
    turns: int
    """Turns of the mode `rounds`."""
    phase: Phase | None
    """The open phase; nil when the round has ended here."""
    open: bool
    """It is a phase in which agents argue."""
    sealed: int
    """Assessments that were sealed; 0 before their list is final here."""
    closed: tuple[Who, ...]
    """Who never opened a sealed assessment; none before the list of openings is final here."""
    total: int
    """Arguments of the debate."""
    threads: int
    """Arguments that begin a thread."""
    unanswered: int
    """Arguments that no agent of another operator has answered."""
    sides: tuple[SideCount, ...]
    """Arguments by stance and level."""
    speakers: tuple[SpeakerCount, ...]
    """Arguments by speaker, the busiest first."""
    speakers_left_out: int
    """Further speakers."""
    arguments: tuple[DebateArgument, ...]
    """Arguments in reading order: thread by thread, each behind what it answers."""
    next: str | None
    """Cursor of the next page; nil when this is the last."""
    digest: DigestPage | None
    """Some sentences for late readers; nil if nobody asked, or the artifact is hidden."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a page shows, as it stood at one moment; nothing in it changes any more."""

    found: Round
    """The round; of it only the pin is read later."""
    phase: Phase | None
    """The phase that was open."""
    debate: Debate
    """Its debate."""
    shown: tuple[RecordId, ...]
    """Arguments of the page."""
    more: bool
    """There is a further page."""
    raws: Mapping[RecordId, bytes]
    """Texts as they are held, still to be read."""
    sentences: int | None
    """Sentences of the digest; None without one."""

    @property
    def size(self) -> int:
        """Count the bytes that are to be read."""
        return sum(map(len, self.raws.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The texts of a look, read."""

    notes: Mapping[RecordId, str]
    """Words by argument; what is not held or does not read is not there."""
    digest: DebateDigest | None
    """The digest; None if nobody asked for one."""


def debate(
    world: World,
    round_id: RoundId,
    *,
    after: RecordId | None = None,
    most: int = USUAL,
    digest: int | None = None,
) -> DebatePage:
    """Show the debate of a round in one step; raises what `look` raises."""
    seen = look(world, round_id, after=after, most=most, digest=digest)
    return page(world, seen, words(seen))


def look(
    world: World,
    round_id: RoundId,
    *,
    after: RecordId | None = None,
    most: int = USUAL,
    digest: int | None = None,
) -> Look:
    """Collect what a page shows: `most` arguments (1 to 200) behind `after` in reading order.

    `digest` is a number of sentences, 1 to 40, or None for no digest. Raises RequestError NOT_FOUND
    for an unknown round or cursor.
    """
    found = world.rounds.get(round_id)
    if found is None:
        raise unknown(round_id, {Thing.ROUND})
    seen = _debate(world, found)
    names = [*seen.arguments]
    first = 0 if after is None else _behind(names, after)
    shown = tuple(names[first : first + most])
    sentences = None if _is_hidden(world, found) else digest
    wanted = {*shown, *(worth_reading(seen) if sentences else ())}
    return Look(
        found=found,
        phase=found.phase,
        debate=seen,
        shown=shown,
        more=len(names) > first + most,
        raws={name: raw for name in wanted if (raw := _raw(world, name)) is not None},
        sentences=sentences,
    )


def words(seen: Look, known: DebateDigest | None = None) -> Words:
    """Read the texts of a look and choose its digest: a pure function that takes long.

    `known` is the digest of the same look, made before.
    """
    chosen = seen.sentences is not None and known is None
    notes = {
        name: text.note
        for name, raw in seen.raws.items()
        if chosen or name in seen.shown
        if (text := read_text(raw, Note)) is not None
    }
    if seen.sentences is None or known is not None:
        return Words(notes=notes, digest=known)
    return Words(notes=notes, digest=digest_of(seen.debate, notes, most=seen.sentences))


def page(world: World, seen: Look, read: Words) -> DebatePage:
    """Make the page of a look and its words."""
    found, talk = seen.found, seen.debate
    review = found.pin.charter.review
    busiest = sorted(speakers(talk), key=lambda one: (-one.arguments, one.agent))
    return DebatePage(
        round=found.pin.round.hex(),
        mode=review.mode,
        turns=review.turns,
        phase=seen.phase,
        open=seen.phase in DEBATE,
        sealed=talk.sealed,
        closed=tuple(who(world, agent) for agent in talk.closed),
        total=len(talk.arguments),
        threads=len(talk.threads),
        unanswered=len(unanswered(talk)),
        sides=tuple(
            SideCount(
                stance=one.stance,
                level=one.level,
                arguments=one.arguments,
                standing=one.standing,
                answered=one.answered,
                operators=one.operators,
            )
            for one in sides(talk)
        ),
        speakers=tuple(_speaker(world, one) for one in busiest[:SPEAKERS]),
        speakers_left_out=max(len(busiest) - SPEAKERS, 0),
        arguments=tuple(
            _argument(world, talk.arguments[name], read.notes.get(name)) for name in seen.shown
        ),
        next=seen.shown[-1].hex() if seen.more else None,
        digest=None if read.digest is None else _digest(world, talk, read.digest),
    )


def _debate(world: World, found: Round) -> Debate:
    lists = course(found.pin, found.finals).lists
    arguing = found.phase is not None and found.phase in DEBATE
    return debate_of(
        found.pin,
        lists,
        held={found.phase: found.qualified(world.log)} if arguing and found.phase else {},
        ballots=count(found.pin, lists).ballots if Phase.DECIDE in lists else (),
    )


def _behind(names: list[RecordId], after: RecordId) -> int:
    try:
        return names.index(after) + 1
    except ValueError:
        raise RequestError(
            "page not found",
            why="no argument of this debate has the id of the cursor",
            fix="begin again without a cursor",
            code=NodeCode.NOT_FOUND,
        ) from None


def _is_hidden(world: World, found: Round) -> bool:
    artifact = artifact_of(world, found)
    return artifact is not None and Flag.HIDDEN in artifact_now(world, artifact).flags


def _raw(world: World, name: RecordId) -> bytes | None:
    # A final list keeps the record as it came: what was taken down since is gone from the log only.
    record = world.log.get(name)
    return None if record is None else record.text_raw


def _argument(world: World, one: Placed, note: str | None) -> DebateArgument:
    said = one.said
    return DebateArgument(
        id=one.id.hex(),
        cid=cid_of(one.id),
        author=who(world, one.author),
        operator=who(world, one.operator),
        stance=said.stance,
        level=said.level,
        claim=said.claim,
        note=note,
        evidence=tuple(name.hex() for name in said.evidence),
        phase=one.phase,
        turn=one.turn,
        certified=one.certified,
        replies_to=said.replies_to.hex() if said.replies_to else None,
        strays=one.strays,
        thread=one.thread.hex(),
        depth=one.depth,
        replies=tuple(name.hex() for name in one.replies),
        answered_by=tuple(who(world, name) for name in one.answered_by),
        cited_by=tuple(who(world, name) for name in one.cited_by),
        stands=one.stands,
    )


def _speaker(world: World, one: Speaker) -> SpeakerCount:
    return SpeakerCount(
        agent=who(world, one.agent),
        operator=who(world, one.operator),
        arguments=one.arguments,
        replies=one.replies,
        answered=one.answered,
        cited=one.cited,
    )


def _digest(world: World, talk: Debate, made: DebateDigest) -> DigestPage:
    return DigestPage(
        is_digest=True,
        quotes=tuple(
            QuotePage(
                argument=one.argument.hex(),
                author=who(world, talk.arguments[one.argument].author),
                stance=talk.arguments[one.argument].said.stance,
                start=one.start,
                words=one.words,
                part=one.part,
            )
            for one in made.quotes
        ),
        quoted=made.quoted,
        unquoted=made.unquoted,
        missing=made.missing,
    )
