"""Errors that name the field at fault.

The core refuses a record as a whole; a caller filled in fields. What can be told of a field alone
is told here, before anything is looked at or drawn.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from federation.core import Digest
from node.base.errors import NodeCode, RequestError

T = TypeVar("T")
_DIGEST: Final = 64


def bad_field(field: str, why: str) -> RequestError:
    """Make the error of one field; `field` is its path, `$.claims[2]`."""
    return RequestError(
        "request refused",
        why=f"{why} - at `{field}`",
        fix="correct this field",
        code=NodeCode.BAD_FIELD,
    )


def check(field: str, value: object, kind: type[T]) -> T:
    """Hold a value to a type with its ranges; raises RequestError BAD_FIELD.

    `kind` may be an annotated type of a record's body, so the ranges stand in one place.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        why, _, inner = str(error).partition(" - at `$")
        raise bad_field(field + inner.rstrip("`"), why) from error


def text(field: str, value: str, *, most: int, least: int = 0) -> str:
    """Hold prose to its length in characters; raises RequestError BAD_FIELD.

    What characters it may hold is the core's rule, and its refusal.
    """
    if not least <= len(value) <= most:
        raise bad_field(field, f"it has {len(value)} characters, not {least} to {most}")
    return value


def digests(field: str, values: Sequence[str], *, most: int) -> tuple[Digest, ...]:
    """Read digests in hex; raises RequestError BAD_FIELD."""
    if len(values) > most:
        raise bad_field(field, f"it has {len(values)} members, not 0 to {most}")
    return tuple(_digest(f"{field}[{index}]", value) for index, value in enumerate(values))


def _digest(field: str, value: str) -> Digest:
    try:
        if len(value) == _DIGEST and value.isascii():
            return bytes.fromhex(value)
    except ValueError:
        pass
    raise bad_field(field, f"it is not {_DIGEST} hex digits")
