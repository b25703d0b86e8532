"""One key log with every kind of event, what may come next in it, and proofs that it forked."""

from collections.abc import Sequence
from dataclasses import dataclass

from federation.core import NOBODY, PublicKey, Seed
from federation.crypto import KeySigner, public_key
from federation.records import (
    Body,
    Incept,
    LogFork,
    Record,
    Revoke,
    RevokeBy,
    Role,
    Rotate,
    RotateBy,
    SignedStatement,
    sign_record,
)
from tests.vectors.signing import AT
from tests.vectors.vector_bodies import REALM, fixed, key_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One good record of the log and the key that signed it."""

    name: str
    record: Record
    key: PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A record offered after the first `after` records of the log, and its verdict."""

    name: str
    after: int
    record: Record
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The body of a `log.fork` at the place after the first `after` records, and its verdict."""

    name: str
    after: int
    body: LogFork
    code: str


def log() -> list[Step]:
    """Inception; rotations by the next and by the recovery key; a revocation undone; the end."""
    inception = Incept(
        role=Role.OPERATOR,
        key=public_key(fixed("key 0")),
        next=key_digest(fixed("key 1")),
        recovery=key_digest(fixed("recovery 0")),
        name="vector operator",
    )
    by_next = _rotate("key 1", upcoming="key 2", rescue="recovery 1", by=RotateBy.NEXT)
    by_recovery = _rotate("recovery 1", upcoming="key 3", rescue="recovery 2", by=RotateBy.RECOVERY)
    ended = Revoke(by=RevokeBy.CURRENT, reason="a thief's")
    restored = _rotate("recovery 2", upcoming="key 4", rescue="recovery 3", by=RotateBy.RECOVERY)
    end = Revoke(by=RevokeBy.RECOVERY, key=public_key(fixed("recovery 3")), reason="closed")
    steps: list[Step] = []
    for name, body, seed, key_index in (
        ("inception", inception, "key 0", 0),
        ("rotation by the next key", by_next, "key 1", 1),
        ("rotation by the recovery key", by_recovery, "recovery 1", 2),
        ("revocation by the current key", ended, "recovery 1", 2),
        ("restoration by the recovery key", restored, "recovery 2", 3),
        ("revocation by the recovery key", end, "recovery 3", 3),
    ):
        earlier = [step.record for step in steps]
        record = _signed(earlier, body, seed=fixed(seed), key_index=key_index)
        steps.append(Step(name=name, record=record, key=public_key(fixed(seed))))
    return steps


def branches() -> list[Branch]:
    """Good and bad continuations of the log."""
    records = [step.record for step in log()]
    current = Revoke(by=RevokeBy.CURRENT, reason="closed")
    recovery = Revoke(by=RevokeBy.RECOVERY, key=public_key(fixed("recovery 1")), reason="closed")
    stranger = Revoke(by=RevokeBy.RECOVERY, key=public_key(fixed("stranger")), reason="closed")
    to_key_2 = _rotate("key 2", upcoming="key 3", rescue="recovery 2", by=RotateBy.NEXT)
    not_next = _rotate("stranger", upcoming="key 3", rescue="recovery 2", by=RotateBy.NEXT)
    mislabelled = _rotate("recovery 1", upcoming="key 3", rescue="recovery 2", by=RotateBy.NEXT)
    to_key_3 = _rotate("key 3", upcoming="key 4", rescue="recovery 3", by=RotateBy.NEXT)
    restored = _rotate("recovery 2", upcoming="key 4", rescue="recovery 3", by=RotateBy.RECOVERY)
    by_old = _rotate("recovery 0", upcoming="key 4", rescue="recovery 3", by=RotateBy.RECOVERY)
    by_stranger = _rotate("stranger", upcoming="key 4", rescue="x", by=RotateBy.RECOVERY)
    final = Revoke(by=RevokeBy.RECOVERY, key=public_key(fixed("recovery 2")), reason="closed")
    too_late = _rotate("recovery 3", upcoming="key 5", rescue="recovery 4", by=RotateBy.RECOVERY)
    rows: tuple[tuple[str, int, Body, str, int, str], ...] = (
        ("revocation by the recovery key", 2, recovery, "recovery 1", 1, "OK"),
        ("revocation by a key nobody committed to", 2, stranger, "stranger", 1, "BAD_CHAIN"),
        ("a second rotation by the next key", 2, to_key_2, "key 2", 2, "OK"),
        ("rotation to a key nobody committed to", 2, not_next, "stranger", 2, "BAD_CHAIN"),
        ("the recovery key passed off as the next", 2, mislabelled, "recovery 1", 2, "BAD_CHAIN"),
        ("rotation signed by the old key", 2, to_key_2, "key 1", 2, "BAD_SIGNATURE"),
        ("rotation under the old key index", 2, to_key_2, "key 2", 1, "BAD_CHAIN"),
        ("record under a key index too high", 2, current, "key 1", 2, "BAD_CHAIN"),
        ("record signed by an earlier key", 2, current, "key 0", 1, "BAD_SIGNATURE"),
        ("record after a revocation", 4, current, "recovery 1", 2, "BAD_CHAIN"),
        ("rotation by the next key after a revocation", 4, to_key_3, "key 3", 3, "BAD_CHAIN"),
        ("a second revocation, by the recovery key", 4, final, "recovery 2", 2, "BAD_CHAIN"),
        ("restoration by an earlier recovery key", 4, by_old, "recovery 0", 3, "OK"),
        ("restoration by a key nobody committed to", 4, by_stranger, "stranger", 3, "BAD_CHAIN"),
        ("restoration signed by the current key", 4, restored, "recovery 1", 3, "BAD_SIGNATURE"),
        ("restoration under the old key index", 4, restored, "recovery 2", 2, "BAD_CHAIN"),
        ("record after the restoration", 5, current, "recovery 2", 3, "OK"),
        ("restoration after the final revocation", 6, too_late, "recovery 3", 4, "BAD_CHAIN"),
        ("record after the final revocation", 6, current, "recovery 2", 3, "BAD_CHAIN"),
    )
    return [
        Branch(
            name=name,
            after=after,
            record=_signed(records[:after], body, seed=fixed(seed), key_index=key_index),
            code=code,
        )
        for name, after, body, seed, key_index, code in rows
    ]


def fork_proofs() -> list[Proof]:
    """Pair ordinary records with key events at one place, and damage the pairs."""
    records = [step.record for step in log()]

    def half(
        after: int, body: Body, seed: str, key_index: int, *, reveals: str | None = None
    ) -> SignedStatement:
        record = _signed(records[:after], body, seed=fixed(seed), key_index=key_index)
        key = None if reveals is None else public_key(fixed(reveals))
        return SignedStatement(record.statement_raw, record.signature, key)

    one = Revoke(by=RevokeBy.CURRENT, reason="one")
    two = Revoke(by=RevokeBy.CURRENT, reason="two")
    closed = Revoke(by=RevokeBy.RECOVERY, key=public_key(fixed("recovery 1")), reason="closed")
    to_key_2 = _rotate("key 2", upcoming="key 3", rescue="recovery 2", by=RotateBy.NEXT)
    to_rescue = _rotate("recovery 1", upcoming="key 3", rescue="recovery 2", by=RotateBy.RECOVERY)
    to_old = _rotate("recovery 0", upcoming="key 3", rescue="recovery 2", by=RotateBy.RECOVERY)
    restored = _rotate("recovery 2", upcoming="key 4", rescue="recovery 3", by=RotateBy.RECOVERY)
    elsewhere = _rotate("recovery 2", upcoming="key 5", rescue="recovery 3", by=RotateBy.RECOVERY)
    said, other = half(2, one, "key 1", 1), half(2, two, "key 1", 1)
    rotation = half(2, to_key_2, "key 2", 2, reveals="key 2")
    recovery = half(2, to_rescue, "recovery 1", 2, reveals="recovery 1")
    rows: tuple[tuple[str, int, SignedStatement, SignedStatement, str], ...] = (
        ("two records under the current key", 2, said, other, "OK"),
        ("the other one first", 2, other, said, "OK"),
        ("a record and a rotation by the next key", 2, said, rotation, "OK"),
        ("a record and a rotation by the recovery key", 2, said, recovery, "OK"),
        ("two rotations", 2, rotation, recovery, "OK"),
        (
            "a rotation by an earlier recovery key",
            2,
            said,
            half(2, to_old, "recovery 0", 2, reveals="recovery 0"),
            "OK",
        ),
        (
            "a revocation by the recovery key",
            2,
            said,
            half(2, closed, "recovery 1", 1, reveals="recovery 1"),
            "OK",
        ),
        (
            "two restorations",
            4,
            half(4, restored, "recovery 2", 3, reveals="recovery 2"),
            half(4, elsewhere, "recovery 2", 3, reveals="recovery 2"),
            "OK",
        ),
        ("one record twice", 2, said, said, "NOT_PROVEN"),
        ("records at two places", 2, said, half(3, one, "recovery 1", 2), "NOT_PROVEN"),
        ("a rotation without its key", 2, said, half(2, to_key_2, "key 2", 2), "NOT_PROVEN"),
        (
            "a rotation with the key of somebody else",
            2,
            said,
            half(2, to_key_2, "stranger", 2, reveals="stranger"),
            "NOT_PROVEN",
        ),
        (
            "a rotation with another committed key",
            2,
            said,
            half(2, to_key_2, "key 2", 2, reveals="recovery 1"),
            "BAD_SIGNATURE",
        ),
        (
            "the current key where none is revealed",
            2,
            rotation,
            half(2, one, "key 1", 1, reveals="key 1"),
            "NOT_PROVEN",
        ),
        (
            "a revocation by recovery without its key",
            2,
            said,
            half(2, closed, "recovery 1", 1),
            "BAD_SIGNATURE",
        ),
        (
            "a revocation that reveals the next key",
            2,
            said,
            half(2, closed, "key 2", 1, reveals="key 2"),
            "NOT_PROVEN",
        ),
        (
            "a record after a revocation",
            4,
            half(4, restored, "recovery 2", 3, reveals="recovery 2"),
            half(4, one, "recovery 1", 2),
            "NOT_PROVEN",
        ),
        ("a signature by another key", 2, said, half(2, two, "key 0", 1), "BAD_SIGNATURE"),
    )
    return [
        Proof(
            name=name, after=after, body=LogFork(author=records[0].id, a=first, b=second), code=code
        )
        for name, after, first, second, code in rows
    ]


def _rotate(key: str, *, upcoming: str, rescue: str, by: RotateBy) -> Rotate:
    return Rotate(
        key=public_key(fixed(key)),
        next=key_digest(fixed(upcoming)),
        recovery=key_digest(fixed(rescue)),
        by=by,
        reason="vector",
    )


def _signed(earlier: Sequence[Record], body: Body, *, seed: Seed, key_index: int) -> Record:
    return sign_record(
        body,
        realm=REALM,
        signer=KeySigner(seed),
        author=earlier[0].id if earlier else NOBODY,
        key_index=key_index,
        seq=len(earlier),
        prev=earlier[-1].id if earlier else None,
        at=AT + len(earlier),
    )
