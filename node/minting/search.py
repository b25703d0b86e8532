"""Several processes that search for one proof, fed and watched by this one.

They hold no key and open no file. They end with this process, however that ends; what they were at
is lost then, a tenth of a second each, and what was saved goes on. A process that dies or hangs is
replaced, until so many have died that there is no sense in it; with fewer the search goes on, with
none it ends.
"""

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import federation
from federation.admission import Mint, Progress, Work, work_bytes
from federation.codec import decode, encode
from federation.core import FederationError, PeerError
from node.base import pipes
from node.minting.plan import Plan, Standing
from node.minting.saved import Saved
from node.minting.searcher import LARGEST, NO_MEMORY, Answer, Task

_PROGRAM: Final = Path(__file__).with_name("searcher.py")
_ROOT: Final = Path(federation.__file__).parents[1]
_DEATHS: Final = 3
"""Processes in a row that may die without a block to show for it."""
_KEEP_S: Final = 1.0
"""Seconds between two moments at which the search is saved."""
_TELL_S: Final = 0.2
"""Seconds between two moments at which it is shown, at least."""
_PATIENCE_S: Final = 60.0
"""Seconds until a process is given up that was asked for a tenth of a second's work."""
_LAST_WORDS_S: Final = 1.0
"""Seconds for a process that has closed its pipe to be gone, so that its exit code is known."""
_NO_MEMORY: Final = "the machine has too little memory for one hash"
_GATE_SAMPLE: Final = 2_000
"""Tries by which the speed at the gate is measured: a few ms."""


class MintingError(Exception):
    """The search cannot go on; the text says why."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Hand:
    """One process, seen from here."""

    number: int
    process: subprocess.Popen[bytes]
    heard: bytes = b""
    """What has come of its answer."""
    began: float = 0.0
    """When it was asked."""

    @property
    def source(self) -> int:
        assert self.process.stdout is not None, "it was opened with pipes"  # noqa: S101 # our own invariant
        return self.process.stdout.fileno()

    def ask(self, frames: bytes) -> None:
        assert self.process.stdin is not None, "it was opened with pipes"  # noqa: S101 # our own invariant
        # What is asked is far shorter than what a pipe holds, so this does not wait.
        self.process.stdin.write(frames)

    def last_words(self) -> int | None:
        """Give its exit code; None if it has not ended by itself."""
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(_LAST_WORDS_S)
        return None

    def end(self) -> None:
        """End it at once, also if it is frozen."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


