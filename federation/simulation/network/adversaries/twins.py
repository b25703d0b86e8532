"""Twins: one member runs two honest programs under one key, and shows each half of the others one.

Every equivocation arises by itself from this: two witnesses, two proposals, two cosigns and seals
at one fence, two cuts of one number. Both programs compare records with everybody, as they must
before they may speak, but the second one takes in what this member's own agents say in a phase only when
that phase is final: so the two hold different records, and their lists differ.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from federation.certificates import Seal
from federation.core import AgentId, InstanceId, Lots
from federation.records import Record
from federation.replication import round_of
from federation.review import course
from federation.simulation.network.adversaries.liar import Liar, Spoken
from federation.simulation.network.letters import AskMissing, GiveMissing, Gossip, Letter, Packet

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode

_SECOND = 1 << 20
"""Batches from here on were asked for by the second program; whoever answers repeats the number."""


class _Half(Liar):
    """The second program: speaks to its own half, and hears some agents too late."""

    def __init__(self, audience: frozenset[InstanceId], unheard: frozenset[AgentId]) -> None:
        super().__init__()
        self._audience = audience
        self._unheard = unheard

    def outgoing(self, node: "SimNode", to: InstanceId, letter: Letter) -> Letter | None:
        del node
        if isinstance(letter, AskMissing):
            return replace(letter, batch=letter.batch | _SECOND)
        return letter if to in self._audience else None

    def incoming(self, node: "SimNode", sender: InstanceId, letter: Letter) -> Letter | None:
        match letter:
            case Gossip(records=records):
                kept = tuple(one for one in records if not self._misses(node, one))
                return Gossip(records=kept) if kept else None
            case GiveMissing(records=records):
                kept = tuple(one for one in records if not self._misses(node, one))
                return replace(letter, records=kept)
            case _:
                return super().incoming(node, sender, letter)

    def _misses(self, node: "SimNode", record: Record) -> bool:
        name = round_of(record)
        if node.world is None or name is None or record.author not in self._unheard:
            return False
        one = node.world.rounds.get(name)
        open_after = course(one.pin, one.finals).after.get(one.phase) if one and one.phase else None
        return getattr(record.body, "after", None) == open_after


class Twins(Liar):
    """A member with two faces: `second` are the places of the instances that see the other one."""

    def __init__(self, second: frozenset[int]) -> None:
        """Show the second face to some instances of the founding."""
        super().__init__()
        self._places = second
        self._second: frozenset[InstanceId] = frozenset()
        self._twin: SimNode | None = None

    def begin(self, node: "SimNode") -> None:
        """Start the second program."""
        founding = node.founding
        self._second = frozenset(founding.instances[place] for place in self._places)
        own = frozenset(
            founder.agent
            for founder in founding.charter.genesis.founders
            if founder.instance == node.instance
        )
        twin = type(node)(
            name=f"{node.name}'",
            founding=founding,
            instance=node.instance,
            signer=node.signer,
            host=node.host,
            verify=node.verify,
            lots=Lots("twin", node.instance.hex()),
            conduct=_Half(self._second, own),
        )
        self._twin = twin
        twin.start()

    def outgoing(self, node: "SimNode", to: InstanceId, letter: Letter) -> Letter | None:
        """Show the first face to the first half only; compare records with everybody."""
        if to in self._second and not isinstance(letter, AskMissing):
            return None
        return super().outgoing(node, to, letter)

    def incoming(self, node: "SimNode", sender: InstanceId, letter: Letter) -> Letter | None:
        """Let each face hear its own half, and the answers to its own questions."""
        is_for_twin = (
            letter.asked.batch >= _SECOND
            if isinstance(letter, GiveMissing)
            else sender in self._second
        )
        if is_for_twin and self._twin is not None:
            self._twin.hear(sender, letter)
            return None
        return super().incoming(node, sender, letter)


class EquivocatingHome(Twins):
    """Equivocates, and shows the seal that makes a quorum to one victim only."""

    def __init__(self, second: frozenset[int], victim: int) -> None:
        """Name the instances of the second face, and the victim among the others."""
        super().__init__(second)
        self._victim = victim

    def says(
        self, node: "SimNode", to: InstanceId, packet: Packet, spoken: Spoken
    ) -> Packet | None:
        """Keep seals from everybody but the victim."""
        is_victim = node.founding.instances[self._victim] == to
        return packet if is_victim or not isinstance(spoken.heard.body, Seal) else None

    def certifies(self, node: "SimNode", to: InstanceId, packet: Packet) -> Packet | None:
        """Keep certificates from everybody but the victim."""
        return packet if node.founding.instances[self._victim] == to else None
