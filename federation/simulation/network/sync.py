"""Reconciliation between two simulated instances: heads there, missing records back, both ways.

The same pages and the same `Log.missing_from` as between real nodes (design: moving records).
A batch that was full is followed by another request, as long as it brought something new.
"""

from federation.certificates import Heard
from federation.core import InstanceId, Millis, PeerError
from federation.protocol import World
from federation.records import Record
from federation.replication import heads_pages, read_heads_page
from federation.simulation.network.letters import (
    AskMissing,
    AskRecords,
    GiveMissing,
    Gossip,
    Hello,
)

BATCH = 256
"""Records in one letter."""
DEPTH = 32
"""Predecessors that are sent along with a record that was asked for by id."""


def ask_missing(world: World, slot: bytes | None, began: Millis, batch: int = 0) -> AskMissing:
    """Tell a peer what is held here."""
    return AskMissing(pages=pages_of(world), slot=slot, began=began, batch=batch)


def give_missing(world: World, asked: AskMissing) -> GiveMissing:
    """Answer with what the asker lacks, and tell what is held here."""
    records = lacking(world, asked.pages)
    return GiveMissing(
        asked=asked, records=records, pages=pages_of(world), more=len(records) >= BATCH
    )


def lacking(world: World, pages: tuple[bytes, ...]) -> tuple[Record, ...]:
    """List what a peer with these heads lacks, at most one batch; nothing for a broken page."""
    found: list[Record] = []
    for raw in pages:
        try:
            page = read_heads_page(raw)
        except PeerError:
            return ()
        found += world.log.missing_from(
            page.heads, most=BATCH - len(found), within=(page.low, page.high)
        )
        if len(found) >= BATCH:
            break
    return tuple(found)


def pages_of(world: World) -> tuple[bytes, ...]:
    """Give the heads of everything held here."""
    return tuple(heads_pages(world.log.author_heads()))


def with_ancestors(world: World, asked: AskRecords) -> Gossip:
    """Collect the records asked for that are held here, each after those before it."""
    found: dict[bytes, Record] = {}
    for name in asked.records:
        record = world.log.get(name)
        if record is not None:
            for one in world.log.path(name, record.seq - DEPTH - 1):
                found.setdefault(one.id, one)
    return Gossip(records=tuple(found.values()))


def hello(world: World, to: InstanceId) -> Hello:
    """Say how far this node is, and show the latest message of `to` that it has heard."""
    heard: Heard | None = world.heard.get(to)
    seen = None if heard is None else (heard.raw, heard.signature)
    return Hello(cut=world.state.cut, seen=seen)
