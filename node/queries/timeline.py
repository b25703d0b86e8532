"""Which cut contains a record, and at which tick: for stories, not for decisions.

The core keeps the digest of every cut, so the certificate of any cut is found by its number. It
does not keep in which cut a record first stood: the certified positions are looked through from a
cut on, and ticks are counted back from the last one. Both ways are bounded: what lies farther away
is left out.
"""

from collections.abc import Iterable
from typing import Final

from federation.certificates import CutSlot, CutValue, Positions, positions_from_blob, slot_key
from federation.core import RecordId
from federation.protocol import World

FAR: Final = 5_000
"""Cuts that are looked through at most."""


def cut_value(world: World, number: int) -> CutValue | None:
    """Give the certified value of a cut; None for cut 0, for one to come, or if it is not held."""
    cuts = world.state.cuts
    if not 0 < number <= len(cuts):
        return None
    slot = CutSlot(number=number, previous=cuts[number - 1])
    certificate = world.certificates.get(slot_key(slot))
    value = certificate.value if certificate else None
    return value if isinstance(value, CutValue) else None


def tick_of(world: World, number: int) -> int | None:
    """Count the ticks up to a cut, itself included; None for a cut long past or not held."""
    last = world.state.cut
    if number == 0:
        return 0
    if not last - FAR <= number <= last:
        return None
    tick = world.state.tick
    for later in range(last, number, -1):
        value = cut_value(world, later)
        if value is None:
            return None
        tick -= value.tick
    return tick


def cuts_of(world: World, records: Iterable[RecordId], *, first: int) -> dict[RecordId, int]:
    """Find the cuts that first contain some held records, looking from cut `first` on.

    Records that none of the next `FAR` cuts contains are left out.
    """
    wanted = {name: held.author for name in records if (held := world.log.get(name)) is not None}
    found: dict[RecordId, int] = {}
    for number in range(first, min(world.state.cut, first + FAR) + 1):
        if len(found) == len(wanted):
            break
        moved = _moved(world, number)
        for name, author in wanted.items():
            if name not in found and author in moved:
                here = moved[author]
                if world.log.is_ancestor(name, here.head):
                    found[name] = number
    return found


def _moved(world: World, number: int) -> Positions:
    """Give the authors that a cut moved, with their new positions: all that its blob names."""
    value = cut_value(world, number)
    blob = world.blobs.get(value.positions) if value else None
    return {} if blob is None else positions_from_blob(blob)
