"""What a tick does to levels and quarantines (paper 3.4).

In this order: votes that were checked tell who is broken or inverted; operators' words and time move
quarantines; points move levels; a ban lets those who vouched for the agent answer, and a ban that
was found wrong gives that back. Only agents are looked at against which something stands, and new
agents of their operators; so a tick costs nothing for all others.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from federation.core import MILLION, AgentId, Micro, OperatorId
from federation.protocol import liabilities
from federation.protocol.discipline_rows import Charge
from federation.records import Health
from federation.sanctions import (
    BANNED,
    NOTHING,
    RULES,
    Event,
    Inherited,
    Model,
    RuleId,
    Standing,
    ViolationClass,
    after,
    classify,
    load_at,
    moved,
    replayed,
    timed_out,
    violation,
)
from federation.trust import EvidenceKind, Withdrawal

if TYPE_CHECKING:
    # The state holds the book; at run time nothing of the state is needed here.
    from federation.protocol.state import State


def tick(state: "State") -> tuple[AgentId, ...]:
    """Move all levels and quarantines to the tick that has begun; tell who is banned from now on.

    The ledger holds the evidence of this tick already; nobody is rated yet.
    """
    book = state.discipline
    rules = state.charter.sanctions
    book.prune(state.tick, window=rules.window)
    for name in sorted(book.judged):
        _judge(state, name)
    book.judged.clear()
    for name, (said, record) in sorted(book.said.items()):
        _move(state, name, Event(said.value), (record,))
        if said is Health.REPAIRED:
            book.samples.pop(name, None)
    book.said.clear()
    for name in sorted(book.quarantines):
        event = timed_out(book.quarantines[name], tick=state.tick, rules=rules)
        if event is not None:
            _time_over(state, name, event)
    return tuple(_levels(state))


def inherited_by(state: "State", agent: AgentId) -> Inherited:
    """Give the points with which an agent has begun: a share of its operator's at its admission.

    Its own all came later.
    """
    known = state.agents[agent]
    rules, book = state.charter.sanctions, state.discipline
    points = sum(
        one.points
        for one in map(book.violations.__getitem__, book.of_operator.get(known.operator, ()))
        if one.counts(known.admitted_tick, rules)
    )
    share = points * rules.inherited // MILLION
    return Inherited(points=share, since=known.admitted_tick) if share else NOTHING


def _judge(state: "State", name: AgentId) -> None:
    """Look whether an agent's votes are chance, or turned round, by what was found out later."""
    book, rules = state.discipline, state.charter.sanctions
    samples = book.samples.get(name, {})
    match classify(samples.values(), rules):
        case Model.RANDOM:
            _move(state, name, Event.RANDOM, tuple(sorted(samples)))
        case Model.INVERTED:
            stands = any(
                one.rule is RuleId.INVERTED and one.counts(state.tick, rules)
                for one in book.of(name)
            )
            if not stands:
                _violated(state, name, RuleId.INVERTED, tuple(sorted(samples)))
        case _:
            pass


def _move(state: "State", name: AgentId, event: Event, evidence: tuple[bytes, ...]) -> None:
    book = state.discipline
    quarantine = after(
        book.quarantines.get(name),
        event,
        tick=state.tick,
        evidence=evidence,
        rules=state.charter.sanctions,
    )
    if quarantine is not None:
        book.quarantines[name] = quarantine
    elif book.quarantines.pop(name, None) is not None:
        # Whoever comes back is not judged by what it did while it was broken.
        book.samples.pop(name, None)


def _time_over(state: "State", name: AgentId, event: Event) -> None:
    evidence = state.discipline.quarantines[name].evidence
    _move(state, name, event, ())
    if event is Event.RUN_OUT:
        _violated(state, name, RuleId.QUARANTINE, evidence)


def _violated(state: "State", name: AgentId, rule: RuleId, evidence: tuple[bytes, ...]) -> None:
    """Take in what a tick itself finds; it counts at once."""
    state.discipline.add(
        violation(
            agent=name,
            operator=state.agents[name].operator,
            rule=rule,
            tick=state.tick,
            # The same may be found again later, so the tick's cut is what it comes from.
            cause=state.digest,
            evidence=evidence,
            rules=state.charter.sanctions,
        )
    )


def _levels(state: "State") -> Iterator[AgentId]:
    """Move levels; give who is banned from now on, by id."""
    book, rules = state.discipline, state.charter.sanctions
    names = book.moving | book.again | set(_newcomers(state))
    book.moving = set()
    for name in sorted(names):
        before = book.standings.get(name, Standing())
        begun, own, repairs = inherited_by(state, name), book.of(name), book.repairs.get(name, ())
        now = moved(
            before,
            load_at(own, begun, state.tick, rules),
            tick=state.tick,
            repaired=repairs[-1] if repairs else None,
            rules=rules,
        )
        if name in book.again:
            # What is given back never makes anybody worse off: a suspension that would have begun
            # later would also have ended later.
            afresh = replayed(own, begun, repairs, tick=state.tick, rules=rules)
            now = min(now, afresh, key=lambda one: one.level)
        if now.matters:
            book.standings[name] = now
            book.moving.add(name)
        else:
            book.standings.pop(name, None)
        if now.level == BANNED and before.level != BANNED:
            _charge(state, name)
            yield name
        elif before.level == BANNED and now.level != BANNED:
            _give_back(state, name)
    book.again.clear()


def _newcomers(state: "State") -> Iterator[AgentId]:
    """List the agents admitted since the last tick whose operators have others with points."""
    rules = state.charter.sanctions
    operators: set[OperatorId] = set()
    for one in reversed(state.discipline.violations.values()):
        # They come in the order of their ticks.
        if one.until(rules) < state.tick:
            break
        operators.add(one.operator)
    for operator in operators:
        for name in reversed(state.answers_for.get(operator, ())):
            if state.agents[name].admitted_tick < state.tick - 1:
                break
            yield name


def _charge(state: "State", name: AgentId) -> None:
    """Let those who vouched for a banned agent answer (ADR 35, ADR 40).

    A proven abuse leaves no row of evidence of its own, so its points stand for as many outcomes.
    """
    book, rules = state.discipline, state.charter.sanctions
    counting = [one for one in book.of(name) if one.counts(state.tick, rules)]
    extra: Micro = MILLION * sum(
        one.points for one in counting if RULES[one.rule].kind is ViolationClass.ABUSE
    )
    cause = max(counting, key=lambda one: (one.tick, one.id)).id
    found_bad = state.agents[name].found_bad
    paid = liabilities.charge_ban(state, name, cause=cause, extra=extra)
    book.charges[name] = Charge(cause=cause, paid=paid, tick=state.tick, found_bad=found_bad)


def _give_back(state: "State", name: AgentId) -> None:
    """Withdraw what a ban that does not stand has cost others."""
    charge = state.discipline.charges.pop(name)
    state.ledger.withdraw(
        Withdrawal(cause=charge.cause, kind=EvidenceKind.LIABILITY, subject=one)
        for one in charge.paid
    )
    agent = state.agents[name]
    if agent.found_bad == charge.tick:
        state.agents[name] = replace(agent, found_bad=charge.found_bad)
