"""Windows: how long a phase, or the wait for a cut, still lasts on this instance's own clock.

Every member measures a window from the moment it stored the certificate that began it, so other
members' windows end a little earlier or later (design: federation, clocks). Whoever acts should
do so before `submit_by` = end - Δ - L: what one honest member holds then is in the list. The
charter names neither, so they follow from its timers: a member repeats what was not answered
every `resend`, which is taken for L, the time in which a record reaches all; a leader waits
`grace` for late witnesses, which is taken for S, the difference of the members' clocks; Δ = S + L.
"""

from typing import Final

import msgspec

from federation.certificates import CutSlot, Phase
from federation.charter import Timing
from federation.core import Millis
from federation.protocol import LiveSlot, World
from federation.protocol.agreement import windows

_EARLY: Final = frozenset({Phase.COMMIT, Phase.COMMIT2, Phase.DECIDE})
"""Phases that end before their time once everybody who is waited for has acted."""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """One window as this instance measures it; times are on its own clock, in ms."""

    began_at: Millis
    """When this instance stored the certificate that began it."""
    ends_at: Millis
    """When it ends here at the latest."""
    remaining: Millis
    """From now to `ends_at`; 0 once it is over."""
    earliest_at: Millis
    """When it may end at the earliest: the same as `ends_at` unless it may close early."""
    submit_by: Millis
    """Act before this: a record that any honest member holds then will be counted."""
    submit_within: Millis
    """From now to `submit_by`; 0 if that has passed: a record may still count, or come too late."""


def margin(timing: Timing, members: int, length: Millis) -> Millis:
    """Give Δ + L in ms: how long before the end of a window a record should be handed in.

    `members` is n: a lone member has nobody to differ from. `length` is that of the window, of
    which at most half is given up, so that a window of seconds is not over before it began.
    """
    if members == 1:
        return 0
    return min(timing.grace + 2 * timing.resend, length // 2)


def window_of(world: World, live: LiveSlot, now: Millis) -> Window:
    """Tell how a slot's window stands at `now`, in ms on this instance's own clock."""
    slot = live.slot
    earliest, ends = windows(world, live)
    timing = world.charter.timing
    if not isinstance(slot, CutSlot):
        timing = world.rounds[slot.round_id].pin.charter.timing
        if slot.phase is Phase.DECIDE:
            earliest = live.started
        elif slot.phase not in _EARLY:
            earliest = ends
    last = ends - margin(timing, live.pinned.quorum.n, ends - live.started)
    return Window(
        began_at=live.started,
        ends_at=ends,
        remaining=max(ends - now, 0),
        earliest_at=min(earliest, ends),
        submit_by=last,
        submit_within=max(last - now, 0),
    )
