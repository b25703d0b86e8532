"""Secrets as needles: every spelling of a nonce or a ballot that a store, a log or a frame may hold.

A secret may be cut in two anywhere, by a page of the database or by a frame of the network, so
each half of it is looked for as well: one of them is whole on one side of the cut.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_LEAST = 16
"""Bytes of the shortest half that is looked for: no chance finds it by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Something that nobody may see yet."""

    name: str
    owner: bytes
    """The agent whose vote it belongs to."""
    raw: bytes


def spellings(raw: bytes) -> frozenset[bytes]:
    """Spell some bytes in all ways: raw, hex, base64 and base32 at every alignment, escaped."""
    found = {raw, raw.hex().encode(), raw.hex().upper().encode()}
    for shift in range(3):
        found |= {
            _inner(one, 3, 4, shift, len(raw))
            for one in (
                base64.b64encode(bytes(shift) + raw + bytes(3)),
                base64.urlsafe_b64encode(bytes(shift) + raw + bytes(3)),
            )
        }
    for shift in range(5):
        coded = _inner(base64.b32encode(bytes(shift) + raw + bytes(5)), 5, 8, shift, len(raw))
        found |= {coded, coded.lower()}
    found.add(repr(raw)[2:-1].encode())
    found.add(json.dumps(list(raw)).encode()[1:-1])
    found.add(json.dumps(list(raw), separators=(",", ":")).encode()[1:-1])
    return frozenset(found)


def _inner(coded: bytes, group: int, letters: int, shift: int, size: int) -> bytes:
    """Give the letters of a coded text that depend on nothing but the `size` bytes after `shift`."""
    bits = 8 * group // letters
    first = -(-8 * shift // bits)
    last = 8 * (shift + size) // bits
    return coded[first:last]


def halves(raw: bytes) -> tuple[bytes, bytes]:
    half = len(raw) // 2
    assert half >= _LEAST
    return raw[:half], raw[half:]


class Needles:
    """The secrets of one test, in all spellings."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        self.secrets = tuple(secrets)
        self._of = {
            secret: frozenset().union(*map(spellings, halves(secret.raw)))
            for secret in self.secrets
        }

    def found_in(self, hay: Mapping[str, bytes]) -> Iterator[tuple[Secret, str]]:
        """Give each secret with each place that holds a trace of it."""
        for place, content in hay.items():
            for secret, needles in self._of.items():
                if any(needle in content for needle in needles):
                    yield secret, place


def files_of(root: Path) -> dict[str, bytes]:
    """Read every file below a directory, whatever it is."""
    return {
        str(path): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
