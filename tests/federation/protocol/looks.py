"""What tests of the desks look up in a town: what a member holds, and what it would say of it."""

from msgspec.structs import replace

from federation.certificates import (
    CutHolding,
    CutSlot,
    CutWitness,
    ListWitness,
    RoundSlot,
    Witnessed,
    slot_key,
)
from federation.crypto import plain_hash
from federation.protocol import World
from federation.protocol.desks import CutDesk, RoundDesk, desk_of
from tests.federation.protocol.town import Town


def cut_desk(town: Town, index: int = 0, *, now: int | None = None) -> CutDesk:
    """Give the desk of the next cut at one instance."""
    world = town.world(index)
    slot = CutSlot(number=world.state.cut + 1, previous=world.state.digest)
    desk = desk_of(world, world.slots[slot_key(slot)], town.now if now is None else now)
    assert isinstance(desk, CutDesk)
    return desk


def holding(town: Town, index: int = 0, *, now: int | None = None) -> CutHolding:
    found = cut_desk(town, index, now=now).holding()
    assert isinstance(found, CutHolding)
    return found


def witnessed(town: Town, index: int, **changes: object) -> Witnessed:
    """Let an instance say what it holds, with some fields changed."""
    held = holding(town, index)
    body = CutWitness(
        chains=plain_hash(held.chains),
        tick=held.tick,
        world=held.world,
        secret=held.secret,
        next_hash=held.next_hash,
    )
    world = town.world(index)
    assert world.me is not None
    return Witnessed(
        operator=world.state.instances[world.me.instance],
        voice=world.me.instance,
        body=replace(body, **changes),
        chains=held.chains,
    )


def round_desk(town: Town, opened: bytes, *, age: int | None = None) -> RoundDesk:
    world: World = town.world()
    one = world.rounds[opened]
    assert one.phase is not None
    live = world.slots[slot_key(RoundSlot(round_id=opened, phase=one.phase))]
    now = town.now if age is None else one.opened_at + age
    desk = desk_of(world, live, now)
    assert isinstance(desk, RoundDesk)
    return desk


def lists(town: Town, *ids: tuple[bytes, ...], late: bool = False) -> list[Witnessed]:
    return [
        Witnessed(
            operator=town.founding.operators[index],
            voice=town.founding.instances[index],
            body=ListWitness(ids=tuple(sorted(one)), late=late),
            chains=None,
        )
        for index, one in enumerate(ids)
    ]
