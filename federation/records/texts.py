"""Prose beside a body: bound by a salted hash, droppable without a trace in any digest.

The wire carries `canonical [salt16, content]`; the body carries its hash and length. The salt
keeps a short text from being guessed from its hash after a takedown. The fold reads no prose.
"""

from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from federation.codec import LIMITS, decode, encode
from federation.core import Digest, PeerError, RefusedError
from federation.crypto import Domain, digest, plain_hash

Prose = Annotated[str, Meta(max_length=12_000)]
Line = Annotated[str, Meta(max_length=2_000)]
Salt = Annotated[bytes, Meta(min_length=16, max_length=16)]


class ArtifactText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What people read of an artifact."""

    title: Annotated[str, Meta(max_length=300)]
    prose: Prose
    claims: Annotated[tuple[Line, ...], Meta(max_length=16)]
    falsification: Annotated[tuple[Line, ...], Meta(max_length=16)]
    """For each claim, what would show it false."""
    sources: Annotated[tuple[Line, ...], Meta(max_length=16)]


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A free remark: of an argument, an objection, a contest."""

    note: Prose


Content = TypeVar("Content", bound=ArtifactText | Note)


def bind_text(content: Content, salt: bytes) -> tuple[bytes, Digest, int]:
    """Give the text as it travels, its hash and its length; `salt` is 16 random bytes.

    Raises RefusedError if no reader would accept the text: not NFC, or too long.
    """
    raw = encode([salt, content])
    try:
        _decode(raw, type(content))
    except PeerError as error:
        raise RefusedError(
            "text not bound", why=error.why, fix=error.fix, code=error.code
        ) from error
    return raw, plain_hash(raw), len(raw)


def text_id(content: ArtifactText) -> Digest:
    """Unsalted hash of the content: equal ids mean exact duplicates (paper 3.1)."""
    return digest(Domain.TEXT, encode(content))


def read_text(raw: bytes, kind: type[Content]) -> Content | None:
    """Read a text, or None if it is not one of this kind; the record stands without it."""
    try:
        return _decode(raw, kind)
    except PeerError:
        return None


def _decode(raw: bytes, kind: type[Content]) -> Content:
    return decode(raw, tuple[Salt, kind], what="text", most=LIMITS.text)[1]  # type: ignore[valid-type]
