"""The fresh value of a cut's slot: how far q witnesses together carry every author's chain.

Per author the cut takes the longest run after the last position in which one record at each place
is named by at least f+1 witnesses *and follows the record before it*. The second half is an
addition to the design's rule 2: after a fork each half of a run could be named by f+1 while it
belongs to another branch, and the cut would splice them. At a true fork (two named records with
one predecessor) a recovery rotation wins, then the branch that a named rotation picks, else the
run ends before it. A losing branch stays in every store for ever, so records that do not follow
the run are passed over and do not count as a second candidate.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from federation.certificates.blobs import (
    Chains,
    Position,
    Positions,
    blob_hash,
    chains_from_blob,
    positions_blob,
)
from federation.certificates.desk import Fresh, Missing, NoValue, Outcome, Witnessed
from federation.certificates.membership import Quorum
from federation.certificates.messages import CutWitness
from federation.certificates.parts import Part, PartKind
from federation.certificates.slots import CutSlot
from federation.certificates.values import CutValue, Opened
from federation.core import Digest, IdentityId, OperatorId, RecordId
from federation.crypto import plain_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a cut needs to know of one record that I hold."""

    author: IdentityId
    seq: int
    prev: RecordId | None
    """The record before it in its chain; None at seq 0."""
    is_recovery: bool
    """It is an `identity.rotate` by the recovery key."""
    picks: RecordId | None
    """The record that an `identity.rotate` names as its branch after a fork."""


def fresh_cut(
    slot: CutSlot,
    witnesses: Sequence[Witnessed],
    quorum: Quorum,
    entry: Callable[[RecordId], Entry | None],
    *,
    last: Positions,
    promised: Mapping[OperatorId, Digest],
) -> Outcome:
    """Compute the next cut of exactly q witnesses by distinct members.

    `last` are the positions of the cut before, `promised` its next hashes by member; `entry`
    returns None for a record not held here, then the answer is Missing. NoValue if no world digest,
    or more than one, is named by f+1. Raises PeerError if a chains blob is not canonical.
    """
    rows = [
        (one.operator, one.body, chains_from_blob(one.chains))
        for one in witnesses
        if isinstance(one.body, CutWitness) and one.chains is not None
    ]
    if len(rows) != quorum.q or len({operator for operator, _, _ in rows}) != quorum.q:
        return NoValue(why=f"a cut needs exactly {quorum.q} witnesses of distinct members")
    worlds = Counter(body.world for _, body, _ in rows)
    agreed = [world for world, count in worlds.items() if count > quorum.f]
    if len(agreed) != 1:
        return NoValue(why="the members do not agree on the world at the cut before")
    positions, missing = _advanced([chains for _, _, chains in rows], quorum.f, entry, last)
    if missing:
        return Missing(records=tuple(sorted(missing)))
    blob = positions_blob(positions)
    value = CutValue(
        number=slot.number,
        tick=sum(body.tick for _, body, _ in rows) > quorum.f,
        positions=blob_hash(blob),
        world=agreed[0],
        secrets=tuple(
            Opened(
                member=operator,
                secret=body.secret if plain_hash(body.secret) == promised.get(operator) else None,
                next_hash=body.next_hash,
            )
            for operator, body, _ in sorted(rows, key=lambda row: row[0])
        ),
    )
    return Fresh(value=value, parts=(Part(kind=PartKind.BLOB, content=blob),))


def _advanced(
    views: Sequence[Chains],
    f: int,
    entry: Callable[[RecordId], Entry | None],
    last: Positions,
) -> tuple[Positions, set[RecordId]]:
    """Carry authors as far as the views allow: those that move, and which records are missing."""
    positions: dict[IdentityId, Position] = {}
    missing: set[RecordId] = set()
    for author in sorted({author for view in views for author in view}):
        start = last.get(author)
        votes = Counter(
            (place, record)
            for view in views
            for place, ids in enumerate(view.get(author, ()), start=start.seq + 1 if start else 0)
            for record in ids
        )
        held: dict[RecordId, Entry] = {}
        for (place, record), count in sorted(votes.items()):
            if count > f:
                found = entry(record)
                if found is None:
                    missing.add(record)
                elif found.author == author and found.seq == place:
                    held[record] = found
        end = _run(start, held)
        if end is not None and end != start:
            positions[author] = end
    return positions, missing


def _run(start: Position | None, held: Mapping[RecordId, Entry]) -> Position | None:
    """Follow one author's named records from a position as far as one branch is sure."""
    children: dict[RecordId | None, list[RecordId]] = {}
    for record, found in held.items():
        children.setdefault(found.prev, []).append(record)
    end = start
    while True:
        nexts = children.get(end.head if end else None, [])
        chosen = nexts[0] if len(nexts) == 1 else _winner(nexts, held)
        # A record names its own place; a child at another place is no continuation.
        if chosen is None or held[chosen].seq != (end.seq + 1 if end else 0):
            return end
        end = Position(seq=held[chosen].seq, head=chosen)


def _winner(rivals: Sequence[RecordId], held: Mapping[RecordId, Entry]) -> RecordId | None:
    """Choose between records with one predecessor, or tell that nobody can (None)."""
    recoveries = [one for one in rivals if held[one].is_recovery]
    if len(recoveries) == 1:
        return recoveries[0]
    picked = {
        branch
        for found in held.values()
        if found.picks is not None
        for branch in [_branch(found.picks, rivals, held)]
        if branch is not None
    }
    return picked.pop() if len(picked) == 1 else None


def _branch(
    record: RecordId, rivals: Sequence[RecordId], held: Mapping[RecordId, Entry]
) -> RecordId | None:
    """Walk from a picked record back to the rival it descends from, through named records only.

    Only named records are walked: every member knows them, so every member picks alike.
    """
    at: RecordId | None = record
    while at is not None and at not in rivals:
        found = held.get(at)
        at = found.prev if found is not None else None
    return at
