"""What a tick does about the broken and the inverted: quarantines, and what later checks tell."""

from federation.crypto import Choice
from federation.records import Health
from federation.sanctions import RuleId
from tests.federation.protocol.docket import Docket


def test_an_operators_word_quarantines_from_the_next_tick_until_it_says_otherwise() -> None:
    docket = Docket()
    docket.says(1, Health.BROKEN)
    assert not docket.held(1).quarantined
    docket.tick()
    assert docket.held(1).quarantined
    assert docket.held(1).weighs(99) == 0
    docket.says(1, Health.REPAIRED)
    docket.tick()

    assert not docket.held(1).quarantined


def test_the_newest_word_of_an_epoch_counts() -> None:
    docket = Docket()
    docket.says(1, Health.BROKEN)
    docket.says(1, Health.REPAIRED)
    docket.tick()

    assert not docket.held(1).quarantined


def test_a_quarantine_is_extended_once_and_then_it_is_conduct() -> None:
    docket = Docket(quarantine=5, extensions=1)
    docket.says(1, Health.BROKEN)
    docket.tick(by=10)
    assert docket.held(1).quarantined
    assert docket.rules_of(1) == []
    docket.tick()

    assert not docket.held(1).quarantined
    assert docket.rules_of(1) == [RuleId.QUARANTINE]
    assert docket.held(1).points == 1


def test_a_second_quarantine_that_runs_out_is_a_second_violation() -> None:
    docket = Docket(quarantine=5, extensions=0)
    for cut in (b"\1" * 32, b"\2" * 32):
        docket.state.digest = cut
        docket.says(1, Health.BROKEN)
        docket.tick(by=6)

    assert docket.rules_of(1) == [RuleId.QUARANTINE] * 2


def test_chance_is_quarantined_without_points_and_judged_afresh_afterwards() -> None:
    docket = Docket(sample=20, odds=20, quarantine=5)
    for number in range(300):
        docket.upheld([(1, Choice.FOR if number % 2 else Choice.AGAINST), (2, Choice.FOR)])
    docket.tick()
    assert docket.held(1).quarantined
    assert not docket.held(2).quarantined
    assert docket.rules_of(1) == []
    docket.says(1, Health.REPAIRED)
    docket.tick(by=3)

    assert not docket.held(1).quarantined
    assert docket.name(1) not in docket.state.discipline.samples


def test_whoever_sat_out_a_quarantine_is_judged_afresh_too() -> None:
    docket = Docket(sample=20, odds=20, quarantine=5, extensions=0)
    for number in range(300):
        docket.upheld([(1, Choice.FOR if number % 2 else Choice.AGAINST)])
    docket.tick(by=6)
    assert docket.rules_of(1) == [RuleId.QUARANTINE]
    docket.upheld([(1, Choice.FOR)])
    docket.tick()

    assert not docket.held(1).quarantined
    assert len(docket.state.discipline.samples[docket.name(1)]) == 1


def test_the_same_votes_are_not_held_against_an_agent_again_in_the_next_window() -> None:
    docket = Docket(sample=20, odds=20, window=10)
    for _ in range(40):
        docket.upheld([(1, Choice.AGAINST)])
        docket.reversed([(1, Choice.FOR)])
    docket.tick()
    docket.state.digest = b"\x07" * 32
    docket.tick(by=30)

    assert docket.rules_of(1) == [RuleId.INVERTED]


def test_inversion_costs_points_once_in_a_window() -> None:
    docket = Docket(sample=20, odds=20, window=10)
    for number in range(3):
        docket.state.digest = bytes([number]) * 32
        for _ in range(40):
            docket.upheld([(1, Choice.AGAINST), (2, Choice.FOR)])
            docket.reversed([(1, Choice.FOR), (2, Choice.FOR)])
        docket.tick()
    assert docket.rules_of(1) == [RuleId.INVERTED]
    assert docket.rules_of(2) == []
    assert docket.held(1).level == 2
    docket.tick(by=9)
    docket.state.digest = b"\7" * 32
    docket.reversed([(1, Choice.FOR)])
    docket.tick()

    assert docket.rules_of(1) == [RuleId.INVERTED] * 2


def test_a_dissenter_whom_every_later_check_contradicts_is_left_alone() -> None:
    docket = Docket(sample=20, odds=20)
    for _ in range(200):
        docket.upheld([(1, Choice.AGAINST)])
    docket.tick()

    assert docket.held(1).level == 0
    assert not docket.held(1).quarantined
