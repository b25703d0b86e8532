"""Invites as they are kept: what an agent offers, and who has taken it up.

They belong to this instance alone, are no records, and no other node hears of them. Of the code
that opens an invite only the hash is kept, so whoever reads the database can use nothing of it.
"""

from dataclasses import dataclass

from federation.core import AgentId, Digest, Millis, RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class Invite:
    """An agent's offer to vouch for whom it gives the code to; only `revoked` ever changes."""

    id: str
    """Eight hex digits; they name it to people and are no secret."""
    inviter: AgentId
    """The agent that will vouch."""
    sha256: Digest
    """Hash of the code as it is sent."""
    weight: int
    """Of the vouch, 1 to 255."""
    uses: int
    """Agents that may come by it."""
    created: Millis
    """Unix time in ms."""
    until: Millis
    """Unix time in ms from which the code opens nothing."""
    deadline: Millis
    """The same moment on this instance's own clock, which nobody can set back."""
    revoked: Millis | None = None
    """Unix time in ms at which it was taken back; None if it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """An agent that has taken up an invite; a later one of the same agent replaces it."""

    agent: AgentId
    invite: str
    """Id of the invite."""
    place: int | None
    """Which of its uses, from 0; None once it was given back. No two hold the same."""
    at: Millis
    """Unix time in ms at which the place was taken."""
    is_settled: bool = False
    """Whether nothing more is done about the vouch."""
    record: RecordId | None = None
    """The inviter's word about the agent, once it is settled that it counts."""
    code: str | None = None
    """Why there is no vouch, or none yet."""
    why: str = ""
    """The same in words; at most 1,000 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropInvite:
    """Forget an invite and those who came by it."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptInvites:
    """All that is kept of invites."""

    invites: tuple[Invite, ...] = ()
    """Oldest first."""
    invited: tuple[Invited, ...] = ()
    """In the order in which they came; those without a place are left out."""
