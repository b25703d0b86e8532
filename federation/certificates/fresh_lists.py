"""The fresh value of a round's slot: which records q witnesses amount to.

A record counts if at least f+1 of exactly q witnesses by distinct members name it (so an honest
one holds it) and the pinned world says that it qualifies. What two records of one voter mean
depends on the phase (design: federation, rule 2). The function knows nothing of reviews: what a
record is comes from `look`, and equal answers give equal values on every machine.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from federation.certificates.desk import Fresh, Missing, NoValue, Outcome, Witnessed
from federation.certificates.membership import Quorum
from federation.certificates.messages import MOST_LISTED, ListWitness
from federation.certificates.slots import VOIDABLE, Phase, RoundSlot
from federation.certificates.values import VOID, ListValue
from federation.core import AgentId, RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What the pinned world says of one record that I hold."""

    voter: AgentId
    """Its author."""
    seq: int
    """Its place in the author's chain."""
    qualifies: bool
    reviewer: bool
    """Its author is a reviewer in the pinned world: first when a list is full."""


def fresh_list(
    slot: RoundSlot,
    witnesses: Sequence[Witnessed],
    quorum: Quorum,
    look: Callable[[RecordId], Looked | None],
    *,
    most: int = MOST_LISTED,
    each: int = MOST_LISTED,
) -> Outcome:
    """Compute the fresh value of exactly q witnesses by distinct members.

    `look` returns None for a record not held here; then the answer is Missing. `most` caps the
    list (charter, at most MOST_LISTED), `each` caps the arguments of one author in `deliberate`;
    the further turns of a debate list one.
    """
    bodies = [one.body for one in witnesses if isinstance(one.body, ListWitness)]
    if len(bodies) != quorum.q or len({one.operator for one in witnesses}) != quorum.q:
        return NoValue(why=f"a fresh value needs exactly {quorum.q} witnesses of distinct members")
    if slot.phase in VOIDABLE and sum(body.late for body in bodies) > quorum.f:
        return Fresh(value=VOID)
    named = Counter(record for body in bodies for record in set(body.ids))
    known: dict[RecordId, Looked] = {}
    missing: list[RecordId] = []
    for record in sorted(one for one, count in named.items() if count > quorum.f):
        looked = look(record)
        if looked is None:
            missing.append(record)
        elif looked.qualifies:
            known[record] = looked
    if missing:
        return Missing(records=tuple(missing))
    counted = {record: known[record] for record in _of_phase(slot.phase, known, each)}
    return Fresh(value=ListValue(records=capped(slot, counted, most)))


def witnessed(
    slot: RoundSlot, looked: dict[RecordId, Looked], *, each: int
) -> tuple[RecordId, ...]:
    """Choose what a witness names of the qualifying records it holds.

    Of one voter it names no more than can matter: two commitments or seals (which cancel each
    other), as many arguments as count, one of anything else. Otherwise one agent could fill the list with a
    thousand records of its own and silence everybody else. The earliest in its chain come first:
    whoever holds a later one holds those too, so members name the same ones of an honest voter.
    """
    by_voter: defaultdict[AgentId, list[RecordId]] = defaultdict(list)
    for record in sorted(looked, key=lambda one: (looked[one].seq, one)):
        by_voter[looked[record].voter].append(record)
    match slot.phase:
        case Phase.COMMIT | Phase.COMMIT2 | Phase.SEAL:
            most = 2
        case Phase.DELIBERATE:
            most = each
        case _:
            most = 1
    named = {record: looked[record] for own in by_voter.values() for record in own[:most]}
    return capped(slot, named, MOST_LISTED)


def capped(slot: RoundSlot, looked: dict[RecordId, Looked], most: int) -> tuple[RecordId, ...]:
    """Cut a list to `most` records, sorted: reviewers first, then lowest SHA-256(round ‖ voter).

    A witness whose own list is too long cuts it by the same order, so that honest members who
    hold the same flood name the same part of it.
    """

    def rank(record: RecordId) -> tuple[bool, bytes, RecordId]:
        one = looked[record]
        return not one.reviewer, hashlib.sha256(slot.round_id + one.voter).digest(), record

    return tuple(sorted(sorted(looked, key=rank)[: min(most, MOST_LISTED)]))


def _of_phase(phase: Phase, known: dict[RecordId, Looked], each: int) -> Iterable[RecordId]:
    by_voter: defaultdict[AgentId, list[RecordId]] = defaultdict(list)
    for record in sorted(known):
        by_voter[known[record].voter].append(record)
    match phase:
        case Phase.COMMIT | Phase.COMMIT2 | Phase.SEAL:
            # Two commitments would let a voter choose later which one to open.
            return [records[0] for records in by_voter.values() if len(records) == 1]
        case Phase.DECIDE:
            # All reveals of a voter open the same commitment, hence the same ballot.
            return [records[0] for records in by_voter.values()]
        case Phase.DELIBERATE:
            return [
                record
                for records in by_voter.values()
                for record in sorted(records, key=lambda one: known[one].seq)[:each]
            ]
        case Phase.FAST | Phase.CONTEST:
            # Of these it matters only whether there is one.
            return known
        case _:
            # One turn, one opened seal, one word of an office: of a forked chain the earliest counts.
            return [
                min(records, key=lambda one: (known[one].seq, one)) for records in by_voter.values()
            ]
