"""Who tries what: blocks of values of one part, each handed out once.

Processes search different parts as long as there are enough open ones; then they share one. The
plan lives in one process, so nothing is tried twice, and however many processes come, go or are
killed, nothing is lost but the blocks that they were at. A block is as long as a process takes a
tenth of a second for: so much is wasted at most when another finds what it searches for.
"""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Final, TypeVar

from msgspec.structs import replace

from federation.admission import (
    Mint,
    Progress,
    Terms,
    Work,
    challenge,
    expected_gate_tries,
    offered,
)
from federation.core import ParameterError
from node.minting.estimate import Estimate, estimate
from node.minting.saved import Saved

_T = TypeVar("_T")

_BLOCK_S: Final = 0.1
"""Seconds that a block is to take."""
_FIRST_TRIES: Final = 1
"""Of a process whose speed is not known yet; a hash may take half a second."""
_MOST_TRIES: Final = 1_000_000
_REMEMBERED_S: Final = 15.0
"""Seconds after which a block weighs a third in the speed of its process: numbers that jump with
every block tell nobody anything."""
_NOT_MINE: Final = bytes(8)
"""Stands for the solutions of parts that a block is not about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Values for one process to try."""

    part: int | None
    """The part that they are of; None for the gate."""
    first: int
    """The first value."""
    tries: int
    """How many, one after the other."""
    progress: Progress
    """The same as `Mint.advance` takes it: other parts stand as found, so it ends with this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How it stands with a search, to be shown."""

    parts: int
    """Parts of the proof."""
    found: int
    """Of these, how many are found."""
    tried: int
    """Argon2id hashes computed so far."""
    left: int
    """Argon2id hashes that are still to come, on average: those before do not shorten it."""
    processes: int
    """Processes that search."""
    speed: float | None
    """Argon2id hashes a second, of all of them together; None until it is measured."""
    spent_ms: int
    """How long the search has run, before interruptions too."""
    rest: Estimate | None
    """How long it goes on from now; None until the speed is measured."""


@dataclass(frozen=True, slots=True)
class _Pace:
    """How fast a process is: what it has tried of late, and in how long."""

    tries: float = 0.0
    seconds: float = 0.0

    def after(self, tries: int, seconds: float) -> "_Pace":
        """Take a block into account."""
        kept = math.exp(-seconds / _REMEMBERED_S)
        # A clock that did not move would make it infinitely fast.
        took = max(seconds, 1e-6)
        return _Pace(self.tries * kept + tries, self.seconds * kept + took)

    @property
    def speed(self) -> float:
        """Tries a second."""
        return self.tries / self.seconds


