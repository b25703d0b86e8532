"""Snapshots as bytes: the same on every node of a cut, and refused unless they are exactly right."""

import functools

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.codec import encode
from federation.core import PeerError
from federation.crypto import plain_hash
from federation.protocol import World, snapshot
from federation.protocol.snapshot import VERSION, Snapshot, _check, _File, _Live
from tests.federation.protocol.town import Town, founding
from tests.federation.protocol.trial import Trial


@functools.cache
def grown() -> Trial:
    """Three instances that have decided one artifact and are in the middle of another."""
    town = Trial.of(3, 6, operators=6)
    town.vote(town.propose(0), {1: 1, 2: -1, 4: 1})
    town.settled()
    town.open_round(town.propose(1, "Another"))
    town.rest(300)
    return town


def read(content: bytes, world: World) -> Snapshot:
    return snapshot.read(content, charter=world.charter, log=world.log)


def test_nodes_at_one_cut_write_the_same_certified_bytes() -> None:
    town = grown()
    taken = [snapshot.take(world) for world in town.live()]

    assert len({world.state.cut for world in town.live()}) == 1
    assert len({snapshot.digest(content) for content in taken}) == 1
    # What is live is everybody's own: each counts its own signatures.
    assert len(set(taken)) > 1
    assert taken == [snapshot.take(world) for world in town.live()]


def test_another_cut_has_another_digest() -> None:
    town = Town.of(1, 4)
    digests = set()
    for number in (1, 2, 3):
        town.in_cut(number)
        digests.add(snapshot.digest(snapshot.take(town.world())))

    assert len(digests) == 3


def test_what_was_taken_reads_back_and_is_taken_again_alike() -> None:
    world = grown().world()
    content = snapshot.take(world)
    found = read(content, world)
    again = msgspec.msgpack.decode(content, type=_File)

    assert found.counter == world.me.counter  # type: ignore[union-attr]
    assert found.certificates == world.certificates.open
    assert found.certified.contained == world.certificates.contained
    assert again.check == _check(VERSION, again.certified, again.live)


def test_an_observer_counts_no_signatures() -> None:
    town = grown()
    world = town.world()
    me, world.me = world.me, None
    try:
        content = snapshot.take(world)
    finally:
        world.me = me

    assert read(content, world).counter == 0


@settings(max_examples=40)
@given(data=st.data())
def test_a_snapshot_with_one_changed_bit_is_refused(data: st.DataObject) -> None:
    world = grown().world()
    content = bytearray(snapshot.take(world))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))

    with pytest.raises(PeerError):
        read(bytes(content), world)


@pytest.mark.parametrize("length", [0, 1, 100, -1])
def test_a_snapshot_that_was_cut_short_is_refused(length: int) -> None:
    world = grown().world()

    with pytest.raises(PeerError):
        read(snapshot.take(world)[:length], world)
    with pytest.raises(PeerError):
        snapshot.digest(snapshot.take(world)[:length])


def test_another_format_is_refused_by_its_number() -> None:
    world = grown().world()
    file = msgspec.msgpack.decode(snapshot.take(world), type=_File)
    older = msgspec.structs.replace(file, version=0, check=_check(0, file.certified, file.live))

    with pytest.raises(PeerError, match="its format is 0"):
        read(encode(older), world)


def sealed(certified: bytes, live: bytes) -> bytes:
    return encode(_File(VERSION, certified, live, _check(VERSION, certified, live)))


def test_a_field_that_this_program_does_not_know_is_refused_and_not_lost() -> None:
    world = grown().world()
    file = msgspec.msgpack.decode(snapshot.take(world), type=_File)
    table = msgspec.msgpack.decode(file.certified)
    agents = next(rows for rows in table if isinstance(rows, list) and "scope" in str(rows[:1]))
    agents[0]["later"] = 1

    with pytest.raises(PeerError, match="encodes to other bytes"):
        read(sealed(encode(table), file.live), world)


def test_a_live_part_of_another_shape_is_refused() -> None:
    world = grown().world()
    file = msgspec.msgpack.decode(snapshot.take(world), type=_File)

    for live in (b"", encode(_Live(-1, ())), encode(_Live(1, ([1],)))):
        with pytest.raises(PeerError):
            read(sealed(file.certified, live), world)


def test_a_snapshot_of_another_realm_is_refused() -> None:
    world = grown().world()
    stranger = founding(3, 6, operators=6, seed="elsewhere").charter

    with pytest.raises(PeerError, match="another realm"):
        snapshot.read(snapshot.take(world), charter=stranger, log=world.log)


def test_the_digest_names_its_domain() -> None:
    content = snapshot.take(grown().world())
    file = msgspec.msgpack.decode(content, type=_File)

    assert snapshot.digest(content) == plain_hash(b"folkmoot/1/snapshot" + file.certified)
