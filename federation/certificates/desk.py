"""The desk: what one member can look up while it takes a step, and the pace it keeps.

The certificate machine knows nothing of artifacts, reviews or charters. Whatever depends on them
(which records qualify, what I hold, what a set of witnesses amounts to) it asks of a `Desk`, which
the orchestrator implements over its store and its pinned world.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from federation.certificates.messages import Witness
from federation.certificates.parts import Part
from federation.certificates.values import Value
from federation.core import Digest, InstanceId, Millis, OperatorId, RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long this slot's members wait; the charter fixes it."""

    leader_timer: Millis
    """T: the timer of fence k is T·2^min(k, 10)."""
    grace: Millis
    """How long the leader of fence 0 waits for the last witnesses once it has q."""
    resend: Millis
    """How often unanswered messages and requests are repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListHolding:
    """What I would witness now in a round's slot."""

    ids: tuple[RecordId, ...]
    """Qualifying records, in ascending order, at most MOST_LISTED."""
    late: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CutHolding:
    """What I would witness now in a cut's slot."""

    chains: bytes
    """The chains blob (see `blobs`)."""
    tick: bool
    world: Digest
    secret: Digest
    next_hash: Digest


Holding: TypeAlias = ListHolding | CutHolding


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """One of the q witnesses that a fresh value is computed from."""

    operator: OperatorId
    voice: InstanceId
    body: Witness
    chains: bytes | None
    """The chains blob behind a cut's witness; None in a round's slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """The one value that these witnesses amount to."""

    value: Value
    parts: tuple[Part, ...] = ()
    """The blobs the value names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """The value cannot be computed before these records are held here."""

    records: tuple[RecordId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoValue:
    """These witnesses amount to no value; `why` is for people."""

    why: str


Outcome: TypeAlias = Fresh | Missing | NoValue


class Desk(Protocol):
    """What a member looks up while it takes a step; every answer is about this slot, now."""

    def holding(self) -> Holding:
        """Give what I would witness now: all qualifying records I hold."""
        ...

    def fresh(self, witnesses: Sequence[Witnessed]) -> Outcome:
        """Compute the fresh value of exactly q witnesses by distinct members."""
        ...
