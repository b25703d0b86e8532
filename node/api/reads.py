"""Routes that only look: thin rows over `node.queries`.

Every answer is made between two awaits, so it shows one moment of the world.
"""

import base64
from importlib.metadata import version
from typing import Final

import msgspec

from federation.core import short
from federation.protocol import World
from federation.records import (
    ArtifactText,
    Note,
    Propose,
    Record,
    parse_record,
    read_text,
    wire,
)
from node.api.calls import Call, Reply
from node.api.errors import error_of
from node.api.ids import read_id
from node.api.limits import price_of_look
from node.api.schemas import (
    Fault,
    Glance,
    Gossip,
    Health,
    ListAgents,
    ListArtifacts,
    ListRounds,
    ListSnapshots,
    Peer,
    Peers,
    RecordPage,
    Reviews,
    Snapshot,
    Snapshots,
)
from node.base.errors import NodeCode
from node.queries import (
    agents,
    artifacts,
    charters,
    history,
    names,
    realm,
    rounds,
    trust,
    trust_graph,
    why,
)
from node.queries.live_rounds import artifact_now
from node.queries.names import Thing
from node.queries.texts import hidden
from node.runtime import PeerView
from node.runtime.network import GossipView

VERSION: Final = version("folkmoot")
ROWS_A_ROUND: Final = 10
"""What a round in a story costs: as much as so many explained rows."""
_NULL: Final = msgspec.Raw(b"null")


async def health(call: Call) -> Health:
    """Tell how the instance is; it answers, so the status is 200."""
    found = call.node.health()
    return Health(state=found.state, reasons=found.reasons, version=VERSION)


async def ready(call: Call) -> Reply:
    """Tell by the status whether the instance takes part."""
    found = await health(call)
    return Reply(status=200 if found.state == "ready" else 503, content=found)


async def show_realm(call: Call) -> realm.RealmPage:
    """Show the realm."""
    return realm.realm(call.node.world)


async def show_charter(call: Call) -> charters.CharterPage:
    """Show the charter."""
    return charters.charter(call.node.world)


async def show_members(call: Call) -> realm.MembersPage:
    """Show the members."""
    return realm.members(call.node.world)


async def overview(call: Call) -> realm.Overview:
    """Show everything at a glance."""
    most = call.ask(Glance).most
    return realm.overview(call.node.world, call.node.clock.now(), most=most)


async def list_peers(call: Call) -> Peers:
    """List the other instances; without the operator's token only how many there are."""
    found = call.node.peers()
    network = call.node.network if call.caller.operates else None
    return Peers(
        known=len(found),
        connected=sum(one.connected for one in found),
        peers=tuple(map(peer_of, found)) if call.caller.operates else None,
        gossip=gossip_of(network.gossip()) if network is not None else None,
    )


def gossip_of(view: GossipView) -> Gossip:
    """Show what gossip has lost."""
    return Gossip(
        published_dropped=view.published_dropped,
        undelivered=view.undelivered,
        received_dropped=view.received_dropped,
        refused=view.refused,
    )


def peer_of(view: PeerView) -> Peer:
    """Show one other instance."""
    return Peer(
        instance=view.instance.hex(),
        operator=view.operator.hex(),
        name=view.name,
        address=view.address,
        connected=view.connected,
        cut=view.cut,
        last_progress=view.last_progress,
        score=view.score,
        banned_until=view.banned_until,
        why=tuple(Fault(at=one.at, code=one.code, why=one.why, cost=one.cost) for one in view.why),
        unreachable=view.unreachable,
        dropped=view.dropped,
    )


async def list_artifacts(call: Call) -> artifacts.ArtifactList:
    """List artifacts, newest first."""
    asked = call.ask(ListArtifacts)
    world = call.node.world
    after = names.resolve(world, asked.after, things=(Thing.ARTIFACT,)).id if asked.after else None
    return artifacts.listing(
        world, state=asked.state, topic=asked.topic, after=after, most=asked.most
    )


async def show_artifact(call: Call) -> artifacts.ArtifactPage:
    """Show one artifact."""
    name = call.named(Thing.ARTIFACT)
    return artifacts.one(call.node.world, name, call.node.clock.now())


async def show_history(call: Call) -> history.History:
    """Tell the story of an artifact."""
    name, world = call.named(Thing.ARTIFACT), call.node.world
    # Anybody may add a round to it by a report, and its story tells of all of them.
    call.spend(price_of_look(0, 0, len(world.state.rounds_of.get(name, ())) * ROWS_A_ROUND))
    return history.history(world, name)


