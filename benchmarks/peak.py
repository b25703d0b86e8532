"""The most memory that a piece of work held at any time, beyond what the process had before."""

import contextlib
import gc
import re
from pathlib import Path
from typing import Final

_STATUS: Final = Path("/proc/self/status")
_RESET: Final = Path("/proc/self/clear_refs")
_KB: Final = 1024


class Peak:
    """Begins where it is made; only on Linux, elsewhere it knows nothing.

    What the process holds right now is the baseline. The kernel is asked to forget the highest mark
    so far; where it may not be asked, an earlier high mark can only make the result too large.
    """

    def __init__(self) -> None:
        """Begin to measure."""
        gc.collect()
        with contextlib.suppress(OSError):
            _RESET.write_text("5", encoding="ascii")  # 5: forget the high-water mark
        self._before = _status_mb("VmRSS")

    def mb(self) -> float | None:
        """Give the peak since then in MB (10^6 bytes)."""
        highest = _status_mb("VmHWM")
        return (
            None
            if highest is None or self._before is None
            else round(max(0.0, highest - self._before), 1)
        )


def _status_mb(name: str) -> float | None:
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB$", _STATUS.read_text("ascii"), re.MULTILINE)
    except OSError:
        return None
    return None if found is None else int(found[1]) * _KB / 1e6
