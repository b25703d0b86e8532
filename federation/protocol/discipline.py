"""Sanctions in the certified world: which rounds and records make a violation (paper 3.4).

Only what a cut contains counts, and from the tick after it; `discipline_tick` moves levels and
quarantines then. A vote against the decision is never a violation, nor is a dispute that is lost
honestly, nor an ordinary rejection: dissent is protected. What is later found out about a vote
(`corrected`, and artifacts that a fresh panel lets stand) only ever tells the broken and the
systematically inverted from everybody else.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from federation.artifacts import Artifact, DecidedBy, Verdict
from federation.certificates import Phase
from federation.core import AgentId, Code, Digest, RecordId, RoundId
from federation.crypto import Choice, Reason
from federation.protocol.discipline_rows import Discipline, DisciplineRow
from federation.protocol.discipline_tick import tick
from federation.records import AgentHealth, Appeal, Commit, Health, Record, Reveal
from federation.review import Finals, RoundPin, is_delegated, listed
from federation.review.finals import box
from federation.sanctions import FREE, LADDER, Held, RuleId, Sample, Violation, violation
from federation.sanctions import held as held_of
from federation.trust import Decision, EvidenceKind, Vote, Withdrawal
from federation.trust.outcomes import AuditOutcome, Reversal

if TYPE_CHECKING:
    # The state holds the book; at run time nothing of the state is needed here.
    from federation.protocol.state import State

_JUDGED_BY = frozenset({DecidedBy.VOTE, DecidedBy.ARBITER, DecidedBy.ADMIN})
"""A rejection by these says something about the author; one by the sign is too close for it."""


def observe(
    state: "State", pin: RoundPin, finals: Finals, verdict: Verdict, artifact: Artifact | None
) -> None:
    """Take in a round that has ended; `artifact` is as it was before the round's verdict."""
    copies = copied(finals)
    copiers = {copy.author for copy in copies}
    for copy in copies:
        abuse(state, copy.author, RuleId.ABUSE, copy.id)
    for promise in verdict.unrevealed:
        if promise.voter in copiers:
            # It could never open what it copied: one deed is one violation.
            continue
        _repeated(
            state,
            promise.voter,
            RuleId.UNREVEALED,
            cause=pin.round,
            evidence=tuple(one.id for one in box(finals) if one.author == promise.voter),
            free=state.charter.sanctions.unrevealed_free,
        )
    if pin.kind == "review" and verdict.decision is Decision.REJECT:
        _rejected(state, pin, finals, verdict)
    if pin.kind in ("dispute", "report") and pin.disputer is not None and pin.cause is not None:
        cause = (pin.cause,)
        if pin.kind == "dispute" and verdict.frivolous and verdict.accepted:
            _violate(state, pin.disputer, RuleId.FRIVOLOUS, cause=pin.round, evidence=cause)
        if verdict.by is DecidedBy.UNFOUNDED:
            evidence = (*cause, *(one.id for one in _records(finals)))
            _violate(state, pin.disputer, RuleId.UNFOUNDED, cause=pin.round, evidence=evidence)
    if artifact is not None and verdict.quorum and _is_kept(pin, verdict):
        for earlier in artifact.accepted:
            _settle(state, earlier.round, votes_of(earlier), stood=True)


def corrected(state: "State", reversal: Reversal) -> None:
    """Take in that an accepted artifact was retracted: who had been for it was wrong."""
    _settle(state, reversal.round_id, reversal.votes, stood=False)


def audited(state: "State", audit: AuditOutcome, round_id: RoundId) -> None:
    """Take in that the votes of a round were checked: for simulations, as no audits are drawn."""
    if audit.right is not Choice.ABSTAIN:
        _settle(state, round_id, audit.votes, stood=audit.right is Choice.FOR)


def abuse(state: "State", agent: AgentId, rule: RuleId, evidence: RecordId) -> None:
    """Take in that a record proves an abuse of the protocol itself by an admitted agent."""
    _violate(state, agent, rule, cause=evidence, evidence=(evidence,))