class Search:
    """A search for one proof by several processes."""

    def __init__(
        self, saved: Saved, *, processes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Go on with a search; nothing is started yet.

        `processes` is how many are to search, 1 or more. Raises ParameterError if the terms are
        outside the hard limits.
        """
        self._clock = clock
        self._plan = Plan(saved, gate_speed=_speed_at_gate(saved.work, clock))
        self._wanted = processes
        self._hands: dict[int, _Hand] = {}
        self._numbers = 0
        self._deaths = 0
        self._why = ""
        self._selector = selectors.DefaultSelector()
        self._began = clock()

    @property
    def pids(self) -> tuple[int, ...]:
        """Name the processes that search."""
        return tuple(hand.process.pid for hand in self._hands.values())

    def standing(self) -> Standing:
        """Tell how it stands."""
        return self._plan.standing(processes=len(self._hands), spent_ms=self._spent_ms())

    def run(self, *, tell: Callable[[Standing], None], keep: Callable[[Saved], None]) -> Work:
        """Search until the proof is found, and give it; it has been checked once more.

        `keep` is given what to save, every second and at the end, also when this ends by an error
        or by Ctrl-C; `tell` what to show. Either may raise, and so end the search. Raises
        MintingError if no process can go on, CallerError if what was found is no proof: then what
        was saved is worth nothing.
        """
        self._began = self._clock()
        try:
            for _ in range(0 if self._plan.is_over else self._wanted):
                self._start()
            self._search(tell, keep)
        finally:
            for hand in self._hands.values():
                hand.end()
            self._hands.clear()
            self._selector.close()
            keep(self._plan.saved(self._spent_ms()))
        return self._plan.proof()

    def _search(self, tell: Callable[[Standing], None], keep: Callable[[Saved], None]) -> None:
        kept = told = self._clock()
        tell(self.standing())
        while not self._plan.is_over:
            if not self._hands:
                raise MintingError(f"its processes end by themselves; {self._why}")
            for key, _ in self._selector.select(_TELL_S):
                hand: _Hand = key.data
                self._hear(hand)
            now = self._clock()
            for hand in [one for one in self._hands.values() if now - one.began > _PATIENCE_S]:
                self._lose(hand, "the last did not answer")
            if now - kept >= _KEEP_S:
                keep(self._plan.saved(self._spent_ms()))
                kept = now
            if now - told >= _TELL_S:
                tell(self.standing())
                told = now
        tell(self.standing())

    def _start(self) -> None:
        try:
            process = subprocess.Popen(  # noqa: S603 # our own program, by its own path
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                env={"PYTHONPATH": str(_ROOT)},
                # A Ctrl-C in the terminal is for the parent, which saves what there is first.
                process_group=0,
            )
        except OSError as error:
            self._why = f"the last could not be started: {error.strerror or error}"
            return
        self._numbers += 1
        hand = _Hand(number=self._numbers, process=process)
        self._hands[hand.number] = hand
        self._selector.register(hand.source, selectors.EVENT_READ, hand)
        self._feed(hand, pipes.frame(work_bytes(self._plan.blank)))

    def _feed(self, hand: _Hand, before: bytes = b"") -> None:
        block = self._plan.deal(hand.number)
        if block is None:
            return
        task = Task(progress=block.progress, tries=block.tries)
        # One that has just died says so by the end of what it wrote, which is read next.
        with suppress(OSError):
            hand.ask(before + pipes.frame(encode(task)))
        hand.began = self._clock()

    def _hear(self, hand: _Hand) -> None:
        piece = os.read(hand.source, LARGEST)
        hand.heard += piece
        size = int.from_bytes(hand.heard[: pipes.SIZE], "big")
        if not piece or size > LARGEST:
            left = hand.last_words()
            self._lose(hand, _NO_MEMORY if left == NO_MEMORY else f"the last left {left}")
            return
        if len(hand.heard) < pipes.SIZE + size:
            return
        raw, hand.heard = hand.heard[pipes.SIZE :], b""
        try:
            answer = decode(raw, Answer, what="answer", most=LARGEST)
            self._plan.take(hand.number, answer.progress, answer.micros / 1_000_000)
        except (PeerError, LookupError):
            self._lose(hand, "the last said what is no answer")
            return
        self._deaths = 0
        self._feed(hand)

    def _lose(self, hand: _Hand, why: str) -> None:
        """Do without a process that has ended, hangs or talks nonsense; start another instead."""
        self._selector.unregister(hand.source)
        del self._hands[hand.number]
        self._plan.forget(hand.number)
        hand.end()
        self._why = why
        self._deaths += 1
        # For want of memory another one would end as well, and the others may do without it.
        if self._deaths <= _DEATHS * self._wanted and why != _NO_MEMORY:
            self._start()

    def _spent_ms(self) -> int:
        return int((self._clock() - self._began) * 1_000)


def _speed_at_gate(blank: Work, clock: Callable[[], float]) -> float:
    """Measure how many tries a second one process makes at the gate."""
    mint = Mint(blank=blank)
    solved = Progress(bound_to=mint.start().bound_to, found=(bytes(8),) * len(blank.solutions))
    began = clock()
    with suppress(FederationError):
        solved = mint.advance(solved, _GATE_SAMPLE)
    tries = max(1, solved.nonce)
    return tries / max(clock() - began, 1e-6)
