import pytest

from federation.certificates import SignedEntry
from federation.simulation.network.adversaries import RolledBack
from tests.simnet.eavesdrop import comes_to_rest, with_liar


@pytest.mark.parametrize("careless", [True, False])
def test_a_backup_brings_an_older_store_back(careless: bool) -> None:
    network, _ = with_liar(RolledBack(taken=400, lost=700, careless=careless), place=1)
    node = network.node(1)
    network.run_until(650)
    before = [one for one in node.disk.journal if isinstance(one, SignedEntry)]
    network.run_until(701)
    after = [one for one in node.disk.journal if isinstance(one, SignedEntry)]

    assert node.life == 2
    assert before[: len(after)] == after or careless
    assert node.world is not None
    assert node.world.me is not None
    assert node.world.me.settled is careless
    assert comes_to_rest(network)


def test_who_asks_its_peers_stays_silent() -> None:
    # While a slot is open: of what a certificate holds it is told before anybody shows it.
    network, _ = with_liar(RolledBack(taken=100, lost=320, careless=False), place=1)
    network.run_until(1_500)
    world = network.node(1).world

    assert world is not None
    assert world.me is not None
    assert world.me.amnesia
    assert world.me.silent_until >= 0
