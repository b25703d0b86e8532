"""What a tick does: levels, bans with what they cost, inheritance, and giving back."""

from dataclasses import replace as alter

import pytest

from federation.core import MILLION, Code
from federation.protocol import discipline
from federation.records import Health
from federation.sanctions import RuleId
from federation.trust import Evidence, EvidenceKind
from tests.federation.protocol.docket import Docket

_LIABILITY = EvidenceKind.LIABILITY


def _paid(docket: Docket, index: int) -> list[int]:
    rows = docket.state.ledger.rows(docket.name(index))
    return [row.negative for row in rows if row.kind is _LIABILITY]


def _newcomer(docket: Docket, like: int, number: int = 1) -> bytes:
    """Admit an agent of the operator of another, in this epoch."""
    agent = docket.state.agents[docket.name(like)]
    name = bytes([200 + number]) * 32
    docket.state.identities[name] = docket.state.identities[agent.agent]
    docket.state.admit(alter(agent, agent=name, admitted_tick=docket.state.tick, founder=None))
    return name


@pytest.mark.parametrize(
    ("points", "level"), [(1, 0), (2, 1), (4, 2), (6, 3), (10, 4), (16, 5), (40, 5)]
)
def test_points_bring_a_level_at_the_next_tick(points: int, level: int) -> None:
    docket = Docket()
    docket.frivolous(1, times=points)
    assert docket.held(1).level == 0
    banned = docket.tick()

    assert docket.held(1).level == level
    assert banned == ((docket.name(1),) if level == 5 else ())
    assert docket.tick() == ()


def test_levels_are_left_as_the_ladder_says() -> None:
    docket = Docket(window=10)
    docket.frivolous(1, times=4)
    docket.tick(by=10)
    assert docket.held(1).level == 2
    docket.tick()

    assert docket.held(1).level == 0
    assert not docket.state.discipline.standings


def test_a_suspension_ends_with_its_time_and_the_operators_word() -> None:
    docket = Docket(window=10, suspended=2)
    docket.frivolous(1, times=10)
    docket.tick(by=25)
    assert discipline.refusal(docket.state, docket.name(1)) is Code.SUSPENDED
    assert docket.says(1, Health.REPAIRED) is None
    assert docket.held(1).level == 4
    docket.tick()

    assert docket.held(1).level == 0


def test_a_word_from_before_the_suspension_does_not_end_it() -> None:
    docket = Docket(window=10, suspended=2)
    docket.frivolous(1, times=4)
    docket.tick()
    docket.says(1, Health.REPAIRED)
    docket.frivolous(1, times=6)
    docket.tick(by=60)

    assert docket.held(1).level == 4


def test_quotas_and_weights_follow_the_level() -> None:
    docket = Docket(divisor=4)
    docket.frivolous(1, times=4)
    docket.frivolous(2, times=6)
    docket.tick()
    state = docket.state

    assert discipline.quota(state, docket.name(1), 20) == 5
    assert discipline.quota(state, docket.name(3), 20) == 20
    assert (docket.held(1).weight_divisor, docket.held(2).weight_divisor) == (1, 2)
    assert docket.held(2).probation


def test_a_ban_lets_those_who_vouched_answer_for_the_agents_own_outcomes() -> None:
    docket = Docket()
    name = docket.name(1)
    docket.state.graph.vouch(docket.name(2), name, 9)
    docket.state.graph.vouch(docket.name(3), docket.name(2), 9)
    docket.frivolous(1, times=16)
    # Its reputation stays high enough: the ban alone is what they answer for.
    against = Evidence(
        tick=1,
        cause=b"\6" * 32,
        kind=EvidenceKind.VOTE,
        subject=name,
        source=docket.operator(0),
        positive=9 * MILLION,
        negative=8 * MILLION,
        practice=False,
    )
    docket.tick(against)

    assert _paid(docket, 2) == [2 * MILLION]
    assert _paid(docket, 3) == [MILLION]
    assert docket.state.agents[name].found_bad == 1


def test_outcomes_for_which_an_agent_was_found_bad_before_are_not_shared_again() -> None:
    docket = Docket()
    docket.state.graph.vouch(docket.name(2), docket.name(1), 9)
    bad = Evidence(
        tick=1,
        cause=b"\6" * 32,
        kind=EvidenceKind.VOTE,
        subject=docket.name(1),
        source=docket.operator(0),
        positive=0,
        negative=8 * MILLION,
        practice=False,
    )
    docket.tick(bad)
    assert _paid(docket, 2) == [2 * MILLION]
    docket.frivolous(1, times=16)
    docket.tick()

    assert docket.held(1).banned
    assert _paid(docket, 2) == [2 * MILLION]


