"""Searches for a proof of work in a process of its own: for an agent whose keys are kept here.

One search at a time, at low priority, so that the node and the machine stay what they are for. It
ends at once when whoever waits for it is cancelled, and at the latest with the node. A process
that dies or hangs is replaced, and its successor goes on from what it reported last; if none comes
further, a thread of this process searches, try by try.
"""

from pathlib import Path
from typing import Final

import trio

from federation import admission
from federation.admission import Mint, Progress, Work
from federation.codec import encode
from federation.core import CallerError, PeerError
from node.base import pipes
from node.base.errors import NodeCode, NodeError, RequestError
from node.runtime.children import Talk
from node.telemetry import log

ROOM: Final = 16
"""Searches that may wait for their turn."""
ATTEMPTS: Final = 2
"""Processes that are tried without one that comes further than the one before."""
PATIENCE_S: Final = 30.0
"""Seconds without a report until a process is given up; an idle one reports twice a second."""

_GATE_TRIES: Final = 10_000
"""Tries at the gate that a thread makes before it looks whether it is still wanted: 20 ms."""
_PROGRAM: Final = Path(__file__).with_name("minter.py")


class Minting:
    """The searches of a node, one at a time."""

    def __init__(self, *, patience: float = PATIENCE_S) -> None:
        """Start nothing."""
        self._patience = patience
        self._turn = trio.Lock()
        self._is_closed = False
        self._talk: Talk | None = None
        self.failures = 0
        """Processes that could not be started, ended early, hung, or found no solution."""
        self.progress: Progress | None = None
        """How far the search has come that is under way."""
        # A thread for it alone: verifying must not wait for it.
        self._thread = trio.CapacityLimiter(1)

    @property
    def pids(self) -> tuple[int, ...]:
        """Name the process that searches, if one runs."""
        return () if self._talk is None else (self._talk.pid,)

    async def mint(self, blank: Work) -> Work:
        """Search for a proof; it is verified once more before it is given.

        Raises RequestError BUSY if too many wait or there is too little memory, NodeError STOPPING
        once `close` was called, and ParameterError for terms outside the limits.
        """
        search = Mint(blank=blank)
        if self._turn.statistics().tasks_waiting >= ROOM:
            raise _busy(f"{ROOM} searches wait for their turn already", "try again in some minutes")
        async with self._turn:
            self.progress = search.start()
            began = trio.current_time()
            try:
                work = await self._found(search)
            except MemoryError as error:
                raise _busy(
                    "there was too little memory for the hashes that the charter asks for",
                    "make room and try again",
                ) from error
            finally:
                tried, self.progress = self.progress.tried, None
            log.info("mint.done", tried=tried, seconds=round(trio.current_time() - began))
            return work

    def close(self) -> None:
        """End the search that is under way, and begin no other."""
        self._is_closed = True
        if self._talk is not None:
            self._talk.kill()

    async def _found(self, search: Mint) -> Work:
        progress, failures = search.start(), 0
        while failures < ATTEMPTS:
            if self._is_closed:
                raise _stopping()
            self.progress = progress
            try:
                return await self._finish(search, await self._searched(search, progress))
            except (OSError, EOFError, PeerError, trio.TooSlowError):
                # It was killed, is stuck, says what is no progress, or cannot be started.
                failures += 1
                if self.progress.tried > progress.tried:
                    progress, failures = self.progress, 0
            except CallerError:
                # It reports of another search, or has found no solution: nothing of it is believed.
                progress, failures = search.start(), failures + 1
            self.failures += 1
        if self._is_closed:
            raise _stopping()
        log.warning("minter.given_up", failures=self.failures)
        while not progress.is_over:
            self.progress = progress
            if self._is_closed:
                raise _stopping()
            progress = await trio.to_thread.run_sync(
                search.advance,
                progress,
                _GATE_TRIES if progress.at_gate else 1,
                abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
                limiter=self._thread,
            )
        return await self._finish(search, progress)

    async def _searched(self, search: Mint, begun: Progress) -> Progress:
        """Have a process search, and follow it until it has found everything."""
        self._talk = talk = Talk(_PROGRAM)
        try:
            with trio.fail_after(self._patience):
                question = (admission.work_bytes(search.blank), encode(begun))
                await talk.say(b"".join(map(pipes.frame, question)))
            while True:
                with trio.fail_after(self._patience):
                    size = int.from_bytes(await talk.hear(pipes.SIZE), "big")
                    if size > admission.MOST_BYTES:
                        raise EOFError
                    heard = admission.read_progress(await talk.hear(size))
                # It raises CallerError for what is no progress of this search.
                search.join(begun, heard)
                self.progress = heard
                if heard.is_over:
                    return heard
        finally:
            self._talk = None
            talk.end()

    async def _finish(self, search: Mint, progress: Progress) -> Work:
        """Write the proof and verify it; raises CallerError if it is none."""
        return await trio.to_thread.run_sync(
            search.finish,
            progress,
            # Whoever is cancelled waits for no hash.
            abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
            limiter=self._thread,
        )


def _busy(why: str, fix: str) -> RequestError:
    return RequestError("proof of work not found", why=why, fix=fix, code=NodeCode.BUSY)


def _stopping() -> NodeError:
    return NodeError(
        "proof of work not found",
        why="the node is shutting down",
        fix="try again when it is back",
        code=NodeCode.STOPPING,
    )