async def show_why(call: Call) -> why.Why:
    """Tell what an artifact waits for, or why it ended as it did."""
    return why.why(call.node.world, call.named(Thing.ARTIFACT), call.node.clock.now())


async def list_rounds(call: Call) -> rounds.OpenRounds:
    """List open rounds, oldest first."""
    asked = call.ask(ListRounds)
    world = call.node.world
    after = names.resolve(world, asked.after, things=(Thing.ROUND,)).id if asked.after else None
    return rounds.open_rounds(world, call.node.clock.now(), after=after, most=asked.most)


async def show_round(call: Call) -> rounds.RoundPage:
    """Show one round."""
    name = call.named(Thing.ROUND)
    return rounds.one(call.node.world, name, call.node.clock.now())


async def list_agents(call: Call) -> agents.AgentList:
    """List agents."""
    asked = call.ask(ListAgents)
    world = call.node.world
    after = names.resolve(world, asked.after, things=(Thing.AGENT,)).id if asked.after else None
    return agents.listing(world, after=after, most=asked.most)


async def show_agent(call: Call) -> agents.AgentPage:
    """Show one identity."""
    return agents.one(call.node.world, call.named(Thing.AGENT))


async def show_trust(call: Call) -> trust.TrustPage:
    """Show where an agent's standing comes from."""
    state, name = call.node.world.state, call.named(Thing.AGENT)
    rows = len(state.ledger.rows(name))
    call.spend(price_of_look(len(state.agents), state.graph.edges, rows))
    return trust.trust(call.node.world, name)


async def show_trust_graph(call: Call) -> trust_graph.TrustGraph:
    """Show who trusts whom."""
    state = call.node.world.state
    call.spend(price_of_look(len(state.agents), state.graph.edges))
    return trust_graph.graph(call.node.world)


async def list_reviews(call: Call) -> Reviews:
    """List what an agent may do now."""
    agent = call.named(Thing.AGENT)
    return Reviews(rounds=rounds.to_review(call.node.world, agent, call.node.clock.now()))


async def list_snapshots(call: Call) -> Snapshots:
    """List stored snapshots by cut."""
    asked = call.ask(ListSnapshots)
    found = await call.node.store.snapshots(asked.after, asked.most + 1)
    shown = found[: asked.most]
    return Snapshots(
        snapshots=tuple(
            Snapshot(
                cut=one.cut,
                tick=one.tick,
                digest=one.digest.hex(),
                world_digest=one.world_digest.hex(),
            )
            for one in shown
        ),
        next=shown[-1].cut if len(found) > len(shown) else None,
    )


async def show_record(call: Call) -> RecordPage:
    """Show one record, as it travels and in parts."""
    world = call.node.world
    name = read_id("id", call.path["id"])
    record = world.log.get(name)
    if record is None:
        raw = await call.node.store.record(name)
        record = parse_record(world.realm, raw) if raw is not None else None
    if record is None:
        raise error_of(
            NodeCode.NOT_FOUND,
            f"record {short(name)}… not found",
            why="no record here has this id",
        )
    return record_page(world, record)


def record_page(world: World, record: Record) -> RecordPage:
    """Show a record; the text of a hidden artifact stays out."""
    known = world.state.artifacts.get(record.id)
    now = artifact_now(world, known) if known is not None else None
    if hidden(world, record.id, now) is not None:
        record = record.with_text(None)
    statement = record.statement
    return RecordPage(
        id=record.id.hex(),
        cid=names.cid_of(record.id),
        wire=base64.b64encode(wire(record)).decode(),
        kind=record.kind,
        author=record.author.hex(),
        key_index=statement.key_index,
        seq=record.seq,
        prev=record.prev.hex() if record.prev else None,
        at=statement.at,
        body=_raw(record.body) if record.body is not None else _NULL,
        text=_text(record),
    )


def _text(record: Record) -> msgspec.Raw:
    if record.text_raw is None:
        return _NULL
    kind = ArtifactText if isinstance(record.body, Propose) else Note
    return _raw(read_text(record.text_raw, kind))


def _raw(content: msgspec.Struct | None) -> msgspec.Raw:
    """Encode with byte strings in hex."""
    return msgspec.Raw(msgspec.json.encode(_plain(content)))


def _plain(value: object) -> object:
    """Turn structs into plain values, byte strings into hex."""
    match msgspec.to_builtins(value, builtin_types=(bytes,), str_keys=True):
        case bytes() as raw:
            return raw.hex()
        case dict() as table:
            return {key: _plain(one) for key, one in table.items()}
        case list() | tuple() as items:
            return [_plain(one) for one in items]
        case plain:
            return plain
