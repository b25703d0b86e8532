"""A second reading of rules 1 and 2: what a witness names, and what q witnesses amount to.

Imports nothing of `federation`. The rule for cuts is written another way than there: it lists all
paths that a chain can take through the named records and drops paths until one place is sure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.vectors.agreement_reader import pack, tagged_hash
from tests.vectors.agreement_rows import (
    Row,
    as_bytes,
    as_int,
    as_list,
    fixed_bytes,
    many,
    number,
    plain,
    under,
    word,
)
from tests.vectors.certificates_reader import LISTED, VOIDABLE
from tests.vectors.second_reader import sha256

NO_VALUE = "no value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What witnesses amount to: a value, or records to fetch first, or nothing."""

    what: str
    """`value`, `missing` or `no value`."""
    value: object = None
    positions: object = None
    missing: Sequence[bytes] = ()


def _enough(case: Row, witnesses: Sequence[Row]) -> bool:
    """Tell whether these are exactly q witnesses of distinct members."""
    members = {word(one, "member") for one in witnesses}
    return len(witnesses) == len(members) == number(case, "q")


# Holdings and backlogs.

NAMED = {"commit": 2, "commit2": 2, "seal": 2}
"""How many records of one voter a witness names, where it is neither one nor up to the cap."""


def holding(case: Row) -> list[bytes]:
    """Give the ids that a witness names: of each voter those with the fewest before them."""
    phase = word(case, "phase")
    most = number(case, "each") if phase == "deliberate" else NAMED.get(phase, 1)
    rows = [
        (as_bytes(plain(one["voter"])), number(one, "seq"), as_bytes(plain(one["id"])))
        for one in many(case, "records")
    ]
    return sorted(
        name
        for voter, seq, name in rows
        if len([row for row in rows if row[0] == voter and row[1:] < (seq, name)]) < most
    )


