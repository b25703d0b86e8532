import math
import random

import pytest
from msgspec.structs import replace

from federation.admission import Mint, Progress, does_work, passes_gate, work_bytes
from federation.core import CallerError, ParameterError
from node.minting import Estimate, Plan, Saved, saved_bytes, start
from node.minting.plan import Block
from tests.node.minting.works import blank, endless

SPEED = 1_000.0


def plan(saved: Saved | None = None) -> Plan:
    return Plan(saved or start(blank()), gate_speed=SPEED)


def searched(one: Plan, block: Block) -> Progress:
    """Do what a process does."""
    return Mint(blank=one.blank).advance(block.progress, block.tries)


def values(block: Block) -> set[tuple[int | None, int]]:
    return {(block.part, block.first + place) for place in range(block.tries)}


def test_a_search_of_one_finds_a_proof() -> None:
    one = plan()
    while (block := one.deal(0)) is not None:
        one.take(0, searched(one, block), 0.001)

    assert one.is_over
    assert passes_gate(one.proof())
    assert does_work(one.proof())


def test_no_value_is_handed_out_twice_whoever_comes_and_goes() -> None:
    dice = random.Random(3)
    one = plan(start(endless()))
    seen: set[tuple[int | None, int]] = set()
    busy: dict[int, Block] = {}
    for turn in range(400):
        process = dice.randrange(5)
        if process in busy:
            block = busy.pop(process)
            if dice.random() < 0.2:
                one.forget(process)
            else:
                one.take(process, replace(block.progress, tried=block.tries), 0.01)
        else:
            given = one.deal(process)
            assert given is not None
            assert not values(given) & seen
            seen |= values(given)
            busy[process] = given
        if turn % 100 == 99:
            # Killed, and started anew from what was saved.
            one, busy = plan(one.saved()), {}


def test_processes_search_different_parts_while_there_are_enough() -> None:
    one = plan()
    blocks = [one.deal(process) for process in range(4)]

    assert [block.part for block in blocks if block] == [0, 1, 2, 0]


def test_a_block_takes_a_tenth_of_a_second() -> None:
    one = plan(start(endless()))
    first = one.deal(0)
    assert first is not None
    assert first.tries == 1
    one.take(0, replace(first.progress, tried=1), 0.01)
    second = one.deal(0)

    assert second is not None
    assert second.tries == 10


def test_the_first_solution_of_a_part_stays() -> None:
    one = plan(start(endless()))
    blocks = [one.deal(process) for process in range(4)]
    first, again = blocks[0], blocks[3]
    assert first is not None
    assert again is not None
    for process, block, solution in ((0, first, b"11111111"), (3, again, b"00000000")):
        found = (solution, *block.progress.found[1:])
        one.take(process, replace(block.progress, found=found, tried=1), 0.01)

    assert one.saved().found == (b"11111111", None, None)
    assert one.saved().tried == 2


def test_tries_do_not_bring_the_end_nearer_but_a_part_does() -> None:
    one = plan(start(blank(bits=9)))
    block = one.deal(0)
    assert block is not None
    fresh = one.standing(processes=1, spent_ms=0)
    one.take(0, replace(block.progress, tried=1), 0.01)
    before = one.standing(processes=1, spent_ms=0)
    for _ in range(50):
        block = one.deal(0)
        assert block is not None
        one.take(0, replace(block.progress, tried=block.tries), block.tries * 0.01)
    after = one.standing(processes=1, spent_ms=0)
    block = one.deal(0)
    assert block is not None
    found = tuple(
        b"solution" if part == 0 else one for part, one in enumerate(block.progress.found)
    )
    one.take(0, replace(block.progress, found=found, tried=1), 0.01)
    nearer = one.standing(processes=1, spent_ms=0)

    assert (fresh.rest, fresh.speed, fresh.left) == (None, None, 3 * 512)
    assert (before.left, after.left, nearer.left) == (3 * 512, 3 * 512, 2 * 512)
    assert after.tried > 500
    assert before.rest is not None
    assert after.rest is not None
    assert nearer.rest is not None
    assert after.rest.mean_s == pytest.approx(before.rest.mean_s)
    assert after.rest.mean_s == pytest.approx(3 * 5.12 + 16 / SPEED)
    assert nearer.rest.mean_s == pytest.approx(2 * 5.12 + 16 / SPEED)


