"""Crashes between any two effects, clocks that jump, partitions longer than a phase, old backups."""

from collections.abc import Callable

import pytest

from federation.certificates import LockEntry, Phase, SignedEntry
from federation.protocol import effects as fx
from federation.simulation.network import SimNetwork, Trap, Weather, partition
from federation.simulation.network.adversaries import RolledBack
from federation.simulation.network.community import Community, community
from federation.simulation.network.watch import REVIEW, TIMING, watched
from tests.simnet.eavesdrop import comes_to_rest, four, with_liar


def network_of(there: Community, seed: str, **more: object) -> SimNetwork:
    network = watched(there, seed=seed, **more)  # type: ignore[arg-type]
    network.start()
    network.at(20, lambda: network.propose(0))
    return network


def nth(number: int, kind: Callable[[fx.Effect], bool]) -> Callable[[fx.Effect], bool]:
    """Match the effect of a kind that comes as the given number, from 0."""
    left = [number]

    def matches(effect: fx.Effect) -> bool:
        if not kind(effect):
            return False
        left[0] -= 1
        return left[0] < 0

    return matches


def is_signature(effect: fx.Effect) -> bool:
    return isinstance(effect, fx.StoreJournal) and isinstance(effect.entry, SignedEntry)


def is_lock(effect: fx.Effect) -> bool:
    return isinstance(effect, fx.StoreJournal) and isinstance(effect.entry, LockEntry)


def signatures_of(there: Community, place: int) -> int:
    network = network_of(there, "kill")
    assert comes_to_rest(network)
    return sum(isinstance(one, SignedEntry) for one in network.node(place).disk.journal)


@pytest.mark.parametrize("place", [0, 2])
def test_kill_between_every_signature_and_its_sending_breaks_nothing(place: int) -> None:
    there = four()
    count = signatures_of(there, place)
    assert count >= 12
    for number in range(count):
        network = network_of(there, "kill")
        network.node(place).trap = Trap(after=nth(number, is_signature))

        assert comes_to_rest(network), f"killed after signature {number}"
        assert network.counters["crashes"] == 1


def test_kill_between_keeping_a_lock_and_sealing_breaks_nothing() -> None:
    for number in range(3):
        network = network_of(four(), "lock")
        network.node(1).trap = Trap(after=nth(number, is_lock))

        assert comes_to_rest(network)
        assert network.counters["crashes"] == 1


@pytest.mark.parametrize(
    ("kind", "fewest"),
    [(fx.StoreRecord, 8), (fx.StoreBlob, 1), (fx.StoreStart, 4), (fx.Relay, 8)],
)
def test_kill_after_every_other_store_and_every_relay_breaks_nothing(
    kind: type[fx.Effect], fewest: int
) -> None:
    number = 0
    while True:
        network = network_of(four(), "other")
        network.node(0).trap = Trap(after=nth(number, lambda effect: isinstance(effect, kind)))

        assert comes_to_rest(network), f"killed after {kind.__name__} {number}"
        if not network.counters["crashes"]:
            break
        assert network.counters["crashes"] == 1
        number += 1
    assert number >= fewest


def test_a_community_of_one_survives_a_kill_at_every_effect() -> None:
    there = community(1, agents=5, timing=TIMING, review=REVIEW)
    number = 0
    while True:
        network = network_of(there, "one")
        network.node(0).trap = Trap(after=nth(number, bool), down_for=30)
        # The proposal itself may be lost with the crash: then it is made again.
        network.at(200, lambda network=network: _again(network))  # type: ignore[misc]

        assert comes_to_rest(network), f"killed after effect {number}"
        if not network.counters["crashes"]:
            break
        assert network.counters["crashes"] == 1
        number += 1
    assert number > 60


def _again(network: SimNetwork) -> None:
    world = network.node(0).world
    if world is not None and not world.triggers and not world.state.artifacts:
        network.propose(0)


def test_everybody_dies_at_once_and_comes_back() -> None:
    for when in (150, 420, 700, 1_000, 1_300):
        network = network_of(four(), "all")
        for node in network.nodes.values():
            network.at(when, lambda node=node: node.crash(down_for=200))  # type: ignore[misc]

        assert comes_to_rest(network)
        assert network.counters["crashes"] == 4


def decided_by(network: SimNetwork) -> dict[str, tuple[int, frozenset[bytes]]]:
    """Give the cut at which each instance stands, and the slots that it holds certificates of."""
    return {
        node.name: (node.world.state.cut, frozenset(node.world.certificates))
        for node in network.honest
        if node.world is not None
    }


def test_a_partition_longer_than_a_whole_review_loses_nothing() -> None:
    there = four()
    left, right = there.founding.instances[:2], there.founding.instances[2:]
    end = 9_000
    assert end > REVIEW.deliberate + REVIEW.commit + REVIEW.reveal + TIMING.epoch
    for start in (0, 500, 900, 1_200):
        weather = Weather(gaps=partition(start, end, (left, right)), good_from=end)
        network = network_of(there, "split", weather=weather)
        # What was on its way when the links fell silent has arrived by then.
        network.run_until(start + 100)
        before = decided_by(network)
        network.run_until(end - 1)

        # Neither half is a quorum: nobody decides alone.
        assert decided_by(network) == before
        assert comes_to_rest(network, after=end)
        assert decided_by(network) != before


def test_a_minority_that_is_cut_off_decides_nothing_and_catches_up() -> None:
    there = four()
    lone = there.founding.instances[3]
    weather = Weather(
        gaps=partition(0, 6_000, ([lone], there.founding.instances[:3])), good_from=6_000
    )
    network = network_of(there, "lone", weather=weather)
    network.run_until(5_900)
    cuts = {node.name: node.world.state.cut for node in network.honest if node.world}

    assert cuts["i3"] == 0
    assert cuts["i0"] >= 2
    assert comes_to_rest(network, after=6_000)


@pytest.mark.parametrize("by", [-2_000, 1_000, 60_000])
def test_a_clock_that_jumps_splits_nobody(by: int) -> None:
    for when in (30, 400, 700, 1_100):
        network = network_of(four(), "jump")
        network.at(when, lambda network=network: network.node(1).jump_clock(by))  # type: ignore[misc]

        assert comes_to_rest(network)


def test_clocks_that_are_far_apart_decide_alike() -> None:
    network = network_of(four(), "apart", clocks={0: 0, 1: 10**9, 2: 50_000, 3: 7})

    assert comes_to_rest(network)
    assert all(
        Phase.DECIDE in one.finals for world in network.worlds for one in world.rounds.values()
    )


@pytest.mark.parametrize("careless", [False, True])
@pytest.mark.parametrize("place", [0, 1])
def test_a_member_that_is_rolled_back_in_the_middle_of_a_round_splits_nobody(
    careless: bool, place: int
) -> None:
    for taken, lost in ((100, 450), (350, 800), (600, 1_000), (800, 1_400)):
        conduct = RolledBack(taken=taken, lost=lost, careless=careless)
        network, _ = with_liar(conduct, place=place, proposer=2)

        assert comes_to_rest(network)
