"""A second reading of cuts: from positions, secrets and rows to beacon, roots and world digest.

Nobody joins in the file, so the row of what joining costs follows from the ticks alone. Nobody
adopts other rules or breaks any, so the rows of curation hold nothing.

Imports nothing of `federation`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from tests.vectors import charter_reader
from tests.vectors.agreement_reader import pack, tagged_hash
from tests.vectors.agreement_rows import (
    Row,
    as_bytes,
    as_list,
    many,
    number,
    plain,
    under,
    unhex,
)
from tests.vectors.certificates_reader import Seats, judge_certificate, quorum, value_digest
from tests.vectors.second_reader import sha256

IDLE: list[list[object]] = [[[]] * 4, [[]] * 11, [[]] * 4]
"""Of acts four lists, of discipline eleven, of what waits to be done three and of findings one: all of them empty."""
TABLES = ("artifacts", "agents", "identities", "members", "rounds")


@dataclass(slots=True, kw_only=True)
class Told:
    """What the second reader works out of one cut."""

    digest: bytes
    beacon: bytes
    roots: Mapping[str, bytes]
    world: bytes
    faults: Sequence[str] = ()
    """What does not fit in the cut's own value and certificate."""


@dataclass(slots=True)
class History:
    """Cuts read one after another; each builds on the one before."""

    file: Row
    rows: dict[str, dict[bytes, object]] = field(
        default_factory=lambda: {name: {} for name in TABLES}
    )
    last: Told | None = None
    joining: list[object] = field(default_factory=list)
    """What joining costs: bits, beacon, both of the epoch before, and five empty lists."""
    promised: set[bytes] = field(default_factory=set)

    def read(self, cut: Row) -> Told:
        """Work out the next cut."""
        if self.last is None:
            charter = unhex(self.file, "charter")
            digest, beacon = charter_reader.cut0(charter), charter_reader.beacon0(charter)
            # It asks for 0 bits, nobody joins, and the rest of the row has nothing to count.
            self.joining = [0, beacon, None, [], [], [], [], []]
            faults: list[str] = []
        else:
            digest = value_digest(plain(cut["slot"]), plain(cut["value"]))
            beacon = self._beacon(cut)
            faults = list(self._faults(cut, self.last))
            if as_list(plain(cut["value"]))[1]:
                self.joining = [0, beacon, self.joining[:2], [], [], [], [], []]
            self.promised = {as_bytes(row[2]) for row in _secrets(cut)}
        for name, change in under(cut, "changed").items():
            for one, row in map(as_list, as_list(plain(change))):
                self.rows[name][as_bytes(one)] = row
        roots = {name: root(self.rows[name]) for name in TABLES}
        joining = sha256(pack([self.joining, *IDLE]))
        words = [cut["number"], plain(self.file["charter_hash"]), beacon, joining, *roots.values()]
        world = tagged_hash("world", pack(words))
        if plain(cut["joining"]) != self.joining:
            faults.append("joining")
        if plain(cut["curation"]) != IDLE:
            faults.append("curation")
        self.last = Told(digest=digest, beacon=beacon, roots=roots, world=world, faults=faults)
        return self.last

    def _beacon(self, cut: Row) -> bytes:
        assert self.last is not None
        opened = [row[1] for row in _secrets(cut) if row[1] is not None]
        nonces = sorted(
            (as_bytes(plain(one["round"])), as_bytes(plain(one["voter"])), plain(one["nonce"]))
            for one in many(cut, "nonces")
        )
        parts = [self.last.beacon, opened, [nonce for _, _, nonce in nonces]]
        return tagged_hash("beacon", pack(parts))

    def _faults(self, cut: Row, last: Told) -> Sequence[str]:
        number_, _, positions, world, _ = as_list(plain(cut["value"]))
        members = many(self.file, "members")
        slot = plain(cut["slot"])
        seats = Seats(
            realm=as_bytes(plain(self.file["realm"])),
            charter=as_bytes(plain(self.file["charter_hash"])),
            slot=slot,
            keys={as_bytes(plain(one["voice"])): as_bytes(plain(one["key"])) for one in members},
            q=quorum(len(members), available=False)[1],
        )
        moved = [as_bytes(as_list(one)[0]) for one in as_list(plain(cut["positions"]))]
        checks = {
            "slot": slot == ["cut", number(cut, "number"), last.digest],
            "number": number_ == number(cut, "number"),
            "positions": positions == tagged_hash("blob", pack(plain(cut["positions"]))),
            "order of positions": moved == sorted(moved),
            "world of the cut before": world == last.world,
            "secrets": all(
                row[1] is None or sha256(as_bytes(row[1])) in self.promised for row in _secrets(cut)
            ),
            "seals": judge_certificate(unhex(cut, "certificate"), seats) == "OK",
        }
        return [name for name, holds in checks.items() if not holds]


def _secrets(cut: Row) -> list[list[object]]:
    """Give [member, secret or nil, next hash] of a cut's value."""
    return [as_list(row) for row in as_list(as_list(plain(cut["value"]))[4])]


def root(rows: Mapping[bytes, object]) -> bytes:
    """Hash a table: 4,096 buckets by the first three hexadecimal digits of a row's id."""
    buckets = {
        int(digits, 16): sha256(*(pack([one, rows[one]]) for one in names))
        for digits, names in groupby(sorted(rows), key=lambda one: one.hex()[:3])
    }
    return sha256(*(buckets.get(index, sha256()) for index in range(4_096)))
