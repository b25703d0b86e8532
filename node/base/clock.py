"""The one place that reads the time.

Two times, never mixed. `now` is this instance's own monotonic clock: windows are measured on it,
so it must neither jump nor run backwards, and it goes on across restarts (design: time). `wall`
is what people call the time: records claim it, logs print it, and it decides nothing.

`now` counts CLOCK_BOOTTIME, which nobody can set and which goes on while the process is down and
while the machine sleeps. After a reboot it goes on from the last value stored: time during which
the machine was off does not count, because nothing trustworthy measured it. A window can only
become longer that way.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from federation.core import Millis

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_NANOS: Final = 1_000_000


class Clock(Protocol):
    """What a node asks for the time."""

    def now(self) -> Millis:
        """Give this instance's monotonic time in ms; 0 when the instance was made."""
        ...

    def wall(self) -> Millis:
        """Give Unix time in ms, for people; it decides nothing."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockState:
    """What a clock must find again after a restart."""

    boot_id: str
    """Names one boot of the machine."""
    offset: int
    """Subtracted from the time since that boot, in ms."""
    last: Millis
    """The latest time that was stored."""


class SteadyClock:
    """The clock of a real node."""

    def __init__(self, stored: ClockState | None, *, at_least: Millis = 0) -> None:
        """Go on from what was stored; `at_least` is the latest time that any stored fact names."""
        since_boot = _since_boot()
        boot_id = boot()
        if stored is None:
            offset = since_boot
        elif stored.boot_id == boot_id:
            offset = stored.offset
        else:
            offset = since_boot - stored.last
        # Never behind a stored fact, whatever became of the clock's own row.
        self.offset: Final = min(offset, since_boot - at_least)
        self.boot_id: Final = boot_id

    def now(self) -> Millis:
        """Give this instance's monotonic time in ms."""
        return _since_boot() - self.offset

    def wall(self) -> Millis:
        """Give Unix time in ms."""
        return time.time_ns() // _NANOS

    def state(self) -> ClockState:
        """Give what must be stored."""
        return ClockState(boot_id=self.boot_id, offset=self.offset, last=self.now())


def boot() -> str:
    """Name this boot of the machine."""
    return _BOOT_ID.read_text(encoding="ascii").strip()


def _since_boot() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // _NANOS
