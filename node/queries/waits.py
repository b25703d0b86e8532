"""What an agreement waits for at this instance: time, records, or the words of which voices.

An agreement goes through the same steps everywhere (design: federation, certificates): its window,
reconciliation, witnesses, a proposal, cosigns, seals. This tells which of them comes next here,
by what this instance has heard: another member may have heard more.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from federation.certificates import (
    Certificate,
    Cosign,
    CutSlot,
    CutValue,
    ListValue,
    Phase,
    Pinned,
    Propose,
    Seal,
    SlotState,
    Step,
    slot_key,
)
from federation.certificates.fences import timer_of
from federation.certificates.state import all_said
from federation.charter import spell
from federation.core import InstanceId, Millis, short
from federation.protocol import LiveSlot, World
from federation.protocol.agreement import is_over
from federation.records import (
    AdminReview,
    Appeal,
    DisputeFile,
    DisputeReport,
    FlagStale,
    Resubmit,
    Withdraw,
)
from federation.records import Propose as Proposal
from federation.review import box
from node.queries.names import Who, who
from node.queries.windows import window_of


class WaitCode(StrEnum):
    """What is waited for, as a stable word."""

    WINDOW = "window"
    """Time: the window of the phase is open, or the next cut is not due yet."""
    RECONCILIATION = "reconciliation"
    """This instance must compare records with other members before it may say what it holds."""
    WITNESSES = "witnesses"
    """Members that have not said what they hold."""
    PROMISES = "promises"
    """Members that have not joined this try at the agreement."""
    PROPOSAL = "proposal"
    """The leader's proposal."""
    COSIGNS = "cosigns"
    """Members that have not cosigned the proposal."""
    SEALS = "seals"
    """Members that have not sealed it: the last signature."""
    RECORDS = "records"
    """Records, or lists of them, that are certified or named but not held here."""
    SILENT = "silent"
    """This instance may have forgotten what it signed, and signs nothing here."""
    DIVERGED = "diverged"
    """Others certify another world than the one here: an operator must look."""
    NEXT_CUT = "next_cut"
    """What is final here must still be contained in a cut."""
    NOTHING = "nothing"
    """It is settled: no wait is left."""
    VOID = "void"
    """It does not count, and never will as things stand."""


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """One wait: what for, until when, and on whom."""

    code: WaitCode
    """What is waited for."""
    what: str
    """Which agreement, list or rule it is about, in a few words."""
    sentence: str
    """The whole wait as sentences for people."""
    until: Millis | None = None
    """When it ends at the latest, or is tried again, on this instance's own clock; nil if no
    clock ends it."""
    remaining: Millis | None = None
    """From now to `until` in ms; 0 once that has passed, nil if no clock ends it."""
    missing: tuple[Who, ...] = ()
    """Voices that have not done their part yet, as far as this instance has heard."""
    needed: int = 0
    """How many of the missing voices are enough."""
    records: tuple[str, ...] = ()
    """Ids of records that are waited for, in hex; at most 16 of them."""


MOST_RECORDS: Final = 16
"""Records that a wait names."""


def wait_of(world: World, live: LiveSlot, now: Millis) -> Wait:
    """Tell what a live slot waits for at `now`, in ms on this instance's own clock."""
    state, where = live.state, name_of(live)
    certificate = world.certificates.get(slot_key(live.slot))
    if certificate is not None:
        return _closure(world, live, certificate)
    if state.diverged:
        return Wait(
            code=WaitCode.DIVERGED,
            what=where,
            sentence=f"Others certify {where} on another world than the one here: this instance "
            "does not follow. Its operator must compare the records of both.",
        )
    if state.pending is not None:
        return Wait(
            code=WaitCode.RECORDS,
            what=where,
            sentence=f"The certificate of {where} is here, and the list of positions that it "
            "names is being fetched.",
            missing=_whos(world, (seal.voice for seal in state.pending.seals)),
        )
    if not live.ended and not is_over(world, live, now):
        return _window(world, live, now)
    return _agreement(world, live, now)


def name_of(live: LiveSlot) -> str:
    """Name an agreement for people."""
    slot = live.slot
    if isinstance(slot, CutSlot):
        return f"cut {slot.number}"
    return f"phase {slot.phase} of round {short(slot.round_id)}"


