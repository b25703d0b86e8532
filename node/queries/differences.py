"""A difference between our certified world and a peer's, as people and programs read it.

Rows are told field by field, with what each field means. What a peer sent was verified against the
digest that it claims, and is shown as text of bounded length: it explains, and decides nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from federation.codec import decode_plain
from federation.codec.canonical import Plain
from federation.core import InstanceId, PeerError
from federation.protocol import World
from federation.protocol.digest import TableName
from federation.protocol.rows import COLUMNS
from federation.records import ArtifactText
from node.network.messages import WorldAt
from node.network.worlds import Common, Difference, RowPair
from node.queries.causes import FORM, WHOLE, Cause, causes_of
from node.queries.names import Who, who
from node.queries.texts import article

_LONGEST: Final = 200
"""Characters of a value that are shown."""

MEANINGS: Final[Mapping[TableName, Mapping[str, str]]] = {
    TableName.AGENTS: {
        "operator": "who answers for the agent",
        "instance": "the instance that admitted it",
        "alpha": "its good outcomes before decay, and the prior, in millionths",
        "beta": "its bad outcomes before decay, and the prior, in millionths",
        "tick": "the tick of its newest outcome",
        "r": "reputation: alpha / (alpha + beta) after decay, in millionths",
        "competence": "how well its ballots are borne out, in millionths",
        "trust": "its share t of the realm's trust, of 2^60",
        "ways": "other operators through whom that trust comes",
        "weight": "weight of its ballot before caps, in millionths",
        "tier": "0 newcomer, 1 established, 2 trusted",
        "badges": "badges that it holds",
        "vouches": "hash of the vouches that it gives, and of those that it still answers for",
        "found_bad": "tick at which its own outcomes were last found bad",
        "says": "hash of what it declares, offers, and may author",
        "filed": "hash of what it has filed: disputes of the window, reports and flags of the epoch",
    },
    TableName.ARTIFACTS: {
        "author": "who proposed it",
        "state": "its place in its life",
        "flags": "marks on it",
        "round": "the round that reviews it, or did",
        "tally": "its verdict: decision, by whom, sums, and safeguards that it lacked",
        "past": "hash of what it went through: rounds, disputes, evidence, grounds, who has voted",
    },
    TableName.IDENTITIES: {
        "key_index": "rotations of its key",
        "key": "its signing key",
        "revoked": "whether the key was revoked",
        "forked": "whether its chain is forked",
    },
    TableName.MEMBERS: {
        "operator": "who answers for the instance",
        "key": "the key that it signs with",
    },
    TableName.ROUNDS: {"lists": "digests of the certified lists of its phases, in order"},
}
"""What each column says; `federation.protocol.rows` writes them."""


class Held(StrEnum):
    """Who has a row."""

    BOTH = "both"
    """Both, and differently."""
    OURS = "ours"
    """Only this instance."""
    THEIRS = "theirs"
    """Only the peer."""


class FieldDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a row that differs."""

    field: str
    """Name of the column."""
    means: str
    """What it says; empty for a column that this version does not know."""
    ours: str | None
    """Its value here, as text; nil if there is none."""
    theirs: str | None
    """Its value at the peer, as text; nil if there is none."""


class RowDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A row that differs."""

    table: str
    """`artifacts`, `agents`, `identities`, `members` or `rounds`."""
    id: str
    """Whose row it is, in hex."""
    name: str | None
    """Name of the identity or title of the artifact; nil if neither is known here."""
    held: Held
    """Who has the row."""
    fields: tuple[FieldDifference, ...]
    """What differs in it; empty if only one has the row."""


class WorldSide(msgspec.Struct, frozen=True, kw_only=True):
    """What one of the two says of its world."""

    cut: int
    """Number of its newest cut."""
    digest: str
    """Digest of that cut, in hex."""
    world_digest: str
    """Digest of the world at it, in hex."""
    charter_hash: str
    """Of the charter in force, in hex."""
    beacon: str
    """Public randomness after the cut, in hex."""
    version: str
    """Of its program, as it says."""


class CommonCut(msgspec.Struct, frozen=True, kw_only=True):
    """What both hold of the older of the two cuts."""

    cut: int
    """Its number."""
    equal: bool
    """Whether the digests of cut and world are the same."""
    ours: str
    """Digest of the world here at that cut, in hex."""
    theirs: str
    """The same at the peer."""


class Differences(msgspec.Struct, frozen=True, kw_only=True):
    """Our certified world beside a peer's."""

    peer: Who
    """The other instance."""
    same: bool
    """Whether nothing is to be explained: both agree about the newest cut that both have reached."""
    says: str
    """The outcome in a sentence."""
    ours: WorldSide
    """This instance."""
    theirs: WorldSide
    """The peer."""
    common: CommonCut | None
    """Nil if one of the two no longer holds the digests of the other's cut."""
    buckets: dict[str, int]
    """By table, how many of its 4,096 buckets differ; only of tables that do."""
    rows: tuple[RowDifference, ...]
    """Rows that differ, verified against what the peer claims; at most 256."""
    more_rows: int
    """Differing rows that were found and are not shown."""
    more_buckets: int
    """Differing buckets that were not looked into."""
    causes: tuple[Cause, ...]
    """What can explain it, the nearest to its origin first."""