def test_a_proven_abuse_costs_vouchers_its_points_as_outcomes() -> None:
    docket = Docket()
    docket.state.graph.vouch(docket.name(2), docket.name(1), 9)
    discipline.abuse(docket.state, docket.name(1), RuleId.ABUSE, b"\7" * 32)
    docket.tick()

    assert _paid(docket, 2) == [16 * MILLION // 4]


def test_reclassifying_gives_back_level_vouchers_and_found_bad() -> None:
    docket = Docket()
    docket.state.graph.vouch(docket.name(2), docket.name(1), 9)
    discipline.abuse(docket.state, docket.name(1), RuleId.ABUSE, b"\7" * 32)
    docket.tick(by=3)
    (one,) = docket.state.discipline.of(docket.name(1))
    discipline.reclassify(docket.state, one.id)
    assert docket.held(1).banned
    docket.tick()

    assert (docket.held(1).level, docket.held(1).points) == (0, 0)
    assert _paid(docket, 2) == []
    assert docket.state.agents[docket.name(1)].found_bad is None
    assert docket.state.discipline.violations[one.id].void
    # Nothing of it is left, and a second time changes nothing.
    discipline.reclassify(docket.state, one.id)
    docket.tick()
    assert docket.held(1).level == 0
    assert not docket.state.discipline.charges


def test_a_ban_after_a_ban_that_was_wrong_is_charged_anew() -> None:
    docket = Docket()
    docket.state.graph.vouch(docket.name(2), docket.name(1), 9)
    for number in (1, 2):
        discipline.abuse(docket.state, docket.name(1), RuleId.ABUSE, bytes([number]) * 32)
        docket.tick()
        if number == 1:
            discipline.reclassify(docket.state, docket.state.discipline.of(docket.name(1))[0].id)
            docket.tick()
    assert docket.held(1).banned

    assert _paid(docket, 2) == [16 * MILLION // 4]


def test_one_wrong_violation_of_many_takes_its_share_only() -> None:
    docket = Docket(window=10)
    docket.frivolous(1, times=10)
    docket.tick()
    assert docket.held(1).level == 4
    one = docket.state.discipline.of(docket.name(1))[0]
    discipline.reclassify(docket.state, one.id)
    docket.tick()

    # It would never have been suspended, so there is nothing to serve.
    assert (docket.held(1).level, docket.held(1).points) == (3, 9)


def test_giving_back_never_makes_an_agent_worse_off() -> None:
    docket = Docket(window=10, suspended=2)
    docket.frivolous(1, times=10)
    docket.tick(by=8)
    docket.frivolous(1)
    docket.says(1, Health.REPAIRED)
    docket.tick(by=15)
    assert docket.held(1).level == 0
    discipline.reclassify(docket.state, docket.state.discipline.of(docket.name(1))[0].id)
    docket.tick()

    # Without that one the suspension would have begun seven ticks later, and would still last.
    assert docket.held(1).level == 0


def test_new_agents_of_an_operator_begin_with_a_share_of_its_points_for_a_window() -> None:
    docket = Docket(window=10, inherited=250_000)
    docket.frivolous(1, times=16)
    docket.tick(by=2)
    # Agents 1 and 5 have one operator; agent 5 was there before.
    new = _newcomer(docket, 1)
    other = _newcomer(docket, 2, 2)
    docket.tick()
    state = docket.state
    assert (docket.held(5).level, discipline.held(state, other).level) == (0, 0)
    assert discipline.held(state, new).level == 2
    assert discipline.held(state, new).inherited == 4
    docket.tick(by=8)
    assert discipline.held(state, new).level == 2
    docket.tick()

    assert discipline.held(state, new).level == 0


def test_an_agent_admitted_after_the_window_inherits_nothing() -> None:
    docket = Docket(window=10)
    docket.frivolous(1, times=16)
    docket.tick(by=11)
    new = _newcomer(docket, 1)
    docket.tick()

    assert discipline.held(docket.state, new).level == 0


def test_nobody_is_suspended_or_banned_for_what_others_did() -> None:
    docket = Docket(inherited=MILLION)
    docket.frivolous(1, times=60)
    docket.tick()
    new = _newcomer(docket, 1)

    assert docket.tick() == ()
    assert discipline.held(docket.state, new).level == 3


def test_what_was_inherited_from_a_wrong_violation_is_given_back_too() -> None:
    docket = Docket(window=10)
    discipline.abuse(docket.state, docket.name(1), RuleId.ABUSE, b"\7" * 32)
    docket.tick(by=2)
    new = _newcomer(docket, 1)
    docket.tick()
    assert discipline.held(docket.state, new).level == 2
    discipline.reclassify(docket.state, docket.state.discipline.of(docket.name(1))[0].id)
    docket.tick()

    assert discipline.held(docket.state, new).level == 0


def test_a_level_that_a_wrong_violation_had_brought_a_new_agent_does_not_stick_to_it() -> None:
    docket = Docket(window=10)
    for number in (1, 2):
        discipline.abuse(docket.state, docket.name(1), RuleId.ABUSE, bytes([number]) * 32)
    docket.tick(by=2)
    new = _newcomer(docket, 1)
    docket.tick()
    assert discipline.held(docket.state, new).level == 3
    discipline.reclassify(docket.state, docket.state.discipline.of(docket.name(1))[0].id)
    docket.tick()

    # Four points are left, which alone never brought it to probation.
    assert discipline.held(docket.state, new).level == 2
    assert not docket.state.discipline.again


def test_a_tick_looks_at_nobody_against_whom_nothing_stands() -> None:
    docket = Docket()
    docket.frivolous(1)
    looked: list[bytes] = []

    class Watched(dict):  # type: ignore[type-arg] # counts look-ups only
        def __getitem__(self, name: bytes) -> object:
            looked.append(name)
            return super().__getitem__(name)

    docket.state.agents = Watched(docket.state.agents)
    docket.tick()
    # Its own, and those of its operator that might be new.
    assert set(looked) <= {docket.name(1), docket.name(5)}
