from federation.certificates import Phase, RoundSlot, slot_key
from federation.simulation.network.adversaries import Twins
from federation.simulation.network.monitors import Votes
from federation.simulation.network.watch import is_at_rest
from federation.simulation.network.worst_cases import shown_to_one, two_faces


def test_only_one_instance_sees_that_the_box_is_shut_until_links_are_good() -> None:
    network = shown_to_one(1)
    network.run_until(5_900)
    (name,) = network.worlds[0].rounds
    key = slot_key(RoundSlot(round_id=name, phase=Phase.COMMIT))
    holders = [
        node.name for node in network.honest if node.world and key in node.world.certificates
    ]

    assert holders == ["i0"]
    assert network.run_until(lambda: is_at_rest(network))


def test_the_others_change_fences_meanwhile() -> None:
    network = shown_to_one(1)
    network.run_until(5_900)
    (votes,) = (one for one in network.monitors if isinstance(one, Votes))

    assert max(fence for _, fence in votes.locked) >= 1


def test_the_two_faces_hold_different_records() -> None:
    network = two_faces(0)
    network.run_until(250)
    liar = network.node(0)
    assert isinstance(liar.conduct, Twins)
    assert liar.conduct._twin is not None
    assert liar.world is not None
    assert liar.conduct._twin.world is not None

    assert liar.world.log.author_heads() != liar.conduct._twin.world.log.author_heads()


def test_two_faces_among_four_only_delay() -> None:
    network = two_faces(0)

    assert network.run_until(lambda: network.now > 3_000 and is_at_rest(network, artifacts=2))
    network.finish()
