"""`step`: one event in, a new state and actions out (design: federation, certificates).

The machine stores what the event brings, then tries every rule until none applies any more, and
sets the alarm for what time alone will change.
"""

from dataclasses import replace

from federation.certificates import answers, faults, fences, finality, leader, member, proofs
from federation.certificates.desk import Desk, Pace
from federation.certificates.events import (
    Action,
    Event,
    FaultFound,
    Received,
    ReceivedCertificate,
    ReceivedParts,
    Reconcile,
    Reconciled,
    RecordsArrived,
    Wake,
    Wanted,
    WindowEnded,
)
from federation.certificates.membership import Pinned
from federation.certificates.messages import Heard, Promise, Propose, Step
from federation.certificates.state import SlotState, all_said, said_by, with_said
from federation.certificates.turn import Turn
from federation.certificates.values import value_blobs
from federation.core import InstanceId, Millis
from federation.crypto import Verify, is_signed_by


def step(  # noqa: PLR0917 # the six stand in the order of a sentence: who hears what, when, where
    state: SlotState,
    pinned: Pinned,
    me: InstanceId | None,
    event: Event,
    now: Millis,
    desk: Desk,
    *,
    pace: Pace,
    verify: Verify = is_signed_by,
) -> tuple[SlotState, tuple[Action, ...]]:
    """Take one event; `me` is my voice, or None to follow the slot without signing in it.

    Carry out the whole list of actions in order, then feed what was signed back, in order, before
    any other event. After a restart feed one `Wake`. Raises PeerError if a certificate does not
    verify; the state is then unchanged.
    """
    resend = state.resend_at is not None and now >= state.resend_at
    turn = Turn(
        state,
        pinned,
        me,
        now,
        desk,
        pace=pace,
        verify=verify,
        retry=resend or isinstance(event, RecordsArrived),
    )
    _take(turn, event)
    _settle(turn)
    if turn.state.is_final:
        return turn.state, tuple(turn.actions)
    if resend or turn.state.resend_at is None:
        if resend:
            if turn.state.window_ended is not None:
                _reconcile(turn)
            answers.repeat(turn)
        turn.state = replace(turn.state, resend_at=now + pace.resend)
    return turn.finish(_deadlines(turn))


def _take(turn: Turn, event: Event) -> None:
    match event:
        case WindowEnded():
            _end_window(turn)
        case Reconciled():
            _reconciled(turn, event)
        case Received():
            _receive(turn, event)
        case ReceivedParts():
            turn.offer(event.parts)
        case ReceivedCertificate():
            _receive_certificate(turn, event)
        case Wanted():
            answers.answer(turn, event)
        case Wake():
            turn.state = replace(turn.state, wake=None)
        case _:
            pass  # Records arrived: `retry` is set, and the rules ask the desk again.


def _settle(turn: Turn) -> None:
    """Apply every rule until none adds an action."""
    before = -1
    while before != len(turn.actions) and not turn.state.is_final:
        before = len(turn.actions)
        _complete_pending(turn)
        _collect_chains(turn)
        finality.certify(turn)
        member.witness(turn)
        fences.promise_on_time(turn)
        leader.propose(turn)
        member.cosign(turn)
        member.seal(turn)
        fences.start_timer(turn)


def _collect_chains(turn: Turn) -> None:
    """Hold the chains of every witness before a proposal names it: a cut waits for nothing else."""
    for heard in all_said(turn.state, turn.pinned, Step.WITNESS):
        turn.usable(heard)


def _end_window(turn: Turn) -> None:
    if turn.state.window_ended is None and not turn.state.is_final:
        turn.state = replace(turn.state, window_ended=turn.now)
        _reconcile(turn)


def _reconcile(turn: Turn) -> None:
    left = tuple(
        voice for voice in turn.pinned.others(turn.me) if voice not in turn.state.reconciled
    )
    if left and turn.may_sign and not turn.state.witnessed:
        turn.actions.append(Reconcile(voices=left))


def _reconciled(turn: Turn, event: Reconciled) -> None:
    ended = turn.state.window_ended
    voices = turn.pinned.others(turn.me)
    if ended is not None and event.began >= ended and event.voice in voices:
        reconciled = turn.state.reconciled | {event.voice}
        turn.state = replace(turn.state, reconciled=reconciled)


def _receive(turn: Turn, event: Received) -> None:
    heard, state = event.heard, turn.state
    mine = event.sender == turn.me
    if heard.voice == turn.me:
        if not mine and heard.header.counter > state.counter:
            state = replace(state, muted=True)
        elif mine:
            state = replace(state, counter=max(state.counter, heard.header.counter))
        turn.state = state
    if state.certificate is not None:
        if not mine:
            answers.send_certificate(turn, state.certificate, event.sender, ())
        return
    turn.offer(event.parts, (heard,))
    if isinstance(heard.body, Propose) and not member.is_shaped(
        turn.pinned, heard.voice, heard.body
    ):
        return
    _accuse(turn, heard)
    _keep(turn, heard)


def _keep(turn: Turn, heard: Heard) -> None:
    key = (heard.header.step, heard.voice)
    before = turn.state.said.get(key, ())
    kept = with_said(before, heard, turn.state.fence)
    turn.state = replace(turn.state, said={**turn.state.said, key: kept})
    body = heard.body
    if isinstance(body, Promise):
        highest = max(body.fence, turn.state.highest.get(heard.voice, 0))
        turn.state = replace(turn.state, highest={**turn.state.highest, heard.voice: highest})
        if (
            body.lock_fence is not None
            and body.lock_digest is not None
            and turn.pinned.leader(body.fence) == turn.me
        ):
            # Lock and value travel with the promise, and only the leader of the fence needs them.
            lock = turn.lock_for(body.lock_fence, body.lock_digest)
            if lock is not None:
                turn.value(lock.digest, (heard.voice,))
    first = heard.header.step is Step.WITNESS and not before
    if first and heard.voice != turn.me and not turn.state.witnessed and turn.may_sign:
        turn.actions.append(Reconcile(voices=(heard.voice,)))


def _accuse(turn: Turn, heard: Heard) -> None:
    """Rule 7: two messages that no honest member signs both, once per voice."""
    if heard.voice in turn.state.faulty or heard.voice == turn.me:
        return
    for kind in Step:
        for other in said_by(turn.state, kind, heard.voice):
            why = faults.contradiction(other, heard)
            if why is not None:
                faulty = turn.state.faulty | {heard.voice}
                turn.state = replace(turn.state, faulty=faulty)
                turn.actions.append(FaultFound(a=other, b=heard, why=why))
                return


def _receive_certificate(turn: Turn, event: ReceivedCertificate) -> None:
    if turn.state.is_final:
        return
    turn.offer(event.parts)
    if turn.state.pending is None:
        proofs.verify_certificate(event.certificate, turn.pinned, verify=turn.verify)
        turn.state = replace(turn.state, pending=event.certificate)


def _complete_pending(turn: Turn) -> None:
    pending = turn.state.pending
    if pending is None:
        return
    holders = tuple(seal.voice for seal in pending.seals)
    blobs = [turn.blob(name, holders) for name in value_blobs(pending.value)]
    if None not in blobs:
        finality.accept(turn, pending, tell=False)


def _deadlines(turn: Turn) -> list[Millis]:
    state, pace = turn.state, turn.pace
    deadlines = [] if state.resend_at is None else [state.resend_at]
    if state.fence_since is not None:
        deadlines.append(state.fence_since + fences.timer_of(state.fence, pace.leader_timer))
    if state.gathered_since is not None and state.proposed < 0:
        deadlines.append(state.gathered_since + pace.grace)
    return deadlines
