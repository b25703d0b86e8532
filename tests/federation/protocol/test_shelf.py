import pytest

from federation.certificates import CutSlot, slot_key
from federation.core import RecordId
from federation.protocol import World, finality, inputs, step
from federation.protocol import effects as fx
from federation.protocol.shelf import Shelf, certificate_in
from federation.records import CertificateFinal, Kind
from tests.builders import named
from tests.federation.protocol.trial import Trial


@pytest.fixture
def town() -> Trial:
    town = Trial.of(3, 6, operators=6)
    town.vote(town.propose(0), {1: 1, 2: 1, 4: 1})
    return town.settled()  # type: ignore[return-value]


def copies(world: World, key: bytes) -> list[RecordId]:
    return [
        record.id
        for record in world.log.by_kind(Kind.CERTIFICATE)
        if isinstance(record.body, CertificateFinal) and record.body.slot == key
    ]


def test_what_a_cut_contains_is_read_from_the_log_and_no_longer_kept(town: Trial) -> None:
    world = town.world()
    shelf = world.certificates

    assert shelf.contained
    assert shelf.contained.keys().isdisjoint(shelf.open)
    # Open are the newest cut's and, at most, what has become final since.
    assert len(shelf.open) < len(shelf.contained)
    for key, name in shelf.contained.items():
        assert name in copies(world, key)
        record = world.log.get(name)
        assert record is not None
        assert finality.proven(world, record) == shelf[key]
        assert slot_key(shelf[key].slot) == key
    assert len(shelf) == len(list(shelf)) == len(shelf.contained) + len(shelf.open)


def test_who_comes_late_is_answered_from_the_log(town: Trial) -> None:
    world = town.world()
    first = next(
        key
        for key, one in world.certificates.items()
        if isinstance(one.slot, CutSlot) and one.slot.number == 1
    )
    assert first in world.certificates.contained
    sent = next(raw for _, raw in town.packets if first in raw)
    effects = step(world, inputs.Packet(packet=sent, peer=named("latecomer")), town.now)
    answers = [one for one in effects if isinstance(one, fx.SendPacket)]

    assert [one.to for one in answers] == [named("latecomer")]


def test_a_certificate_is_held_until_it_is_forgotten_wherever_it_is(town: Trial) -> None:
    world = town.world()
    known = world.certificates
    key, name = next(iter(known.contained.items()))
    certificate = known[key]
    shelf = Shelf(world.log)
    assert key not in shelf
    assert shelf.get(key) is None
    shelf[key] = certificate

    assert list(shelf) == [key]
    shelf.shelve(key, name)
    assert shelf.open == {}
    assert shelf[key] == certificate
    # The first record that holds it stays the one that counts.
    shelf.shelve(key, named("another"))
    assert shelf.contained == {key: name}
    shelf[key] = certificate
    assert (len(shelf), list(shelf)) == (1, [key])
    del shelf[key]
    assert key not in shelf
    with pytest.raises(KeyError):
        del shelf[key]
    with pytest.raises(KeyError):
        shelf[key]
    shelf[key] = certificate
    del shelf[key]
    assert len(shelf) == 0
    shelf.shelve(key, name)
    del shelf[key]
    assert not shelf


def test_a_record_reads_as_the_certificate_that_it_was_made_of(town: Trial) -> None:
    for certificate in town.world().certificates.values():
        assert certificate_in(finality.body_of(certificate)) == certificate
