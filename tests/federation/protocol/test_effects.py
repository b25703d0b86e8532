"""Effects are data, and their order is part of what they say."""

from enum import Enum
from typing import get_args

import msgspec

from federation.certificates import Phase, packet_from_bytes
from federation.certificates.packets import MessagePacket
from federation.core import InstanceId
from federation.protocol import World, inputs, step
from federation.protocol import effects as subject
from federation.protocol.effects import Effect
from tests.federation.protocol.town import Town


class Watched(Town):
    """A town that keeps every list of effects as `step` gave it."""

    def _perform(self, me: InstanceId, effects: object) -> None:
        batch = list(effects)  # type: ignore[call-overload]
        self.stored.setdefault(b"batches", []).append(batch)
        super()._perform(me, batch)


def watched() -> list[list[Effect]]:
    """Give the effects of a whole vote, batch by batch."""
    town = Watched.of(4, 8)
    town.vote(town.propose(0), {index: 1 for index in range(1, 8) if index != 4})
    return town.stored[b"batches"]  # type: ignore[return-value]


def test_the_union_names_every_effect_of_the_module() -> None:
    classes = {
        one
        for one in vars(subject).values()
        if isinstance(one, type)
        and one.__module__ == subject.__name__
        and not issubclass(one, Enum)
    }

    assert set(get_args(Effect)) == classes


def test_an_effect_cannot_be_changed() -> None:
    for kind in get_args(Effect):
        if issubclass(kind, msgspec.Struct):
            assert kind.__struct_config__.frozen
            assert not kind.__struct_config__.dict
        else:
            assert kind.__dataclass_params__.frozen
            assert "__slots__" in vars(kind)


def test_every_signature_is_journalled_before_it_is_sent() -> None:
    sent = 0
    journal: set[bytes] = set()
    for batch in watched():
        for effect in batch:
            match effect:
                case subject.StoreJournal(entry=entry) if hasattr(entry, "raw"):
                    journal.add(entry.raw)
                case subject.SendPacket(packet=packet):
                    body = packet_from_bytes(packet).packet
                    if isinstance(body, MessagePacket):
                        assert body.raw in journal
                        sent += 1
                case _:
                    pass

    assert sent > 20


def test_a_record_is_stored_before_it_is_relayed() -> None:
    relayed = 0
    for batch in watched():
        stored: set[bytes] = set()
        for effect in batch:
            match effect:
                case subject.StoreRecord(record=record):
                    stored.add(record.id)
                case subject.Relay(records=records):
                    assert {one.id for one in records} <= stored
                    relayed += len(records)
                case _:
                    pass

    assert relayed > 20


def test_a_vote_gives_only_effects_of_the_union() -> None:
    for batch in watched():
        for effect in batch:
            assert isinstance(effect, get_args(Effect))


def test_a_step_without_news_asks_for_nothing() -> None:
    town = Town.of(3, 6)
    world: World = town.world()
    town.in_phase(town.open_round(town.propose(0)), Phase.COMMIT)

    assert step(world, inputs.BlobArrived(content=b"x", peer=bytes(32)), town.now) == []
