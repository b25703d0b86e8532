"""Object, argue, vote: an agent's part in a round, for an agent whose key is kept here.

A vote is sealed here and revealed by the node itself once the certificate of the box is held, also
across restarts: the sealed copy in the log is the only store of a ballot. The nonce is drawn,
sealed and forgotten within one call.
"""

from dataclasses import dataclass
from typing import Final

from federation.codec import as_set
from federation.core import AgentId, Digest, RecordId, RoundId
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.protocol import custody
from federation.records import Level, Record, Stance
from node.commands.artifacts import TEXT_SALT
from node.commands.fields import bad_field
from node.runtime import Node

NONCE: Final = 32
SEAL_SALT: Final = 24
_FEW: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What an agent votes."""

    choice: Choice
    reason: Reason
    basis: Basis
    evidence: tuple[Digest, ...] = ()
    """At most 4 digests of what it looked at, each once."""
    arguments: tuple[RecordId, ...] = ()
    """At most 4 ids of arguments that it relies on, each once."""


async def object_to(node: Node, agent: AgentId, round_id: RoundId, reason: Reason) -> Record:
    """Object while the fast window is open: the artifact then goes to a vote.

    Raises RefusedError where the rules do not allow it, and NodeError NOT_IN_CUSTODY.
    """
    return await node.sign(
        agent,
        lambda world, keyring, now: custody.object_to(
            world, keyring, round_id, reason=reason, now=now
        ),
    )


async def argue(
    node: Node,
    agent: AgentId,
    round_id: RoundId,
    *,
    stance: Stance,
    note: str,
    level: Level = Level.CONTENT,
    replies_to: RecordId | None = None,
) -> Record:
    """Argue before the vote, in the turn that is open.

    Raises RequestError BAD_FIELD for no words, RefusedError where the rules do not allow it
    (TOO_LARGE for more than 12,000 characters or 16 KiB), and NodeError NOT_IN_CUSTODY.
    """
    if not note:
        raise bad_field("$.note", "it is empty")
    salt = node.entropy(TEXT_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: custody.argue(
            world,
            keyring,
            round_id,
            stance=stance,
            note=note,
            salt=salt,
            now=now,
            level=level,
            replies_to=replies_to,
        ),
    )


async def vote(node: Node, agent: AgentId, round_id: RoundId, cast: Vote) -> Record:
    """Commit to a sealed ballot; it cannot be taken back.

    Raises RequestError BAD_FIELD, RefusedError where the rules do not allow it, and NodeError
    NOT_IN_CUSTODY.
    """
    ballot = Ballot(
        choice=cast.choice,
        reason=cast.reason,
        basis=cast.basis,
        evidence=_few("$.evidence", cast.evidence),
        arguments=_few("$.arguments", cast.arguments),
    )
    nonce, salt = node.entropy(NONCE), node.entropy(SEAL_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: custody.cast(
            world, keyring, round_id, ballot, nonce=nonce, salt=salt, now=now
        ),
    )


def _few(field: str, members: tuple[Digest, ...]) -> tuple[Digest, ...]:
    if len(members) > _FEW:
        raise bad_field(field, f"it has {len(members)} members, not 0 to {_FEW}")
    if len(set(members)) != len(members):
        raise bad_field(field, "a member stands twice")
    return as_set(members)
