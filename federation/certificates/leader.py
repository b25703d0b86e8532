"""What a fence's leader does: gather witnesses or promises, and propose once.

P(0) takes the witnesses of all members, or of q after a short grace. Above fence 0 the leader
takes q promises for exactly its fence, and proposes the value of the highest lock among them, or
else the fresh value of q witnesses (design: federation, leader). A lying leader wastes only the
fences it leads, so nothing here is trusted: members check it all again.
"""

from dataclasses import replace

from federation.certificates.desk import Fresh
from federation.certificates.messages import Heard, Promise, Propose, Step
from federation.certificates.proofs import Lock, lock_hash
from federation.certificates.state import all_said
from federation.certificates.turn import Turn, lock_part, value_part
from federation.certificates.values import value_digest
from federation.core import Digest, InstanceId


def propose(turn: Turn) -> None:
    """Propose at my fence, if I lead it, have not proposed there, and have gathered enough."""
    state = turn.state
    if not turn.may_sign or state.proposed >= state.fence or not leads(turn):
        return
    if state.fence == 0:
        _propose_first(turn)
    else:
        _propose_next(turn)


def leads(turn: Turn) -> bool:
    """Tell whether I lead the fence I stand at."""
    return turn.pinned.leader(turn.state.fence) == turn.me


def _propose_first(turn: Turn) -> None:
    usable = _usable_witnesses(turn)
    quorum = turn.pinned.quorum
    if len(usable) < quorum.q:
        return
    if turn.state.gathered_since is None:
        turn.state = replace(turn.state, gathered_since=turn.now)
    since = turn.state.gathered_since or 0
    if len(usable) == quorum.n or turn.now >= since + turn.pace.grace:
        _propose_fresh(turn, usable[: quorum.q], ())


def _propose_next(turn: Turn) -> None:
    q = turn.pinned.quorum.q
    gathered: list[tuple[Heard, Lock | None]] = []
    for heard in _preferred(turn, Step.PROMISE):
        body = heard.body
        if not isinstance(body, Promise) or body.fence != turn.state.fence:
            continue
        if body.lock_fence is None or body.lock_digest is None:
            gathered.append((heard, None))
        elif body.lock_fence < body.fence:
            # A claim without a lock that verifies would spoil the whole proposal.
            lock = turn.lock_for(body.lock_fence, body.lock_digest)
            if lock is not None:
                gathered.append((heard, lock))
    if len(gathered) < q:
        return
    promises = tuple(heard.hash for heard, _ in gathered[:q])
    claimed = [(lock, heard.voice) for heard, lock in gathered[:q] if lock is not None]
    if claimed:
        lock, voice = max(claimed, key=lambda one: one[0].fence)
        _propose_locked(turn, lock, promises, voice)
        return
    usable = _usable_witnesses(turn)
    if len(usable) >= q:
        _propose_fresh(turn, usable[:q], promises)


def _propose_locked(
    turn: Turn, lock: Lock, promises: tuple[Digest, ...], holder: InstanceId
) -> None:
    if turn.value(lock.digest, (holder,)) is None:
        return
    body = Propose(
        fence=turn.state.fence,
        digest=lock.digest,
        witnesses=(),
        promises=promises,
        lock=lock_hash(lock),
    )
    turn.state = replace(
        turn.state,
        proposed=body.fence,
        locks={**turn.state.locks, lock_hash(lock): lock},
    )
    turn.sign(body, (lock_part(lock), *value_part(turn, lock.digest)))


def _propose_fresh(turn: Turn, witnesses: list[Heard], promises: tuple[Digest, ...]) -> None:
    outcome = turn.fresh(witnesses)
    if not isinstance(outcome, Fresh):
        return
    name = value_digest(turn.pinned.slot, outcome.value)
    turn.keep_value(name, outcome.value, outcome.parts)
    turn.state = replace(turn.state, proposed=turn.state.fence)
    body = Propose(
        fence=turn.state.fence,
        digest=name,
        witnesses=tuple(heard.hash for heard in witnesses),
        promises=promises,
        lock=None,
    )
    # No value travels with it: whoever judges the proposal computes the value from its witnesses.
    turn.sign(body)


def _usable_witnesses(turn: Turn) -> list[Heard]:
    witnesses = _preferred(turn, Step.WITNESS)
    return [heard for heard in witnesses if turn.usable(heard) is not None]


def _preferred(turn: Turn, step: Step) -> list[Heard]:
    """Order messages: mine first, known liars last; so q of them are the soundest I can take."""
    heard = all_said(turn.state, turn.pinned, step)
    return sorted(heard, key=lambda one: (one.voice in turn.state.faulty, one.voice != turn.me))
