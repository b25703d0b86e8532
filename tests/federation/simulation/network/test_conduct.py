from federation.simulation.network.community import community
from federation.simulation.network.conduct import HONEST
from federation.simulation.network.letters import AskHello
from federation.simulation.network.network import SimNetwork


def test_honest_conduct_changes_nothing() -> None:
    network = SimNetwork(community(2, agents=2), seed="honest")
    network.start()
    node, letter = network.node(0), AskHello()
    before = network.transcript.hash

    assert HONEST.is_honest
    assert HONEST.outgoing(node, node.peers[0], letter) is letter
    assert HONEST.incoming(node, node.peers[0], letter) is letter
    HONEST.begin(node)
    HONEST.pulse(node)
    assert network.transcript.hash == before