def after(until: Millis, now: Millis) -> Millis:
    """Give the time from now until then in ms, 0 if it has passed."""
    return max(until - now, 0)


def _whos(world: World, voices: Iterable[InstanceId]) -> tuple[Who, ...]:
    return tuple(who(world, voice) for voice in voices)


def _names(world: World, voices: Iterable[InstanceId]) -> str:
    return ", ".join(one.name or one.id[:12] for one in _whos(world, voices)) or "nobody"


# Time ---------------------------------------------------------------------------------------


def _window(world: World, live: LiveSlot, now: Millis) -> Wait:
    """Tell of a window that is open here: a phase lasts, or no cut is due."""
    window = window_of(world, live, now)
    slot = live.slot
    until, rest = window.ends_at, ""
    if isinstance(slot, CutSlot):
        why = _called_for(world)
        until = window.earliest_at if why else window.ends_at
        why = why or "nothing waits for it, an epoch must pass"
        sentence = f"Cut {slot.number} is called in {spell(after(until, now))}: {why}."
    else:
        one = world.rounds[slot.round_id]
        match slot.phase:
            case Phase.COMMIT | Phase.COMMIT2:
                reviewers = len(one.pin.eligible.reviewers)
                wanted = min(one.pin.charter.review.k, reviewers)
                earliest = after(window.earliest_at, now)
                rest = f", or once {wanted} reviewers have committed"
                rest += f", not before {spell(earliest)}" if earliest else ""
            case Phase.DECIDE:
                rest = f", or once all {len(box(one.finals))} listed ballots are open"
            case _:
                pass
        sentence = f"The {name_of(live)} lasts for {spell(window.remaining)} more{rest}."
    return Wait(
        code=WaitCode.WINDOW,
        what=name_of(live),
        sentence=sentence,
        until=until,
        remaining=after(until, now),
    )


def _called_for(world: World) -> str:
    """Say what calls the next cut before its epoch is over; nothing if nothing does."""
    bodies = [record.body for name in world.triggers if (record := world.log.get(name)) is not None]
    if any(isinstance(body, Proposal) for body in bodies):
        return "a proposal waits for it"
    if any(isinstance(body, _FILED) for body in bodies):
        return "something that was filed waits for it"
    return "a lot waits for its beacon" if world.lots else ""


_FILED: Final = (DisputeFile, DisputeReport, Resubmit, Withdraw, FlagStale, Appeal, AdminReview)
"""Beside proposals, what only a cut can take in and readers wait for."""


# Members ------------------------------------------------------------------------------------


def _agreement(world: World, live: LiveSlot, now: Millis) -> Wait:
    """Find the step that comes next after the window, by what was heard."""
    state, pinned, where = live.state, live.pinned, name_of(live)
    me = world.me.instance if world.me and world.signer_in(pinned) else None
    if me is not None and world.is_silent(live.slot):
        others = pinned.others(me)
        return Wait(
            code=WaitCode.SILENT,
            what=where,
            sentence=f"This instance may have forgotten what it signed, so it signs nothing for "
            f"{where} before enough peers have told what they saw of it; "
            f"{pinned.quorum.q} of {pinned.quorum.n} members must agree.",
            missing=_whos(world, others),
            needed=min(pinned.quorum.q, len(others)),
        )
    if me is not None and not state.witnessed:
        left = [voice for voice in pinned.others(me) if voice not in state.reconciled]
        need = max(pinned.quorum.q - 1 - len(state.reconciled), 0)
        return Wait(
            code=WaitCode.RECONCILIATION,
            what=where,
            sentence=f"The window of {where} has ended here. Before this instance says what it "
            f"holds, it compares records with {need} more of: {_names(world, left)}.",
            missing=_whos(world, left),
            needed=need,
        )
    return _step(world, live, now)


