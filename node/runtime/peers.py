"""What an operator sees of the other instances: who they are, how far, how they behaved.

Also the addresses that the operator added while the node ran: `peers.json`, beside the settings.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from federation.core import InstanceId, Millis, OperatorId, PublicKey
from federation.protocol import World
from federation.records import Incept
from node.base.errors import NetworkError, NodeCode, NodeError
from node.base.paths import write_private
from node.network.book import Reason
from node.network.dialer import Dialer
from node.network.identity import read_address
from node.network.links import Links

MOST_ADDED: Final = 256
"""Addresses that may be added while the node runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerView:
    """One other instance of the realm."""

    instance: InstanceId
    operator: OperatorId
    name: str
    key: PublicKey
    address: str | None
    """Where it is called, if its address is known here."""
    connected: bool
    cut: int
    last_progress: Millis | None
    """Unix time in ms at which it last answered a question."""
    score: int
    """What its faults add up to; 0 is spotless."""
    banned_until: Millis | None
    """Unix time in ms."""
    why: tuple[Reason, ...]
    unreachable: str
    """Why there is no conversation although its address is known; else empty."""
    dropped: int
    """Packets and records for it that gave way because it took too few."""


def peer_views(world: World, links: Links, dialer: Dialer | None) -> tuple[PeerView, ...]:
    """Tell of every other instance, by id."""
    me = world.me.instance if world.me else None
    calls = dialer.calls.values() if dialer else ()
    by_key = {read_address(call.address)[1]: call for call in calls}
    found = []
    for instance, operator in sorted(world.state.instances.items()):
        if instance == me:
            continue
        key = world.state.identities[instance].keys.key
        call = by_key.get(key)
        known = links.known.get(instance)
        connected = instance in links.connected
        found.append(
            PeerView(
                instance=instance,
                operator=operator,
                name=name_of(world, instance),
                key=key,
                address=call.address if call else None,
                connected=connected,
                cut=known.cut if known else 0,
                last_progress=known.last_progress if known else None,
                score=links.book.score(key),
                banned_until=links.book.banned_until_wall(key),
                why=links.book.why(key),
                unreachable=call.why if call and not connected else "",
                dropped=links.dropped(instance),
            )
        )
    return tuple(found)


def name_of(world: World, identity: bytes) -> str:
    """Give the name that an identity gave itself; it proves nothing."""
    record = world.log.get(identity)
    return record.body.name if record is not None and isinstance(record.body, Incept) else ""


def read_addresses(path: Path) -> tuple[str, ...]:
    """Read the addresses that were added while the node ran."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return ()
    except ValueError as error:
        raise _damaged(path) from error
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise _damaged(path)
    try:
        for one in found:
            read_address(one)
    except NetworkError as error:
        raise _damaged(path) from error
    return tuple(found[:MOST_ADDED])


def write_addresses(path: Path, addresses: Sequence[str]) -> None:
    """Keep them."""
    write_private(path, json.dumps(list(addresses), indent=1).encode() + b"\n")


def _damaged(path: Path) -> NodeError:
    return NodeError(
        f"{path} not read",
        why="it is no list of addresses",
        fix="correct or remove it, and add the peers again",
        code=NodeCode.BAD_SETTINGS,
    )
