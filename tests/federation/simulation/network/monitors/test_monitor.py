from federation.protocol import effects as fx
from federation.simulation.network.community import community
from federation.simulation.network.letters import AskHello, Sent
from federation.simulation.network.monitors import Monitor, Violation
from federation.simulation.network.network import SimNetwork


def test_a_monitor_that_judges_nothing_finds_nothing() -> None:
    monitor = Monitor()
    network = SimNetwork(community(1, agents=2), seed="0", monitors=[monitor])
    network.start()
    node = network.node(0)
    monitor.sent(node, Sent(sender=bytes(32), receiver=bytes(32), letter=AskHello()))
    monitor.stored(node, fx.StoreSilence(until=1))
    network.run_until(1_000)
    network.finish()

    assert monitor.findings == []


def test_a_violation_says_rule_detail_seed_and_time() -> None:
    violation = Violation("one rule", "one detail", seed="17", at=250)

    assert str(violation) == "one rule: one detail (seed 17, at 250 ms)"
