"""Canonical msgpack: sorted text keys, shortest forms, no floats, no extensions, NFC text.

msgpack itself enforces none of this, so bytes are decoded into their type, encoded again and
compared. Only when they differ does the slow walk of `faults` look for the path of the fault.
`encode` gives canonical bytes for the values the protocol uses: None, bool, int, str, bytes,
lists, tuples, maps with text keys, and `msgspec.Struct`s.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias, TypeVar, Union

import msgspec

from federation.codec.faults import find_fault
from federation.codec.limits import LIMITS
from federation.core import Code, PeerError

T = TypeVar("T")

Plain: TypeAlias = Union[  # noqa: UP007 # the forward references need it
    bool, int, str, bytes, list["Plain"], tuple["Plain", ...], Mapping[str, "Plain"], None
]
"""A value without a schema."""

_CLOSED: Final = (
    msgspec.inspect.NoneType,
    msgspec.inspect.BoolType,
    msgspec.inspect.IntType,
    msgspec.inspect.BytesType,
    msgspec.inspect.EnumType,
    msgspec.inspect.LiteralType,
)
"""Types whose values hold no text, or only text that the schema spells out."""

_SHOWN: Final = 200
"""Characters of a fault that an error shows; the decoder's words may quote a stranger."""

_ENCODER: Final = msgspec.msgpack.Encoder(order="sorted")


class _Reader:
    """A typed decoder, and whether its type holds free text (whose spelling it cannot check)."""

    def __init__(self, kind: object) -> None:
        self.decoder: msgspec.msgpack.Decoder[object] = msgspec.msgpack.Decoder(kind)
        self.free_text = _holds_free_text(msgspec.inspect.type_info(kind))


_READERS: Final[dict[object, _Reader]] = {}


def encode(value: object) -> bytes:
    """Give the one canonical byte string of a value; text must already be NFC without NUL."""
    return _ENCODER.encode(value)


def decode(raw: bytes, kind: type[T], *, what: str, most: int = LIMITS.record) -> T:
    """Decode canonical bytes into `kind`, a msgspec type.

    `what` names the thing in errors, `most` is its largest size in bytes. Raises PeerError
    TOO_LARGE or NOT_CANONICAL with the path of the fault.
    """
    if len(raw) > most:
        raise PeerError(
            f"{what} refused",
            why=f"it has {len(raw)} bytes, the limit is {most}",
            fix="split it, or put large content into a blob",
            code=Code.TOO_LARGE,
        )
    reader = _READERS.get(kind)
    if reader is None:
        reader = _READERS[kind] = _Reader(kind)
    try:
        value = reader.decoder.decode(raw)
        again = _ENCODER.encode(value)
    except (msgspec.DecodeError, RecursionError, UnicodeError, TypeError) as error:
        raise _refusal(what, find_fault(raw) or str(error)) from error
    if again != raw:
        raise _refusal(what, find_fault(raw) or "$: it encodes to other bytes than these")
    if reader.free_text:
        fault = find_fault(raw)
        if fault is not None:
            raise _refusal(what, fault)
    return value  # type: ignore[return-value] # the decoder was made for `kind`


def decode_plain(raw: bytes, *, what: str, most: int = LIMITS.record) -> Plain:
    """Decode canonical bytes of unknown shape; checks every rule and every limit by walking."""
    if len(raw) > most:
        raise PeerError(
            f"{what} refused",
            why=f"it has {len(raw)} bytes, the limit is {most}",
            fix="split it, or put large content into a blob",
            code=Code.TOO_LARGE,
        )
    fault = find_fault(raw)
    if fault is not None:
        raise _refusal(what, fault)
    return msgspec.msgpack.decode(raw)  # type: ignore[no-any-return] # the walk accepted it


def _holds_free_text(kind: msgspec.inspect.Type) -> bool:
    """Tell whether a type can hold text that is not bound to an ASCII pattern or a closed set.

    A type this function does not know counts as free, so that it is walked rather than trusted.
    """
    match kind:
        case msgspec.inspect.StrType():
            return kind.pattern is None
        case msgspec.inspect.Metadata():
            return _holds_free_text(kind.type)
        case msgspec.inspect.StructType():
            return any(_holds_free_text(field.type) for field in kind.fields)
        case msgspec.inspect.UnionType():
            return any(_holds_free_text(one) for one in kind.types)
        case msgspec.inspect.ListType() | msgspec.inspect.VarTupleType():
            return _holds_free_text(kind.item_type)
        case msgspec.inspect.TupleType():
            return any(_holds_free_text(one) for one in kind.item_types)
        case _:
            return not isinstance(kind, _CLOSED)


def _refusal(what: str, fault: str) -> PeerError:
    return PeerError(
        f"{what} refused",
        why=f"its bytes are not canonical: {fault[:_SHOWN]}",
        fix="encode with sorted keys and sets, shortest forms, no floats and NFC text",
        code=Code.NOT_CANONICAL,
    )