def health_refusal(state: "State", record: Record, body: AgentHealth) -> Code | None:
    """Tell why an operator's word about an agent does not count, or None; also for the door."""
    operator = state.identities.get(record.author)
    if operator is None or operator.keys.revoked or operator.keys.is_disowned(record.seq):
        return Code.REVOKED
    if operator.forked_in is not None:
        return Code.FORK
    agent = state.agents.get(body.agent)
    if agent is None:
        return Code.UNKNOWN_AGENT
    return None if agent.operator == record.author else Code.NOT_ELIGIBLE


def health(state: "State", record: Record, body: AgentHealth) -> Code | None:
    """Take in an operator's word about its agent, or tell why it does not count.

    It begins or ends a quarantine at the next tick; the newest word until then is what counts.
    """
    code = health_refusal(state, record, body)
    if code is not None:
        return code
    book = state.discipline
    book.said[body.agent] = (body.state, record.id)
    known = book.repairs.get(body.agent, ())
    if body.state is Health.REPAIRED and body.agent in book.standings and state.tick not in known:
        book.repairs[body.agent] = (*known, state.tick)
    return None


def find(state: "State", name: Digest) -> Violation | None:
    """Give the violation with this id, void or not."""
    return state.discipline.violations.get(name)


def appeal_refusal(state: "State", record: Record, body: Appeal) -> Code | None:
    """Tell why an appeal does not count in this world, or None; also asked by the door.

    Suspended and banned agents may appeal: it is the one thing that is left to them.
    """
    one = find(state, body.sanction)
    if one is None:
        return Code.UNKNOWN_SANCTION
    agent = state.agents.get(record.author)
    if agent is None or record.author != one.agent:
        return Code.NOT_AUTHOR
    identity = state.identities[record.author]
    if identity.keys.revoked or identity.keys.is_disowned(record.seq):
        return Code.REVOKED
    if identity.forked_in is not None:
        return Code.FORK
    if not is_delegated(agent.scope, record.kind):
        return Code.NOT_ELIGIBLE
    return Code.APPEALED if one.appeal is not None or one.void else None


def note_appeal(state: "State", record: Record, body: Appeal) -> None:
    """Remember that a violation was appealed: that is possible once."""
    one = state.discipline.violations[body.sanction]
    state.discipline.change(replace(one, appeal=record.id))


def reclassify(state: "State", name: Digest) -> None:
    """Let a violation never have counted; at the next tick all that it took is given back.

    Levels, inherited points and what a ban has cost others follow there; a row of evidence that
    the same finding has made is withdrawn at once. Unknown and void ones change nothing.
    """
    one = find(state, name)
    if one is None or one.void:
        return
    book = state.discipline
    book.change(replace(one, void=True))
    book.again.add(one.agent)
    book.again.update(_heirs(state, one))
    if one.rule is RuleId.UNFOUNDED:
        state.ledger.withdraw(
            Withdrawal(cause=report, kind=EvidenceKind.UNFOUNDED_REPORT, subject=one.agent)
            for report in one.evidence
        )


def held(state: "State", agent: AgentId) -> Held:
    """Give what holds for an agent since the last tick; costs the same for everybody."""
    book = state.discipline
    standing, quarantined = book.standings.get(agent), agent in book.quarantines
    if standing is None:
        return replace(FREE, quarantined=True) if quarantined else FREE
    return held_of(
        level=standing.level,
        effects=LADDER[standing.level].effects,
        points=standing.own + standing.inherited,
        inherited=standing.inherited,
        quarantined=quarantined,
        rules=state.charter.sanctions,
    )


def refusal(state: "State", agent: AgentId) -> Code | None:
    """Tell with which code whatever an agent files is met: SUSPENDED, BANNED, or None."""
    return held(state, agent).refusal


def quota(state: "State", agent: AgentId, allowed: int) -> int:
    """Give what a sanction leaves of an agent's quota: a share, and at least one of it."""
    return held(state, agent).quota(allowed)


def votes_of(verdict: Verdict) -> tuple[Vote, ...]:
    """Give the opened ballots of a round as votes."""
    return tuple(
        Vote(
            voter=one.voter,
            operator=one.operator,
            choice=one.ballot.choice,
            practice=one.practice,
        )
        for one in verdict.ballots
    )


