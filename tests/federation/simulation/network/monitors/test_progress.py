from federation.core import Millis
from federation.simulation.network.community import community
from federation.simulation.network.letters import Sent
from federation.simulation.network.links import Line, Weather
from federation.simulation.network.monitors import Progress
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest

THERE = community(4, agents=5, timing=TIMING, review=REVIEW)


def watching(*, good_from: Millis = 0, slack: Millis = 1_500) -> Progress:
    return Progress(f=1, q=3, leader_timer=TIMING.leader_timer, slack=slack, good_from=good_from)


def network_of(monitor: Progress, weather: Weather, **more: object) -> SimNetwork:
    network = SimNetwork(THERE, seed="progress", weather=weather, monitors=(), **more)  # type: ignore[arg-type]
    network.monitors = (monitor,)
    network.start()
    network.at(20, lambda: network.propose(0))
    # What it finds must not end the run: these tests look at it themselves.
    network._judge = lambda: None  # type: ignore[method-assign]
    return network


def test_a_good_network_is_left_alone() -> None:
    monitor = watching()
    network = network_of(monitor, Weather())

    assert network.run_until(lambda: is_at_rest(network))
    assert monitor.findings == []


def test_a_slot_that_never_certifies_is_found() -> None:
    def drops(sent: Sent) -> bool:
        return network.now > 200 and type(sent.letter).__name__ == "Packet"

    # The links are said to be good, and are not: only the monitor believes it.
    monitor = watching()
    network = network_of(monitor, Weather(line=Line(), good_from=60_000), censor=drops)
    network.run_until(8_000)

    assert {rule for rule, _ in monitor.findings} == {"no progress"}


def test_nothing_is_demanded_before_links_are_good() -> None:
    monitor = watching(good_from=60_000)
    network = network_of(monitor, Weather(good_from=60_000), censor=bool)
    network.run_until(8_000)

    assert monitor.findings == []


def test_nothing_is_demanded_while_somebody_honest_is_away_or_not_so_far() -> None:
    monitor = watching()
    network = network_of(monitor, Weather())
    network.run_until(200)
    network.node(3).crash(down_for=20_000)
    network.run_until(6_000)

    assert monitor.findings == []


def test_nothing_is_demanded_of_less_than_a_quorum() -> None:
    monitor = Progress(f=1, q=5, leader_timer=1, slack=0, good_from=0)
    network = network_of(monitor, Weather())
    network.run_until(lambda: is_at_rest(network))

    assert monitor.findings == []
