"""Every field of a charter within its legal range: read from the types, stated nowhere else.

The wire decoder checks the same types; this walk is for charters made in a program, and names
every field that is out of range, not only the first. Relations between fields are in `rules`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from msgspec import inspect as types

from federation.charter.schema import Charter
from federation.core import ParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeFault:
    """One value that its field does not allow."""

    path: str
    """Where, such as `review.k` or `genesis.founders[2].tier`."""
    why: str
    """The value and what is legal."""


def range_faults(charter: Charter) -> tuple[RangeFault, ...]:
    """List every value outside its legal range, in the order of the schema."""
    return tuple(_walk(charter, types.type_info(Charter), ""))


def check_ranges(charter: Charter) -> None:
    """Raise ParameterError that names every value outside its legal range."""
    faults = range_faults(charter)
    if faults:
        raise ParameterError(
            "charter refused",
            why="; ".join(f"{fault.path}: {fault.why}" for fault in faults),
            fix="choose values inside the ranges of the parameter reference",
        )


def _walk(value: object, kind: types.Type, path: str) -> Iterator[RangeFault]:
    match kind, value:
        case types.Metadata(), _:
            yield from _walk(value, kind.type, path)
        case types.StructType(), msgspec.Struct():
            for field in kind.fields:
                where = f"{path}.{field.name}" if path else field.name
                yield from _walk(getattr(value, field.name), field.type, where)
        case types.VarTupleType(), tuple():
            yield from _sized(len(value), "items", kind.min_length, kind.max_length, path)
            for index, item in enumerate(value):
                yield from _walk(item, kind.item_type, f"{path}[{index}]")
        case types.UnionType(), _:
            # The only unions of a charter are "this or nil".
            if value is not None:
                yield from _walk(value, kind.types[0], path)
        case types.BoolType(), bool():
            pass
        case types.IntType(ge=int(low), le=int(high)), int() if not isinstance(value, bool):
            if not low <= value <= high:
                yield RangeFault(path=path, why=f"{value} is not between {low} and {high}")
        case types.BytesType(), bytes():
            yield from _sized(len(value), "bytes", kind.min_length, kind.max_length, path)
        case types.StrType(), str():
            yield from _sized(len(value), "characters", kind.min_length, kind.max_length, path)
        case types.LiteralType(), str():
            if value not in kind.values:
                legal = ", ".join(str(one) for one in kind.values)
                yield RangeFault(path=path, why=f"{value!r} is not one of {legal}")
        case _:
            yield RangeFault(path=path, why=f"a {type(value).__name__} is not of its type")


def _sized(
    size: int, noun: str, least: int | None, most: int | None, path: str
) -> Iterator[RangeFault]:
    if size < (least or 0):
        yield RangeFault(path=path, why=f"it has {size} {noun}, the least is {least}")
    if most is not None and size > most:
        yield RangeFault(path=path, why=f"it has {size} {noun}, the most is {most}")
