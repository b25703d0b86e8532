"""Twins: one member runs two honest programs under one key, and shows each half of the others one.

Every equivocation arises by itself from this: two witnesses, two proposals, two cosigns and seals
at one fence, two cuts of one number. The halves hold different records, because the second
program never hears what this member's own agents say.
"""

from typing import TYPE_CHECKING

from federation.certificates import Seal
from federation.core import InstanceId, Lots
from federation.simulation.network.adversaries.liar import Liar, Spoken
from federation.simulation.network.letters import Letter, Packet

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class _Half(Liar):
    """The second program: speaks to its own half only."""

    def __init__(self, audience: frozenset[InstanceId]) -> None:
        super().__init__()
        self._audience = audience

    def outgoing(self, node: "SimNode", to: InstanceId, letter: Letter) -> Letter | None:
        del node
        return letter if to in self._audience else None


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
        twin = type(node)(
            name=f"{node.name}'",
            founding=founding,
            instance=node.instance,
            signer=node.signer,
            host=node.host,
            verify=node.verify,
            lots=Lots("twin", node.instance.hex()),
            conduct=_Half(self._second),
        )
        self._twin = twin
        twin.start()

    def outgoing(self, node: "SimNode", to: InstanceId, letter: Letter) -> Letter | None:
        """Show the first face to the first half only."""
        return None if to in self._second else super().outgoing(node, to, letter)

    def incoming(self, node: "SimNode", sender: InstanceId, letter: Letter) -> Letter | None:
        """Let each face hear its own half."""
        if sender in self._second and self._twin is not None:
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

