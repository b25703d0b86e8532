"""Rounds that a cut opens: by what agents file, and by the rules themselves (design: time, 4).

Every propose, revise, resubmit, dispute, report and appeal first contained in a cut opens its round
there if its guard holds; what does not count gets a code. After them come rounds that nobody asked
for: a fresh panel after a rerun was ruled, and disputes by the rules, of which one cut opens only so
many.
"""

from collections.abc import Sequence
from dataclasses import replace

from federation.artifacts import (
    Action,
    Artifact,
    Dispute,
    apply,
    flag_stale,
    in_round,
)
from federation.artifacts import State as ArtifactState
from federation.core import Code, RecordId
from federation.protocol import consequences, discipline, filing, findings
from federation.protocol.rounds import Asked, Round, open_appeal, open_round
from federation.protocol.state import Agent, State
from federation.protocol.story import note_round, took
from federation.records import (
    AgentHealth,
    Appeal,
    DisputeFile,
    DisputeReport,
    FlagStale,
    NearDuplicate,
    Propose,
    Record,
    Resubmit,
    Withdraw,
)
from federation.review import Ended, RoundPin, advance, next_phase


def open_rounds(state: State, fresh: list[Record]) -> tuple[Round, ...]:
    """Take in what the fresh records of a cut file, in their order, and open their rounds."""
    opened: list[Round] = []
    of_new = findings.of_new(fresh)
    for record in fresh:
        body = record.body
        match body:
            case (
                Propose() | Withdraw() | Resubmit() | FlagStale() | DisputeFile() | DisputeReport()
            ):
                refused = filing.refusal(state, record, body)
                if refused is not None:
                    state.refused[record.id] = refused.code
                    continue
                one = _file(state, record, body, of_new.get(record.id, ()))
            case Appeal():
                code = discipline.appeal_refusal(state, record, body)
                if code is not None:
                    state.refused[record.id] = code
                    continue
                discipline.note_appeal(state, record, body)
                one = open_appeal(state, record, body)
            case NearDuplicate():
                # One about a proposal of this cut was looked at with it, or will be.
                if body.artifact not in of_new:
                    _find(state, record, body)
                continue
            case AgentHealth():
                code = discipline.health(state, record, body)
                if code is not None:
                    state.refused[record.id] = code
                continue
            case _:
                continue
        if one is not None:
            opened.append(begin(state, one))
    for name, found in of_new.items():
        if name not in state.artifacts:
            # What they are about was refused.
            state.refused.update((record.id, Code.UNKNOWN_ARTIFACT) for record in found)
    return tuple(opened)


def open_due(state: State) -> tuple[Round, ...]:
    """Open disputes by the rules, oldest first, as many as the charter lets one cut open."""
    opened: list[Round] = []
    left = []
    for due in state.due:
        artifact = state.artifacts[due.artifact]
        if artifact.state is not ArtifactState.ACTIVE:
            # It fell, or somebody disputes it already.
            continue
        if artifact.reports or len(opened) >= state.charter.disputes.cascade:
            left.append(due)
            continue
        facts = filing.by_rules(due.ground)
        one = _dispute(state, artifact, facts, Asked(kind="dispute"), cause=None)
        opened.append(begin(state, one))
    state.due = left
    return tuple(opened)


def open_again(state: State, pin: RoundPin) -> Round:
    """Open a round once more with a fresh panel, as an arbiter has ruled."""
    asked = Asked(
        kind="review" if pin.kind == "review" else "dispute",
        disputer=pin.disputer,
        cause=pin.cause,
        rerun=True,
    )
    artifact = state.artifacts[pin.artifact]
    one = open_round(state, artifact, asked)
    state.put(in_round(artifact, one.pin.round))
    return begin(state, one)


def begin(state: State, one: Round) -> Round:
    """Note a round that opens, and bring its artifact to where no list is needed for."""
    pin = one.pin
    state.decided[pin.round] = ()
    state.rounds_of.setdefault(pin.artifact, []).append(pin.round)
    artifact = state.artifacts.get(pin.artifact)
    if artifact is not None:
        after = advance(artifact, pin, {}, tick=state.tick)
        state.put(after)
        note_round(state, artifact, after, pin)
        consequences.after_round(state, artifact, after)
        # Where nobody can vote a policy decides at once.
        one.closed = isinstance(next_phase(pin, {}), Ended)
    return one


