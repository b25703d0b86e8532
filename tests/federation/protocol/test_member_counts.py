"""A round among 1, 2, 3, 4 or 7 instances, with some of them down (design: federation, table)."""

import msgspec
import pytest

from federation.artifacts import DecidedBy, Narrow, State
from federation.certificates import Phase
from federation.charter import Timing, preset
from tests.federation.protocol.trial import Trial, checked, ended, state_of, verdict_of


def available() -> Timing:
    return msgspec.structs.replace(preset("test").timing, three="available")


@pytest.mark.parametrize(
    ("instances", "timing"),
    [(1, None), (2, None), (3, None), (3, available()), (4, None), (7, None)],
    ids=["1", "2", "3 strict", "3 available", "4", "7"],
)
def test_any_number_of_instances_decides_a_round(instances: int, timing: Timing | None) -> None:
    town = Trial.of(instances, 7, operators=7, timing=timing)
    record = town.propose(0)
    verdict = ended(town, record, {1: 1, 2: 1, 3: -1, 4: 1})

    assert (verdict.by, verdict.accepted) == (DecidedBy.VOTE, True)
    assert (Narrow.FEW_MEMBERS in verdict.narrow) is (instances < 4)
    assert state_of(town, record) is State.ACTIVE
    assert town.refused == []


@pytest.mark.parametrize("home", [False, True], ids=["another down", "home down"])
@pytest.mark.parametrize(
    ("instances", "timing", "down"),
    [(3, available(), 1), (4, None, 1), (7, None, 2)],
    ids=["3 available", "4", "7"],
)
def test_with_as_many_down_as_allowed_a_round_is_decided_all_the_same(
    instances: int, timing: Timing | None, down: int, home: bool
) -> None:
    # Agent 0 lives on instance 0; the round's home is the one that leads its slots.
    town = Trial.of(instances, 3 * instances, operators=3 * instances, timing=timing)
    record = town.propose(0)
    round_id = town.open_round(record)
    gone = range(down) if home else range(instances - down, instances)
    for index in gone:
        town.take_down(index)
    up = [index for index in range(1, 3 * instances) if index % instances not in gone][:4]
    town.in_phase(round_id, Phase.COMMIT)
    for index in up:
        town.cast(index, round_id, 1)
    town.in_phase(round_id, Phase.DECIDE)
    for index in up:
        town.reveal(index, round_id)
    town.in_phase(round_id, None)

    assert verdict_of(town, round_id).by is DecidedBy.VOTE

    # Whoever was away comes to the same world when it is back.
    for index in gone:
        town.bring_up(index)
    number = max(world.state.cut for world in town.live()) + 2
    town.in_cut(number)

    assert checked(town, round_id).by is DecidedBy.VOTE
    assert state_of(town, record) is State.ACTIVE


@pytest.mark.parametrize("phase", [Phase.DELIBERATE, Phase.COMMIT, Phase.DECIDE])
@pytest.mark.parametrize("instances", [2, 3])
def test_strict_communities_wait_for_the_one_that_is_down_and_go_on_when_it_is_back(
    instances: int, phase: Phase
) -> None:
    town = Trial.of(instances, 6, operators=6)
    record = town.propose(0)
    round_id = town.open_round(record)
    voters = [index for index in range(2, 6) if index % instances != 1] + [1]
    if phase is not Phase.DELIBERATE:
        town.in_phase(round_id, Phase.COMMIT)
        for index in voters:
            town.cast(index, round_id, 1)
    if phase is Phase.DECIDE:
        town.in_phase(round_id, Phase.DECIDE)
    town.take_down(1)
    known = town.world().rounds[round_id]
    lists = len(known.finals)
    cut = town.world().state.cut
    town.rest(30_000)

    # Nothing is lost and nothing is decided while one is away.
    assert (len(known.finals), town.world().state.cut) == (lists, cut)
    assert known.verdict is None

    town.bring_up(1)
    if phase is Phase.DELIBERATE:
        town.in_phase(round_id, Phase.COMMIT)
        for index in voters:
            town.cast(index, round_id, 1)
    town.in_phase(round_id, Phase.DECIDE)
    for index in voters:
        town.reveal(index, round_id)
    town.in_phase(round_id, None)

    assert checked(town, round_id).by is DecidedBy.VOTE
    assert state_of(town, record) is State.ACTIVE
