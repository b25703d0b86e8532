"""Addresses that were added are kept, and a damaged file is told instead of misread."""

import json
from pathlib import Path

import pytest
import trio

from federation.records import Kind
from node.base.errors import NodeCode, NodeError, RequestError
from node.network.identity import peer_id_of
from node.runtime import peers as module
from node.runtime.peers import name_of, read_addresses, write_addresses
from tests.federation.protocol.town import Town
from tests.node.runtime.quick import quick


def address(number: int) -> str:
    return f"/ip4/127.0.0.1/tcp/{4000 + number}/p2p/{peer_id_of(bytes([number]) * 32)}"


def test_there_are_none_before_any_was_added(tmp_path: Path) -> None:
    assert read_addresses(tmp_path / "peers.json") == ()


def test_addresses_are_kept_in_order_and_for_the_owner_only(tmp_path: Path) -> None:
    place = tmp_path / "peers.json"
    write_addresses(place, [address(2), address(1)])

    assert read_addresses(place) == (address(2), address(1))
    assert place.stat().st_mode & 0o777 == 0o600

    write_addresses(place, [])

    assert read_addresses(place) == ()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"{}", b'"x"', b"[1]", b'["127.0.0.1:4000"]', b'["/ip4/127.0.0.1/tcp/1"]', b"\xff"],
)
def test_a_damaged_file_is_told(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "peers.json"
    place.write_bytes(content)
    with pytest.raises(NodeError, match="list of addresses") as refused:
        read_addresses(place)

    assert refused.value.code is NodeCode.BAD_SETTINGS
    assert place.read_bytes() == content


def test_no_file_makes_a_node_call_any_number_of_addresses(tmp_path: Path) -> None:
    place = tmp_path / "peers.json"
    place.write_text(json.dumps([address(1)] * (module.MOST_ADDED + 1)))

    assert len(read_addresses(place)) == module.MOST_ADDED


def test_an_identity_has_the_name_it_gave_itself() -> None:
    town = Town.of(1, 1, seed="names")
    world = town.world()

    assert name_of(world, town.founding.instances[0]) == "instance 0"
    assert name_of(world, bytes(32)) == ""
    # A record that is no inception names nobody.
    other = next(iter(world.log.by_kind(Kind.DELEGATE)))
    assert name_of(world, other.id) == ""


@pytest.mark.trio
async def test_the_number_of_added_addresses_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("node.runtime.node.MOST_ADDED", 2)
    town = quick(tmp_path)
    with trio.fail_after(30):
        async with town.node(0) as node:
            node.add_peer(address(1))
            node.add_peer(address(2))
            node.add_peer(address(2))
            with pytest.raises(RequestError) as refused:
                node.add_peer(address(3))

    assert refused.value.code is NodeCode.BUSY
    assert module.read_addresses(town.places[0].peers) == (address(1), address(2))
