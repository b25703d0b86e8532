"""Disputes, urgent reports and appeals: what was filed, and what became of it.

The list is newest first, by the cut that opened each round and then by the round's id. What has no
round - it waits for a cut, or does not count - stands beside the first page.
"""

import heapq
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Final

import msgspec

from federation.certificates import Phase
from federation.core import ArtifactId, Code, Millis, RecordId, RoundId, short
from federation.protocol import Fate, Round, World, judge
from federation.records import Appeal, DisputeFile, DisputeReport, Kind, Record
from node.base.errors import NodeCode, RequestError
from node.queries.live_rounds import artifact_now, is_settled, live_slot, round_waits, title_of
from node.queries.names import Thing, Who, unknown, who
from node.queries.proceedings import Filed, Proceedings, filed, proceedings
from node.queries.texts import article
from node.queries.verdicts import Verdict, verdict_of
from node.queries.waits import Wait, WaitCode
from node.queries.windows import Window, window_of

MOST: int = 200
"""Rows of one page."""


class DisputeKind(StrEnum):
    """What was filed."""

    DISPUTE = "dispute"
    """An artifact that stands should not."""
    REPORT = "report"
    """An artifact must be hidden at once."""
    APPEAL = "appeal"
    """A sanction is wrong."""


class DisputeBrief(msgspec.Struct, frozen=True, kw_only=True):
    """One round in a list."""

    record: str | None
    """Id of the record that opened it, in hex; nil if the rules opened it themselves."""
    round: str
    """Id of the round, in hex."""
    kind: DisputeKind
    """What was filed."""
    artifact: str
    """What it is about, id in hex: an artifact, or of an appeal a violation."""
    title: str | None
    """Title of the artifact; nil if there is none to be read."""
    by: Who | None
    """Who filed it; nil if the rules did."""
    ground: str | None
    """What is wrong, in one word; nil if it names none."""
    cut: int
    """Number of the cut that opened the round."""
    phase: Phase | None
    """The open phase; nil when it has ended here, or waits for a lot."""
    verdict: Verdict | None
    """How it ended here; nil while it runs."""
    settled: bool
    """A cut contains all that ended it."""


class Unopened(msgspec.Struct, frozen=True, kw_only=True):
    """Something filed that has opened no round."""

    filed: Filed
    """What was filed."""
    artifact: str
    """What it is about, id in hex."""
    fate: Fate
    """`waits` for a cut, or `void`."""
    code: Code | None
    """Stable name of the reason."""
    why: str
    """The reason as a sentence."""


class DisputeList(msgspec.Struct, frozen=True, kw_only=True):
    """One page of disputes, reports and appeals, newest first."""

    items: tuple[DisputeBrief, ...]
    """Rounds that were opened."""
    next: str | None
    """Cursor of the next page: id of the last round shown; nil when this is the last."""
    unopened: tuple[Unopened, ...]
    """On the first page: what waits for a cut or does not count, by id, at most a page of it."""


class DisputePage(msgspec.Struct, frozen=True, kw_only=True):
    """One dispute, report or appeal, and what became of it."""

    now: Millis
    """This instance's own clock when the answer was made; all times in it are on that clock."""
    filed: Filed
    """What was filed."""
    kind: DisputeKind
    """A dispute, a report or an appeal."""
    artifact: str
    """What it is about, id in hex: an artifact, or of an appeal a violation."""
    title: str | None
    """Title of the artifact; nil if there is none to be read."""
    fate: Fate
    """`counts`, `waits` or `void`."""
    code: Code | None
    """Why it waits or does not count, as a stable name; nil if it counts."""
    rounds: tuple[str, ...]
    """Rounds that it opened, in their order; ids in hex. A second one is a rerun."""
    phase: Phase | None
    """Open phase of the newest of them; nil if none is open here."""
    window: Window | None
    """That phase's window here."""
    waits: Wait
    """What it waits for."""
    proceedings: Proceedings | None
    """Arbiters, rulings, contests, assessments of the newest round; nil without a round."""
    verdict: Verdict | None
    """How the newest round ended here; nil while it runs."""
    settled: bool
    """A cut contains all that ended it."""


_KINDS: Final = {
    Kind.DISPUTE: DisputeKind.DISPUTE,
    Kind.REPORT: DisputeKind.REPORT,
    Kind.APPEAL: DisputeKind.APPEAL,
}


def listing(
    world: World,
    *,
    artifact: ArtifactId | None = None,
    kind: DisputeKind | None = None,
    is_open: bool = False,
    after: RoundId | None = None,
    most: int = 50,
) -> DisputeList:
    """List disputes, reports and appeals, newest first; `most` is 1 to 200.

    With `is_open` only those that have not ended here. Raises RequestError BAD_REQUEST or, for an
    unknown cursor, NOT_FOUND.
    """
    if not 1 <= most <= MOST:
        raise RequestError(
            "list refused",
            why=f"a page holds 1 to {MOST} disputes, not {most}",
            fix="ask for fewer, and follow the cursor",
            code=NodeCode.BAD_REQUEST,
        )
    found = list(_matching(world, artifact, kind, is_open=is_open))
    if after is not None:
        if after not in world.rounds:
            raise unknown(after, {Thing.ROUND})
        last = _place(world.rounds[after])
        found = [one for one in found if _place(one) < last]
    page = heapq.nlargest(most, found, key=_place)
    beside = _unopened(world, artifact, kind) if after is None else iter(())
    return DisputeList(
        items=tuple(_brief(world, one) for one in page),
        next=page[-1].pin.round.hex() if len(found) > most else None,
        unopened=tuple(islice(beside, most)),
    )


