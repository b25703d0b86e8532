"""What the second readers of the agreement vectors share: canonical bytes, tagged hashes, schemas.

Like `second_reader`, it imports nothing of `federation`: msgpack, hashlib and `cryptography`, and
the rules as the reference pages tell them.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgpack

from tests.vectors.second_reader import UnacceptableError, read_canonical, sha256

MOST_INTEGER: Final = 2**63 - 1
MOST_COUNTER: Final = 2**53 - 1
Check = Callable[[object], bool]


def pack(value: object) -> bytes:
    """Encode a plain value, maps in the order of their keys' bytes."""
    return bytes(msgpack.packb(_sorted(value), use_bin_type=True))


def _sorted(value: object) -> object:
    match value:
        case dict():
            return {key: _sorted(value[key]) for key in sorted(value, key=str.encode)}
        case list() | tuple():
            return [_sorted(item) for item in value]
        case _:
            return value


def tagged_hash(word: str, *parts: bytes) -> bytes:
    """SHA-256 of the protocol's word for a kind of thing, and the parts."""
    return sha256(b"folkmoot/1/" + word.encode(), *parts)


def code_of(raw: bytes, check: Check, *, most: int) -> str | None:
    """Tell why bytes are refused before their meaning is looked at, or None."""
    if len(raw) > most:
        return "TOO_LARGE"
    try:
        value = read_canonical(raw)
    except UnacceptableError:
        return "NOT_CANONICAL"
    return None if check(value) else "NOT_CANONICAL"


def read_blob(raw: bytes) -> object:
    """Read a canonical value whose lists may be longer than those of records; nil if it is none.

    Blobs of cuts hold integers, byte strings and lists only, so the shortest form is all there is.
    """
    try:
        value: object = msgpack.unpackb(raw, raw=False, max_array_len=65_536)
    except (ValueError, msgpack.exceptions.UnpackException):
        return None
    return value if pack(value) == raw else None


# Checks of plain values.


def integer(low: int, high: int) -> Check:
    """Hold for integers of a range; true and false are none."""
    return lambda value: (
        isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    )


def octets(low: int, high: int | None = None) -> Check:
    """Hold for byte strings by their length."""
    top = low if high is None else high
    return lambda value: isinstance(value, bytes) and low <= len(value) <= top


def letters(low: int, high: int) -> Check:
    """Hold for texts by their length in characters."""
    return lambda value: isinstance(value, str) and low <= len(value) <= high


def one_of(*names: str) -> Check:
    """Hold for some texts."""
    return lambda value: isinstance(value, str) and value in names


def truth(value: object) -> bool:
    """Hold for true and false."""
    return isinstance(value, bool)


def maybe(check: Check) -> Check:
    """Hold for nil too."""
    return lambda value: value is None or check(value)


def listed(check: Check, most: int, least: int = 0) -> Check:
    """Hold for lists of a length whose items pass."""
    return lambda value: (
        isinstance(value, list) and least <= len(value) <= most and all(map(check, value))
    )


def in_row(*checks: Check) -> Check:
    """Hold for lists with one item for each check."""
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(checks)
        and all(check(item) for check, item in zip(checks, value, strict=True))
    )


def fields(**checks: Check) -> Check:
    """Hold for maps with exactly these keys."""
    return lambda value: (
        isinstance(value, dict)
        and set(value) == set(checks)
        and all(check(value[name]) for name, check in checks.items())
    )


def both(*checks: Check) -> Check:
    """Hold where all checks hold, asked in order."""
    return lambda value: all(check(value) for check in checks)


def rising(items: Sequence[bytes]) -> bool:
    """Tell whether names stand in ascending order, each once."""
    return list(items) == sorted(set(items))


HASH: Final = octets(32)
SIGNATURE: Final = octets(64)
COUNT: Final = integer(0, MOST_INTEGER)
COUNTER: Final = integer(0, MOST_COUNTER)
"""Running count of an instance's signatures."""
