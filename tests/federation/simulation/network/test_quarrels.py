"""The quarrel: what everybody in it thinks, and when nothing is left to decide."""

from federation.certificates import Phase
from federation.simulation.network.quarrels import crash_in, is_settled, quarrel, quarrelsome


def test_a_quarrel_is_not_settled_before_it_has_begun() -> None:
    network = quarrel(quarrelsome(), seed="0")

    assert not is_settled(network)
    network.run_until(1_500)
    assert not is_settled(network)


def test_an_instance_is_killed_once_in_the_phase_that_was_named() -> None:
    network = quarrel(quarrelsome(), seed="0")
    crash_in(network, Phase.COMMIT, 1, down_for=100)
    network.run_until(4_000)

    assert network.counters["crashes"] == 1
