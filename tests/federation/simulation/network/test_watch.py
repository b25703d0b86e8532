import pytest

from federation.simulation.network.adversaries import FenceRaiser
from federation.simulation.network.community import community
from federation.simulation.network.links import Weather
from federation.simulation.network.monitors import (
    Members,
    Progress,
    Rounds,
    Seals,
    Violation,
    Votes,
    Worlds,
)
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest, watched

THERE = community(4, agents=5, timing=TIMING, review=REVIEW)


def test_all_monitors_watch_and_progress_only_if_it_is_demanded() -> None:
    kinds = [type(one) for one in watched(THERE, seed="0").monitors]

    assert kinds == [Votes, Members, Rounds, Seals, Worlds, Progress]
    assert Progress not in [
        type(one) for one in watched(THERE, seed="0", demands_progress=False).monitors
    ]


def test_a_watched_network_of_any_size_comes_to_rest() -> None:
    for members in (1, 2, 3):
        network = watched(community(members, timing=TIMING, review=REVIEW), seed="size")
        network.start()
        network.at(20, lambda network=network: network.propose(0))  # type: ignore[misc]
        assert not is_at_rest(network)
        assert network.run_until(lambda network=network: is_at_rest(network))  # type: ignore[misc]
        network.finish()


def test_nobody_is_at_rest_while_an_honest_instance_is_down() -> None:
    network = watched(THERE, seed="down")
    network.start()
    network.at(20, lambda: network.propose(0))
    network.run_until(lambda: is_at_rest(network))
    network.node(2).crash(down_for=400)

    assert not is_at_rest(network)
    assert network.run_until(lambda: is_at_rest(network))


def test_a_liar_and_its_agents_may_be_blamed_and_honest_members_may_not() -> None:
    network = watched(THERE, seed="blame", conducts={3: FenceRaiser()})
    (members,) = (one for one in network.monitors if isinstance(one, Members))
    instances, agents = THERE.founding.instances, THERE.founding.agents

    assert instances[3] not in members._blameless
    assert agents[3] not in members._blameless
    assert {*instances[:3], *agents[:3], agents[4]} == members._blameless


def test_a_network_that_stands_still_is_found() -> None:
    network = watched(THERE, seed="still", weather=Weather(good_from=60_000))
    (progress,) = (one for one in network.monitors if isinstance(one, Progress))
    progress._good_from = 0
    network.censor = lambda sent: type(sent.letter).__name__ == "Packet"
    network.start()
    network.at(20, lambda: network.propose(0))

    with pytest.raises(Violation, match="no progress"):
        network.run_until(10_000)