def backlog(case: Row) -> bytes:
    """Give the chains blob of a backlog, filled place by place as if ids were poured in."""
    sizes = {fixed_bytes(one): str(row) for one, row in under(case, "held").items()}
    beacon, most = as_bytes(plain(case["beacon"])), number(case, "most")
    ranks: list[list[bytes]] = [[], [], []]
    for author in sorted(sizes, key=lambda one: sha256(beacon, one)):
        groups = [name for name in ("members", "admitted") if author in _pairs(case, name)]
        ranks[{"members": 0, "admitted": 1}[groups[0]] if groups else 2].append(author)
    queue = [rank for rank in ranks if rank]
    places = dict.fromkeys(sizes, 0)

    def taken(author: bytes) -> int:
        return sum(map(int, sizes[author][: places[author]]))

    def pour(group: Sequence[bytes], each: int, full: int) -> None:
        for author in group:
            for size in map(int, sizes[author][places[author] :]):
                if taken(author) + size > each or sum(map(taken, sizes)) + size > full:
                    break
                places[author] += 1

    for later, group in zip(reversed(range(len(queue))), queue, strict=True):
        full = most - later * (most // 8)
        share = (full - sum(map(taken, sizes))) // len(group)
        pour(group, max(share, 1), full)
        pour(group, most, full)
    for group in queue:
        pour(group, most, most)
    labels = {fixed_bytes(one): one for one in under(case, "held")}
    return pack(
        [
            [
                author,
                [
                    sorted(
                        fixed_bytes(f"{labels[author]} {place}.{rival}") for rival in range(size)
                    )
                    for place, size in enumerate(map(int, sizes[author][: places[author]]))
                ],
            ]
            for author in sorted(sizes)
            if places[author]
        ]
    )


# Lists.


def fresh_list(case: Row) -> Outcome:
    """Give the fresh list of a case."""
    witnesses, f, phase = many(case, "witnesses"), number(case, "f"), word(case, "phase")
    if not _enough(case, witnesses):
        return Outcome(what=NO_VALUE)
    if phase in VOIDABLE and [one["late"] for one in witnesses].count(True) > f:
        return Outcome(what="value", value=None)
    held = {as_bytes(plain(one["id"])): one for one in many(case, "records")}
    views = [{as_bytes(plain(name)) for name in as_list(one["ids"])} for one in witnesses]
    named = {name for view in views for name in view if _count(views, name) > f}
    missing = sorted(named - set(held))
    if missing:
        return Outcome(what="missing", missing=missing)
    voters: dict[bytes, list[bytes]] = {}
    for name in sorted(named):
        if held[name]["qualifies"] is True:
            voters.setdefault(as_bytes(plain(held[name]["voter"])), []).append(name)
    counted = [
        name
        for names in voters.values()
        for name in _of_voter(phase, names, held, number(case, "each"))
    ]
    round_id = as_bytes(plain(case["round"]))

    def rank(name: bytes) -> tuple[int, bytes, bytes]:
        voter = as_bytes(plain(held[name]["voter"]))
        return 0 if held[name]["reviewer"] is True else 1, sha256(round_id, voter), name

    kept = sorted(counted, key=rank)[: min(number(case, "most"), LISTED)]
    return Outcome(what="value", value=sorted(kept))


def _count(views: Sequence[set[bytes]], name: bytes) -> int:
    return len([view for view in views if name in view])


def _of_voter(
    phase: str, names: Sequence[bytes], held: Mapping[bytes, Row], each: int
) -> Sequence[bytes]:
    """Tell which records of one voter count; `names` are in ascending order."""
    match phase:
        case "commit" | "commit2" | "seal":
            return names if len(names) == 1 else []
        case "decide":
            return names[:1]
        case "deliberate":
            return sorted(names, key=lambda name: number(held[name], "seq"))[:each]
        case "fast" | "contest":
            return names
        case _:
            # Of a turn, an opened seal or an office: the first of its chain, then the lowest id.
            return [min((number(held[name], "seq"), name) for name in names)[1]]


# Cuts.


def fresh_cut(case: Row) -> Outcome:
    """Give the fresh value of a case's cut, and the rows of its positions."""
    witnesses, f = many(case, "witnesses"), number(case, "f")
    if not _enough(case, witnesses):
        return Outcome(what=NO_VALUE)
    worlds = [plain(one["world"]) for one in witnesses]
    agreed = {world for world in map(as_bytes, worlds) if worlds.count(world) > f}
    if len(agreed) != 1:
        return Outcome(what=NO_VALUE)
    moved, missing = _moves(case, witnesses, f)
    if missing:
        return Outcome(what="missing", missing=missing)
    promised = {
        as_bytes(member): hashed for member, hashed in map(as_list, _pairs(case, "promised"))
    }
    secrets = []
    for one in witnesses:
        member, secret = as_bytes(plain(one["operator"])), as_bytes(plain(one["secret"]))
        opened = secret if promised.get(member) == sha256(secret) else None
        secrets.append([member, opened, plain(one["next_hash"])])
    ticks = [one["tick"] for one in witnesses].count(True)
    value = [
        number(case, "number"),
        ticks > f,
        tagged_hash("blob", pack(moved)),
        agreed.pop(),
        sorted(secrets, key=lambda row: as_bytes(row[0])),
    ]
    return Outcome(what="value", value=value, positions=moved)


def _pairs(case: Row, name: str) -> list[object]:
    return as_list(plain(case[name]))


def _moves(case: Row, witnesses: Sequence[Row], f: int) -> tuple[list[object], list[bytes]]:
    last = {
        as_bytes(author): (as_int(seq), as_bytes(head))
        for author, seq, head in map(as_list, _pairs(case, "last"))
    }
    held = {as_bytes(plain(one["id"])): one for one in many(case, "records")}
    views = [_places(one, last) for one in witnesses]
    named = {one for view in views for one in view if len([v for v in views if one in v]) > f}
    missing = sorted({name for _, _, name in named if name not in held})
    moved: list[object] = []
    for author in sorted({author for author, _, _ in named}):
        records = {
            name: held[name]
            for owner, place, name in named
            if owner == author
            and name in held
            and plain(held[name]["author"]) == author
            and held[name]["seq"] == place
        }
        seq, head = last.get(author, (-1, None))
        end = _follow(records, seq, head)
        if end:
            moved.append([author, seq + len(end), end[-1]])
    return moved, missing


def _places(witness: Row, last: Mapping[bytes, tuple[int, bytes]]) -> set[tuple[bytes, int, bytes]]:
    """Spread what a witness holds: author, place in the chain, id."""
    return {
        (as_bytes(author), last.get(as_bytes(author), (-1, b""))[0] + 1 + step, as_bytes(name))
        for author, levels in map(as_list, _pairs(witness, "chains"))
        for step, names in enumerate(as_list(levels))
        for name in as_list(names)
    }


def _follow(records: Mapping[bytes, Row], seq: int, head: bytes | None) -> list[bytes]:
    """Give the run of records after a position, as far as one branch is sure."""
    paths = _paths(records, seq, head)
    run: list[bytes] = []
    while True:
        place = len(run)
        rivals = sorted({path[place] for path in paths if len(path) > place})
        chosen = rivals if len(rivals) < 2 else _settled(records, paths, rivals)
        if len(chosen) != 1:
            return run
        run.append(chosen[0])
        paths = [path for path in paths if path[: place + 1] == run]


def _paths(records: Mapping[bytes, Row], seq: int, head: bytes | None) -> list[list[bytes]]:
    """List every way to go on from a record, each to its end."""
    nexts = [
        name
        for name, row in records.items()
        if plain(row["prev"]) == head and number(row, "seq") == seq + 1
    ]
    if not nexts:
        return [[]]
    return [[name, *rest] for name in nexts for rest in _paths(records, seq + 1, name)]


def _settled(
    records: Mapping[bytes, Row], paths: Sequence[Sequence[bytes]], rivals: Sequence[bytes]
) -> list[bytes]:
    """Choose at a fork: the one recovery, else the branches that named rotations pick."""
    recoveries = [name for name in rivals if records[name]["is_recovery"] is True]
    if len(recoveries) == 1:
        return recoveries
    picks = {plain(row["picks"]) for row in records.values()}
    return [
        rival
        for rival in rivals
        if any(set(path[path.index(rival) :]) & picks for path in paths if rival in path)
    ]
