"""Watches what honest members sign: never against themselves, never before it is durable.

A promise that was broken, a fence that fell, a message that left before its journal entry, or a
proof of fault that names somebody honest: each of these would be a bug of the core, whatever the
liars do (design: federation, assert).
"""

from typing import TYPE_CHECKING

from federation.certificates import MessagePacket, SignedEntry, packet_from_bytes
from federation.protocol import effects as fx
from federation.records import LogFault, LogFork, Record
from federation.simulation.network.letters import Packet, Sent
from federation.simulation.network.monitors.monitor import Monitor
from federation.simulation.network.monitors.votes import Said, SlotName, read

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class Members(Monitor):
    """Signed fences never fall, nothing leaves before it is durable, no honest member is blamed."""

    def __init__(self, blameless: frozenset[bytes]) -> None:
        """Watch the members and agents of `blameless`: nobody may prove anything against them."""
        super().__init__()
        self._blameless = blameless
        self._durable: set[bytes] = set()
        self._counters: dict[bytes, int] = {}
        self._promised: dict[tuple[bytes, SlotName], int] = {}
        self._signed: dict[tuple[bytes, SlotName, str, object], tuple[object, ...]] = {}
        self._checked: set[bytes] = set()

    def stored(self, node: "SimNode", effect: fx.Effect) -> None:
        """Read journal entries of honest members, and accusations by anybody."""
        match effect:
            case fx.StoreJournal(entry=SignedEntry(raw=raw)) if node.instance in self._blameless:
                self._durable.add(raw)
                said = read(raw)
                assert said is not None, "what a core signs can be read"  # noqa: S101 # ours
                self._signs(node, said)
            case fx.StoreRecord(record=record):
                self._accuses(record)
            case _:
                pass

    def sent(self, node: "SimNode", sent: Sent) -> None:
        """See that an honest member's own messages are in its journal before they leave."""
        letter = sent.letter
        if node.instance not in self._blameless or not isinstance(letter, Packet):
            return
        if letter.packet in self._checked:
            return
        self._checked.add(letter.packet)
        packet = packet_from_bytes(letter.packet).packet
        if not isinstance(packet, MessagePacket) or packet.raw in self._durable:
            return
        said = read(packet.raw)
        if said is not None and said.voice == node.instance:
            self.broke("sent before it was durable", f"a message of {node.name}")

    def _signs(self, node: "SimNode", said: Said) -> None:
        if said.counter <= self._counters.get(said.voice, -1):
            self.broke("a counter was used twice", f"{said.counter} by {node.name}")
        self._counters[said.voice] = said.counter
        here = (said.voice, said.slot)
        promised = self._promised.get(here, 0)
        fence = said.rest[0] if said.step != "witness" else None
        if isinstance(fence, int) and fence < promised:
            self.broke(
                "a fence fell", f"{node.name} signed a {said.step} at {fence} below {promised}"
            )
        if said.step == "promise" and isinstance(fence, int):
            self._promised[here] = fence
        key = (*here, said.step, fence)
        if self._signed.setdefault(key, said.rest) != said.rest:
            self.broke("signed twice", f"{node.name}, a {said.step} at {fence}")

    def _accuses(self, record: Record) -> None:
        match record.body:
            case LogFault(a=a):
                said = read(a.message)
                voice = said.voice if said is not None else b""
            case LogFork(author=author):
                voice = author
            case _:
                return
        if voice in self._blameless:
            self.broke("an honest member was blamed", f"{record.kind} against {voice[:6].hex()}")