def differences(world: World, peer: InstanceId, found: Difference) -> Differences:
    """Explain what a comparison with a peer has found."""
    rows = tuple(_row(world, pair) for pair in found.rows)
    is_whole = world.state.cut != found.ours.cut or world.digest == found.ours.world_digest
    return Differences(
        peer=who(world, peer),
        same=found.is_same,
        says=_says(found),
        ours=_side(found.ours),
        theirs=_side(found.theirs),
        common=_common(found.common),
        buckets={name.value: count for name, count in found.buckets.items()},
        rows=rows,
        more_rows=found.omitted,
        more_buckets=found.unread,
        causes=()
        if found.is_same and is_whole
        else causes_of(
            found,
            _fields(found.rows, rows),
            is_whole=is_whole,
            is_outvoted=any(live.state.diverged for live in world.slots.values()),
        ),
    )


def _says(found: Difference) -> str:
    """Say in a sentence what came out."""
    ours, theirs, common = found.ours.cut, found.theirs.cut, found.common
    cuts = f"The peer is at cut {theirs}, we at {ours}"
    if found.deceit:
        return "What the peer sends contradicts the digest that it claims."
    if found.is_level:
        if found.is_same:
            return f"Both are at cut {ours}, and their worlds are the same."
        return f"Both are at cut {ours}, and their worlds differ."
    if common is None:
        return (
            f"{cuts}, and one of the two does not hold the digests of the other's cut: "
            "nothing can be said yet; try again when both are level."
        )
    if common.is_equal:
        return (
            f"{cuts}: the digests of cut {common.cut} agree, so nothing is to be explained; "
            "try again when both are level."
        )
    return (
        f"{cuts}: the digests of cut {common.cut} differ already. The rows are those of two different "
        "cuts, so some of them differ only because of the time between."
    )


def _side(world: WorldAt) -> WorldSide:
    return WorldSide(
        cut=world.cut,
        digest=world.digest.hex(),
        world_digest=world.world_digest.hex(),
        charter_hash=world.charter_hash.hex(),
        beacon=world.beacon.hex(),
        version=world.version,
    )


def _common(common: Common | None) -> CommonCut | None:
    if common is None:
        return None
    return CommonCut(
        cut=common.cut,
        equal=common.is_equal,
        ours=common.ours.world_digest.hex(),
        theirs=common.theirs.world_digest.hex(),
    )


def _fields(
    pairs: Iterable[RowPair], rows: Iterable[RowDifference]
) -> dict[TableName, frozenset[str]]:
    """Collect by table the columns that differ in any of its rows."""
    found: dict[TableName, set[str]] = {}
    for pair, row in zip(pairs, rows, strict=True):
        names = found.setdefault(pair.table, set())
        if row.held is not Held.BOTH:
            names.add(WHOLE)
        known = len(COLUMNS[pair.table])
        for raw in (pair.ours, pair.theirs):
            if raw is not None and len(_values(pair.table, raw)) != known:
                names.add(FORM)
        names.update(field.field for field in row.fields)
    return {name: frozenset(names) for name, names in found.items()}


def _row(world: World, pair: RowPair) -> RowDifference:
    held = Held.BOTH
    if pair.ours is None or pair.theirs is None:
        held = Held.THEIRS if pair.ours is None else Held.OURS
    return RowDifference(
        table=pair.table.value,
        id=pair.id.hex(),
        name=_name(world, pair),
        held=held,
        fields=tuple(_differing(pair)),
    )


def _differing(pair: RowPair) -> Iterator[FieldDifference]:
    """Give the columns in which two rows of one id differ."""
    if pair.ours is None or pair.theirs is None:
        return
    ours, theirs = _values(pair.table, pair.ours), _values(pair.table, pair.theirs)
    names = COLUMNS[pair.table]
    for place in range(max(len(ours), len(theirs))):
        one, two = ours[place : place + 1], theirs[place : place + 1]
        # Compared as they are typed: 1 and true are equal in Python, and different rows.
        if list(map(_typed, one)) != list(map(_typed, two)):
            name = names[place] if place < len(names) else f"column {place + 1}"
            yield FieldDifference(
                field=name,
                means=MEANINGS[pair.table].get(name, ""),
                ours=_shown(one[0]) if one else None,
                theirs=_shown(two[0]) if two else None,
            )


def _values(table: TableName, raw: bytes) -> Sequence[Plain]:
    """Read the columns of a row; what is none counts as one column."""
    try:
        plain = decode_plain(raw, what="row")
    except PeerError:
        return (raw,)
    match plain:
        case [_, list() as columns]:
            # A row of rounds is one list of any length: all of it is one column.
            return (columns,) if table is TableName.ROUNDS else columns
        case [_, other]:
            return (other,)
        case _:
            return (raw,)


def _typed(value: Plain) -> object:
    if isinstance(value, list | tuple):
        return [_typed(one) for one in value]
    return (type(value), value)


def _shown(value: Plain) -> str:
    """Show a value as text of bounded length; ids and hashes in hex."""
    match value:
        case None:
            text = "none"
        case True:
            text = "yes"
        case False:
            text = "no"
        case bytes():
            text = value[:_LONGEST].hex()
        case list() | tuple():
            text = ", ".join(_shown(one) for one in value[:_LONGEST]) or "none"
        case _:
            text = str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _name(world: World, pair: RowPair) -> str | None:
    """Name the identity or artifact that a row is of."""
    if pair.table in {TableName.AGENTS, TableName.IDENTITIES, TableName.MEMBERS}:
        return who(world, pair.id).name
    artifact = world.state.artifacts.get(pair.id)
    if pair.table is not TableName.ARTIFACTS or artifact is None:
        return None
    _, text = article(world, artifact)
    return text.title if isinstance(text, ArtifactText) else None
