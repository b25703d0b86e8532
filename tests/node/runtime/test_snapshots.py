"""The digests of every cut are kept; all of the world only once the log has grown."""

import pytest

from federation.protocol import snapshot
from node.runtime import snapshots as module
from node.runtime.snapshots import LEAST, PART, Snapshots
from tests.federation.protocol.town import Town


def test_the_world_is_taken_once_its_log_has_grown_by_enough() -> None:
    world = Town.of(1, 40).world()
    size = len(world.log)
    assert size >= LEAST
    taken = [Snapshots(size - grown).take(world) for grown in (LEAST, LEAST - 1)]

    assert taken[0].content == snapshot.take(world)
    assert taken[1].content is None
    for one in taken:
        assert (one.cut, one.tick) == (world.state.cut, world.state.tick)
        assert (one.digest, one.world_digest) == (world.state.digest, world.digest)


def test_it_is_not_taken_again_before_the_log_has_grown_again() -> None:
    world = Town.of(1, 40).world()
    snapshots = Snapshots(0)

    assert snapshots.take(world).content is not None
    assert snapshots.take(world).content is None


def test_a_log_that_was_large_must_grow_by_a_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST", 1)
    world = Town.of(1, 40).world()
    size = len(world.log)
    assert 3 * PART <= size < 4 * PART
    taken = [Snapshots(size - grown).take(world).content is not None for grown in (1, 2, 3, 4)]

    assert taken == [False, False, True, True]
