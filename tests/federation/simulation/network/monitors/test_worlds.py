from federation.simulation.network.community import community
from federation.simulation.network.monitors import Worlds
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest

THERE = community(2, agents=5, timing=TIMING, review=REVIEW)


def level() -> SimNetwork:
    network = SimNetwork(THERE, seed="worlds")
    network.start()
    network.at(20, lambda: network.propose(0))
    assert network.run_until(lambda: is_at_rest(network))
    return network


def rules(monitor: Worlds) -> list[str]:
    return [rule for rule, _ in monitor.findings]


def watching(network: SimNetwork) -> Worlds:
    monitor = Worlds()
    monitor.begun(list(network.nodes.values()))
    return monitor


def test_equal_worlds_are_left_alone() -> None:
    network = level()
    monitor = watching(network)
    for node in network.nodes.values():
        monitor.stepped(node)
        monitor.stepped(node)
    monitor.finish()

    assert rules(monitor) == []
    assert len(monitor.digests) == 1


def test_two_digests_at_one_cut_are_found() -> None:
    network = level()
    monitor = watching(network)
    monitor.stepped(network.node(0))
    network.worlds[1].digest = bytes(32)
    monitor.stepped(network.node(1))

    assert rules(monitor)[0] == "worlds differ at one cut"


def test_two_cuts_of_one_number_are_found() -> None:
    network = level()
    monitor = watching(network)
    monitor.stepped(network.node(0))
    network.worlds[1].state.digest = bytes(32)
    monitor.stepped(network.node(1))

    assert rules(monitor)[0] == "two cuts of one number"


def test_a_cut_that_is_undone_is_found() -> None:
    network = level()
    monitor = watching(network)
    monitor.stepped(network.node(0))
    network.worlds[0].state.cut -= 1
    monitor.stepped(network.node(0))

    assert "a cut was undone" in rules(monitor)


def test_worlds_that_disagree_at_the_end_are_found() -> None:
    network = level()
    monitor = watching(network)
    network.worlds[1].digest = bytes(32)
    monitor.finish()

    assert set(rules(monitor)) == {"an invariant is broken"}


def test_an_instance_that_is_down_is_not_compared() -> None:
    network = level()
    network.node(0).world = None
    monitor = watching(network)
    monitor.stepped(network.node(0))
    monitor.finish()

    assert (rules(monitor), monitor.digests) == ([], {})