def lasted(processes: int, dice: random.Random) -> tuple[float, Estimate]:
    """Play a search of the size that a community asks for: 100 hashes a second and process.

    Gives how long it lasted after its first second, and the estimate of that moment.
    """
    bits, gate_bits, speed, gate_speed = 9, 18, 100.0, 700_000.0
    one = Plan(start(blank(bits=bits, parts=4, gate_bits=gate_bits)), gate_speed=gate_speed)
    answers: list[tuple[float, int, Progress, float]] = []
    now, told = 0.0, None

    def ask(process: int) -> None:
        block = one.deal(process)
        if block is None:
            return
        at_gate = block.part is None
        chance = 2.0 ** -(gate_bits if at_gate else bits)
        # Every try is a draw of its own, so the first that succeeds is drawn at once.
        first = int(math.log(1 - dice.random()) / math.log(1 - chance)) + 1
        tries, hit = min(first, block.tries), first <= block.tries
        seconds = tries / (gate_speed if at_gate else speed)
        progress = replace(block.progress, tried=0 if at_gate else tries)
        if hit and at_gate:
            progress = replace(progress, gate=b"the gate")
        elif hit:
            progress = replace(progress, found=tuple(has or b"solution" for has in progress.found))
        answers.append((now + seconds, process, progress, seconds))

    for process in range(processes):
        ask(process)
    while not one.is_over:
        answers.sort(key=lambda answer: answer[:2])
        now, process, progress, seconds = answers.pop(0)
        one.take(process, progress, seconds)
        if told is None and now > 1:
            told = now, one.standing(processes=processes, spent_ms=0).rest
        ask(process)
    since, rest = told or (now, None)
    return now - since, rest or estimate_of_nothing()


def estimate_of_nothing() -> Estimate:
    return Estimate(mean_s=0, half_s=0, most_s=0)


@pytest.mark.parametrize("processes", [1, 2, 8])
def test_searches_end_as_often_as_was_said_before(processes: int) -> None:
    dice = random.Random(processes)
    played = [lasted(processes, dice) for _ in range(400)]
    share = len(played)

    assert sum(took <= told.half_s for took, told in played) / share == pytest.approx(0.5, abs=0.06)
    assert sum(took <= told.most_s for took, told in played) / share == pytest.approx(
        0.95, abs=0.03
    )
    assert sum(took for took, _ in played) == pytest.approx(
        sum(told.mean_s for _, told in played), rel=0.1
    )


def test_time_adds_up_over_interruptions() -> None:
    one = plan(one_saved := plan().saved(700))
    assert one_saved.spent_ms == 700

    assert one.saved(50).spent_ms == 750
    assert one.standing(processes=1, spent_ms=50).spent_ms == 750


def test_a_finished_search_has_nothing_to_deal() -> None:
    done = plan()
    while (block := done.deal(0)) is not None:
        done.take(0, searched(done, block), 0.001)
    again = plan(done.saved())

    assert again.deal(0) is None
    assert again.proof() == done.proof()
    assert again.standing(processes=0, spent_ms=0).left == 0


def test_false_solutions_make_no_proof() -> None:
    false = replace(start(endless()), found=(bytes(8),) * 3, gate=bytes(8))
    with pytest.raises(CallerError, match="start the search anew"):
        plan(false).proof()
    with pytest.raises(CallerError, match="not over"):
        plan().proof()


def test_terms_beyond_the_limits_are_no_search() -> None:
    beyond = replace(start(blank()), blank=work_bytes(replace(blank(), memory_kib=2**30)))
    assert saved_bytes(beyond)
    with pytest.raises(ParameterError):
        plan(beyond)
