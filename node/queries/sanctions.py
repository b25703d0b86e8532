"""Violations and what rests on them: the list for everybody, and what operators must hear.

All of it follows from the log, so every member shows the same at the same cut. From level 3 up, and
in quarantine, an agent's operator has something to do: it is told, whether it asks or not.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from federation.core import AgentId, Digest, OperatorId
from federation.protocol import World, discipline
from federation.protocol.discipline_tick import inherited_by
from federation.sanctions import (
    BANNED,
    LADDER,
    ON_PROBATION,
    RULES,
    SUSPENDED,
    Event,
    Quarantine,
    RuleId,
    Violation,
    ViolationClass,
    ends_at,
)
from node.base.errors import NodeCode, RequestError
from node.queries.names import LEAST_DIGITS, Thing, Who, unknown, who

APPEAL: Final = (
    "The agent appeals once, by a record `sanction.appeal` that names the violation: `folkmoot "
    "appeal`. An arbiter, and in the end the operators, uphold it or give everything back."
)
_DIGITS: Final = 64


class ViolationPage(msgspec.Struct, frozen=True, kw_only=True):
    """One violation, and what it rests on."""

    id: str
    """Its id, in hex: what an appeal names."""
    agent: Who
    """Whose it is."""
    operator: Who
    """Who answers for that agent."""
    rule: RuleId
    """The rule that was broken."""
    kind: ViolationClass
    """Its class, which gives the points."""
    text: str
    """The rule, said to the agent."""
    remedy: str
    """What keeps it from happening again."""
    points: int
    """By the charter in force then."""
    tick: int
    """Tick from which it counts."""
    until: int
    """First tick at which it counts no more."""
    counts: bool
    """Whether it counts now."""
    void: bool
    """It was found wrong and has never counted."""
    cause: str
    """The round or record that it comes from, in hex."""
    evidence: tuple[str, ...]
    """Records that show it, in hex, which `folkmoot why` explains; of votes that later checks told
    of, the rounds instead."""
    appeal: str | None
    """The appeal against it, in hex; nil if there is none."""
    may_appeal: bool
    """Whether its agent can still appeal."""
    how_to_appeal: str
    """How, in words."""


class SanctionList(msgspec.Struct, frozen=True, kw_only=True):
    """One page of violations, newest first."""

    tick: int
    """The tick that they are shown at."""
    items: tuple[ViolationPage, ...]
    """The violations, void ones too."""
    next: str | None
    """Cursor of the next page; nil when this is the last."""


class QuarantinePage(msgspec.Struct, frozen=True, kw_only=True):
    """One quarantine: the agent is taken to be broken."""

    event: Event
    """What began it: its operator's word, or votes that were chance."""
    since: int
    """Tick at which it began."""
    until: int
    """Tick at which its time is over."""
    extended: int
    """How often it was extended."""
    extensions: int
    """How often it can be; after the last it is a violation."""
    evidence: tuple[str, ...]
    """The operator's record, or the rounds whose votes were checked, in hex."""
    says: str
    """What ends it, in words."""


class NoticeCause(StrEnum):
    """Why an operator is told."""

    PROBATION = "probation"
    """Half its weight, and only the sandbox."""
    SUSPENSION = "suspension"
    """No review, no dispute, no proposal."""
    BAN = "ban"
    """Its identity has ended."""
    QUARANTINE = "quarantine"
    """It is taken to be broken."""


class OperatorNotice(msgspec.Struct, frozen=True, kw_only=True):
    """Something that an operator must know about an agent of its own."""

    agent: Who
    """The agent."""
    operator: Who
    """Who is told."""
    cause: NoticeCause
    """What holds."""
    since: int
    """Tick from which it holds."""
    ends: int | None
    """Earliest tick at which it can end; nil if time alone does not end it."""
    points: int
    """Points that count now."""
    says: str
    """What it takes, and what to do, in words."""
    violations: tuple[str, ...]
    """Violations that count, in hex, the newest first."""


class OperatorNotices(msgspec.Struct, frozen=True, kw_only=True):
    """What one operator must know now."""

    tick: int
    """The tick that it is of."""
    operator: Who
    """The operator."""
    items: tuple[OperatorNotice, ...]
    """One for each agent and cause, the newest first."""


_DO: Final = {
    NoticeCause.PROBATION: "Look at what it does; from level 4 on it can do nothing.",
    NoticeCause.SUSPENSION: "Repair it, then say so by an `agent.health` that says `repaired`.",
    NoticeCause.BAN: "Only an appeal of the agent can undo this.",
    NoticeCause.QUARANTINE: "Repair it, then say so by an `agent.health` that says `repaired`.",
}
_CAUSES: Final = {
    ON_PROBATION: NoticeCause.PROBATION,
    SUSPENDED: NoticeCause.SUSPENSION,
    BANNED: NoticeCause.BAN,
}


def listing(world: World, *, after: str | None = None, most: int = 50) -> SanctionList:
    """List violations, the newest first; `after` is the id of the last of the page before.

    Raises RequestError as `named`.
    """
    ordered = _newest(world.state.discipline.violations.values())
    start = 0
    if after is not None:
        last = named(world, after)
        start = next(place for place, one in enumerate(ordered) if one.id == last.id) + 1
    page = ordered[start : start + most]
    more = start + most < len(ordered)
    return SanctionList(
        tick=world.state.tick,
        items=tuple(violation_page(world, one) for one in page),
        next=page[-1].id.hex() if more and page else None,
    )


