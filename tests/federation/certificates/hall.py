"""A hall: keys, pinned slots and well-signed messages for the tests of certificates."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

from federation.certificates import (
    Action,
    Body,
    Cosign,
    CutHolding,
    CutSlot,
    Desk,
    Entry,
    Event,
    Heard,
    ListHolding,
    ListWitness,
    Looked,
    Member,
    NoValue,
    Outcome,
    Pace,
    Part,
    PartKind,
    Phase,
    Pinned,
    Promise,
    Propose,
    Received,
    Reconciled,
    RoundSlot,
    Seal,
    Sign,
    Slot,
    SlotState,
    Value,
    Wake,
    WindowEnded,
    Witnessed,
    chains_blob,
    fresh_cut,
    fresh_list,
    hear,
    message_for,
    pin,
    signing_payload,
    step,
    value_bytes,
)
from federation.certificates.proofs import Lock, endorsements, lock_bytes
from federation.crypto import KeySigner, is_signed_by

REALM = b"r" * 32
CHARTER = b"c" * 32
ROUND = b"o" * 32
PACE = Pace(leader_timer=400, grace=60, resend=150)


def name(*words: object) -> bytes:
    """Make a 32-byte name out of words."""
    return sha256("/".join(map(str, words)).encode()).digest()


@lru_cache
def signer(index: int) -> KeySigner:
    return KeySigner(name("seed", index))


def voice(index: int) -> bytes:
    return name("voice", index)


def slot(phase: Phase = Phase.FAST) -> RoundSlot:
    return RoundSlot(round_id=ROUND, phase=phase)


def cut_slot(number: int = 5) -> CutSlot:
    return CutSlot(number=number, previous=b"p" * 32)


@lru_cache
def pinned(n: int, of: Slot | None = None, *, available: bool = False) -> Pinned:
    """Pin a slot of n members; member i speaks through `voice(i)`, and 0 is the home."""
    return pin(
        realm=REALM,
        charter_hash=CHARTER,
        slot=of or slot(),
        members=[
            Member(operator=name("operator", i), voice=voice(i), key=signer(i).public)
            for i in range(n)
        ],
        home=voice(0),
        three_available=available,
    )


def index_of(one: bytes) -> int:
    """Tell which member a voice is."""
    return next(i for i in range(64) if voice(i) == one)


_VERIFIED: dict[tuple[bytes, bytes, bytes], bool] = {}


def verify(key: bytes, payload: bytes, signature: bytes) -> bool:
    """Check a signature once for the whole hall."""
    asked = (key, payload, signature)
    if asked not in _VERIFIED:
        _VERIFIED[asked] = is_signed_by(*asked)
    return _VERIFIED[asked]


def said(where: Pinned, who: int, body: Body, counter: int = 1) -> Heard:
    """Let member `who` say something, well signed."""
    raw = message_for(where, voice(who), counter, body)
    return hear(raw, signer(who).sign(signing_payload(raw)), where, verify=verify)


def witness(*ids: bytes, late: bool = False) -> ListWitness:
    return ListWitness(ids=tuple(sorted(ids)), late=late)


def promise(fence: int, lock: Lock | None = None) -> Promise:
    return Promise(
        fence=fence,
        lock_fence=None if lock is None else lock.fence,
        lock_digest=None if lock is None else lock.digest,
    )


def propose(
    fence: int,
    digest: bytes,
    witnesses: Sequence[Heard] = (),
    promises: Sequence[Heard] = (),
    lock: bytes | None = None,
) -> Propose:
    return Propose(
        fence=fence,
        digest=digest,
        witnesses=tuple(heard.hash for heard in witnesses),
        promises=tuple(heard.hash for heard in promises),
        lock=lock,
    )


def lock_of(where: Pinned, fence: int, digest: bytes, members: Sequence[int]) -> Lock:
    """Let members cosign, and take the lock."""
    votes = tuple(said(where, who, Cosign(fence=fence, digest=digest)) for who in members)
    return Lock(fence=fence, digest=digest, cosigns=endorsements(votes, len(members)))


def seals_of(where: Pinned, fence: int, digest: bytes, members: Sequence[int]) -> list[Heard]:
    return [said(where, who, Seal(fence=fence, digest=digest)) for who in members]


@dataclass
class ListDesk:
    """A desk over a set of held records; all of them qualify, each by a voter of its own."""

    where: Pinned
    held: set[bytes] = field(default_factory=set)
    late: bool = False

    def holding(self) -> ListHolding:
        return ListHolding(ids=tuple(sorted(self.held)), late=self.late)

    def fresh(self, witnesses: Sequence[Witnessed]) -> Outcome:
        assert isinstance(self.where.slot, RoundSlot)
        return fresh_list(self.where.slot, witnesses, self.where.quorum, self.look)

    def look(self, record: bytes) -> Looked | None:
        if record not in self.held:
            return None
        return Looked(voter=name("voter", record), seq=0, qualifies=True, reviewer=True)


@dataclass
class CutDesk:
    """A desk that answers with what it was given."""

    given: CutHolding
    outcome: Outcome = field(default_factory=lambda: NoValue(why="not asked for"))
    asked: list[Sequence[Witnessed]] = field(default_factory=list)

    def holding(self) -> CutHolding:
        return self.given

    def fresh(self, witnesses: Sequence[Witnessed]) -> Outcome:
        self.asked.append(witnesses)
        return self.outcome


@dataclass
class ChainDesk:
    """A desk over author chains, with the real rule of cuts."""

    where: Pinned
    who: int
    entries: dict[bytes, Entry]
    held: set[bytes] = field(default_factory=set)
    truncated: int = 4_096

    def holding(self) -> CutHolding:
        levels: dict[bytes, list[list[bytes]]] = {}
        for one in sorted(self.held, key=lambda one: self.entries[one].seq):
            entry = self.entries[one]
            chain = levels.setdefault(entry.author, [])
            if entry.seq == len(chain):
                chain.append([one])
        return CutHolding(
            chains=chains_blob(
                {author: chain for author, chain in levels.items() if chain},
                beacon=b"b" * 32,
                most=self.truncated,
            ),
            tick=True,
            world=b"w" * 32,
            secret=name("secret", self.who),
            next_hash=name("next", self.who),
        )

    def fresh(self, witnesses: Sequence[Witnessed]) -> Outcome:
        assert isinstance(self.where.slot, CutSlot)
        return fresh_cut(
            self.where.slot,
            witnesses,
            self.where.quorum,
            lambda one: self.entries[one] if one in self.held else None,
            last={},
            promised={},
        )


class Seat:
    """One member's machine: feeds events, and feeds its own signatures back."""

    def __init__(self, where: Pinned, who: int | None, desk: Desk | None = None) -> None:
        self.where = where
        self.who = who
        self.me = None if who is None else voice(who)
        self.desk: Desk = desk or ListDesk(where)
        self.state = SlotState()
        self.now = 0
        self.counter = 0
        self.signed: list[Heard] = []

    def feed(self, event: Event) -> list[Action]:
        """Take an event and all that follows from it; give every action, in order."""
        events, seen = [event], []
        while events:
            self.state, actions = step(
                self.state,
                self.where,
                self.me,
                events.pop(0),
                self.now,
                self.desk,
                pace=PACE,
                verify=verify,
            )
            seen += actions
            for action in actions:
                if isinstance(action, Sign):
                    assert self.who is not None
                    self.counter += 1
                    heard = said(self.where, self.who, action.body, self.counter)
                    self.signed.append(heard)
                    assert self.me is not None
                    events.append(Received(heard=heard, sender=self.me))
        return seen

    def hears(self, *messages: Heard, parts: Sequence[Part] = ()) -> list[Action]:
        """Hear messages from their authors, each with the same parts."""
        seen = []
        for heard in messages:
            event = Received(heard=heard, parts=tuple(parts), sender=heard.voice)
            seen += self.feed(event)
        return seen

    def wakes_at(self, now: int) -> list[Action]:
        self.now = now
        return self.feed(Wake())

    def ends_window(self) -> list[Action]:
        """Let the window end, with everybody reconciled at once."""
        seen = self.feed(WindowEnded())
        for other in self.where.others(self.me):
            seen += self.feed(Reconciled(voice=other, began=self.now))
        return seen


def bodies(actions: Sequence[Action]) -> list[Body]:
    """List what was signed."""
    return [action.body for action in actions if isinstance(action, Sign)]


def value_part_of(where: Pinned, value: Value) -> Part:
    return Part(kind=PartKind.VALUE, content=value_bytes(where.slot, value))


def lock_part_of(lock: Lock) -> Part:
    return Part(kind=PartKind.LOCK, content=lock_bytes(lock))