def _file(
    state: State,
    record: Record,
    body: Propose | Withdraw | Resubmit | FlagStale | DisputeFile | DisputeReport,
    found: Sequence[Record],
) -> Round | None:
    """Take in what passed its guard; give the round that it opens, if it opens one."""
    agent = state.agents[record.author]
    match body:
        case Propose():
            return _propose(state, record, body, agent, found)
        case Resubmit():
            artifact = state.artifacts[body.artifact]
            facts = filing.resubmission(state, record, body)
            back = apply(artifact, Action.RESUBMIT, facts, tick=state.tick)
            took(
                state,
                artifact.id,
                artifact.state,
                Action.RESUBMIT,
                back.state,
                cause=record.id,
            )
            # What was retracted once does not come back because nobody looked.
            # Who brings back what another wrote answers for it: else a stranger could let an
            # author be rejected, and sanctioned, again and again.
            other = record.author if record.author != artifact.author else None
            asked = Asked(kind="review", disputer=other, cause=record.id, formal=True)
            one = open_round(state, back, asked)
            state.put(in_round(back, one.pin.round))
            return one
        case Withdraw():
            artifact = state.artifacts[body.artifact]
            withdrawn = apply(
                artifact,
                Action.RETRACT,
                filing.withdrawal(state, record, artifact),
                tick=state.tick,
            )
            state.put(withdrawn)
            took(
                state,
                artifact.id,
                artifact.state,
                Action.RETRACT,
                withdrawn.state,
                cause=record.id,
            )
            return None
        case FlagStale():
            state.agents[record.author] = replace(
                agent, flags=filing.count_in_epoch(state, agent.flags)
            )
            state.put(flag_stale(state.artifacts[body.artifact], state.tick))
            return None
        case DisputeFile():
            ticks = (*filing.disputes_in_window(state, agent), state.tick)
            asked = Asked(kind="dispute", disputer=record.author, cause=record.id)
            facts_of = filing.dispute(state, record, body)
            state.agents[record.author] = replace(agent, disputes=ticks)
            return _dispute(state, state.artifacts[body.artifact], facts_of, asked, cause=record.id)
        case DisputeReport():
            state.agents[record.author] = replace(
                agent, reports=filing.count_in_epoch(state, agent.reports)
            )
            artifact = state.artifacts[body.artifact]
            alone = artifact.state is not ArtifactState.ACTIVE
            one = open_round(
                state,
                artifact,
                Asked(kind="report", disputer=record.author, cause=record.id, assess_only=alone),
            )
            state.put(replace(artifact, reports=artifact.reports + 1, rounds=artifact.rounds + 1))
            return one


def _find(state: State, record: Record, body: NearDuplicate) -> None:
    """Flag an artifact that is known already: the round that it is in goes on as it was pinned."""
    artifact = state.artifacts.get(body.artifact)
    if artifact is None:
        state.refused[record.id] = Code.UNKNOWN_ARTIFACT
        return
    state.put(findings.take(state, artifact, (record,)))


def _propose(
    state: State, record: Record, body: Propose, agent: Agent, found: Sequence[Record]
) -> Round:
    """Take a proposal in, with what this cut finds about it: so its round pins the flag."""
    artifact = apply(None, Action.SUBMIT, filing.submission(state, record, body), tick=state.tick)
    artifact = findings.take(state, artifact, found)
    state.agents[record.author] = replace(
        agent, proposed=filing.count_in_epoch(state, agent.proposed)
    )
    state.texts[artifact.text_id] = artifact.id
    for name in artifact.cites:
        state.cited.setdefault(name, []).append(artifact.id)
    took(state, artifact.id, None, Action.SUBMIT, artifact.state, cause=record.id)
    revised = state.artifacts.get(artifact.revises) if artifact.revises else None
    formal = revised is not None and revised.author != artifact.author
    one = open_round(state, artifact, Asked(kind="review", formal=formal))
    state.put(in_round(artifact, one.pin.round))
    return one


def _dispute(
    state: State, artifact: Artifact, facts: Dispute, asked: Asked, *, cause: RecordId | None
) -> Round:
    disputed = apply(
        artifact, Action.DISPUTE, facts, tick=state.tick, d_max=state.charter.disputes.d_max
    )
    took(state, artifact.id, artifact.state, Action.DISPUTE, disputed.state, cause=cause)
    one = open_round(state, disputed, asked)
    state.put(in_round(disputed, one.pin.round))
    return one
