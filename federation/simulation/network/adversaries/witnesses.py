"""Members that lie about what they hold."""

from typing import TYPE_CHECKING

from federation.certificates import (
    MOST_LISTED,
    CutWitness,
    ListWitness,
    Part,
    PartKind,
    blob_hash,
    chains_blob,
    slot_key,
)
from federation.core import InstanceId, Lots
from federation.simulation.network.adversaries.liar import Liar, Spoken
from federation.simulation.network.letters import Packet

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class InventedIds(Liar):
    """Names as many records as a witness may hold, and none of them exists.

    It says the same to everybody, so nothing proves that it lies; its names must simply not count,
    and nobody may wait for the records.
    """

    def __init__(self) -> None:
        """Start with no witness forged."""
        super().__init__()
        self._forged: dict[bytes, Packet] = {}

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Replace every witness by one full of invented names."""
        del to
        key = slot_key(spoken.slot)
        match spoken.heard.body:
            case ListWitness(late=late):
                if key not in self._forged:
                    body = ListWitness(ids=invented_ids(key, MOST_LISTED), late=late)
                    self._forged[key] = self.lie(node, spoken.pinned, body)
                return self._forged[key]
            case CutWitness() as body:
                if key not in self._forged:
                    blob = self._chains(node, key)
                    forged = CutWitness(
                        chains=blob_hash(blob),
                        tick=body.tick,
                        world=body.world,
                        secret=body.secret,
                        next_hash=body.next_hash,
                    )
                    part = Part(kind=PartKind.BLOB, content=blob)
                    self._forged[key] = self.lie(node, spoken.pinned, forged, (part,))
                return self._forged[key]
            case _:
                return packet

    def _chains(self, node: "SimNode", key: bytes) -> bytes:
        founding = node.founding
        held = {
            author: [[one] for one in invented_ids(key + author, 8)]
            for author in (*founding.agents, *founding.instances)
        }
        return chains_blob(held, beacon=bytes(32), most=MOST_LISTED)


def invented_ids(seed: bytes, count: int) -> tuple[bytes, ...]:
    """Make up record ids, ascending as a witness must list them."""
    lots = Lots("invented", seed.hex())
    return tuple(sorted(lots.bytes32() for _ in range(count)))