def filed_so_far(world: World) -> int:
    """Count what was ever filed, whether it counts or not: a list looks at all of it."""
    return sum(len(world.log.by_kind(word)) for word in _KINDS)


def one(world: World, name: RecordId, now: Millis) -> DisputePage:
    """Show what became of a record that files something; raises RequestError NOT_FOUND."""
    record = world.log.get(name)
    said = filed(world, name)
    if record is None or said is None or record.kind not in _KINDS:
        raise RequestError(
            f"{short(name)}… not found",
            why="no dispute, report or appeal here has this id",
            fix="give the full id of its record, or of the round that it opened; one that the rules "
            "opened has no record, and `folkmoot review show` shows it",
            code=NodeCode.NOT_FOUND,
        )
    about = _about(record)
    rounds = [found for found in _rounds_about(world, about) if found.pin.cause == name]
    newest = rounds[-1] if rounds else None
    live = live_slot(world, newest) if newest else None
    judged = judge(world, record)
    return DisputePage(
        now=now,
        filed=said,
        kind=_KINDS[Kind(record.kind)],
        artifact=about.hex(),
        title=_title(world, about),
        fate=judged.fate,
        code=judged.code,
        rounds=tuple(found.pin.round.hex() for found in rounds),
        phase=newest.phase if newest else None,
        window=window_of(world, live, now) if live else None,
        waits=round_waits(world, newest, now) if newest else _waits(judged.fate, judged.why),
        proceedings=proceedings(world, newest) if newest else None,
        verdict=verdict_of(newest.verdict, newest.pin.charter)
        if newest and newest.verdict
        else None,
        settled=newest is not None and is_settled(newest),
    )


def filed_as(world: World, said: str) -> RecordId | None:
    """Give the record that opened the round of which this is the id, in full; None otherwise."""
    try:
        found = world.rounds.get(bytes.fromhex(said))
    except ValueError:
        return None
    return found.pin.cause if found else None


def _matching(
    world: World, artifact: ArtifactId | None, kind: DisputeKind | None, *, is_open: bool
) -> Iterator[Round]:
    """Go through the rounds that somebody filed, or that the rules opened as disputes."""
    rounds = world.rounds.values() if artifact is None else _rounds_about(world, artifact)
    for found in rounds:
        if found.pin.kind == "review" or (kind is not None and found.pin.kind != kind):
            continue
        if not is_open or found.verdict is None:
            yield found


def _rounds_about(world: World, name: bytes) -> list[Round]:
    names = world.state.rounds_of.get(name, ())
    return [found for one in names if (found := world.rounds.get(one)) is not None]


def _unopened(
    world: World, artifact: ArtifactId | None, kind: DisputeKind | None
) -> Iterator[Unopened]:
    rounds = world.rounds.values() if artifact is None else _rounds_about(world, artifact)
    opened = {found.pin.cause for found in rounds}
    for word, what in _KINDS.items():
        if kind not in {None, what}:
            continue
        for record in world.log.by_kind(word):
            about = _about(record)
            # What is cheap comes first: anybody may have filed a great many.
            if record.id in opened or artifact not in {None, about}:
                continue
            said = filed(world, record.id)
            if said is None:
                continue
            judged = judge(world, record)
            if judged.fate is not Fate.COUNTS:
                yield Unopened(
                    filed=said,
                    artifact=about.hex(),
                    fate=judged.fate,
                    code=judged.code,
                    why=judged.why,
                )


def _about(record: Record) -> bytes:
    match record.body:
        case DisputeFile(artifact=artifact) | DisputeReport(artifact=artifact):
            return artifact
        case Appeal(sanction=sanction):
            return sanction
        case _:
            raise AssertionError("only what files something comes here")


def _place(found: Round) -> tuple[int, RoundId]:
    return found.pin.cut, found.pin.round


def _brief(world: World, found: Round) -> DisputeBrief:
    pin = found.pin
    said = filed(world, pin.cause)
    return DisputeBrief(
        record=pin.cause.hex() if pin.cause else None,
        round=pin.round.hex(),
        kind=DisputeKind(pin.kind),
        artifact=pin.artifact.hex(),
        title=title_of(world, found),
        by=said.by if said else who(world, pin.disputer) if pin.disputer else None,
        ground=said.ground if said else None,
        cut=pin.cut,
        phase=found.phase,
        verdict=verdict_of(found.verdict, pin.charter) if found.verdict else None,
        settled=is_settled(found),
    )


def _title(world: World, name: bytes) -> str | None:
    artifact = world.state.artifacts.get(name)
    _, text = article(world, artifact_now(world, artifact)) if artifact else (None, None)
    return text.title if text else None


def _waits(fate: Fate, why: str) -> Wait:
    told = {Fate.WAITS: "It waits", Fate.VOID: "It does not count", Fate.COUNTS: "It counts"}[fate]
    code = {Fate.WAITS: WaitCode.NEXT_CUT, Fate.VOID: WaitCode.VOID}.get(fate, WaitCode.NOTHING)
    return Wait(code=code, what="what was filed", sentence=f"{told}: {why}." if why else f"{told}.")
