"""The keys of an identity after each of its records (design: records, identities and their keys).

Pre-rotation: each key event commits to the next key and to a recovery key by hash, so stealing
today's key does not give tomorrow's. The rules here look at one branch of one author's chain and
at nothing else: they say whether a record is *well formed in its chain*. What depends on time (did
the recovery come soon enough, which branch of a fork counts) is judged by cuts, not here.

A revocation by a recovery key is final. One by the current key may be a thief's, who must not be
able to end an identity for good with today's key alone: so a rotation by a recovery key, and nothing
else, may follow it, and undoes it. Any other record after a revocation on its branch is refused with
BAD_CHAIN. A record that a thief hangs before the revocation is a fork; forks are judged by cuts too.
"""

from dataclasses import dataclass, replace
from typing import Final

from federation.core import Code, Digest, IdentityId, PeerError, PublicKey, short
from federation.crypto import Domain, digest
from federation.records import (
    KINDS,
    Body,
    Incept,
    Kind,
    Record,
    Revoke,
    RevokeBy,
    Role,
    Rotate,
    RotateBy,
    Statement,
)

MOST_ROTATIONS: Final = 256
"""Rotations of one identity. Each state carries all earlier keys (an old ballot opens with an old
key), so without a bound a chain of rotations would cost memory by its square."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyState:
    """What is known of an identity's keys after one of its records, on that record's branch."""

    identity: IdentityId
    role: Role
    name: str
    keys: tuple[PublicKey, ...]
    """Signing keys by key_index; the last one is current."""
    recoveries: tuple[Digest, ...]
    """Recovery digest that each key event set, by key_index; the last one is current."""
    next: Digest
    """digest(KEY, the next public key)."""
    nullifies: int | None = None
    """If the latest rotation (or the revocation) revealed an *earlier* recovery key: the first
    key_index after that key's own event, which it undoes if it came soon enough (a cut judges).
    None also for a rotation by the current recovery key, so that undoing a revocation has no
    deadline unless a thief rotated before: nobody but the owner ever had that key's digest set."""
    disowned: tuple[tuple[int, int], ...] = ()
    """Stretches of this branch that its owner disowned: (a, b) means a < seq < b."""
    revoked_by: RevokeBy | None = None
    """Which key revoked the identity, unless a recovery undid it."""

    @property
    def revoked(self) -> bool:
        """Tell whether nothing by this identity counts now; `revoked_by` tells if for ever."""
        return self.revoked_by is not None

    @property
    def key_index(self) -> int:
        """Number of rotations so far."""
        return len(self.keys) - 1

    @property
    def key(self) -> PublicKey:
        """The current signing key."""
        return self.keys[-1]

    @property
    def recovery(self) -> Digest:
        """The current recovery digest."""
        return self.recoveries[-1]

    def is_disowned(self, seq: int) -> bool:
        """Tell whether the owner disowned its record at `seq` of this branch."""
        return any(after < seq < before for after, before in self.disowned)


def incepted(record: Record) -> KeyState:
    """Start an identity from its inception; raises PeerError BAD_CHAIN if it is none."""
    body = record.body
    if not isinstance(body, Incept):
        raise _refused(record, "a chain starts with an inception", Code.BAD_CHAIN)
    return KeyState(
        identity=record.id,
        role=body.role,
        name=body.name,
        keys=(body.key,),
        recoveries=(body.recovery,),
        next=body.next,
    )


def signing_key(state: KeyState, record: Record) -> PublicKey:
    """Give the key that must have signed `record`, the next one after `state` on its branch.

    A rotation is signed by the key it reveals, a revocation by recovery by the recovery key it
    reveals, everything else by the current key. An inception is signed by the key it names; it
    has no state before it (use `incepted(record).key`). Raises PeerError BAD_CHAIN (revoked,
    wrong key_index, a key that was not committed to) or WRONG_ROLE.
    """
    body = record.body
    if state.revoked and not _restores(state, body):
        why = "its identity was revoked earlier in this chain"
        if state.revoked_by is RevokeBy.CURRENT:
            why += ", and only a rotation by the recovery key may follow"
        raise _refused(record, why, Code.BAD_CHAIN)
    if record.kind == Kind.INCEPT:
        raise _refused(record, "an inception stands only at seq 0", Code.BAD_CHAIN)
    spec = KINDS.get(record.kind)
    if spec is not None and state.role not in spec.authors:
        raise _refused(record, f"an {state.role} may not author {record.kind}", Code.WRONG_ROLE)
    rotates = isinstance(body, Rotate)
    expected = state.key_index + rotates
    if record.statement.key_index != expected:
        why = f"its key_index is {record.statement.key_index}, the chain is at {expected}"
        raise _refused(record, why, Code.BAD_CHAIN)
    if isinstance(body, Rotate):
        _check_rotation(state, record, body)
        return body.key
    if isinstance(body, Revoke):
        return _revoking_key(state, record, body)
    return state.key


