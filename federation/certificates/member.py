"""What a member signs towards a decision: rules 1, 3 and 4 of the design, one function each.

Every rule looks at the turn's state, and if it applies, changes the state *first* and then adds
the signature to the actions, so no rule can fire twice. `promises_permit` is the check on which
agreement rests: what a leader above fence 0 may propose (design: federation, member rules).
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum

from federation.certificates.blobs import blob_hash
from federation.certificates.desk import CutHolding, ListHolding, Missing, NoValue
from federation.certificates.events import KeepLock
from federation.certificates.fences import promise
from federation.certificates.finality import blob_parts
from federation.certificates.membership import Pinned
from federation.certificates.messages import (
    MOST_LISTED,
    Cosign,
    CutWitness,
    Heard,
    ListWitness,
    Promise,
    Propose,
    Seal,
    Step,
    Witness,
)
from federation.certificates.parts import Part, PartKind
from federation.certificates.proofs import Lock, endorsements, lock_hash
from federation.certificates.state import Vote, agreeing, all_said
from federation.certificates.turn import Turn
from federation.certificates.values import CutValue, value_digest
from federation.core import Digest, InstanceId


class Permit(Enum):
    """What the promises behind a proposal allow its leader."""

    FRESH = "fresh"
    """Nobody claims a lock: the value must be the fresh value of q witnesses."""
    LOCKED = "locked"
    """The value is that of the highest lock; its content is not judged again."""
    REFUSED = "refused"


def promises_permit(
    pinned: Pinned, proposal: Propose, promises: Sequence[Heard], lock: Lock | None
) -> Permit:
    """Judge a proposal above fence 0 by the promises and the verified lock it carries.

    Agreement rests on this: a value sealed by q members below the fence is reported by at least
    one honest member of any q that promised it, so it must be the one proposed again.
    """
    bodies = [heard.body for heard in promises if isinstance(heard.body, Promise)]
    voices = {heard.voice for heard in promises if pinned.member(heard.voice) is not None}
    if len(bodies) != len(promises) or len(voices) != len(bodies) or len(voices) != pinned.quorum.q:
        return Permit.REFUSED
    if any(body.fence != proposal.fence for body in bodies):
        return Permit.REFUSED
    claims = [(body.lock_fence, body.lock_digest) for body in bodies if body.lock_fence is not None]
    if not claims:
        return Permit.FRESH if lock is None else Permit.REFUSED
    highest = max(fence for fence, _ in claims)
    if highest >= proposal.fence or lock is None or lock.fence != highest:
        return Permit.REFUSED
    if any(digest != lock.digest for fence, digest in claims if fence == highest):
        return Permit.REFUSED
    return Permit.LOCKED if proposal.digest == lock.digest else Permit.REFUSED


def is_shaped(pinned: Pinned, voice: InstanceId, proposal: Propose) -> bool:
    """Tell whether a proposal has the form that its fence requires, and comes from its leader.

    Checked before anything it names is asked for: it bounds what one proposal can make me fetch.
    """
    q = pinned.quorum.q
    witnesses, promises = len(proposal.witnesses), len(proposal.promises)
    if pinned.leader(proposal.fence) != voice:
        return False
    if proposal.fence == 0:
        return witnesses == q and promises == 0 and proposal.lock is None
    return promises == q and witnesses == (q if proposal.lock is None else 0)


def witness(turn: Turn) -> None:
    """Rule 1: once my window has ended and q - 1 others are reconciled with, say what I hold."""
    state = turn.state
    if state.witnessed or state.window_ended is None or not turn.may_sign:
        return
    if len(state.reconciled) < turn.pinned.quorum.q - 1:
        return
    holding = turn.desk.holding()
    body: Witness
    parts: tuple[Part, ...] = ()
    match holding:
        case ListHolding():
            body = ListWitness(ids=tuple(sorted(holding.ids)[:MOST_LISTED]), late=holding.late)
        case _:
            name = blob_hash(holding.chains)
            body = CutWitness(
                chains=name,
                tick=holding.tick,
                world=holding.world,
                secret=holding.secret,
                next_hash=holding.next_hash,
            )
            parts = (Part(kind=PartKind.BLOB, content=holding.chains),)
            state = replace(state, chains=name, blobs={**state.blobs, name: holding.chains})
    turn.state = replace(state, witnessed=True)
    turn.sign(body, parts)


def cosign(turn: Turn) -> None:
    """Rule 3: cosign what the leader of a fence proposes, if it is permitted there."""
    for heard in list(all_said(turn.state, turn.pinned, Step.PROPOSE)):
        body, state = heard.body, turn.state
        if not isinstance(body, Propose) or not turn.may_sign or body.fence < state.fence:
            continue
        if state.cosigned is not None and state.cosigned.fence >= body.fence:
            continue
        if heard.hash in state.refused or not _is_permitted(turn, heard, body):
            continue
        if body.fence > turn.state.fence:
            promise(turn, body.fence)
        turn.state = replace(turn.state, cosigned=Vote(fence=body.fence, digest=body.digest))
        turn.sign(Cosign(fence=body.fence, digest=body.digest))


def seal(turn: Turn) -> None:
    """Rule 4: on a lock at my fence, keep it as mine and seal, once."""
    state = turn.state
    if not turn.may_sign or (state.sealed is not None and state.sealed.fence >= state.fence):
        return
    if state.lock is not None and state.lock.fence == state.fence:
        # A crash came between keeping the lock and sealing.
        _seal(turn, state.lock.digest)
        return
    for body, votes in agreeing(turn.state, turn.pinned, Step.COSIGN, Cosign):
        if body.fence != state.fence:
            continue
        value = turn.value(body.digest, [heard.voice for heard in votes])
        if value is None:
            continue
        cosigns = endorsements(votes, turn.pinned.quorum.q)
        lock = Lock(fence=body.fence, digest=body.digest, cosigns=cosigns)
        turn.state = replace(
            turn.state, lock=lock, locks={**turn.state.locks, lock_hash(lock): lock}
        )
        turn.actions.append(KeepLock(lock=lock, value=value, parts=blob_parts(turn.state, value)))
        _seal(turn, body.digest)
        return


def _is_permitted(turn: Turn, heard: Heard, body: Propose) -> bool:
    """Judge a proposal; False may mean refused (remembered) or not yet (something is lacking)."""
    permit = Permit.FRESH
    if body.fence > 0:
        promises = [turn.message(name, (heard.voice,)) for name in body.promises]
        lock = None
        if body.lock is not None:
            # All look-ups come first, so that all that is lacking is asked for at once.
            lock = turn.lock(body.lock, (heard.voice,))
            turn.value(body.digest, (heard.voice,))
        held = [one for one in promises if one is not None]
        if len(held) < len(promises) or (lock is None and body.lock is not None):
            return False
        permit = promises_permit(turn.pinned, body, held, lock)
    match permit:
        case Permit.REFUSED:
            return _refuse(turn, heard)
        case Permit.LOCKED:
            return turn.value(body.digest, (heard.voice,)) is not None
        case _:
            return _is_fresh(turn, heard, body)


def _is_fresh(turn: Turn, heard: Heard, body: Propose) -> bool:
    """Compare a proposed digest with the fresh value of the witnesses it names."""
    found = [turn.message(name, (heard.voice,)) for name in body.witnesses]
    witnesses = [one for one in found if one is not None]
    if len(witnesses) < len(found):
        return False
    voices = {one.voice for one in witnesses if one.header.step is Step.WITNESS}
    if len(voices) != turn.pinned.quorum.q:
        return _refuse(turn, heard)
    outcome = turn.fresh(witnesses)
    match outcome:
        case Missing():
            return False
        case NoValue():
            return _refuse(turn, heard)
        case _:
            value = outcome.value
            if value_digest(turn.pinned.slot, value) != body.digest:
                return _refuse(turn, heard)
            if isinstance(value, CutValue) and value.world != _my_world(turn):
                turn.state = replace(turn.state, diverged=True)
                return _refuse(turn, heard)
            turn.keep_value(body.digest, value, outcome.parts)
            return True


def _my_world(turn: Turn) -> Digest | None:
    """Give my digest of the world at the cut before: as I said it, or as I would say it."""
    for heard in all_said(turn.state, turn.pinned, Step.WITNESS):
        if heard.voice == turn.me and isinstance(heard.body, CutWitness):
            return heard.body.world
    holding = turn.desk.holding()
    return holding.world if isinstance(holding, CutHolding) else None


def _refuse(turn: Turn, heard: Heard) -> bool:
    turn.state = replace(turn.state, refused=turn.state.refused | {heard.hash})
    return False


def _seal(turn: Turn, digest: Digest) -> None:
    fence = turn.state.fence
    turn.state = replace(turn.state, sealed=Vote(fence=fence, digest=digest))
    turn.sign(Seal(fence=fence, digest=digest))
