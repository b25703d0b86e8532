"""Notices as they are kept: what an agent is told, how far that is noted, and where it is sent.

They belong to this instance alone and are no records. A notice is named by agent, kind, subject and
`about`: written a second time it changes nothing. Each new notice of an agent is queued for that
agent's webhooks by the database itself, so the two cannot come apart.
"""

from dataclasses import dataclass
from enum import StrEnum

from federation.core import ArtifactId, IdentityId, Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveNotice:
    """One thing that an agent, or an operator, is told."""

    agent: IdentityId
    kind: str
    subject: bytes
    """What it is about: a round, an artifact, a violation."""
    about: str
    """What tells two notices of one kind and subject apart, such as the phase."""
    body: bytes
    """The rest, as JSON."""
    at: Millis
    """Unix time in ms, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A notice as it was stored."""

    cursor: int
    """Its number; grows by time, also across restarts, and no two share one."""
    agent: IdentityId
    kind: str
    subject: bytes
    about: str
    body: bytes
    at: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class AckNotices:
    """What an agent has read: everything of it up to a cursor."""

    agent: IdentityId
    cursor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """How far events were turned into notices; never goes back."""

    event: int
    """Cursor of the last event."""
    tick: int
    """The last tick whose sanctions were told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveCondition:
    """What was last told about an artifact of an agent of this instance."""

    artifact: ArtifactId
    state: str
    flags: tuple[str, ...]
    """Ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where an agent wants its notices posted; only `is_on` and `why` ever change."""

    id: bytes
    """Eight bytes; they name it and are no secret."""
    agent: IdentityId
    url: str
    secret_key: bytes
    """Seed of the Ed25519 key that signs for this webhook and for nothing else."""
    created: Millis
    """Unix time in ms."""
    is_on: bool = True
    why: str = ""
    """Why it was turned off; at most 500 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropWebhook:
    """Forget a webhook and what waits for it."""

    id: bytes


class Sending(StrEnum):
    """How a delivery stands."""

    WAITING = "waiting"
    """It is tried when it is due, and when those before it are through."""
    DEAD = "dead"
    """It was tried as often as it may; only somebody's word tries it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One notice on its way to one webhook."""

    id: int
    webhook: bytes
    tries: int
    """That failed."""
    due: Millis
    """Time of this instance's own clock before which it is not tried."""
    state: Sending
    last: str
    """Why the last try failed; at most 500 characters."""
    notice: Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDelivery:
    """A delivery stands otherwise than before."""

    id: int
    state: Sending
    tries: int
    due: Millis
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DropDelivery:
    """A notice has arrived."""

    id: int
