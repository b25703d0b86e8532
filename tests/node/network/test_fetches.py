"""Equal requests merge, and whoever does not answer loses its turn."""

from node.network import fetches as module
from node.network.fetches import AGAIN, Fetches

ANNE, BEA, CARL = b"a" * 32, b"b" * 32, b"c" * 32
ONE, TWO = b"1" * 32, b"2" * 32


def test_with_nobody_in_reach_nothing_is_asked_nor_remembered() -> None:
    fetches = Fetches()

    assert fetches.choose([ONE], [], 0) == {}
    assert fetches.choose([ONE], [ANNE], 0) == {ANNE: [ONE]}


def test_a_repetition_within_a_moment_is_dropped_and_a_later_one_goes_to_the_next() -> None:
    fetches = Fetches()
    voices = [ANNE, BEA, CARL]
    asked = [fetches.choose([ONE], voices, now) for now in range(0, 4 * AGAIN, AGAIN // 2)]

    assert asked == [
        {ANNE: [ONE]},
        {},
        {BEA: [ONE]},
        {},
        {CARL: [ONE]},
        {},
        {ANNE: [ONE]},
        {},
    ]


def test_each_name_has_its_own_turn() -> None:
    fetches = Fetches()
    fetches.choose([ONE], [ANNE, BEA], 0)

    assert fetches.choose([ONE, TWO], [ANNE, BEA], AGAIN) == {BEA: [ONE], ANNE: [TWO]}


def test_what_has_arrived_is_asked_for_anew_when_it_is_wanted_again() -> None:
    fetches = Fetches()
    fetches.choose([ONE], [ANNE, BEA], 0)
    fetches.arrived([ONE, TWO])

    assert fetches.choose([ONE], [ANNE, BEA], 1) == {ANNE: [ONE]}


def test_an_instance_that_went_does_not_stop_the_rotation() -> None:
    fetches = Fetches()
    fetches.choose([ONE], [ANNE, BEA, CARL], 0)
    fetches.choose([ONE], [ANNE, BEA, CARL], AGAIN)

    assert fetches.choose([ONE], [ANNE], 2 * AGAIN) == {ANNE: [ONE]}


def test_memory_is_bounded_and_the_oldest_are_forgotten_first() -> None:
    fetches = Fetches()
    names = [number.to_bytes(32, "big") for number in range(module.REMEMBERED + 1)]
    fetches.choose(names, [ANNE], 0)

    assert fetches.choose(names, [ANNE], 1) == {ANNE: [names[0]]}
