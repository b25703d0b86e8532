"""The book of sanctions: what is written is read back alike, and goes on alike."""

from dataclasses import replace as alter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.codec import encode
from federation.crypto import Choice
from federation.protocol import discipline
from federation.protocol.discipline import Discipline, DisciplineRow
from federation.records import Health
from federation.sanctions import RuleId
from tests.federation.protocol.docket import AGENTS, Docket

_ACTS = ("frivolous", "unrevealed", "broken", "repaired", "upheld", "reversed", "void", "abuse")
_STEPS = st.lists(
    st.tuples(st.sampled_from([*_ACTS, "tick"]), st.integers(0, AGENTS - 1), st.integers(1, 12)),
    max_size=25,
)


def _do(docket: Docket, act: str, who: int, number: int) -> None:
    """Let something happen to an agent."""
    match act:
        case "frivolous":
            docket.frivolous(who, times=number)
        case "unrevealed":
            for _ in range(number):
                docket.unrevealed(who)
        case "broken":
            docket.says(who, Health.BROKEN)
        case "repaired":
            docket.says(who, Health.REPAIRED)
        case "upheld":
            for at in range(9 * number):
                docket.upheld([(who, Choice.FOR if at % 2 else Choice.AGAINST)])
        case "reversed":
            docket.reversed([(who, Choice.FOR)])
        case "void":
            own = sorted(docket.state.discipline.of(docket.name(who)), key=lambda one: one.id)
            for one in own[:number]:
                discipline.reclassify(docket.state, one.id)
        case "abuse":
            discipline.abuse(docket.state, docket.name(who), RuleId.ABUSE, bytes([number]) * 32)
        case _:
            docket.state.digest = docket.round_id()
            docket.tick(by=number)


def _swapped(docket: Docket) -> None:
    """Put what was written and read again in the place of the book."""
    written = encode(docket.state.discipline.row())
    docket.state.discipline = Discipline.revived(
        msgspec.msgpack.decode(written, type=DisciplineRow)
    )


@settings(max_examples=60, deadline=None)
@given(_STEPS, _STEPS)
def test_a_book_that_was_written_goes_on_like_the_one_that_was_not(
    before: list[tuple[str, int, int]], after: list[tuple[str, int, int]]
) -> None:
    kept, read = (Docket(window=8, sample=20, quarantine=4) for _ in range(2))
    for step in before:
        _do(kept, *step)
        _do(read, *step)
    _swapped(read)
    assert read.state.discipline.row() == kept.state.discipline.row()
    for step in after:
        _do(kept, *step)
        _do(read, *step)
        _swapped(read)

    assert encode(read.state.discipline.row()) == encode(kept.state.discipline.row())
    for who in range(AGENTS):
        assert read.held(who) == kept.held(who)


@settings(max_examples=40, deadline=None)
@given(_STEPS)
def test_a_copy_can_be_changed_without_the_book(steps: list[tuple[str, int, int]]) -> None:
    docket = Docket(window=8, quarantine=4)
    docket.frivolous(1, times=5)
    docket.tick()
    book, written = docket.state.discipline, encode(docket.state.discipline.row())
    docket.state.discipline = book.copy()
    for step in steps:
        _do(docket, *step)

    assert encode(book.row()) == written


def test_an_empty_book_is_an_empty_row() -> None:
    assert Discipline().row() == DisciplineRow()
    assert Discipline.revived(DisciplineRow()) == Discipline()


def test_what_is_no_row_is_refused() -> None:
    written = encode([[], [], [[b"\1" * 32, "what"]]])

    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(written, type=DisciplineRow)


def test_marks_that_no_window_contains_are_forgotten() -> None:
    docket = Docket(window=5)
    docket.unrevealed(1)
    docket.tick()
    assert docket.state.discipline.marks
    docket.tick(by=5)

    assert not docket.state.discipline.marks


def test_what_an_operator_has_said_of_a_suspended_agent_is_read_back() -> None:
    docket = Docket(window=10, suspended=2)
    docket.frivolous(1, times=10)
    docket.tick(by=3)
    docket.says(1, Health.REPAIRED)
    docket.tick()
    _swapped(docket)
    docket.tick(by=17)

    assert docket.held(1).level == 0


def test_points_that_a_new_agent_inherited_end_after_the_book_was_read_back_too() -> None:
    docket = Docket(window=10)
    docket.frivolous(1, times=16)
    docket.tick(by=2)
    agent, name = docket.state.agents[docket.name(1)], b"\xc9" * 32
    docket.state.identities[name] = docket.state.identities[agent.agent]
    docket.state.admit(alter(agent, agent=name, admitted_tick=docket.state.tick, founder=None))
    docket.tick()
    assert discipline.held(docket.state, name).level == 2
    _swapped(docket)
    docket.tick(by=10)

    assert discipline.held(docket.state, name).level == 0
