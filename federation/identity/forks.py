"""Fork proofs: two signed statements of one author at one seq (design: records, forks).

Loose fork proofs are a weapon: elsewhere the same action listed twice blocked an innocent. So a
proof needs two *distinct* ids, one author, one seq, and both signatures under keys that the
author's chain names: by then the current key, or one that the half itself reveals and that the
chain before it committed to (a rotation, a revocation by recovery). An inception can never be part of one: the identity's id is the inception's
id, so two inceptions are two identities, and both say "author: nobody".

A fork is not at once a crime (a restored backup forks innocently); what it bars is judged by cuts.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from federation.codec import decode
from federation.core import (
    CallerError,
    Code,
    IdentityId,
    PeerError,
    PublicKey,
    Realm,
    RecordId,
)
from federation.core.ids import NOBODY
from federation.crypto import Verify, is_signed_by
from federation.records import (
    LogFork,
    Record,
    Revoke,
    Rotate,
    SignedStatement,
    Statement,
    record_id,
    signing_payload,
)

KeyOf = Callable[[IdentityId, Statement, PublicKey | None], PublicKey | None]
"""The key that must have signed a statement, by the author's chain and the key that the proof
reveals with it; None if that is not known."""

_FIX: Final = "file two different records that the author signed for one place of its chain"


class Fork(NamedTuple):
    """Two records of one author at one place of its chain; `a` is the lower id."""

    author: IdentityId
    seq: int
    a: RecordId
    b: RecordId


def fork_proof(a: Record, b: Record) -> LogFork:
    """Make the body of a `log.fork` from two records, lower id first.

    Raises CallerError NOT_PROVEN if they are not two records of one author at one seq.
    """
    if a.id == b.id or a.author != b.author or a.seq != b.seq:
        raise CallerError(
            "fork proof refused",
            why="the two are not different records of one author at one seq",
            fix=_FIX,
            code=Code.NOT_PROVEN,
        )
    first, second = sorted((a, b), key=lambda record: record.id)
    return LogFork(
        author=a.author,
        a=SignedStatement(first.statement_raw, first.signature, _revealed(first)),
        b=SignedStatement(second.statement_raw, second.signature, _revealed(second)),
    )


def verify_fork(
    realm: Realm, body: LogFork, *, key_of: KeyOf, verify: Verify = is_signed_by
) -> Fork:
    """Check a fork proof and name what it proves.

    Raises PeerError: NOT_CANONICAL (a statement is none), NOT_PROVEN (same id, other seq, other
    author, an inception, or a key that the author's chain does not name), BAD_SIGNATURE (forged, or signed
    for another realm). A fold must answer `key_of` from certified positions only: what a node
    happens to hold beside them differs between nodes.
    """
    one = decode(body.a.statement, Statement, what="statement a")
    two = decode(body.b.statement, Statement, what="statement b")
    if body.author == NOBODY or one.author != body.author or two.author != body.author:
        raise _unproven("its statements are not both by the named author")
    if one.seq != two.seq:
        raise _unproven(f"its statements stand at seq {one.seq} and {two.seq}")
    first, second = (record_id(realm, half.statement) for half in (body.a, body.b))
    if first == second:
        raise _unproven("it names one record twice")
    for name, statement, half in ((first, one, body.a), (second, two, body.b)):
        key = key_of(body.author, statement, half.key)
        if key is None:
            raise _unproven("the author's chain does not name the key of a statement")
        if not verify(key, signing_payload(name), half.signature):
            raise PeerError(
                "fork proof refused",
                why="a signature does not verify in this realm",
                fix=_FIX,
                code=Code.BAD_SIGNATURE,
            )
    return Fork(body.author, one.seq, min(first, second), max(first, second))


def _revealed(record: Record) -> PublicKey | None:
    """Give the key that a record reveals and is signed with, if it is a key event of that sort."""
    return record.body.key if isinstance(record.body, Rotate | Revoke) else None


def _unproven(why: str) -> PeerError:
    return PeerError("fork proof refused", why=why, fix=_FIX, code=Code.NOT_PROVEN)
