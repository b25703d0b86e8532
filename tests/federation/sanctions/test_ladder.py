"""The ladder: when a level is reached, when it is left, and that going back over it agrees."""

from dataclasses import replace as alter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from federation.charter import preset
from federation.sanctions import (
    LADDER,
    NOTHING,
    Inherited,
    Leaves,
    Load,
    RuleId,
    Standing,
    Violation,
    ends_at,
    load_at,
    moved,
    reached,
    replayed,
)
from tests.federation.sanctions.violation_rows import RULES, seen


def _walk(
    violations: list[Violation],
    upto: int,
    *,
    inherited: Inherited = NOTHING,
    repairs: tuple[int, ...] = (),
) -> list[Standing]:
    """Go tick by tick; give the standing at each."""
    standing, seen_at = Standing(), []
    for tick in range(upto + 1):
        said = [one for one in repairs if one < tick]
        standing = moved(
            standing,
            load_at(violations, inherited, tick, RULES),
            tick=tick,
            repaired=said[-1] if said else None,
            rules=RULES,
        )
        seen_at.append(standing)
    return seen_at


def _levels(violations: list[Violation], upto: int, **more: object) -> list[int]:
    return [one.level for one in _walk(violations, upto, **more)]


def test_the_place_of_a_row_is_its_level_and_each_takes_more_than_the_one_before() -> None:
    assert [step.level for step in LADDER] == list(range(6))
    assert [step.points(preset("community").sanctions) for step in LADDER] == [0, 2, 4, 6, 10, 16]
    assert [step.leaves for step in LADDER] == [
        *list(Leaves)[:1],
        Leaves.WINDOW,
        Leaves.CLEAN,
        Leaves.CLEAN,
        Leaves.SERVED,
        Leaves.APPEAL,
    ]


@pytest.mark.parametrize(
    ("points", "level"),
    [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (9, 3), (10, 4), (15, 4), (16, 5)],
)
def test_a_level_is_reached_at_its_points(points: int, level: int) -> None:
    assert reached(Load(own=points), RULES) == level


def test_what_is_inherited_brings_to_probation_at_most() -> None:
    assert reached(Load(inherited=1_000), RULES) == 3
    assert reached(Load(own=9, inherited=1_000), RULES) == 3
    assert reached(Load(own=10, inherited=1_000), RULES) == 4


def test_one_proven_abuse_bans_whatever_its_points() -> None:
    abuse = seen(3, rule=RuleId.ABUSE, points=1)

    assert _levels([abuse], 60)[2:5] == [0, 5, 5]
    assert _levels([abuse], 60)[-1] == 5


def test_a_warning_is_left_as_soon_as_the_points_are() -> None:
    levels = _levels([seen(2), seen(5, number=1)], 20)

    # At tick 12 the first counts no more, and one point is no warning.
    assert levels[4:6] == [0, 1]
    assert (levels[11], levels[12]) == (1, 0)


def test_a_rate_limit_is_left_only_once_a_whole_window_is_clean() -> None:
    early = [seen(2, number=one) for one in range(4)]
    levels = _levels([*early, seen(8, number=9)], 30)

    # From tick 12 on there is one point; the level stays until that is gone too.
    assert levels[2] == levels[12] == levels[17] == 2
    assert levels[18] == 0


def test_inherited_points_keep_a_window_from_being_clean() -> None:
    inherited = Inherited(points=4, since=1)
    levels = _levels([seen(1, points=2)], 12, inherited=inherited)

    assert levels[1:11] == [3] * 10
    assert levels[11] == 0
    later = _levels([seen(1, points=2)], 16, inherited=Inherited(points=4, since=5))
    # The own points go at tick 11, the inherited ones at 15.
    assert later[5:15] == [3] * 10
    assert later[15] == 0


def test_probation_is_left_straight_to_the_ground() -> None:
    levels = _levels([seen(2, number=one) for one in range(6)], 20)

    assert levels[2:13] == [3] * 10 + [0]


def test_a_suspension_needs_its_time_and_the_operators_word() -> None:
    ten = [seen(2, number=one) for one in range(10)]
    left = 2 + RULES.suspended * RULES.window

    assert _levels(ten, left + 20)[-1] == 4
    assert _levels(ten, left + 20, repairs=(1,))[-1] == 4
    said_early = _levels(ten, left + 20, repairs=(3,))
    assert (said_early[left - 1], said_early[left]) == (4, 0)
    said_late = _levels(ten, left + 20, repairs=(left + 4,))
    assert (said_late[left + 4], said_late[left + 5]) == (4, 0)


def test_a_suspension_that_is_earned_again_while_it_is_served_begins_anew() -> None:
    left = 2 + RULES.suspended * RULES.window
    again = [seen(left - 3, number=50 + one) for one in range(10)]
    walk = _walk([*(seen(2, number=one) for one in range(10)), *again], 60, repairs=(5,))

    assert walk[left].level == 4
    assert walk[left].since == left
    # That word was about the first one.
    assert walk[60].level == 4


def test_a_ban_never_ends_by_itself() -> None:
    sixteen = [seen(2, number=one) for one in range(16)]

    assert _levels(sixteen, 200, repairs=(4, 90))[-1] == 5