def copied(finals: Finals) -> tuple[Record, ...]:
    """List the commit records of a box that hold what another voter has opened.

    A commitment binds its voter, so that of two who hold the same only one can ever open it: whoever
    has opened it is its author, and nobody can be made to look like a copier.
    """
    opened = {record.author for record in listed(finals, Phase.DECIDE)}
    own = {
        one.body.commitment
        for one in box(finals)
        if isinstance(one.body, Commit) and one.author in opened
    }
    return tuple(
        one
        for one in box(finals)
        if isinstance(one.body, Commit) and one.author not in opened and one.body.commitment in own
    )


def _rejected(state: "State", pin: RoundPin, finals: Finals, verdict: Verdict) -> None:
    """Look at the reasons for which an artifact was rejected: whoever brought it forward answers."""
    if not verdict.quorum or verdict.by not in _JUDGED_BY:
        return
    weights: Counter[Reason] = Counter()
    for one in verdict.ballots:
        if one.ballot.choice is Choice.AGAINST:
            weights[one.ballot.reason] += one.weight
    against, submitter = weights.total(), pin.disputer or pin.author
    evidence = (pin.artifact, *(one.id for one in _records(finals) if isinstance(one.body, Reveal)))
    if 2 * weights[Reason.HARMFUL] > against:
        _violate(state, submitter, RuleId.HARMFUL, cause=pin.round, evidence=evidence)
    if 2 * weights[Reason.UNSOURCED] > against:
        _repeated(
            state,
            submitter,
            RuleId.UNSOURCED,
            cause=pin.round,
            evidence=evidence,
            free=state.charter.sanctions.unsourced_free,
        )


def _is_kept(pin: RoundPin, verdict: Verdict) -> bool:
    """Tell whether a fresh panel has voted that an artifact still stands."""
    return pin.kind in ("dispute", "report") and verdict.by is DecidedBy.VOTE and verdict.accepted


def _settle(state: "State", round_id: RoundId, votes: Iterable[Vote], *, stood: bool) -> None:
    """Note what was found out about the votes of a round; what came later corrects it."""
    book = state.discipline
    known = book.settled.get(round_id)
    # Surviving a dispute twice is no news; and what fell says more than that it once stood.
    if known is not None and (known is stood or stood):
        return
    book.settled[round_id] = stood
    for vote in votes:
        if vote.choice is not Choice.ABSTAIN:
            sample = Sample(choice=vote.choice, stood=stood)
            book.sampled(vote.voter, round_id, sample, first=known is None)


def _repeated(
    state: "State",
    agent: AgentId,
    rule: RuleId,
    *,
    cause: RoundId,
    evidence: tuple[RecordId, ...],
    free: int,
) -> None:
    """Count what is a violation only if it is repeated: from one more than `free` in a window."""
    window = state.charter.sanctions.window
    if state.discipline.note(agent, rule, state.tick + 1, window=window) > free:
        _violate(state, agent, rule, cause=cause, evidence=evidence)


def _violate(
    state: "State", agent: AgentId, rule: RuleId, *, cause: Digest, evidence: tuple[RecordId, ...]
) -> None:
    known = state.agents.get(agent)
    if known is None:
        return
    state.discipline.add(
        violation(
            agent=agent,
            operator=known.operator,
            rule=rule,
            tick=state.tick + 1,
            cause=cause,
            evidence=evidence,
            rules=state.charter.sanctions,
        )
    )


def _heirs(state: "State", one: Violation) -> Iterator[AgentId]:
    """List the agents that began with points for a violation of another."""
    window = state.charter.sanctions.window
    for name in reversed(state.answers_for.get(one.operator, ())):
        admitted = state.agents[name].admitted_tick
        if admitted < one.tick:
            return
        if admitted < one.tick + window:
            yield name


def _records(finals: Finals) -> Iterator[Record]:
    for final in finals.values():
        yield from final.records


__all__ = [
    "Discipline",
    "DisciplineRow",
    "abuse",
    "appeal_refusal",
    "audited",
    "corrected",
    "find",
    "health",
    "health_refusal",
    "held",
    "note_appeal",
    "observe",
    "quota",
    "reclassify",
    "refusal",
    "tick",
    "votes_of",
]
