"""Verifies proofs of work beside the core: for cuts, for the door, and at a start.

Argon2id takes as long as it is meant to, some 40 ms a proof, and may hold up neither the event
loop nor the fold of a cut. So a process of its own verifies, one proof at a time: what a cut waits
for goes before what strangers send to the door, and of the latter only a short queue is kept. It
is started when it is first needed and ended when it has had nothing to do for a while. A verdict
depends on nothing but the bytes of the proof, so it is remembered under their hash, and nobody
pays twice for the same junk.

**The answer always comes**, because the next cut waits for it. A process that dies, hangs or says
what it was not asked is replaced once; then a thread of this process verifies.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from federation import admission
from federation.admission import Work
from federation.core import PeerError
from federation.protocol import effects as fx
from federation.protocol.inputs import Proven
from node.base import pipes
from node.base.errors import NodeCode, NodeError, RequestError
from node.runtime.children import Talk
from node.runtime.inbox import Inbox, Urgency
from node.runtime.minting import Minting
from node.runtime.prover import BAD, GOOD, NAME, UNKNOWN, name_of
from node.telemetry import log

KNOWN: Final = 65_536
"""Verdicts that are remembered; the one used longest ago makes room."""
ROOM: Final = 32
"""Proofs that may wait at the door: a little more than a second of work."""
ATTEMPTS: Final = 2
"""Processes that are tried with one proof."""
IDLE_S: Final = 60.0
"""Seconds without a proof after which the process is ended."""
PATIENCE_S: Final = 10.0
"""Seconds until a process that does not answer is given up, for a proof of little memory."""
PATIENCE_MIB_S: Final = 0.02
"""What each MiB adds to that which is filled once; an idle machine takes a thirtieth of it."""
RETRY_S: Final = 1.0
"""Seconds until a proof of a cut is tried again for which there was too little memory."""

_KIB: Final = 1_024
_PROGRAM: Final = Path(__file__).with_name("prover.py")


@dataclass(slots=True, kw_only=True)
class _Waiting:
    """A proof at the door, and those who asked for its verdict."""

    raw: bytes
    askers: int = 0
    """How many wait for it; one that nobody waits for any more is not verified."""
    done: trio.Event = field(default_factory=trio.Event)
    verdict: bool | None = None
    """None, once done, if it could not be verified."""


class Proofs:
    """The part of a node that verifies proofs of work, and mints them."""

    def __init__(
        self,
        inbox: Inbox,
        *,
        idle: float = IDLE_S,
        patience: float = PATIENCE_S,
        room: int = ROOM,
        known: int = KNOWN,
    ) -> None:
        """Start nothing; answers to cuts go into `inbox`."""
        self._inbox = inbox
        self._idle = idle
        self._patience = patience
        self._room = room
        self._most_known = known
        self._known: OrderedDict[bytes, bool] = OrderedDict()
        self._asked: fx.Prove | None = None
        """What has no answer yet; a part that has failed begins with it again."""
        self._door: OrderedDict[bytes, _Waiting] = OrderedDict()
        """By the hash of the proof, in the order in which they came."""
        self._news = trio.Event()
        self._talk: Talk | None = None
        self._is_closed = False
        self.failures = 0
        """Processes that could not be started, ended early, hung, or answered something else."""
        # A thread for it alone: the answer waits for nobody else's work.
        self._thread = trio.CapacityLimiter(1)
        self.minting = Minting()

    @property
    def pids(self) -> tuple[int, ...]:
        """Name the process that verifies, if one runs."""
        return () if self._talk is None else (self._talk.pid,)

    @property
    def waiting(self) -> int:
        """Count the proofs that wait at the door, the one in work included."""
        return len(self._door)

    def known(self, raw: bytes) -> bool | None:
        """Give the verdict about a proof if it is known, in microseconds; else None."""
        name = name_of(raw)
        verdict = self._known.get(name)
        if verdict is not None:
            self._known.move_to_end(name)
        return verdict

    def at_once(self, raw: bytes) -> bool:
        """Verify a proof before `run`, while a node starts; blocks the calling thread.

        Raises MemoryError if there is too little memory for it.
        """
        verdict = self.known(raw)
        return self._remember(raw, admission.prove(raw)) if verdict is None else verdict

    async def verify(self, raw: bytes) -> bool:
        """Tell whether a proof does its work; who asks for the same one waits for the same answer.

        The caller has checked its claims and its gate. Raises RequestError BUSY if too many wait
        or there is too little memory, and NodeError STOPPING when the node ends.
        """
        await trio.lowlevel.checkpoint()
        verdict = self.known(raw)
        if verdict is not None:
            return verdict
        if self._is_closed:
            raise _stopping()
        name = name_of(raw)
        one = self._door.get(name)
        if one is None:
            if len(self._door) >= self._room:
                raise _busy(f"{self._room} proofs wait to be verified already")
            one = self._door[name] = _Waiting(raw=raw)
            self._news.set()
        one.askers += 1
        try:
            await one.done.wait()
        finally:
            one.askers -= 1
        if one.verdict is None:
            raise self._why_not()
        return one.verdict

    def _why_not(self) -> NodeError:
        """Say why a proof that waited has no verdict."""
        return _stopping() if self._is_closed else _busy("there was too little memory")

    async def mint(self, blank: Work) -> Work:
        """Search for a proof, one at a time, in a process of low priority; it ends when cancelled.

        `blank` is what `admission.blank_work` gave. Raises RequestError BUSY if too many wait or
        there is too little memory, NodeError STOPPING when the node ends, and ParameterError for
        terms outside the limits. It takes 20 s on average under the terms of preset `community`.
        """
        work = await self.minting.mint(blank)
        # It was verified when the search ended: the cut that admits need not do it again.
        self._remember(admission.work_bytes(work), verdict=True)
        return work

    def ask(self, effect: fx.Prove) -> None:
        """Have proofs verified, instead of any that a cut asked for before; waits for nothing."""
        self._asked = effect
        self._news.set()

    def close(self) -> None:
        """End the processes, for good and at once; call it when `run` has ended."""
        self._is_closed = True
        self._rest()
        self.minting.close()
        while self._door:
            _, one = self._door.popitem()
            one.done.set()

    async def run(self) -> None:
        """Verify proofs for ever, one at a time, those of cuts first."""
        while True:
            await self._work_or_rest()
            if self._asked is not None:
                await self._answer(self._asked)
            else:
                await self._serve_door()

    async def _work_or_rest(self) -> None:
        """Wait until there is a proof to verify; ends an idle process."""
        while self._asked is None and not self._door:
            self._news = trio.Event()
            with trio.move_on_after(self._idle if self._talk else float("inf")) as idle:
                await self._news.wait()
            if idle.cancelled_caught:
                self._rest()

    async def _answer(self, effect: fx.Prove) -> None:
        verdicts = []
        for raw in effect.proofs:
            while (verdict := await self._verdict(raw)) is None:  # noqa: ASYNC110 # no event tells of memory
                # The cut cannot go on without it, and memory may be free again soon.
                await trio.sleep(RETRY_S)
            verdicts.append(verdict)
        answer = Proven(cut=effect.cut, verdicts=tuple(verdicts))
        await self._inbox.put(answer, Urgency.CERTIFICATE, size=len(verdicts))
        if self._asked is effect:
            self._asked = None

    async def _serve_door(self) -> None:
        """Verify the proof that has waited longest; it keeps its place until that is done."""
        name, one = next(iter(self._door.items()))
        if one.askers:
            one.verdict = await self._verdict(one.raw)
        del self._door[name]
        one.done.set()

    async def _verdict(self, raw: bytes) -> bool | None:
        """Verify a proof, whatever happens to processes; None if there is too little memory."""
        verdict = self.known(raw)
        if verdict is not None:
            await trio.lowlevel.checkpoint()
            return verdict
        patience = self._patience_for(raw)
        if patience is None:
            return self._remember(raw, verdict=False)
        for _ in range(ATTEMPTS):
            try:
                with trio.fail_after(patience):
                    said = await self._asked_of_process(raw)
            except (OSError, EOFError, trio.TooSlowError):
                # It was killed, is stuck, does not know how to answer, or cannot be started.
                self.failures += 1
            else:
                return self._noted(raw, said)
        log.warning("prover.given_up", failures=self.failures)
        try:
            found = await trio.to_thread.run_sync(
                admission.prove,
                raw,
                # A node that stops does not wait for it.
                abandon_on_cancel=True,  # type: ignore[call-arg] # mypy loses it
                limiter=self._thread,
            )
        except MemoryError:
            return self._noted(raw, None)
        return self._noted(raw, found)

    def _patience_for(self, raw: bytes) -> float | None:
        """Give the seconds in which a process must answer; None for what is no proof at all."""
        try:
            terms = admission.offered(admission.read_work(raw))
        except PeerError:
            return None
        if terms is None:
            return None
        mib = terms.memory_kib * terms.passes * terms.parts / _KIB
        return self._patience + mib * PATIENCE_MIB_S

    async def _asked_of_process(self, raw: bytes) -> bool | None:
        """Ask the process; None if it had too little memory. It ends unless it has answered."""
        is_sound = False
        try:
            if self._talk is None:
                self._talk = Talk(_PROGRAM)
            await self._talk.say(pipes.frame(raw))
            answer = await self._talk.hear(NAME + 1)
            said = answer[NAME]
            if answer[:NAME] != name_of(raw) or said not in {BAD, GOOD, UNKNOWN}:
                raise EOFError
            is_sound = True
        finally:
            if not is_sound:
                self._rest()
        return None if said == UNKNOWN else said == GOOD

    def _remember(self, raw: bytes, verdict: bool) -> bool:
        self._known[name_of(raw)] = verdict
        while len(self._known) > self._most_known:
            self._known.popitem(last=False)
        return verdict

    def _noted(self, raw: bytes, verdict: bool | None) -> bool | None:
        if verdict is None:
            log.warning("prover.no_memory")
            return None
        return self._remember(raw, verdict)

    def _rest(self) -> None:
        """End the process until there is work again."""
        talk, self._talk = self._talk, None
        if talk is not None:
            talk.end()


def _busy(why: str) -> RequestError:
    return RequestError(
        "proof of work not verified",
        why=why,
        fix="send it again in a few seconds; it stays valid until the next tick but one",
        code=NodeCode.BUSY,
    )


def _stopping() -> NodeError:
    return NodeError(
        "proof of work not verified",
        why="the node is shutting down",
        fix="try again when it is back",
        code=NodeCode.STOPPING,
    )
