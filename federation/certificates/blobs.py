"""The two blobs of a cut: what a witness holds above the last cut, and where a cut stands.

*Chains*: canonical `[[author, [[ids at p+1], [ids at p+2], …]]…]` by author, where p is the
author's position in the last cut. More than one id at a place is a fork. *Positions*: canonical
`[[author, seq, head]…]` by author, for the authors that moved since the cut before: the slot names
that cut by its digest, so the moves fix all positions, and a cut costs what changed. Both travel
as blobs because they grow with the log (design: federation, witness of a cut).
"""

import hashlib
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from federation.codec import LIMITS, decode, encode
from federation.core import Code, Digest, IdentityId, PeerError, RecordId
from federation.crypto import Domain, digest

MOST_CHAINED: Final = 4_096
"""Record ids in one chains blob."""
_FREE: Final = 8
"""Which part of a chains blob stays free for each later group of authors."""

Levels: TypeAlias = tuple[tuple[RecordId, ...], ...]
"""Ids at p+1, p+2, …; each place in ascending order."""
Chains: TypeAlias = Mapping[IdentityId, Levels]


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The last record of one author's chain that a cut contains."""

    seq: int
    head: RecordId


Positions: TypeAlias = Mapping[IdentityId, Position]


class _Chain(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    author: IdentityId
    levels: Annotated[
        tuple[Annotated[tuple[RecordId, ...], Meta(min_length=1)], ...], Meta(min_length=1)
    ]


class _Place(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    author: IdentityId
    seq: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    head: RecordId


def blob_hash(blob: bytes) -> Digest:
    """Name a blob."""
    return digest(Domain.BLOB, blob)


def chains_blob(
    held: Mapping[IdentityId, Sequence[Sequence[RecordId]]],
    *,
    beacon: Digest,
    members: Container[IdentityId] = (),
    admitted: Container[IdentityId] = (),
    most: int = MOST_CHAINED,
) -> bytes:
    """Encode what I hold above the last positions, at most `most` ids.

    Member instances come first, then admitted authors, then the others, each group by
    SHA-256(beacon ‖ author), so that honest members with the same backlog name the same part of
    it. Of every group an eighth stays free for each group after it, and within a group everybody
    gets an even share before anybody gets more. So nobody keeps the rest from moving: neither one
    long chain, nor a crowd of strangers, nor one that a hostile member has admitted: the members'
    own chains carry the certificates, and newcomers wait among the strangers for their admission.
    """
    ordered = sorted(held, key=lambda author: hashlib.sha256(beacon + author).digest())
    ranks: list[list[IdentityId]] = [[], [], []]
    for author in ordered:
        ranks[0 if author in members else 1 if author in admitted else 2].append(author)
    groups = [group for group in ranks if group]
    share_out = _Shares(held, most)
    for index, group in enumerate(groups):
        free = (most // _FREE) * (len(groups) - index - 1)
        share_out.give(group, max(1, (share_out.left - free) // len(group)), free=free)
        share_out.give(group, most, free=free)
    for group in groups:
        share_out.give(group, most, free=0)
    return encode([(author, share_out.taken[author]) for author in sorted(share_out.taken)])


def chains_from_blob(blob: bytes) -> Chains:
    """Read a chains blob.

    Raises PeerError TOO_LARGE or NOT_CANONICAL, also for more than 4,096 ids or for authors or ids
    out of order.
    """
    rows = decode(blob, tuple[_Chain, ...], what="chains", most=LIMITS.blob)
    _in_order([row.author for row in rows])
    total = 0
    for row in rows:
        for ids in row.levels:
            _in_order(ids)
            total += len(ids)
    if total > MOST_CHAINED:
        raise _refused(f"it names {total} records, the limit is {MOST_CHAINED}", Code.TOO_LARGE)
    return {row.author: row.levels for row in rows}


def positions_blob(positions: Positions) -> bytes:
    """Encode the positions of a cut: of the authors that moved since the cut before."""
    return encode(
        [(author, positions[author].seq, positions[author].head) for author in sorted(positions)]
    )


def positions_from_blob(blob: bytes) -> Positions:
    """Read the positions of a cut; raises PeerError TOO_LARGE or NOT_CANONICAL."""
    rows = decode(blob, tuple[_Place, ...], what="positions", most=LIMITS.blob)
    _in_order([row.author for row in rows])
    return {row.author: Position(seq=row.seq, head=row.head) for row in rows}


class _Shares:
    """The part of a backlog that one chains blob takes, while it is shared out."""

    def __init__(self, held: Mapping[IdentityId, Sequence[Sequence[RecordId]]], most: int) -> None:
        self.left = most
        self.taken: dict[IdentityId, Levels] = {}
        self._held: dict[IdentityId, Levels] = {
            author: tuple(tuple(sorted(set(ids))) for ids in levels[:most])
            for author, levels in held.items()
        }

    def give(self, group: Sequence[IdentityId], room: int, *, free: int) -> None:
        """Let each of a group have up to `room` ids in all, but leave `free` of the blob."""
        for author in group:
            taken = self.taken.get(author, ())
            before = sum(map(len, taken))
            fitting = _that_fit(self._held[author], min(room, self.left - free + before))
            if len(fitting) > len(taken):
                self.taken[author] = fitting
                self.left -= sum(map(len, fitting)) - before


def _that_fit(levels: Levels, left: int) -> Levels:
    fitting = 0
    for ids in levels:
        left -= len(ids)
        if left < 0:
            break
        fitting += 1
    return levels[:fitting]


def _in_order(names: Sequence[bytes]) -> None:
    if any(low >= high for low, high in pairwise(names)):
        raise _refused("its names are not in ascending order", Code.NOT_CANONICAL)


def _refused(why: str, code: Code) -> PeerError:
    return PeerError("blob refused", why=why, fix="send it as its member encoded it", code=code)