class Plan:
    """One search, divided."""

    def __init__(self, saved: Saved, *, gate_speed: float) -> None:
        """Go on with a search; `gate_speed` is tries a second of one process at the gate.

        Raises ParameterError if the terms of the proof are outside the hard limits.
        """
        self.blank: Final[Work] = saved.work
        terms = offered(self.blank)
        if terms is None:
            raise ParameterError(
                "search not begun",
                why="its terms are outside the limits that every verifier holds",
                fix="ask an instance that keeps the limits",
            )
        self._terms: Final[Terms] = terms
        self._bound_to: Final = challenge(self.blank)
        self._saved = saved
        # As if it had been measured for a moment: what follows weighs more.
        self._gate = _Pace().after(max(1, round(gate_speed * _BLOCK_S)), _BLOCK_S)
        self._paces: dict[int, _Pace] = {}
        self._at: dict[int, Block] = {}

    @property
    def is_over(self) -> bool:
        """Whether everything is found."""
        return self._saved.gate is not None and None not in self._saved.found

    def saved(self, spent_ms: int = 0) -> Saved:
        """Give what is to be saved; `spent_ms` is added to the time that the search has taken."""
        return replace(self._saved, spent_ms=self._saved.spent_ms + spent_ms)

    def proof(self) -> Work:
        """Give the proof, checked once more; CallerError if it is not there, or is none."""
        saved = self._saved
        whole = Progress(bound_to=self._bound_to, found=saved.found, gate=saved.gate)
        return Mint(blank=self.blank).finish(whole)

    def deal(self, process: int) -> Block | None:
        """Give a process what it is to try next; None once the search is over."""
        if self.is_over:
            return None
        part = self._part()
        block = self._gate_block() if part is None else self._part_block(process, part)
        self._at[process] = block
        return block

    def take(self, process: int, told: Progress, seconds: float) -> None:
        """Take what a process has found in its block, and how long it took."""
        block = self._at.pop(process)
        saved = self._saved
        if block.part is None:
            if told.gate is not None and saved.gate is None:
                self._saved = replace(saved, gate=told.gate)
            elif told.gate is None:
                # How many were tried is known only of a block that went to its end.
                self._gate = self._gate.after(block.tries, seconds)
            return
        tried = told.tried
        solution = told.found[block.part]
        found = saved.found
        if solution is not None and found[block.part] is None:
            found = _with(found, block.part, solution)
        self._saved = replace(saved, found=found, tried=saved.tried + tried)
        self._paces[process] = self._paces.get(process, _Pace()).after(tried, seconds)

    def forget(self, process: int) -> None:
        """Do without a process that has ended; others go on behind the block that it was at."""
        self._at.pop(process, None)
        self._paces.pop(process, None)

    def standing(self, *, processes: int, spent_ms: int) -> Standing:
        """Tell how it stands; `spent_ms` as in `saved`."""
        saved = self._saved
        open_parts = sum(one is None for one in saved.found)
        speeds = [pace.speed for pace in self._paces.values()]
        # Whoever has not answered yet is taken to be as fast as the others.
        speed = sum(speeds) / len(speeds) * processes if speeds else None
        rest = None
        if speed is not None or not open_parts:
            rest = estimate(
                parts=open_parts,
                part_tries=1 << self._terms.bits,
                part_speed=speed or 1.0,
                gate_tries=0 if saved.gate is not None else expected_gate_tries(self._terms),
                gate_speed=self._gate.speed * max(1, processes),
            )
        return Standing(
            parts=len(saved.found),
            found=len(saved.found) - open_parts,
            tried=saved.tried,
            left=open_parts << self._terms.bits,
            processes=processes,
            speed=speed,
            spent_ms=saved.spent_ms + spent_ms,
            rest=rest,
        )

    def _part(self) -> int | None:
        """Choose the open part that fewest processes are at; None if only the gate is open."""
        busy = Counter(one.part for one in self._at.values())
        found = self._saved.found
        open_parts = [part for part, one in enumerate(found) if one is None]
        return min(open_parts, key=lambda part: busy[part], default=None)

    def _part_block(self, process: int, part: int) -> Block:
        pace = self._paces.get(process)
        tries = _FIRST_TRIES if pace is None else _tries(pace.speed)
        first = self._saved.nexts[part]
        self._saved = replace(self._saved, nexts=_with(self._saved.nexts, part, first + tries))
        others = (_NOT_MINE,) * len(self._saved.found)
        progress = Progress(
            bound_to=self._bound_to, found=_with(others, part, None), part=part, nonce=first
        )
        return Block(part=part, first=first, tries=tries, progress=progress)

    def _gate_block(self) -> Block:
        tries = _tries(self._gate.speed)
        first = self._saved.gate_next
        self._saved = replace(self._saved, gate_next=first + tries)
        progress = Progress(bound_to=self._bound_to, found=self._saved.found, nonce=first)
        return Block(part=None, first=first, tries=tries, progress=progress)


def _tries(speed: float) -> int:
    return min(_MOST_TRIES, max(1, round(speed * _BLOCK_S)))


def _with(values: tuple[_T, ...], place: int, value: _T) -> tuple[_T, ...]:
    return (*values[:place], value, *values[place + 1 :])