def advanced(state: KeyState, record: Record) -> KeyState:
    """Give the state after `record`; the same object unless it is a rotation or a revocation.

    Checks what `signing_key` checks for key events, and raises the same errors; the signature is
    the caller's to verify.
    """
    body = record.body
    if isinstance(body, Rotate):
        key = signing_key(state, record)
        disowned = state.disowned
        if body.disown_after is not None:
            disowned = (*disowned, (body.disown_after, record.seq))
        by_recovery = body.by is RotateBy.RECOVERY
        return replace(
            state,
            keys=(*state.keys, key),
            recoveries=(*state.recoveries, body.recovery),
            next=body.next,
            nullifies=_nullified_by(state, key) if by_recovery else None,
            disowned=disowned,
            revoked_by=None,
        )
    if isinstance(body, Revoke):
        key = signing_key(state, record)
        by_recovery = body.by is RevokeBy.RECOVERY
        return replace(
            state, revoked_by=body.by, nullifies=_nullified_by(state, key) if by_recovery else None
        )
    return state


def statement_key(
    state: KeyState, statement: Statement, revealed: PublicKey | None = None
) -> PublicKey | None:
    """Give the key that must have signed a bare statement whose author's keys stand at `state`.

    `revealed` is the key that its body is said to reveal; a bare statement carries no body, so
    the digests committed at `state` decide. None if the statement is no valid successor: also a
    rotation without a revealed key, a key that was not committed to, or one where none belongs.
    """
    spec = KINDS.get(statement.kind)
    rotates = statement.kind == Kind.ROTATE
    if (
        statement.kind == Kind.INCEPT
        or (state.revoked and (not rotates or state.revoked_by is RevokeBy.RECOVERY))
        or (spec is not None and state.role not in spec.authors)
        or statement.key_index != state.key_index + rotates
        or statement.key_index > MOST_ROTATIONS
    ):
        return None
    if revealed is None:
        return None if rotates else state.key
    committed: tuple[Digest, ...] = ()
    if statement.kind == Kind.REVOKE or (rotates and state.revoked):
        committed = state.recoveries
    elif rotates:
        committed = (state.next, *state.recoveries)
    return revealed if digest(Domain.KEY, revealed) in committed else None


def _restores(state: KeyState, body: Body | None) -> bool:
    """Tell whether a body may follow the revocation in `state`."""
    by_current = state.revoked_by is RevokeBy.CURRENT
    return by_current and isinstance(body, Rotate) and body.by is RotateBy.RECOVERY


def _check_rotation(state: KeyState, record: Record, body: Rotate) -> None:
    if state.key_index >= MOST_ROTATIONS:
        why = f"its identity has rotated {MOST_ROTATIONS} times, which is the limit"
        raise _refused(record, why, Code.BAD_CHAIN)
    committed = digest(Domain.KEY, body.key)
    known = (state.next,) if body.by is RotateBy.NEXT else state.recoveries
    if committed not in known:
        raise _refused(record, f"its key is not a committed {body.by} key", Code.BAD_CHAIN)
    # A rotation that disowned itself, or what comes after it, would leave its reader without
    # an owner to believe.
    if body.disown_after is not None and body.disown_after >= record.seq:
        raise _refused(record, "it disowns records that are not before it", Code.BAD_CHAIN)


def _revoking_key(state: KeyState, record: Record, body: Revoke) -> PublicKey:
    if (body.by is RevokeBy.RECOVERY) != (body.key is not None):
        why = "it reveals a key exactly if the recovery key signs"
        raise _refused(record, why, Code.BAD_CHAIN)
    if body.key is None:
        return state.key
    if digest(Domain.KEY, body.key) not in state.recoveries:
        raise _refused(record, "its key is not a committed recovery key", Code.BAD_CHAIN)
    return body.key


def _nullified_by(state: KeyState, key: PublicKey) -> int | None:
    """Find the first key_index that a revealed recovery key undoes; None if it is current."""
    committed = digest(Domain.KEY, key)
    # The latest event that set this digest: rotations of the owner that kept the recovery key
    # are not undone with those of the thief.
    set_by = max(i for i, recovery in enumerate(state.recoveries) if recovery == committed)
    return None if set_by == state.key_index else set_by + 1


def _refused(record: Record, why: str, code: Code) -> PeerError:
    return PeerError(
        f"{record.kind} {short(record.id)} refused",
        why=why,
        fix="build it on the author's chain, with the key that the chain names",
        code=code,
    )