def _step(world: World, live: LiveSlot, now: Millis) -> Wait:
    """Name the step that most members have come to, and who has not done it."""
    state, pinned = live.state, live.pinned
    q = pinned.quorum.q
    named = sorted({record for records in state.missing.values() for record in records})
    unheld = [record for record in named if record not in world.log]
    if unheld:
        # A reveal that no certificate lists yet shows nowhere, not even by its id.
        sealed_still = not isinstance(live.slot, CutSlot) and live.slot.phase is Phase.DECIDE
        return Wait(
            code=WaitCode.RECORDS,
            what=name_of(live),
            sentence=f"Records that members name for {name_of(live)} are not held here and are "
            "being fetched.",
            records=() if sealed_still else tuple(record.hex() for record in unheld[:MOST_RECORDS]),
        )
    sealed = _largest(state, pinned, Step.SEAL)
    cosigned = _largest(state, pinned, Step.COSIGN)
    if sealed or len(cosigned) >= q:
        return _missing(world, live, WaitCode.SEALS, sealed, now)
    if cosigned or _is_proposed(state, pinned):
        return _missing(world, live, WaitCode.COSIGNS, cosigned, now)
    witnessed = {one.voice for one in all_said(state, pinned, Step.WITNESS)}
    if len(witnessed) < q:
        return _missing(world, live, WaitCode.WITNESSES, witnessed, now)
    promised = {voice for voice, fence in state.highest.items() if fence >= state.fence}
    if state.fence > 0 and len(promised) < q:
        return _missing(world, live, WaitCode.PROMISES, promised, now)
    return _missing(world, live, WaitCode.PROPOSAL, set(), now)


def _largest(state: SlotState, pinned: Pinned, step: Step) -> set[InstanceId]:
    """List who has cosigned, or sealed, with most others: one fence and one digest."""
    groups: dict[tuple[int, bytes], set[InstanceId]] = {}
    for body, voice in [
        (heard.body, heard.voice)
        for heard in all_said(state, pinned, step)
        if isinstance(heard.body, Cosign | Seal)
    ]:
        groups.setdefault((body.fence, body.digest), set()).add(voice)
    return max(groups.values(), key=len, default=set())


def _is_proposed(state: SlotState, pinned: Pinned) -> bool:
    return any(
        isinstance(heard.body, Propose) and heard.body.fence >= state.fence
        for heard in all_said(state, pinned, Step.PROPOSE)
    )


def _missing(
    world: World, live: LiveSlot, code: WaitCode, done: set[InstanceId], now: Millis
) -> Wait:
    state, pinned, where = live.state, live.pinned, name_of(live)
    fence, q = state.fence, pinned.quorum.q
    until = None
    if state.fence_since is not None:
        until = state.fence_since + timer_of(fence, world.charter.timing.leader_timer)
    if code is WaitCode.PROPOSAL:
        left = [pinned.leader(fence)]
        need = 1
        sentence = f"{_names(world, left)} leads this try at {where} and has not proposed yet."
    else:
        left = [one.voice for one in pinned.members if one.voice not in done]
        need = max(q - len(done), 0)
        sentence = (
            f"{where[0].upper()}{where[1:]} has {len(done)} of {q} {code} that it needs; "
            f"missing: {_names(world, left)}."
        )
    if until is not None:
        follower = _names(world, (pinned.leader(fence + 1),))
        sentence += f" In {spell(after(until, now))} {follower} may lead another try."
    return Wait(
        code=code,
        what=where,
        sentence=sentence,
        until=until,
        remaining=None if until is None else after(until, now),
        missing=_whos(world, left),
        needed=need,
    )


# Records ------------------------------------------------------------------------------------


def _closure(world: World, live: LiveSlot, certificate: Certificate) -> Wait:
    """Tell what a held certificate rests on that is not held."""
    value, where = certificate.value, name_of(live)
    holders = tuple(seal.voice for seal in certificate.seals)
    names = value.records if isinstance(value, ListValue) else ()
    missing = tuple(name for name in names if name not in world.log)
    if isinstance(value, CutValue):
        what = "the positions that it names, records below them, or lists of rounds that it ends"
    elif missing:
        what = f"{len(missing)} of the {len(names)} records that it lists"
    else:
        what = "lists of the round's earlier phases"
    return Wait(
        code=WaitCode.RECORDS,
        what=where,
        sentence=f"The certificate of {where} is final and held here; not held yet, and being "
        f"fetched: {what}.",
        missing=_whos(world, holders),
        needed=1,
        records=tuple(name.hex() for name in missing[:MOST_RECORDS]),
    )
