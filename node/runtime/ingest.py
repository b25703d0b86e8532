"""Bytes of records from peers become records that the core can take, their signatures checked.

Most of what a record costs is its signature, so that is checked off the event loop, before the
core sees the record; and what the log holds already is dropped first, because most of what gossip
brings is a copy. `read` gives records; `verify` is what the world checks signatures with: it
knows the answer for those that came through `read`, and checks all others itself.

**Nothing here decides what is stored.** The log judges every record again, in its own place of
its chain; all that a record gains by passing through is that its signature is not checked twice.
A record whose key cannot be told yet passes unchecked, and the log checks it when its turn comes
(design: the node, inbox).
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar

import trio

from federation.core import PeerError, PublicKey, Realm, RecordId, Signature
from federation.crypto import is_signed_by
from federation.identity import KeyState, advanced, incepted, signing_key
from federation.records import Record, parse_unless, signing_payload, verify_record
from federation.replication import Log
from node.runtime.signatures import Asked, Checkers

LARGEST: Final = 256
"""Records of one job. A larger job would keep others waiting, a smaller one costs more for each
record; a batch that comes alone is shared out among the threads."""
SMALLEST: Final = 64
"""Records below which sharing out costs more than it gains."""
REMEMBERED: Final = 8_192
"""Signatures that were found right, and places of chains that were read, and that the core has
not come to yet. The oldest are forgotten first; that costs time and nothing else."""

_Signed = tuple[PublicKey, bytes, Signature]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a batch of bytes turned out to be."""

    records: tuple[Record, ...]
    """Those that may be new here, in the order they came."""
    known: int
    """How many were dropped because the log holds all that they bring, or as exact copies."""
    refused: tuple[PeerError, ...]
    """Why others can never be stored; their sender pays."""


_Place = tuple[KeyState, int]
"""How far a chain was read: its keys there, and the seq. What its next record must fit."""


@dataclass(slots=True, eq=False)
class _Job:
    """A part of a batch, and what becomes of it."""

    raws: Sequence[bytes]
    log: Log
    turn: int = -1
    """When it may parse."""
    records: list[Record] = field(default_factory=list)
    asked: list[tuple[int, Asked]] = field(default_factory=list)
    """Signatures to check, by index of their record: those whose key is known."""
    known: int = 0
    refused: list[PeerError] = field(default_factory=list)
    right: dict[_Signed, None] = field(default_factory=dict)
    """Signatures that were found right."""


