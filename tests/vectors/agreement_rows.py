"""Rows of the agreement vectors: plain values as JSON, and typed looks into what JSON gave back.

Imports nothing of `federation`, so writers, readers and tests can all use it.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
OK: Final = "OK"

Row = Mapping[str, object]
"""One JSON object of a vector file."""


def shown(value: object) -> object:
    """Write a plain value as JSON; byte strings become {"hex": …}, maps {"map": {…}}."""
    match value:
        case bytes():
            return {"hex": value.hex()}
        case dict():
            return {"map": {key: shown(item) for key, item in value.items()}}
        case list() | tuple():
            return [shown(item) for item in value]
        case _:
            return value


def plain(value: object) -> object:
    """Undo `shown`; lists stay lists, and "@name" is the fixed byte string of that name."""
    match value:
        case str() if value.startswith("@"):
            return fixed_bytes(value[1:])
        case {"hex": str(digits)}:
            return bytes.fromhex(digits)
        case {"map": dict(fields)}:
            return {key: plain(item) for key, item in fields.items()}
        case list():
            return [plain(item) for item in value]
        case _:
            return value


def fixed_bytes(name: str) -> bytes:
    """Give the 32 bytes that a name of the vectors stands for."""
    return hashlib.sha256(f"folkmoot test vector: {name}".encode()).digest()


def renamed(value: object, names: Iterable[str]) -> object:
    """Write a plain value as JSON, byte strings by one of these names where it is theirs."""
    known = {fixed_bytes(name): f"@{name}" for name in names}

    def written(item: object) -> object:
        match item:
            case bytes() if item in known:
                return known[item]
            case list() | tuple():
                return [written(one) for one in item]
            case _:
                return shown(item)

    return written(value)


def names_in(value: object) -> Iterator[str]:
    """List the names of byte strings that stand somewhere in a JSON value."""
    match value:
        case str() if value.startswith("@"):
            yield value[1:]
        case dict():
            yield from (name for item in value.values() for name in names_in(item))
        case list() | tuple():
            yield from (name for item in value for name in names_in(item))
        case _:
            return


def load(name: str) -> Row:
    """Read one vector file."""
    content: object = json.loads((HERE / name).read_text(encoding="ascii"))
    return as_row(content)


def as_row(value: object) -> Row:
    """Take a value that is a JSON object."""
    assert isinstance(value, dict), value
    return value


def as_list(value: object) -> list[object]:
    """Take a value that is a list."""
    assert isinstance(value, list), value
    return value


def as_bytes(value: object) -> bytes:
    """Take a value that is a byte string."""
    assert isinstance(value, bytes), value
    return value


def as_int(value: object) -> int:
    """Take a value that is an integer and no boolean."""
    assert isinstance(value, int), value
    assert not isinstance(value, bool), value
    return value


def under(row: Row, name: str) -> Row:
    """Give the object that stands under a name."""
    return as_row(row[name])


def many(row: Row, name: str) -> list[Row]:
    """Give the list of objects that stands under a name."""
    return [as_row(one) for one in as_list(row[name])]


def word(row: Row, name: str) -> str:
    """Give a text."""
    value = row[name]
    assert isinstance(value, str), value
    return value


def words(row: Row, name: str) -> list[str]:
    """Give a list of texts."""
    return [word({"": one}, "") for one in as_list(row[name])]


def number(row: Row, name: str) -> int:
    """Give an integer."""
    return as_int(row[name])


def unhex(row: Row, name: str) -> bytes:
    """Give a byte string that is written in hexadecimal."""
    return bytes.fromhex(word(row, name))


def unhexed(row: Row, name: str) -> list[bytes]:
    """Give a list of byte strings."""
    return [bytes.fromhex(one) for one in words(row, name)]


def spelt(row: Row, name: str) -> bytes:
    """Give bytes that are written in hexadecimal, or as pieces.

    A piece {"ids": n} stands for n byte strings of 32 bytes that count from 1, as msgpack writes
    them, {"zeros": n} for n zero bytes: what is at a limit would fill the files.
    """
    value = row[name]
    if isinstance(value, str):
        return bytes.fromhex(value)
    return b"".join(map(_piece, as_list(value)))


def _piece(piece: object) -> bytes:
    if isinstance(piece, str):
        return bytes.fromhex(piece)
    if "zeros" in as_row(piece):
        return bytes(number(as_row(piece), "zeros"))
    count = number(as_row(piece), "ids")
    return b"".join(b"\xc4\x20" + one for one in counted_ids(count))


def counted_ids(count: int) -> list[bytes]:
    """Give `count` ids of 32 bytes that count from 1, in ascending order."""
    return [index.to_bytes(32, "big") for index in range(1, count + 1)]


def in_pieces(raw: bytes, count: int) -> list[object]:
    """Write bytes that hold the `count` counted ids once, in the form that `spelt` reads."""
    run = _piece({"ids": count})
    before, found, after = raw.partition(run)
    assert found, "the ids are not in these bytes"
    return [before.hex(), {"ids": count}, after.hex()]


def by_name(row: Row) -> str:
    """Name a case in test reports."""
    return word(row, "name")
