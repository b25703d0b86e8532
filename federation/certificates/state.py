"""What one member knows of one slot: an immutable snapshot that `step` replaces.

The first group of fields is what the member signed or must never forget; `journal.restore` brings
it back after a crash. The rest can be lost: it is heard again. Everything is bounded: per voice
and kind of message at most `NEAR` messages, chosen by their distance to my own fence, and of
values, locks and blobs only those that a kept message names. A liar can fill its own places only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from federation.certificates.membership import Pinned
from federation.certificates.messages import (
    Cosign,
    CutWitness,
    Fenced,
    Heard,
    Promise,
    Propose,
    Seal,
    Step,
)
from federation.certificates.proofs import Certificate, Lock
from federation.certificates.values import Value, value_blobs
from federation.core import Digest, InstanceId, Millis, RecordId

T = TypeVar("T")
V = TypeVar("V", Cosign, Seal)

NEAR: Final = 4
"""Messages of one kind kept per voice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What I signed at a fence."""

    fence: int
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """When a hash was last asked for, and how often so far."""

    at: Millis
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotState:
    """What one member knows of one slot."""

    # What I signed.
    fence: int = 0
    """p: I sign nothing below it."""
    witnessed: bool = False
    proposed: int = -1
    """The highest fence I proposed at."""
    cosigned: Vote | None = None
    sealed: Vote | None = None
    lock: Lock | None = None
    certificate: Certificate | None = None
    counter: int = -1
    """The highest counter under which I am known to have signed in this slot."""
    muted: bool = False
    """Somebody showed me a later signature of mine: I lost state and sign nothing more."""

    # My window.
    window_ended: Millis | None = None
    reconciled: frozenset[InstanceId] = frozenset()
    """Others I have reconciled with since my window ended."""

    # What I heard.
    said: Mapping[tuple[Step, InstanceId], tuple[Heard, ...]] = field(default_factory=dict)
    highest: Mapping[InstanceId, int] = field(default_factory=dict)
    """The highest fence each voice has promised."""
    cited: Mapping[Digest, Heard] = field(default_factory=dict)
    """Messages kept only because a proposal names them."""
    values: Mapping[Digest, Value] = field(default_factory=dict)
    locks: Mapping[Digest, Lock] = field(default_factory=dict)
    """Verified locks, by their hash."""
    blobs: Mapping[Digest, bytes] = field(default_factory=dict)
    spoiled: frozenset[Digest] = frozenset()
    """Named hashes whose bytes turned out to be no value or lock of this slot."""
    chains: Digest | None = None
    """Blob of my own witness of a cut: held even before the signed witness has come back."""
    sound: Mapping[Digest, bool] = field(default_factory=dict)
    """Of the blobs that were read as chains: whether they are."""
    pending: Certificate | None = None
    """A verified certificate that waits for the blobs of its value."""
    refused: frozenset[Digest] = frozenset()
    """Proposals that are not permitted."""
    missing: Mapping[Digest, tuple[RecordId, ...]] = field(default_factory=dict)
    """Records that a set of witnesses waits for."""
    faulty: frozenset[InstanceId] = frozenset()
    """Voices that signed a contradiction."""
    diverged: bool = False
    """A proposed cut rests on another world than mine."""

    # My clocks.
    fence_since: Millis | None = None
    """When the timer of my fence started."""
    gathered_since: Millis | None = None
    """When I, the leader of fence 0, first held q witnesses."""
    resend_at: Millis | None = None
    wake: Millis | None = None
    asked: Mapping[Digest, Asked] = field(default_factory=dict)

    @property
    def is_final(self) -> bool:
        """The slot is decided here."""
        return self.certificate is not None

    @property
    def waits_for_quorum(self) -> bool:
        """My window has ended, but too few members could be reconciled with to witness it."""
        return self.window_ended is not None and not self.witnessed and not self.is_final


def said_by(state: SlotState, step: Step, voice: InstanceId) -> tuple[Heard, ...]:
    """List the kept messages of one kind by one voice, lowest fence first."""
    return state.said.get((step, voice), ())


def all_said(state: SlotState, pinned: Pinned, step: Step) -> Iterator[Heard]:
    """Go through the kept messages of one kind, by leader order of voices, then by fence."""
    for member in pinned.members:
        yield from said_by(state, step, member.voice)


def fence_of(heard: Heard) -> int:
    """Give the fence of a message; a witness stands at 0."""
    return heard.body.fence if isinstance(heard.body, Fenced) else 0


def with_said(messages: tuple[Heard, ...], heard: Heard, fence: int) -> tuple[Heard, ...]:
    """Add a message of one voice and kind to those kept; the first at each fence stays.

    Too many: those below my fence go first, lowest first, then those farthest above it. So a
    message at fence 2^31 cannot displace anything I need now.
    """
    at = fence_of(heard)
    if any(fence_of(one) == at for one in messages):
        return messages
    grown = sorted((*messages, heard), key=fence_of)
    if len(grown) > NEAR:
        grown.pop(0 if fence_of(grown[0]) < fence else -1)
    return tuple(grown)


def agreeing(
    state: SlotState, pinned: Pinned, step: Step, kind: type[V]
) -> list[tuple[V, tuple[Heard, ...]]]:
    """List the votes that at least q members share, lowest fence first, with who cast them."""
    said = all_said(state, pinned, step)
    groups: dict[V, list[Heard]] = {}
    for body, heard in [(one.body, one) for one in said if isinstance(one.body, kind)]:
        groups.setdefault(body, []).append(heard)
    q = pinned.quorum.q
    shared = [(body, tuple(votes)) for body, votes in groups.items() if len(votes) >= q]
    return sorted(shared, key=lambda one: (one[0].fence, one[0].digest))


def pruned(state: SlotState) -> SlotState:
    """Drop every value, lock, blob and cited message that nothing kept names any more."""
    digests: set[Digest] = set()
    cited: set[Digest] = set()
    locks: set[Digest] = set()
    claims: set[tuple[int, Digest | None]] = set()
    proposals: set[Digest] = set()
    for heard in (one for kept in state.said.values() for one in kept):
        match heard.body:
            case Propose() as body:
                proposals.add(heard.hash)
                digests.add(body.digest)
                cited.update((*body.witnesses, *body.promises))
                locks.update(() if body.lock is None else (body.lock,))
            case Cosign() | Seal() as body:
                digests.add(body.digest)
            case Promise() as body:
                claims.add((body.lock_fence or 0, body.lock_digest))
            case _:
                pass  # A witness names no value; its chains are looked at below.
    if state.lock is not None:
        claims.add((state.lock.fence, state.lock.digest))
    digests |= {claimed for _, claimed in claims if claimed is not None}
    kept = replace(
        state,
        cited=_only(state.cited, cited),
        values=_only(state.values, digests),
        locks={
            name: lock
            for name, lock in state.locks.items()
            if name in locks or (lock.fence, lock.digest) in claims
        },
        refused=state.refused & proposals,
    )
    blobs = _blobs_named(kept)
    return replace(
        kept,
        blobs=_only(state.blobs, blobs),
        sound=_only(state.sound, blobs),
        spoiled=state.spoiled & (digests | locks),
    )


def _blobs_named(state: SlotState) -> set[Digest]:
    heard = [*state.cited.values(), *(one for kept in state.said.values() for one in kept)]
    named = {one.body.chains for one in heard if isinstance(one.body, CutWitness)}
    named.update(() if state.chains is None else (state.chains,))
    values = list(state.values.values())
    if state.pending is not None:
        values.append(state.pending.value)
    return named.union(*map(value_blobs, values))


def _only(kept: Mapping[Digest, T], names: set[Digest]) -> Mapping[Digest, T]:
    return {name: one for name, one in kept.items() if name in names}