def named(world: World, said: str) -> Violation:
    """Find a violation by its id, or by the first six or more digits that only it has.

    Raises RequestError BAD_REQUEST, NOT_FOUND or AMBIGUOUS.
    """
    digits = said.strip().lower()
    if not LEAST_DIGITS <= len(digits) <= _DIGITS or set(digits) - set("0123456789abcdef"):
        raise RequestError(
            "name refused",
            why=f"{said[:_DIGITS]!r} is no id of a violation, and no beginning of one",
            fix=f"give 64 hex digits, or the first {LEAST_DIGITS} or more",
            code=NodeCode.BAD_REQUEST,
        )
    found = [
        one for one in world.state.discipline.violations.values() if one.id.hex().startswith(digits)
    ]
    if not found:
        raise RequestError(
            f"no violation {digits[:12]}",
            why="none here has an id that begins so",
            fix="`folkmoot sanction list` shows them",
            code=NodeCode.NOT_FOUND,
        )
    if len(found) > 1:
        raise RequestError(
            f"{digits} is ambiguous",
            why=f"{len(found)} violations have an id that begins so",
            fix="give more digits",
            code=NodeCode.AMBIGUOUS,
        )
    return found[0]


def violation_page(world: World, one: Violation) -> ViolationPage:
    """Show one violation."""
    state = world.state
    rules, rule = state.charter.sanctions, RULES[one.rule]
    return ViolationPage(
        id=one.id.hex(),
        agent=who(world, one.agent),
        operator=who(world, one.operator),
        rule=one.rule,
        kind=rule.kind,
        text=rule.text,
        remedy=rule.remedy,
        points=one.points,
        tick=one.tick,
        until=one.until(rules),
        counts=one.counts(state.tick, rules),
        void=one.void,
        cause=one.cause.hex(),
        evidence=tuple(name.hex() for name in one.evidence),
        appeal=one.appeal.hex() if one.appeal else None,
        may_appeal=one.appeal is None and not one.void,
        how_to_appeal=APPEAL,
    )


def violations_of(world: World, agent: AgentId) -> tuple[ViolationPage, ...]:
    """Show all violations of an agent, the newest first."""
    own = world.state.discipline.of(agent)
    return tuple(violation_page(world, one) for one in _newest(own))


def quarantine_page(world: World, one: Quarantine) -> QuarantinePage:
    """Show one quarantine."""
    most = world.state.charter.sanctions.extensions
    left = most - one.extended
    then = "then it is extended" if left > 0 else "then it ends with a violation"
    return QuarantinePage(
        event=one.event,
        since=one.since,
        until=one.until,
        extended=one.extended,
        extensions=most,
        evidence=tuple(name.hex() for name in one.evidence),
        says=f"It ends at the tick after its operator says `repaired`; at tick {one.until} its time "
        f"is over, {then}.",
    )


def notices(world: World, operator: OperatorId) -> OperatorNotices:
    """Tell an operator what it must know of its agents now.

    Raises RequestError NOT_FOUND for what no cut has admitted as an operator.
    """
    state = world.state
    if operator not in state.operators and operator not in state.answers_for:
        raise unknown(operator, {Thing.AGENT})
    found = [one for one in _all_notices(world, since=0) if one.operator.id == operator.hex()]
    return OperatorNotices(tick=state.tick, operator=who(world, operator), items=tuple(found))


def notices_since(world: World, tick: int) -> tuple[OperatorNotice, ...]:
    """List what began at or after a tick, for all operators, the newest first.

    Whoever sends them asks after each tick with that tick: levels move at ticks only. Time grows
    with the agents that have a level or a quarantine, not with all.
    """
    return tuple(_all_notices(world, since=tick))


def _all_notices(world: World, *, since: int) -> list[OperatorNotice]:
    book = world.state.discipline
    found = [
        _notice(world, name, _CAUSES[one.level], one.since, ends_of(world, name))
        for name, one in book.standings.items()
        if one.level >= ON_PROBATION and one.since >= since
    ]
    found += [
        _notice(world, name, NoticeCause.QUARANTINE, one.since, one.until)
        for name, one in book.quarantines.items()
        if one.since >= since
    ]
    return sorted(found, key=lambda one: (-one.since, one.agent.id, one.cause))


def ends_of(world: World, agent: AgentId) -> int | None:
    """Foresee when an agent's level ends if nothing more happens; None if time alone ends it not."""
    state = world.state
    standing = state.discipline.standings.get(agent)
    if standing is None:
        return None
    return ends_at(
        standing,
        state.discipline.of(agent),
        inherited_by(state, agent),
        tick=state.tick,
        rules=state.charter.sanctions,
    )


def _notice(
    world: World, agent: AgentId, cause: NoticeCause, since: int, ends: int | None
) -> OperatorNotice:
    state = world.state
    held = discipline.held(state, agent)
    counting: list[Digest] = [
        one.id
        for one in _newest(state.discipline.of(agent))
        if one.counts(state.tick, state.charter.sanctions)
    ]
    takes = (
        "Its ballots carry nothing." if cause is NoticeCause.QUARANTINE else LADDER[held.level].text
    )
    return OperatorNotice(
        agent=who(world, agent),
        operator=who(world, state.agents[agent].operator),
        cause=cause,
        since=since,
        ends=ends,
        points=held.points,
        says=f"{takes} {_DO[cause]}",
        violations=tuple(name.hex() for name in counting),
    )


def _newest(violations: Iterable[Violation]) -> list[Violation]:
    return sorted(violations, key=lambda one: (one.tick, one.id), reverse=True)
