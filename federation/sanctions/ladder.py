"""The ladder of sanctions as one table: from how many points on, what it takes, when it ends.

Points are those of the violations in the window. A level is reached at once and left more slowly
(hysteresis), so that nobody lives on its edge: see `Leaves`. What an agent inherits from others of
its operator (ADR 40) brings it to probation at most: nobody is suspended or banned for what others
did.

`moved` is one step at a tick; `replayed` goes through the whole history again, as it would have
been without the violations that were found wrong.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from federation.charter import Sanctions
from federation.sanctions.effects import Effects
from federation.sanctions.violations import RULES, Violation, ViolationClass


class Leaves(StrEnum):
    """When a level ends."""

    NEVER_HELD = "never_held"
    """Nothing to leave: no sanction."""
    WINDOW = "window"
    """As soon as the points that count are below it."""
    CLEAN = "clean"
    """Once no point counts any more: a whole window without a violation."""
    SERVED = "served"
    """After its time, and after the operator has said that the agent is repaired."""
    APPEAL = "appeal"
    """Never by itself: only if a violation is found wrong."""


class Threshold(StrEnum):
    """Field of the charter's section on sanctions that says from how many points on."""

    NONE = "none"
    WARNING = "warning"
    LIMIT = "limit"
    PROBATION = "probation"
    SUSPENSION = "suspension"
    BAN = "ban"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One row of the ladder."""

    level: int
    name: str
    at: Threshold
    effects: Effects
    leaves: Leaves
    text: str
    """What it takes, in one line for the agent."""

    def points(self, rules: Sanctions) -> int:
        """Give from how many points on it holds; 0 for the ground."""
        return {
            Threshold.NONE: 0,
            Threshold.WARNING: rules.warning,
            Threshold.LIMIT: rules.limit,
            Threshold.PROBATION: rules.probation,
            Threshold.SUSPENSION: rules.suspension,
            Threshold.BAN: rules.ban,
        }[self.at]


GROUND: Final = 0
WARNED: Final = 1
LIMITED: Final = 2
ON_PROBATION: Final = 3
SUSPENDED: Final = 4
BANNED: Final = 5

LADDER: Final = (
    Step(
        level=GROUND,
        name="none",
        at=Threshold.NONE,
        effects=Effects(),
        leaves=Leaves.NEVER_HELD,
        text="Nothing.",
    ),
    Step(
        level=WARNED,
        name="warning",
        at=Threshold.WARNING,
        effects=Effects(),
        leaves=Leaves.WINDOW,
        text="A notice to the agent and its operator.",
    ),
    Step(
        level=LIMITED,
        name="rate limit",
        at=Threshold.LIMIT,
        effects=Effects(limited=True),
        leaves=Leaves.CLEAN,
        text="Quotas are divided.",
    ),
    Step(
        level=ON_PROBATION,
        name="probation",
        at=Threshold.PROBATION,
        effects=Effects(limited=True, probation=True),
        leaves=Leaves.CLEAN,
        text="Half the weight, and proposals in the sandbox only.",
    ),
    Step(
        level=SUSPENDED,
        name="suspension",
        at=Threshold.SUSPENSION,
        effects=Effects(limited=True, probation=True, suspended=True),
        leaves=Leaves.SERVED,
        text="No review, no dispute, no report, no proposal.",
    ),
    Step(
        level=BANNED,
        name="ban",
        at=Threshold.BAN,
        effects=Effects(limited=True, probation=True, suspended=True, banned=True),
        leaves=Leaves.APPEAL,
        text="The identity ends, and those who vouched for it answer.",
    ),
)
"""The table; the place of a row is its level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What counts against one agent at one tick."""

    own: int = 0
    """Points of its own violations in the window."""
    inherited: int = 0
    """Points that it answers for as a new agent of an operator whose others have violations."""
    abused: bool = False
    """A proven abuse is among its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where one agent stands on the ladder since the last tick."""

    level: int = GROUND
    since: int = 0
    """Tick at which the level began."""
    own: int = 0
    inherited: int = 0

    @property
    def matters(self) -> bool:
        """Whether it must be remembered: a point counts, or a level holds."""
        return bool(self.level or self.own or self.inherited)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inherited:
    """Points that a new agent begins with, from tick `since` on for one window."""

    points: int = 0
    since: int = 0

    def at(self, tick: int, rules: Sanctions) -> int:
        """Give what of them counts at a tick."""
        return self.points if self.since <= tick < self.since + rules.window else 0


NOTHING: Final = Inherited()


def reached(load: Load, rules: Sanctions) -> int:
    """Give the level that points alone bring; what is inherited suspends and bans nobody."""
    if load.abused:
        return BANNED
    for step in reversed(LADDER):
        counted = load.own if step.level >= SUSPENDED else load.own + load.inherited
        if counted >= step.points(rules):
            return step.level
    return GROUND


def load_at(
    violations: Iterable[Violation], inherited: Inherited, tick: int, rules: Sanctions
) -> Load:
    """Add up what counts against an agent at a tick."""
    counting = [one for one in violations if one.counts(tick, rules)]
    return Load(
        own=sum(one.points for one in counting),
        inherited=inherited.at(tick, rules),
        abused=any(RULES[one.rule].kind is ViolationClass.ABUSE for one in counting),
    )


def moved(
    now: Standing, load: Load, *, tick: int, repaired: int | None, rules: Sanctions
) -> Standing:
    """Give where an agent stands from this tick on.

    `repaired` is the newest tick at which its operator has said so, None if it never has.
    """
    due = reached(load, rules)
    kept = now.level if _holds(now, load, tick=tick, repaired=repaired, rules=rules) else GROUND
    level = max(due, kept)
    # A suspension that was served and is earned again begins anew.
    stays = level == now.level and (kept == level or level < SUSPENDED)
    return Standing(
        level=level,
        since=now.since if stays else tick,
        own=load.own,
        inherited=load.inherited,
    )


def replayed(
    violations: Sequence[Violation],
    inherited: Inherited,
    repairs: Sequence[int],
    *,
    tick: int,
    rules: Sanctions,
) -> Standing:
    """Give where an agent would stand at a tick if everything had happened under these rules.

    `repairs` are the ticks at which its operator has said that it is repaired, ascending. Costs a
    look at all its violations for each of them.
    """
    turns = sorted(
        {one.tick for one in violations}
        | {one.until(rules) for one in violations}
        | {inherited.since, inherited.since + rules.window}
        | {said + 1 for said in repairs}
        | {tick}
    )
    standing, at = Standing(), 0
    while at < len(turns) and turns[at] <= tick:
        here = turns[at]
        said = bisect_right(repairs, here - 1)
        standing = moved(
            standing,
            load_at(violations, inherited, here, rules),
            tick=here,
            repaired=repairs[said - 1] if said else None,
            rules=rules,
        )
        served = served_at(standing, rules)
        if served is not None and here < served and served not in turns:
            insort(turns, served)
        at += 1
    return standing


def served_at(standing: Standing, rules: Sanctions) -> int | None:
    """Give the first tick at which a suspension may end; None at any other level."""
    if standing.level != SUSPENDED:
        return None
    return standing.since + rules.suspended * rules.window


def ends_at(
    standing: Standing,
    violations: Iterable[Violation],
    inherited: Inherited,
    *,
    tick: int,
    rules: Sanctions,
) -> int | None:
    """Foresee the tick at which a level ends if nothing more happens; None if time alone ends it not.

    For a suspension it is the earliest: the operator must have spoken by then.
    """
    leaves = LADDER[standing.level].leaves
    if leaves in (Leaves.NEVER_HELD, Leaves.APPEAL):
        return None
    if leaves is Leaves.SERVED:
        return served_at(standing, rules)
    own = [one for one in violations if one.counts(tick, rules)]
    turns = {one.until(rules) for one in own} | {inherited.since + rules.window}
    for turn in sorted(turn for turn in turns if turn > tick):
        after = moved(
            replace(standing),
            load_at(own, inherited, turn, rules),
            tick=turn,
            repaired=None,
            rules=rules,
        )
        if after.level < standing.level:
            return turn
    return None


def _holds(now: Standing, load: Load, *, tick: int, repaired: int | None, rules: Sanctions) -> bool:
    """Tell whether a level stays although the points alone may not bring it any more."""
    match LADDER[now.level].leaves:
        case Leaves.NEVER_HELD | Leaves.WINDOW:
            return False
        case Leaves.CLEAN:
            return bool(load.own or load.inherited)
        case Leaves.SERVED:
            is_over = tick >= now.since + rules.suspended * rules.window
            return not (is_over and repaired is not None and repaired >= now.since)
        case Leaves.APPEAL:
            return True