class Ingest:
    """Parses and checks what peers send, off the event loop.

    A job goes to a thread, which parses its records and then has their signatures checked.
    Parsing holds the interpreter's lock all the time, so threads parse one at a time, in the order
    in which batches came: each then finds what earlier ones have read of a chain, and nobody
    fights for the lock. The signatures of several jobs are checked at the same time.

    Threads: one that parses reads the log while the event loop changes it. That is safe because
    each look is a single `get` or `in` by a byte string, which runs no Python code and so happens
    between two bytecodes of the other thread, and because what it finds (an entry, its key state)
    is frozen. The answer can be out of date a moment later: then a record that the log knows by
    now is passed on, or one is passed on unchecked, and the log sees to both. The memory of
    places belongs to the thread whose turn it is; everything else of this object to the event loop.
    """

    def __init__(
        self,
        realm: Realm,
        log: Callable[[], Log],
        *,
        threads: int = 2,
        remember: int = REMEMBERED,
    ) -> None:
        """Read records of `realm`; `log` gives the log as it is at the moment."""
        self._realm = realm
        self._log = log
        self._most = remember
        # One more than can compute at a time: while a thread waits for the interpreter's lock, to
        # parse or to take in the answers of its process, the other processes have work.
        self._checkers = Checkers(threads + 1)
        self._slots = trio.CapacityLimiter(threads + 1)
        self._threads = trio.CapacityLimiter(threads + 1)
        self._queue = trio.Lock()
        self._turns = 0
        """Turns that were given out."""
        self._turn = 0
        """Whose turn it is to parse."""
        self._over: set[int] = set()
        """Later turns that nobody will take: there was no thread for them."""
        self._next_turn = threading.Condition()
        self._places: dict[RecordId, _Place] = {}
        self._right: dict[_Signed, None] = {}

    def verify(self, key: PublicKey, payload: bytes, signature: Signature) -> bool:
        """Tell whether a signature is right; at once, but only once, if `read` found it so."""
        signed = (key, payload, signature)
        if signed in self._right:
            del self._right[signed]
            return True
        return is_signed_by(key, payload, signature)

    @property
    def remembered(self) -> int:
        """Count the signatures that were found right and that nobody has asked for yet."""
        return len(self._right)

    @property
    def pids(self) -> tuple[int, ...]:
        """Name the processes that check, if long batches have made it start some."""
        return self._checkers.pids

    def close(self) -> None:
        """End the processes that check; call it when nothing is read any more."""
        self._checkers.close()

    async def read(self, raws: Sequence[bytes]) -> Read:
        """Parse a batch and check its signatures; what is known is dropped before either.

        A signature is checked where the record's predecessor stands in the log, earlier in this
        batch, or in a batch whose reading began before this one's; else the record passes unchecked.
        """
        jobs: list[_Job] = []
        # Locks are handed on in order of arrival, and no batch comes between another's jobs.
        async with trio.open_nursery() as nursery, self._queue:
            free = int(max(1, self._slots.available_tokens))
            length = min(max(-(-len(raws) // free), SMALLEST), LARGEST)
            for start in range(0, len(raws), length):
                job = _Job(raws[start : start + length], self._log())
                jobs.append(job)
                await self._slots.acquire_on_behalf_of(job)
                job.turn = self._turns
                self._turns += 1
                nursery.start_soon(self._run, job)
        return Read(
            records=tuple(record for job in jobs for record in job.records),
            known=sum(job.known for job in jobs),
            refused=tuple(error for job in jobs for error in job.refused),
        )

    async def _run(self, job: _Job) -> None:
        # Others wait for the turn of this job, so it takes its turn even if nobody waits for it.
        try:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._work, job, limiter=self._threads)
        finally:
            # Also if there was no thread for it: who waits in a thread cannot be cancelled.
            self._pass(job.turn)
            self._slots.release_on_behalf_of(job)
        self._right.update(job.right)
        _shrink(self._right, self._most)

    # In a thread --------------------------------------------------------------------------------

    def _work(self, job: _Job) -> None:
        # Who has an earlier turn has a thread as well, and is on its way, or has passed it on.
        with self._next_turn:
            self._next_turn.wait_for(lambda: self._turn == job.turn)
        try:
            self._parse(job)
        finally:
            self._pass(job.turn)
        if job.asked:
            self._check(job)

    def _pass(self, turn: int) -> None:
        """End a turn, once it comes; ending it twice changes nothing."""
        with self._next_turn:
            if turn < self._turn:
                return
            self._over.add(turn)
            while self._turn in self._over:
                self._over.remove(self._turn)
                self._turn += 1
            self._next_turn.notify_all()

    def _parse(self, job: _Job) -> None:
        """Parse records, and find for each the key that must have signed it."""
        log, seen = job.log, set[bytes]()
        for raw in job.raws:
            try:
                record = None
                if raw not in seen:
                    record = parse_unless(self._realm, raw, log.has_all)
            except PeerError as error:
                job.refused.append(error)
                continue
            seen.add(raw)
            if record is None:
                job.known += 1
                continue
            if record.id in log:
                # It brings a text that is missing here. The text's hash stands in what is stored,
                # so nobody looks at the copy's signature. A text of something else was dropped.
                if record.text_raw is None:
                    job.known += 1
                else:
                    job.records.append(record)
                continue
            key = self._key_of(log, record)
            if key is not None:
                asked = Asked(key, record.id, record.signature)
                job.asked.append((len(job.records), asked))
            job.records.append(record)
        _shrink(self._places, self._most)

    def _key_of(self, log: Log, record: Record) -> PublicKey | None:
        """Give the key that must have signed a record; None if that is not known here.

        An id fixes statement and body, and so the whole chain below: what an unchecked predecessor
        says about keys is what the stored one will say, if it is ever stored.
        """
        try:
            if record.prev is None:
                keys = incepted(record)
                key = keys.key
            else:
                # What stands in this memory was read a moment ago, which is the usual case.
                place = self._places.get(record.prev)
                if place is not None:
                    keys, seq = place
                elif (entry := log.entry(record.prev)) is not None:
                    keys, seq = entry.keys, entry.record.seq
                else:
                    return None
                if keys.identity != record.author or seq + 1 != record.seq:
                    return None
                key = signing_key(keys, record)
                keys = advanced(keys, record)
        except PeerError:
            # The log refuses it for the same reason, without looking at the signature.
            return None
        self._places[record.id] = keys, record.seq
        return key

    def _check(self, job: _Job) -> None:
        """Have the signatures checked; drop the records whose are wrong."""
        answers = self._checkers.check([asked for _, asked in job.asked])
        wrong = set[int]()
        for (at, asked), is_right in zip(job.asked, answers, strict=True):
            if is_right:
                job.right[asked.key, signing_payload(asked.record), asked.signature] = None
            else:
                wrong.add(at)
                job.refused.append(_refusal(job.records[at], asked.key))
        if wrong:
            job.records = [record for at, record in enumerate(job.records) if at not in wrong]


def _refusal(record: Record, key: PublicKey) -> PeerError:
    """Give the error that the log would raise."""
    try:
        verify_record(record, key, lambda *_: False)
    except PeerError as error:
        return error
    raise AssertionError("it refuses what does not verify")


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _shrink(memory: dict[_Key, _Value], most: int) -> None:
    """Forget the oldest of what is remembered beyond the bound."""
    for old in list(islice(memory, max(0, len(memory) - most))):
        del memory[old]
