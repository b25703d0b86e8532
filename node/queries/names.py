"""Names that people type: a full id, a CID, or the beginning of an id, to the id that is meant.

An id is 32 bytes and shown as 64 hex digits; records have a CID besides. A prefix must have six
digits and name one thing only: whoever acts on a name must not hit another thing than he meant.
"""

import base64
import binascii
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import Final

import msgspec

from federation.core import IdentityId, RecordId, short
from federation.protocol import World
from federation.records import Incept, Propose
from node.base.errors import NodeCode, RequestError

LEAST_DIGITS: Final = 6
"""Hex digits of the shortest prefix that is looked up."""
_DIGITS: Final = 64
_CID_DIGITS: Final = 59
_CID_HEAD: Final = b"\x01\x55\x12\x20"
"""CIDv1, codec raw, multihash sha2-256 of 32 bytes; as `federation.records.cid` writes it."""
_SHOWN: Final = 4
"""Candidates that the error of an ambiguous prefix lists."""


class Thing(StrEnum):
    """What a name can stand for."""

    ARTIFACT = "artifact"
    """A piece of knowledge, or a proposal of one."""
    ROUND = "round"
    """One review of one artifact."""
    AGENT = "agent"
    """Any identity: operators and instances have the same page."""


ANYTHING: Final = frozenset(Thing)


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a name stands for here."""

    thing: Thing
    """Artifact, round or agent."""
    id: bytes
    """The full id, 32 bytes."""


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """An identity, as it is named wherever it is mentioned."""

    id: str
    """Its id in hex."""
    cid: str
    """The id as a CIDv1: that of its inception record."""
    name: str | None
    """What its inception calls it; nil while that record is not held here. Proves nothing."""


def who(world: World, name: IdentityId) -> Who:
    """Name an identity for people and programs."""
    known = world.log.entry(name)
    return Who(id=name.hex(), cid=cid_of(name), name=known.keys.name if known else None)


def cid_of(name: RecordId) -> str:
    """Give the CIDv1 of a record's id, held here or not."""
    return "b" + base64.b32encode(_CID_HEAD + name).decode().rstrip("=").lower()


def resolve(world: World, text: str, *, things: Collection[Thing] = ANYTHING) -> Found:
    """Find what a name stands for, among these kinds of things.

    `text` is 64 hex digits, a CID, or at least six hex digits with which only one id begins.
    Raises RequestError BAD_REQUEST (no name at all), NOT_FOUND or AMBIGUOUS. A prefix costs one
    look at every artifact, round and agent; a full name costs nothing.
    """
    typed = text.strip()
    full = _full(typed)
    if full is not None:
        found = _exact(world, full, things)
        if found is None:
            raise unknown(full, things)
        return found
    digits = typed.lower()
    if len(digits) < LEAST_DIGITS or len(digits) > _DIGITS or not _is_hex(digits):
        raise RequestError(
            "name refused",
            why=f"{typed[:_DIGITS]!r} is no id, no CID, and no beginning of an id",
            fix=f"give 64 hex digits, a CID, or the first {LEAST_DIGITS} or more hex digits",
            code=NodeCode.BAD_REQUEST,
        )
    matches = list(islice(_matching(world, digits, things), _SHOWN + 1))
    if not matches:
        raise RequestError(
            f"nothing found for {digits}",
            why=f"no {_words(things)} here has an id that begins so",
            fix="list what there is; something new may not have reached this instance yet",
            code=NodeCode.NOT_FOUND,
        )
    if len(matches) > 1:
        listed = ", ".join(f"{one.thing} {short(one.id)}…" for one in matches[:_SHOWN])
        more = " and more" if len(matches) > _SHOWN else ""
        raise RequestError(
            f"{digits} is ambiguous",
            why=f"several ids begin so: {listed}{more}",
            fix="give more digits of the one you mean",
            code=NodeCode.AMBIGUOUS,
        )
    return matches[0]


def unknown(name: bytes, things: Collection[Thing]) -> RequestError:
    """Make the error for a full id that nothing here has."""
    return RequestError(
        f"{short(name)}… not found",
        why=f"no {_words(things)} here has this id",
        fix="check the id; something new may not have reached this instance yet",
        code=NodeCode.NOT_FOUND,
    )


def _full(text: str) -> bytes | None:
    """Read a full id or a CID; None if it is neither."""
    if len(text) == _CID_DIGITS and text[:1] in {"b", "B"}:
        try:
            raw = base64.b32decode(text[1:].upper() + "======")
        except binascii.Error:
            return None
        return raw[len(_CID_HEAD) :] if raw.startswith(_CID_HEAD) else None
    return bytes.fromhex(text) if len(text) == _DIGITS and _is_hex(text.lower()) else None


def _is_hex(text: str) -> bool:
    return all(digit in "0123456789abcdef" for digit in text)


def _exact(world: World, name: bytes, things: Collection[Thing]) -> Found | None:
    record = world.log.get(name)
    body = record.body if record else None
    if Thing.ARTIFACT in things and isinstance(body, Propose):
        return Found(thing=Thing.ARTIFACT, id=name)
    if Thing.AGENT in things and isinstance(body, Incept):
        return Found(thing=Thing.AGENT, id=name)
    if Thing.ROUND in things and name in world.rounds:
        return Found(thing=Thing.ROUND, id=name)
    return None


def _matching(world: World, digits: str, things: Collection[Thing]) -> Iterator[Found]:
    state = world.state
    waiting = (one for one in world.triggers if one not in state.artifacts)
    tables: tuple[tuple[Thing, Iterable[bytes]], ...] = (
        (Thing.ARTIFACT, (*state.artifacts, *waiting)),
        (Thing.ROUND, world.rounds),
        (Thing.AGENT, state.identities),
    )
    even = bytes.fromhex(digits[: len(digits) // 2 * 2])
    for thing, names in tables:
        if thing in things:
            for name in names:
                # Whole bytes first: the odd digit is compared only where they match.
                if name.startswith(even) and name.hex().startswith(digits):
                    yield Found(thing=thing, id=name)


def _words(things: Collection[Thing]) -> str:
    return " or ".join(sorted(thing.value for thing in things))
