"""Instances that start from snapshots after a crash, under chaos and among liars.

Whenever one comes back, it is brought back both ways first, from every snapshot that it ever took
and by the fold of its whole log: the two must be the same node. Then it lives on from a snapshot.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from federation.certificates import SignedEntry
from federation.core import Lots
from federation.protocol import effects as fx
from federation.protocol import restore
from federation.protocol.certified import Rows
from federation.protocol.invariants import broken
from federation.protocol.snapshot import _File
from federation.simulation.network import SimNetwork, Trap
from federation.simulation.network.community import Community, community
from federation.simulation.network.disk import Recall
from federation.simulation.network.node import SimNode
from federation.simulation.network.schedules import Scenario, build, draw, finish
from federation.simulation.network.watch import REVIEW, TIMING, watched
from tests.federation.protocol.alike import differences
from tests.simnet.eavesdrop import comes_to_rest, four


def newest(taken: list[bytes]) -> bytes | None:
    return taken[-1] if taken else None


def older(taken: list[bytes]) -> bytes | None:
    """Give one from the middle: what came after it is folded from the log's tail."""
    return taken[len(taken) // 2] if taken else None


def compared(node: SimNode, pick: Recall, seen: Counter[str]) -> Recall:
    """Check every snapshot against the fold of the whole log before one is picked."""

    def recall(taken: list[bytes]) -> bytes | None:
        seen["restarts"] += 1
        if not taken:
            return None
        there = node.founding
        folded, _ = restore(
            there.charter,
            there.records,
            node.disk,
            instance=node.instance,
            signer=node.signer,
            now=node.local(),
            verify=node.verify,
        )
        for content in taken:
            world, effects = restore(
                there.charter,
                there.records,
                node.disk,
                instance=node.instance,
                signer=node.signer,
                now=node.local(),
                verify=node.verify,
                snapshot=content,
                trusted=True,
            )
            seen["compared"] += 1
            assert differences(folded, world) == []
            assert broken(world) == []
            news = [one.event for one in effects if isinstance(one, fx.Tell)]
            assert fx.Happening.SNAPSHOT_REFUSED not in news
        return pick(taken)

    return recall


def keep(network: SimNetwork, pick: Recall) -> Counter[str]:
    """Let every instance keep snapshots, and start from them after a crash."""
    seen: Counter[str] = Counter()
    for node in network.nodes.values():
        node.recall = compared(node, pick, seen)
    return seen


def check_equal(network: SimNetwork) -> int:
    """Check that honest instances wrote the same bytes at the same cut; count the snapshots."""
    written: dict[int, bytes] = {}
    count = 0
    for node in network.honest:
        for content in node.disk.snapshots:
            certified = msgspec.msgpack.decode(content, type=_File).certified
            number = msgspec.msgpack.decode(certified, type=Rows).cut
            assert written.setdefault(number, certified) == certified
            count += 1
    return count


def with_crashes(seed: int) -> Scenario:
    """Draw a scenario among four, one of whom may lie, in which everybody may crash late."""
    scenario = draw(seed, members=4)
    lots = Lots("late crashes", seed)
    end = scenario.weather.good_from
    return replace(
        scenario,
        crashes=tuple(
            (lots.between(end // 3, end), lots.below(4), lots.between(50, 500)) for _ in range(5)
        ),
    )


@pytest.mark.parametrize("pick", [newest, older])
def test_a_start_from_a_snapshot_is_a_fold_of_the_whole_log_in_every_chaos(pick: Recall) -> None:
    total: Counter[str] = Counter()
    for seed in range(20) if pick is newest else range(20, 46):
        scenario = with_crashes(seed)
        network = build(scenario)
        seen = keep(network, pick)
        outcome = finish(network, scenario)

        assert outcome.at_rest, scenario
        total += seen
        total["snapshots"] += check_equal(network)
    assert total["restarts"] >= 40
    assert total["compared"] >= 20
    assert total["snapshots"] >= 100


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 400, 20))
def test_many_more_seeds(first: int) -> None:
    for seed in range(first, first + 20):
        scenario = with_crashes(seed) if seed % 2 else draw(seed)
        network = build(scenario)
        keep(network, newest if seed % 4 < 2 else older)
        outcome = finish(network, scenario)
        assert outcome.at_rest or not scenario.promises_progress, scenario
        check_equal(network)


def network_of(there: Community, seed: str) -> SimNetwork:
    network = watched(there, seed=seed)
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


@pytest.mark.parametrize("pick", [newest, older])
def test_a_kill_between_signing_and_sending_breaks_nothing(pick: Recall) -> None:
    # The first signatures come before any snapshot.
    for number in range(4, 16, 2):
        network = network_of(four(), "kill")
        seen = keep(network, pick)
        network.node(0).trap = Trap(after=nth(number, is_signature))

        assert comes_to_rest(network), f"killed after signature {number}"
        assert network.counters["crashes"] == seen["restarts"] == 1


def test_a_community_of_one_goes_on_from_its_snapshot_after_a_kill_at_any_effect() -> None:
    there = community(1, agents=5, timing=TIMING, review=REVIEW)
    compared_once = 0
    for number in range(20, 70, 2):
        network = network_of(there, "one")
        seen = keep(network, newest)
        network.node(0).trap = Trap(after=nth(number, bool), down_for=30)

        assert comes_to_rest(network), f"killed after effect {number}"
        compared_once += seen["compared"] > 0
    assert compared_once > 10


def test_everybody_dies_at_once_and_comes_back_from_snapshots() -> None:
    for when in (420, 700, 1_000, 1_300):
        network = network_of(four(), "all")
        seen = keep(network, newest)
        for node in network.nodes.values():
            network.at(when, lambda node=node: node.crash(down_for=200))  # type: ignore[misc]

        assert comes_to_rest(network)
        assert seen["restarts"] == network.counters["crashes"] == 4
        check_equal(network)
