"""Rule 5: when a member leaves its fence, and what it promises then.

A promise is the only way up: from then on nothing is signed below it, and the lock that travels
with it is what keeps a later fence from deciding otherwise. Timers grow with the fence, so an
honest leader gets all the time it needs sooner or later (design: federation, member rules).
"""

from dataclasses import replace
from typing import Final

from federation.certificates.messages import Promise
from federation.certificates.turn import Turn, lock_part, value_part
from federation.charter import DOUBLINGS
from federation.core import Millis

MOST_FENCE: Final = 2**63 - 1


def timer_of(fence: int, leader_timer: Millis) -> Millis:
    """Give the length of a fence's timer: T·2^min(k, 10)."""
    return leader_timer << min(fence, DOUBLINGS)


def promise_on_time(turn: Turn) -> None:
    """Rule 5: leave my fence when its timer ends, or when f+1 others have left it."""
    state = turn.state
    if not turn.may_sign:
        return
    above = sorted(
        (k for voice, k in state.highest.items() if voice != turn.me and k > state.fence),
        reverse=True,
    )
    if len(above) > turn.pinned.quorum.f:
        # At most f lie, so an honest member stands at this fence or above.
        promise(turn, above[turn.pinned.quorum.f])
    elif (
        state.fence_since is not None
        and turn.now >= state.fence_since + timer_of(state.fence, turn.pace.leader_timer)
        and state.fence < MOST_FENCE
    ):
        promise(turn, state.fence + 1)


def promise(turn: Turn, fence: int) -> None:
    """Sign nothing below `fence` any more, and report my lock with its value."""
    lock = turn.state.lock
    turn.state = replace(turn.state, fence=fence, fence_since=None, gathered_since=None)
    if lock is None:
        turn.sign(Promise(fence=fence, lock_fence=None, lock_digest=None))
        return
    turn.sign(
        Promise(fence=fence, lock_fence=lock.fence, lock_digest=lock.digest),
        (lock_part(lock), *value_part(turn, lock.digest)),
    )


def start_timer(turn: Turn) -> None:
    """Start the timer of my fence when it can be useful.

    At fence 0 that is with my witness. Above it, once q members have promised this fence or a
    higher one: the design's rule (from my own promise) lets members whose timers have stopped
    growing chase each other for ever, each one fence behind the next, and lets a minority count
    fences up while it is alone.
    """
    state = turn.state
    if state.fence_since is not None or not turn.may_sign:
        return
    others = sum(voice != turn.me and k >= state.fence for voice, k in state.highest.items())
    if state.witnessed if state.fence == 0 else others + 1 >= turn.pinned.quorum.q:
        turn.state = replace(state, fence_since=turn.now)
