"""Records as bytes: `[statement, body, text | nil, signature]`, each a byte string.

`parse_record` turns a stranger's bytes into a `Record` or refuses them with the path of the
fault; what it returns is well formed but not yet verified: which key must have signed is known
only to the author's chain (`replication`), which calls `verify_record`.
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from federation.codec import LIMITS, decode, decode_plain, encode
from federation.core import (
    NOBODY,
    Code,
    IdentityId,
    Millis,
    PeerError,
    PublicKey,
    Realm,
    RecordId,
    RefusedError,
    Signature,
    short,
)
from federation.crypto import Signer, Verify, is_signed_by, plain_hash
from federation.records.bodies import Body
from federation.records.kinds import KINDS, Kind, kind_of_body
from federation.records.statement import Statement, record_id, signing_payload

_INCEPT: Final = Kind.INCEPT.value
_NO_TEXT: Final = (None, None)
"""What a body without a text is bound to."""


class _Wire(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    statement: bytes
    body: bytes
    text: bytes | None
    signature: Signature


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One signed statement with its body and, unless dropped, its text.

    A node holds very many; nothing in one refers back to it, so the collector need not look.
    """

    id: RecordId
    statement: Statement
    body: Body | None
    """The decoded body; None for a kind this version does not interpret."""
    statement_raw: bytes
    body_raw: bytes
    text_raw: bytes | None
    signature: Signature

    @property
    def kind(self) -> str:
        """Name of the record's kind."""
        return self.statement.kind

    @property
    def author(self) -> IdentityId:
        """The identity that speaks; an inception speaks for the identity it makes."""
        return self.id if self.statement.author == NOBODY else self.statement.author

    @property
    def seq(self) -> int:
        """Position in the author's chain."""
        return self.statement.seq

    @property
    def prev(self) -> RecordId | None:
        """Id of the author's record before this one."""
        return self.statement.prev

    def with_text(self, text_raw: bytes | None) -> "Record":
        """Give the same record with another text, or without one."""
        return replace(self, text_raw=text_raw)


def wire(record: Record) -> bytes:
    """Give the bytes that travel and are stored."""
    return encode(_Wire(record.statement_raw, record.body_raw, record.text_raw, record.signature))


def parse_record(realm: Realm, raw: bytes) -> Record:
    """Parse a record; raises PeerError NOT_CANONICAL or TOO_LARGE. Signature not yet checked."""
    parts = decode(raw, _Wire, what="record", most=LIMITS.record)
    return _parsed(parts, record_id(realm, parts.statement))


def parse_unless(
    realm: Realm, raw: bytes, is_known: Callable[[RecordId, bool], bool]
) -> Record | None:
    """Parse a record unless `is_known(its id, it brings a text)`; then give None.

    Of a known record nothing is read but the statement's bytes, which make its id: most of what
    peers send has come before by another way. Raises what `parse_record` raises.
    """
    parts = decode(raw, _Wire, what="record", most=LIMITS.record)
    name = record_id(realm, parts.statement)
    return None if is_known(name, parts.text is not None) else _parsed(parts, name)


def _parsed(parts: _Wire, name: RecordId) -> Record:
    text = parts.text
    if text is not None and len(text) > LIMITS.text:
        raise PeerError(
            "record refused",
            why=f"its text has {len(text)} bytes, the limit is {LIMITS.text}",
            fix="shorten it, or put large content into a blob",
            code=Code.TOO_LARGE,
        )
    statement = decode(parts.statement, Statement, what="statement")
    if statement.body_len != len(parts.body) or statement.body_hash != plain_hash(parts.body):
        raise _malformed("its body is not the one the statement was signed for")
    inception = statement.kind == _INCEPT
    if inception != (statement.author == NOBODY) or (statement.prev is None) != inception:
        raise _malformed("only an inception has no author and no record before it")
    if inception != (statement.seq == 0) or (inception and statement.key_index != 0):
        raise _malformed("seq 0 belongs to the inception, under key 0")
    body, bound = _body(statement.kind, parts.body)
    # A text that is not the one the body names is ignored and the record stands: whoever
    # relays a record could otherwise make it unacceptable by touching its prose.
    if text is not None and (plain_hash(text), len(text)) != bound:
        text = None
    return Record(
        id=name,
        statement=statement,
        body=body,
        statement_raw=parts.statement,
        body_raw=parts.body,
        text_raw=text,
        signature=parts.signature,
    )


def verify_record(record: Record, key: PublicKey, verify: Verify = is_signed_by) -> None:
    """Raise PeerError BAD_SIGNATURE unless `key` signed this record (in this realm)."""
    if not verify(key, signing_payload(record.id), record.signature):
        raise PeerError(
            f"record {short(record.id)} refused",
            why="its signature does not verify under the author's key; "
            "a record of another realm looks like this too",
            fix="sign the id with the key of key_index, in this realm",
            code=Code.BAD_SIGNATURE,
        )


def sign_record(
    body: Body,
    *,
    realm: Realm,
    signer: Signer,
    author: IdentityId,
    key_index: int,
    seq: int,
    prev: RecordId | None,
    at: Millis,
    text: bytes | None = None,
) -> Record:
    """Make and sign a record; `author` is 32 zero bytes for an inception.

    `text` is what `bind_text` gave; its hash and length must stand in the body. Raises
    RefusedError, before anything is signed, if the record is one that every peer would refuse.
    """
    body_raw = encode(body)
    statement = Statement(
        1,
        kind_of_body(body).value,
        author,
        key_index,
        seq,
        prev,
        at,
        len(body_raw),
        plain_hash(body_raw),
    )
    statement_raw = encode(statement)
    record = Record(
        id=record_id(realm, statement_raw),
        statement=statement,
        body=body,
        statement_raw=statement_raw,
        body_raw=body_raw,
        text_raw=text,
        signature=bytes(64),
    )
    _refuse_unreadable(realm, record)
    return replace(record, signature=signer.sign(signing_payload(record.id)))


def _refuse_unreadable(realm: Realm, record: Record) -> None:
    """Read an unsigned record the way a peer will.

    Structs are not checked when they are made, and one record that nobody accepts would end its
    author's chain: every later record waits for it.
    """
    try:
        read = parse_record(realm, wire(record))
    except PeerError as error:
        raise RefusedError(
            "record not signed", why=error.why, fix=error.fix, code=error.code
        ) from error
    if read.text_raw != record.text_raw:
        raise RefusedError(
            "record not signed",
            why="its text is not the one its body names",
            fix="put the hash and length that bind_text gave into the body",
            code=Code.NOT_CANONICAL,
        )


def _body(kind: str, raw: bytes) -> tuple[Body | None, tuple[object, object]]:
    """Decode a body and find hash and length of the text it is bound to, if it has one."""
    spec = KINDS.get(kind)
    if spec is not None:
        body = decode(raw, spec.body, what=f"body of {kind}")
        if spec.text is None:
            return body, _NO_TEXT
        return body, (getattr(body, "text_hash", None), getattr(body, "text_len", None))
    plain = decode_plain(raw, what=f"body of {kind}")
    if not isinstance(plain, dict):
        return None, _NO_TEXT
    return None, (plain.get("text_hash"), plain.get("text_len"))


def _malformed(why: str) -> PeerError:
    return PeerError("record refused", why=why, fix="build it again", code=Code.NOT_CANONICAL)
