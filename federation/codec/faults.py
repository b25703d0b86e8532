"""Walk msgpack bytes and name the first place where they are not canonical, as a path.

The walk is bounded in everything: depth, map and list sizes are checked
from the headers before anything below them is read. It shares no code with the decoder.
"""

import unicodedata

from federation.codec.limits import LIMITS
from federation.codec.repertoire import first_unassigned

_NIL, _FALSE, _TRUE = 0xC0, 0xC2, 0xC3
_SHOWN = 40
"""Characters of a key that a path shows: paths are copied at every step of the walk, and end in
messages, so a stranger's key must not make them long."""


class _FaultError(Exception):
    """Internal: carries the path and the reason to the top of the walk."""


def find_fault(raw: bytes) -> str | None:
    """Return 'path: reason' of the first fault, or None if `raw` is one canonical value."""
    try:
        end = _walk(raw, 0, "$", 1)
    except _FaultError as fault:
        return str(fault)
    if end != len(raw):
        return f"$: {len(raw) - end} bytes after the value"
    return None


def _take(raw: bytes, start: int, size: int, path: str) -> bytes:
    if start + size > len(raw):
        raise _FaultError(f"{path}: the bytes end inside this value")
    return raw[start : start + size]


def _sized(raw: bytes, at: int, width: int, path: str, floor: int) -> tuple[int, int]:
    """Read a big-endian length or integer of `width` bytes that must be at least `floor`."""
    number = int.from_bytes(_take(raw, at + 1, width, path), "big")
    if number < floor:
        raise _FaultError(f"{path}: not the shortest form")
    return number, at + 1 + width


def _walk(raw: bytes, at: int, path: str, depth: int) -> int:
    head = _take(raw, at, 1, path)[0]
    if head <= 0x7F or head >= 0xE0 or head in (_NIL, _FALSE, _TRUE):
        return at + 1
    if 0xCC <= head <= 0xCF:
        width = 1 << (head - 0xCC)
        floor = 0x80 if width == 1 else 1 << (4 * width)
        return _sized(raw, at, width, path, floor)[1]
    if 0xD0 <= head <= 0xD3:
        return _negative(raw, at, head, path)
    if 0xA0 <= head <= 0xBF:
        return _text(raw, at + 1, head & 0x1F, path)
    if 0xD9 <= head <= 0xDB:
        width = 1 << (head - 0xD9)
        size, body = _sized(raw, at, width, path, {1: 32, 2: 1 << 8, 4: 1 << 16}[width])
        return _text(raw, body, size, path)
    if 0xC4 <= head <= 0xC6:
        width = 1 << (head - 0xC4)
        size, body = _sized(raw, at, width, path, {1: 0, 2: 1 << 8, 4: 1 << 16}[width])
        _take(raw, body, size, path)
        return body + size
    if 0x90 <= head <= 0x9F:
        return _list(raw, at + 1, head & 0x0F, path, depth)
    if head in (0xDC, 0xDD):
        width = 2 if head == 0xDC else 4
        size, body = _sized(raw, at, width, path, 16 if width == 2 else 1 << 16)
        return _list(raw, body, size, path, depth)
    if 0x80 <= head <= 0x8F:
        return _map(raw, at + 1, head & 0x0F, path, depth)
    if head in (0xDE, 0xDF):
        width = 2 if head == 0xDE else 4
        size, body = _sized(raw, at, width, path, 16 if width == 2 else 1 << 16)
        return _map(raw, body, size, path, depth)
    if head in (0xCA, 0xCB):
        raise _FaultError(f"{path}: floats are not allowed")
    if head == 0xC1:
        raise _FaultError(f"{path}: the byte c1 is never used")
    raise _FaultError(f"{path}: extension types are not allowed")


def _negative(raw: bytes, at: int, head: int, path: str) -> int:
    width = 1 << (head - 0xD0)
    number = int.from_bytes(_take(raw, at + 1, width, path), "big", signed=True)
    ceiling = -33 if width == 1 else -(1 << (4 * width - 1)) - 1
    if number > ceiling:
        raise _FaultError(f"{path}: not the shortest form")
    return at + 1 + width


def _text(raw: bytes, at: int, size: int, path: str) -> int:
    try:
        text = _take(raw, at, size, path).decode()
    except UnicodeDecodeError:
        raise _FaultError(f"{path}: text is not valid UTF-8") from None
    if "\0" in text:
        raise _FaultError(f"{path}: text holds a NUL character")
    if text.isascii():
        return at + size
    stranger = first_unassigned(text)
    if stranger is not None:
        raise _FaultError(f"{path}: U+{ord(stranger):04X} is not assigned in Unicode 14.0")
    if not unicodedata.is_normalized("NFC", text):
        raise _FaultError(f"{path}: text is not in Unicode form NFC")
    return at + size


def _list(raw: bytes, at: int, size: int, path: str, depth: int) -> int:
    _bounded(size, LIMITS.list_items, "items", path, depth)
    for index in range(size):
        at = _walk(raw, at, f"{path}[{index}]", depth + 1)
    return at


def _map(raw: bytes, at: int, size: int, path: str, depth: int) -> int:
    _bounded(size, LIMITS.map_keys, "keys", path, depth)
    last: bytes | None = None
    for _ in range(size):
        head = _take(raw, at, 1, path)[0]
        if not (0xA0 <= head <= 0xBF or 0xD9 <= head <= 0xDB):
            raise _FaultError(f"{path}: a map key is not text")
        end = _walk(raw, at, f"{path}.key", depth + 1)
        prefix = 1 if head <= 0xBF else 1 + (1 << (head - 0xD9))
        key = raw[at + prefix : end]
        if last is not None and key <= last:
            why = "twice" if key == last else "out of order"
            raise _FaultError(f"{path}: key {key.decode()[:_SHOWN]!r} stands {why}")
        last = key
        at = _walk(raw, end, f"{path}.{key.decode()[:_SHOWN]}", depth + 1)
    return at


def _bounded(size: int, most: int, noun: str, path: str, depth: int) -> None:
    if size > most:
        raise _FaultError(f"{path}: {size} {noun}, the limit is {most}")
    if depth > LIMITS.depth:
        raise _FaultError(f"{path}: nested deeper than {LIMITS.depth}")
