"""An eavesdropper for tests of liars: every letter of one instance, as it was put on its link."""

from federation.certificates import CertificatePacket, packet_from_bytes
from federation.core import Millis
from federation.simulation.network.adversaries.liar import Liar, Spoken, spoken_in
from federation.simulation.network.community import Community, community
from federation.simulation.network.letters import Letter, Packet, Sent
from federation.simulation.network.links import Line, Weather
from federation.simulation.network.monitors import Monitor
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.node import SimNode
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest, watched


class Ear(Monitor):
    """Notes when the instances of interest sent what to whom."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.letters: list[tuple[Millis, str, Letter]] = []
        self.said: list[tuple[Millis, str, Spoken]] = []
        self.certified: list[str] = []

    def sent(self, node: SimNode, sent: Sent) -> None:
        if node.name.rstrip("'") != self.name:
            return
        now = node.host.timeline.now
        to = f"i{node.founding.instances.index(sent.receiver)}"
        self.letters.append((now, to, sent.letter))
        if isinstance(sent.letter, Packet):
            spoken = spoken_in(node, sent.letter)
            if spoken is not None:
                self.said.append((now, to, spoken))
            elif isinstance(packet_from_bytes(sent.letter.packet).packet, CertificatePacket):
                self.certified.append(to)


def four() -> Community:
    """Four operators with five agents; a quorum is three, and one of them may lie."""
    return community(4, agents=5, timing=TIMING, review=REVIEW)


def with_liar(
    conduct: Liar, *, place: int = 0, proposer: int = 0, good_from: Millis = 0, loss: int = 0
) -> tuple[SimNetwork, Ear]:
    """Put one liar among four, listen to it, and let an agent propose."""
    network = watched(
        four(),
        seed=f"{type(conduct).__name__} at {place}",
        weather=Weather(line=Line(longest=12, loss=loss), good_from=good_from),
        conducts={place: conduct},
    )
    ear = Ear(f"i{place}")
    network.monitors = (*network.monitors, ear)
    network.start()
    network.at(20, lambda: network.propose(proposer))
    return network, ear


def comes_to_rest(network: SimNetwork, *, artifacts: int = 1, after: Millis = 0) -> bool:
    """Run until all honest instances agree and everything is decided, and a little longer."""
    rested = network.run_until(
        lambda: network.now > after and is_at_rest(network, artifacts=artifacts), most=30_000
    )
    network.run_until(network.now + 600)
    network.finish()
    return rested
