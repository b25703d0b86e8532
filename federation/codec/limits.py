"""Largest sizes, depths and counts accepted from a stranger (design: records, encoding)."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds checked before or while bytes are parsed."""

    record: int
    """Bytes of one record on the wire."""
    text: int
    """Bytes of a record's prose."""
    blob: int
    """Bytes of a blob."""
    frame: int
    """Bytes of one frame between peers."""
    depth: int
    """Nesting of maps and lists."""
    map_keys: int
    list_items: int


LIMITS: Final = Limits(
    record=64 * 1024,
    text=16 * 1024,
    blob=1024 * 1024,
    frame=256 * 1024,
    depth=8,
    map_keys=64,
    list_items=1_024,
)