def test_a_void_violation_counts_for_nothing() -> None:
    sixteen = [alter(seen(2, number=one), void=one > 0) for one in range(16)]

    assert _levels(sixteen, 20) == [0] * 21


def test_the_end_of_a_level_is_foreseen() -> None:
    early = [seen(2, number=one) for one in range(4)]
    late = seen(8, number=9)
    walk = _walk([*early, late], 8)

    assert ends_at(walk[8], [*early, late], NOTHING, tick=8, rules=RULES) == 18
    two = [seen(2), seen(5, number=1)]
    assert ends_at(_walk(two, 6)[6], two, NOTHING, tick=6, rules=RULES) == 12
    assert ends_at(Standing(level=4, since=3), two, NOTHING, tick=6, rules=RULES) == 23
    assert ends_at(Standing(level=5, since=3), two, NOTHING, tick=6, rules=RULES) is None
    assert ends_at(Standing(), two, NOTHING, tick=6, rules=RULES) is None


_VIOLATIONS = st.lists(
    st.tuples(st.integers(1, 60), st.sampled_from([1, 1, 1, 2, 4, 16])), max_size=30
).map(
    lambda rows: [
        seen(tick, number=number, points=points) for number, (tick, points) in enumerate(rows)
    ]
)
_REPAIRS = st.lists(st.integers(0, 90), max_size=4, unique=True).map(lambda one: tuple(sorted(one)))
_INHERITED = st.builds(Inherited, points=st.integers(0, 20), since=st.integers(0, 40))


@given(_VIOLATIONS, _REPAIRS, _INHERITED, st.integers(0, 100))
def test_going_over_the_whole_way_again_gives_what_step_by_step_gave(
    violations: list[Violation], repairs: tuple[int, ...], inherited: Inherited, tick: int
) -> None:
    stepwise = _walk(violations, tick, inherited=inherited, repairs=repairs)[tick]
    again = replayed(violations, inherited, repairs, tick=tick, rules=RULES)

    assert again == stepwise


@given(_VIOLATIONS, _REPAIRS, _INHERITED, st.integers(0, 60))
def test_a_foreseen_end_comes_true_if_nothing_more_happens(
    violations: list[Violation], repairs: tuple[int, ...], inherited: Inherited, tick: int
) -> None:
    violations = [one for one in violations if one.tick <= tick]
    inherited = alter(inherited, since=min(inherited.since, tick))
    walk = _walk(violations, tick + 40, inherited=inherited, repairs=repairs)
    here = walk[tick]
    end = ends_at(here, violations, inherited, tick=tick, rules=RULES)

    if here.level in (1, 2, 3):
        assert end is not None
        assert end > tick
        assert walk[end].level < here.level == walk[end - 1].level


class Way(RuleBasedStateMachine):
    """One agent on the ladder, with whatever may happen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.tick = 0
        self.violations: list[Violation] = []
        self.repairs: list[int] = []
        self.standing = Standing()
        self.before = Standing()

    @rule(points=st.sampled_from([1, 1, 2, 4]))
    def offend(self, points: int) -> None:
        self.violations.append(seen(self.tick + 1, number=len(self.violations), points=points))

    @rule()
    def attest(self) -> None:
        if self.tick not in self.repairs:
            self.repairs.append(self.tick)

    @rule(ticks=st.integers(1, 12))
    def wait(self, ticks: int) -> None:
        for _ in range(ticks):
            self.tick += 1
            said = [one for one in self.repairs if one < self.tick]
            self.before = self.standing
            self.standing = moved(
                self.standing,
                load_at(self.violations, NOTHING, self.tick, RULES),
                tick=self.tick,
                repaired=said[-1] if said else None,
                rules=RULES,
            )
            self.check_step()

    def check_step(self) -> None:
        """Check what must hold after every tick."""
        now, before = self.standing, self.before
        load = load_at(self.violations, NOTHING, self.tick, RULES)
        # Never below what the points alone bring, never above that and what held before.
        assert now.level >= reached(load, RULES)
        assert now.level in (reached(load, RULES), before.level)
        if before.level == 5:
            assert now.level == 5
        if before.level == 4 and now.level < 4:
            assert self.tick >= before.since + RULES.suspended * RULES.window
            assert any(before.since <= one < self.tick for one in self.repairs)
        if before.level in (2, 3) and now.level < before.level:
            assert not load.own
        if not load.own and before.level <= 3:
            assert now.level == 0

    @invariant()
    def the_whole_way_again_agrees(self) -> None:
        again = replayed(self.violations, NOTHING, self.repairs, tick=self.tick, rules=RULES)
        assert again == self.standing


TestWay = Way.TestCase


def test_the_page_in_the_documentation_has_this_table() -> None:
    page = (Path(__file__).parents[3] / "docs/explanation/sanctions.md").read_text("utf-8")
    rules = preset("community").sanctions
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("| ") and line[2].isdigit()
    ]

    assert [row[:4] for row in rows] == [
        [str(step.level), step.name, str(step.points(rules)), step.text] for step in LADDER
    ]
    assert all(f"`{name.value}`" in page for name in RuleId)
