"""Worst cases by name: the network that hurts most, built for one lie.

A random schedule seldom meets the moment at which a rule matters. Here the network drops exactly
the letters that it must drop for that moment to come: a certificate that only one instance has
seen, while the others go on to the fences that a liar leads. Unchanged rules pass every one of
these; with a rule left out each shows which promise breaks (design: federation, checked).
"""

from collections.abc import Callable

from federation.certificates import (
    CertificatePacket,
    MessagePacket,
    Phase,
    RoundSlot,
    packet_from_bytes,
    slot_key,
)
from federation.core import InstanceId, Millis
from federation.records import CertificateFinal
from federation.simulation.network.adversaries import Liar, LockIgnorer, Twins
from federation.simulation.network.community import Community, community
from federation.simulation.network.letters import Gossip, Packet, Sent
from federation.simulation.network.links import Line, Weather
from federation.simulation.network.monitors.votes import read
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.watch import REVIEW, TIMING, watched

_GOOD: Millis = 6_000
"""Long enough for every member of four to lead a fence: timers of 300, 600, 1,200, 2,400 ms."""


def four() -> Community:
    """Give four operators, one of whom may lie."""
    return community(4, agents=5, timing=TIMING, review=REVIEW)


def shown_to_one(seed: int, *, liar: int = 3, conduct: Liar | None = None) -> SimNetwork:
    """Let only one instance see that the box is shut, while a liar ignores all locks.

    The instance has the certificate of `commit` and cannot tell anybody until links are good; the
    two other honest members hold the lock, and change fences until the liar leads one.
    """
    there = four()
    witness = there.founding.instances[(liar + 1) % 4]
    network = watched(
        there,
        seed=str(seed),
        weather=Weather(line=Line(longest=10), good_from=_GOOD),
        conducts={liar: conduct or LockIgnorer()},
    )
    network.censor = _hides(network, Phase.COMMIT, witness)
    network.start()
    network.at(20, lambda: network.propose((liar + 2) % 4))
    return network


def _hides(network: SimNetwork, phase: Phase, witness: InstanceId) -> Callable[[Sent], bool]:
    """Drop what could tell anybody but the witness that a phase is final."""

    def drops(sent: Sent) -> bool:
        if sent.sender == witness:
            return _knows(network, witness, phase)
        match sent.letter:
            case Gossip(records=records):
                return any(isinstance(one.body, CertificateFinal) for one in records)
            case Packet(packet=packet):
                return sent.receiver != witness and _tells(packet, phase)
            case _:
                return False

    return drops


def _tells(packet: bytes, phase: Phase) -> bool:
    """Tell whether a packet says anything of seals in a phase."""
    routed = packet_from_bytes(packet)
    if not isinstance(routed.slot, RoundSlot) or routed.slot.phase is not phase:
        return False
    if isinstance(routed.packet, MessagePacket):
        said = read(routed.packet.raw)
        return said is not None and said.step == "seal"
    return isinstance(routed.packet, CertificatePacket)


def _knows(network: SimNetwork, instance: InstanceId, phase: Phase) -> bool:
    world = network.nodes[instance].world
    return world is not None and any(
        slot_key(RoundSlot(round_id=name, phase=phase)) in world.certificates
        for name in world.rounds
    )


def two_faces(
    seed: int,
    *,
    members: int = 4,
    second: frozenset[int] = frozenset({2, 3}),
    votes_needed: int | None = None,
) -> SimNetwork:
    """Let the home show two faces, to halves that cannot hear each other until links are good.

    Each half holds records that the other has not seen. `votes_needed` is for the counting
    monitor, so that a run with smaller quorums can show what these break.
    """
    there = community(members, agents=5, timing=TIMING, review=REVIEW)
    halves = [
        {name for place, name in enumerate(there.founding.instances) if place and place in second},
        {
            name
            for place, name in enumerate(there.founding.instances)
            if place and place not in second
        },
    ]
    network = watched(
        there,
        seed=str(seed),
        weather=Weather(line=Line(longest=10), good_from=3_000),
        conducts={0: Twins(second)},
        censor=lambda sent: any(
            sent.sender in one and sent.receiver in other for one, other in (halves, halves[::-1])
        ),
        demands_progress=members == len(four().instances),
        votes_needed=votes_needed,
    )
    network.start()
    network.at(20, lambda: network.propose(0))
    network.at(40, lambda: network.propose(1))
    network.at(60, lambda: network.propose(2 % members))
    return network
