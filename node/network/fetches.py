"""Requests for records and blobs by id: equal ones merge, each goes to one instance at a time.

The core repeats what it still lacks at every wake. Here a repetition within `AGAIN` is dropped and
a later one goes to the next of the instances that may hold the thing, so a liar that never answers
costs one interval, and a slow answer is not asked for twice.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from federation.core import InstanceId, Millis

AGAIN: Final[Millis] = 500
"""How long an answer may take before the next instance is asked, in ms."""
REMEMBERED: Final = 16_384
"""Requests that are remembered."""


@dataclass(slots=True)
class _Asked:
    at: Millis
    turns: int


class Fetches:
    """Who was asked for what, and when."""

    def __init__(self) -> None:
        """Start with nothing asked."""
        self._asked: OrderedDict[bytes, _Asked] = OrderedDict()

    def choose(
        self, names: Sequence[bytes], voices: Sequence[InstanceId], now: Millis
    ) -> dict[InstanceId, list[bytes]]:
        """Choose for each name the instance to ask now; names asked a moment ago are left out.

        `voices` are those that can be reached; none of them, nothing is asked.
        """
        chosen: dict[InstanceId, list[bytes]] = {}
        if not voices:
            return chosen
        for name in names:
            asked = self._asked.get(name)
            if asked is None:
                asked = self._asked[name] = _Asked(now, 0)
            elif now - asked.at < AGAIN:
                continue
            chosen.setdefault(voices[asked.turns % len(voices)], []).append(name)
            asked.at, asked.turns = now, asked.turns + 1
            self._asked.move_to_end(name)
        while len(self._asked) > REMEMBERED:
            self._asked.popitem(last=False)
        return chosen

    def arrived(self, names: Sequence[bytes]) -> None:
        """Forget what has come."""
        for name in names:
            self._asked.pop(name, None)
