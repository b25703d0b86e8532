"""How far a search has come, as the bytes of a file.

    canonical [version, proof without solutions, found, nexts, gate, next of the gate, tried, spent]
    ‖ SHA-256 of all before

The hash tells a file that was damaged, or half written by some other program. It is no protection
against whoever can write there: what counts in the end is that the finished proof is checked.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from federation.admission import MOST_PARTS, Solution, Work, offered, read_work, work_bytes
from federation.codec import decode, encode
from federation.core import PeerError
from federation.crypto import plain_hash

_HASH: Final = 32
_MOST_BYTES: Final = 4_096
_MOST_VALUE: Final = 2**52
"""`Mint` takes no value above."""

Value = Annotated[int, Meta(ge=0, le=_MOST_VALUE)]
"""A value to be tried, or how many were."""


class Saved(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A search that can be resumed, by any number of processes."""

    version: Literal[1]
    blank: Annotated[bytes, Meta(max_length=_MOST_BYTES)]
    """The proof that is searched for, with zeros where its solutions belong."""
    found: Annotated[tuple[Solution | None, ...], Meta(min_length=1, max_length=MOST_PARTS)]
    """The solution of each part, nil where it is still searched for."""
    nexts: Annotated[tuple[Value, ...], Meta(min_length=1, max_length=MOST_PARTS)]
    """For each part, the first value that nobody has been given to try."""
    gate: Solution | None
    """The value of the gate: the search is over."""
    gate_next: Value
    """The same as in `nexts`, of the gate."""
    tried: Value
    """Argon2id hashes that the search has computed."""
    spent_ms: Value
    """Time that it has taken, in ms, while it ran."""

    @property
    def work(self) -> Work:
        """The proof that is searched for."""
        return read_work(self.blank)


def start(blank: Work) -> Saved:
    """Begin a search; `blank` is what `admission.blank_work` gave."""
    parts = len(blank.solutions)
    return Saved(
        version=1,
        blank=work_bytes(blank),
        found=(None,) * parts,
        nexts=(0,) * parts,
        gate=None,
        gate_next=0,
        tried=0,
        spent_ms=0,
    )


def saved_bytes(saved: Saved) -> bytes:
    """Give the bytes of the file."""
    whole = encode(saved)
    return whole + plain_hash(whole)


def read_saved(raw: bytes) -> Saved | None:
    """Read a file; None if it is not what `saved_bytes` gave: then a search starts anew."""
    whole, check = raw[:-_HASH], raw[-_HASH:]
    if plain_hash(whole) != check:
        return None
    try:
        saved = decode(whole, Saved, what="saved search", most=_MOST_BYTES)
        work = saved.work
    except PeerError:
        return None
    parts = len(work.solutions)
    fits = len(saved.found) == len(saved.nexts) == parts and offered(work) is not None
    return saved if fits else None
