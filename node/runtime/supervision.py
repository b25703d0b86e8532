"""What happens when a part of a node fails: a table.

A part whose failure leaves the node's memory in doubt stops the node, with the reason; the disk
decides after a restart. A part that only carries things back and forth starts again, later each
time. A cancelled part is not a failed one.
"""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Final

import trio

from node.base.errors import NodeError
from node.telemetry import log

FIRST_S: Final = 0.5
LONGEST_S: Final = 30.0
CALM_S: Final = 60.0
"""A part that ran so long starts again with the shortest wait."""


class Part(StrEnum):
    """The long-lived parts of a node."""

    DRIVER = "driver"
    TIMERS = "timers"
    PERFORMERS = "performers"
    LINKS = "links"
    DIALER = "dialer"
    HINTS = "hints"
    LISTENING = "listening"
    CLOCK = "clock"
    HTTP = "http"
    REVEALING = "revealing"
    RECKONING = "reckoning"
    INVITING = "inviting"
    INDEXING = "indexing"
    PROOFS = "proofs"
    NOTICING = "noticing"
    DELIVERING = "delivering"


class Then(StrEnum):
    """What follows a failure."""

    STOP = "stop"
    RESTART = "restart"


AFTER_FAILURE: Final[Mapping[Part, Then]] = {
    Part.DRIVER: Then.STOP,
    Part.TIMERS: Then.STOP,
    Part.PERFORMERS: Then.STOP,
    Part.LINKS: Then.RESTART,
    Part.DIALER: Then.RESTART,
    Part.HINTS: Then.RESTART,
    Part.LISTENING: Then.RESTART,
    Part.CLOCK: Then.STOP,
    Part.HTTP: Then.RESTART,
    # It begins by looking at all open rounds. A step of its that fails stops the node like any.
    Part.REVEALING: Then.RESTART,
    # It begins with the problem that has no answer yet: the next cut waits for it.
    Part.RECKONING: Then.RESTART,
    # It begins by looking at all whose vouch is not settled.
    Part.INVITING: Then.RESTART,
    # It goes on where it was.
    Part.INDEXING: Then.RESTART,
    # The same holds for its proofs; what waits at the door keeps its place.
    Part.PROOFS: Then.RESTART,
    # It begins behind the last event whose notices are stored.
    Part.NOTICING: Then.RESTART,
    # It begins with what waits first for each webhook.
    Part.DELIVERING: Then.RESTART,
}


async def run(part: Part, work: Callable[[], Awaitable[None]]) -> None:
    """Run a part until it ends or is cancelled; raises what it raised if the table says stop."""
    wait = FIRST_S
    while True:
        began = trio.current_time()
        try:
            await work()
        except Exception as error:
            log.warning("part.failed", part=part, error=named(error))
            if AFTER_FAILURE[part] is Then.STOP:
                raise
            if trio.current_time() - began > CALM_S:
                wait = FIRST_S
            await trio.sleep(wait)
            wait = min(2 * wait, LONGEST_S)
        else:
            return


def named(error: BaseException) -> str:
    """Name an error by its type, and by its code if it is one of ours; groups by what they hold."""
    if isinstance(error, BaseExceptionGroup):
        return ",".join(sorted({named(one) for one in error.exceptions}))
    return str(error.code) if isinstance(error, NodeError) else type(error).__name__
