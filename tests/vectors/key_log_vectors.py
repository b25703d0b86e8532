"""One key log with every kind of event, and records that may or may not come next."""

from collections.abc import Sequence
from dataclasses import dataclass

from federation.core import NOBODY, PublicKey, Seed
from federation.crypto import KeySigner, public_key
from federation.records import (
    Body,
    Incept,
    Record,
    Revoke,
    RevokeBy,
    Role,
    Rotate,
    RotateBy,
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


def log() -> list[Step]:
    """Inception; a rotation by the next key; one by the recovery key; a revocation."""
    inception = Incept(
        role=Role.OPERATOR,
        key=public_key(fixed("key 0")),
        next=key_digest(fixed("key 1")),
        recovery=key_digest(fixed("recovery 0")),
        name="vector operator",
    )
    by_next = _rotate("key 1", upcoming="key 2", rescue="recovery 1", by=RotateBy.NEXT)
    by_recovery = _rotate("recovery 1", upcoming="key 3", rescue="recovery 2", by=RotateBy.RECOVERY)
    end = Revoke(by=RevokeBy.CURRENT, reason="closed")
    steps: list[Step] = []
    for name, body, seed, key_index in (
        ("inception", inception, "key 0", 0),
        ("rotation by the next key", by_next, "key 1", 1),
        ("rotation by the recovery key", by_recovery, "recovery 1", 2),
        ("revocation by the current key", end, "recovery 1", 2),
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
        ("record after the revocation", 4, current, "recovery 1", 2, "BAD_CHAIN"),
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
