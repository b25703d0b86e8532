"""Whatever happens to the process that verifies, the answer comes and nothing is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from federation import admission
from node.base.errors import NodeCode, RequestError
from node.runtime import proofs
from node.runtime.inbox import Inbox
from node.runtime.proofs import Proofs
from tests.node.runtime.problems import is_running
from tests.node.runtime.proving import (
    FALSE,
    LONG,
    SLOW,
    TRUE,
    answer,
    answered,
    asked,
    descriptors,
    others,
    running,
)
from tests.node.runtime.realm import until

ROOT = Path(proofs.__file__).parents[2]
HEARS = (
    "import sys\nfrom node.base import pipes\n"
    "raw = pipes.read_frame(sys.stdin.buffer, 1_024)\n"
    "def say(answer):\n    sys.stdout.buffer.write(answer)\n    sys.stdout.buffer.flush()\n"
    "from federation.crypto import plain_hash\nname = plain_hash(raw)\n"
)
BROKEN = {
    "it ends": "",
    "it hears and ends": HEARS,
    "it is silent": HEARS + "import time\ntime.sleep(100)\n",
    "it says half": HEARS + "say(name)\n",
    "it answers what was not asked": HEARS + "say(bytes(32) + bytes([1]))\n",
    "its verdict is none": HEARS + "say(name + bytes([7]))\n",
    "it never stops talking": HEARS + "while True: say(bytes(65_536))\n",
}


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Give a way to put another program in the place of ours."""

    def replace(text: str) -> None:
        path = tmp_path / "prover.py"
        path.write_text(text)
        monkeypatch.setattr(proofs, "_PROGRAM", path)

    return replace


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Let the machine have too little memory until the event is set."""
    given = threading.Event()
    real = admission.prove

    def prove(raw: bytes) -> bool:
        if not given.is_set():
            raise MemoryError
        return real(raw)

    monkeypatch.setattr(admission, "prove", prove)
    yield given
    given.set()


# What happens to processes ----------------------------------------------------------------------


@pytest.mark.trio
@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
@pytest.mark.parametrize("with_what", [signal.SIGKILL, signal.SIGSTOP])
async def test_whenever_the_process_is_killed_or_frozen_the_answer_comes(
    monkeypatch: pytest.MonkeyPatch, after: float, with_what: signal.Signals
) -> None:
    monkeypatch.setattr(proofs, "PATIENCE_MIB_S", 0.0)
    inbox = Inbox()
    # Longer than a process takes to start and to verify, not much.
    async with running(Proofs(inbox, patience=5.0)) as part:
        part.ask(asked("cut", SLOW, FALSE))
        await until(lambda: part.pids, within=LONG)
        await trio.sleep(after)
        for pid in part.pids:
            os.kill(pid, with_what)

        assert await answered(inbox) == answer("cut", True, False)


@pytest.mark.trio
async def test_a_process_that_was_killed_while_idle_is_replaced() -> None:
    async with running(Proofs(Inbox())) as part:
        await part.verify(TRUE)
        (pid,) = part.pids
        os.kill(pid, signal.SIGKILL)

        assert await part.verify(FALSE) is False
        assert part.failures == 1
        assert part.pids not in {(), (pid,)}


@pytest.mark.trio
@pytest.mark.parametrize("fault", BROKEN)
async def test_where_processes_do_not_work_a_thread_answers_and_the_log_says_so(
    program: Callable[[str], None], caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    program(BROKEN[fault])
    async with running(Proofs(Inbox(), patience=2.0)) as part:
        assert await part.verify(TRUE) is True
        assert await part.verify(FALSE) is False
        assert part.failures == 4
    assert caplog.messages == ["prover.given_up failures=2", "prover.given_up failures=4"]


@pytest.mark.trio
async def test_a_program_that_cannot_be_started_costs_no_answer_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(Proofs(Inbox())) as part:
        with monkeypatch.context() as missing:
            missing.setattr(sys, "executable", "/nowhere/python")
            assert await part.verify(TRUE) is True
        assert part.failures == 2
        assert await part.verify(FALSE) is False
        assert part.failures == 2
        assert len(part.pids) == 1


@pytest.mark.trio
async def test_processes_that_die_leave_no_descriptor_open(program: Callable[[str], None]) -> None:
    async with running(Proofs(Inbox())) as part:
        await part.verify(TRUE)
        before = descriptors()
        program("")
        os.kill(part.pids[0], signal.SIGKILL)
        for raw in others(10):
            await part.verify(raw)

        assert part.failures == 20
        assert descriptors() <= before


@pytest.mark.trio
async def test_an_idle_process_is_ended_and_started_again_when_needed() -> None:
    async with running(Proofs(Inbox(), idle=0.2)) as part:
        await part.verify(TRUE)
        (pid,) = part.pids
        await until(lambda: not is_running(pid), within=LONG)

        assert await part.verify(FALSE) is False
        assert part.failures == 0


@pytest.mark.trio
async def test_too_little_memory_is_told_at_the_door_and_waited_for_by_a_cut(
    program: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    no_room: threading.Event,
) -> None:
    program(HEARS + "say(name + bytes([2]))\nsys.stdin.read()\n")
    monkeypatch.setattr(proofs, "RETRY_S", 0.05)
    inbox = Inbox()
    async with running(Proofs(inbox, patience=2.0)) as part:
        with pytest.raises(RequestError) as refused:
            await part.verify(TRUE)
        part.ask(asked("cut", TRUE))
        await trio.sleep(0.5)
        assert len(inbox) == 0
        no_room.set()
        program("")

        assert await answered(inbox) == answer("cut", True)
    assert refused.value.code is NodeCode.BUSY


@pytest.mark.trio
async def test_without_a_process_too_little_memory_is_told_as_well(
    program: Callable[[str], None], no_room: threading.Event
) -> None:
    program("")
    async with running(Proofs(Inbox())) as part:
        with pytest.raises(RequestError) as refused:
            await part.verify(TRUE)
        no_room.set()

        assert await part.verify(TRUE) is True
    assert refused.value.code is NodeCode.BUSY


@pytest.mark.trio
async def test_the_loop_runs_on_while_a_slow_proof_is_verified() -> None:
    late = [0.0]

    async def tick() -> None:
        while True:
            due = trio.current_time() + 0.01
            await trio.sleep_until(due)
            late.append(trio.current_time() - due)

    async with running(Proofs(Inbox())) as part, trio.open_nursery() as nursery:
        nursery.start_soon(tick)

        assert await part.verify(SLOW) is True
        nursery.cancel_scope.cancel()
    assert len(late) > 10
    assert max(late) < 1


@pytest.mark.trio
async def test_a_part_that_stops_waits_for_no_answer_of_a_frozen_process() -> None:
    inbox = Inbox()
    async with running(Proofs(inbox)) as part:
        part.ask(asked("one", SLOW))
        await until(lambda: part.pids, within=LONG)
        (pid,) = part.pids
        os.kill(pid, signal.SIGSTOP)
        began = trio.current_time()

    assert trio.current_time() - began < 2
    assert not is_running(pid)
    assert len(inbox) == 0


def test_the_processes_end_when_their_parent_is_killed() -> None:
    script = (
        "import trio\n"
        "from node.runtime.inbox import Inbox\n"
        "from node.runtime.proofs import Proofs\n"
        "from tests.node.runtime.proving import SLOW, blank, terms\n"
        "async def main():\n"
        "    part = Proofs(Inbox())\n"
        "    async with trio.open_nursery() as nursery:\n"
        "        nursery.start_soon(part.run)\n"
        "        nursery.start_soon(part.verify, SLOW)\n"
        "        nursery.start_soon(part.mint, blank(terms(bits=32)))\n"
        "        while not (part.pids and part.minting.pids):\n"
        "            await trio.sleep(0.01)\n"
        "        print(*part.pids, *part.minting.pids, flush=True)\n"
        "trio.run(main)\n"
    )
    parent = subprocess.Popen(  # noqa: S603 # our own interpreter
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with parent:
        assert parent.stdout is not None
        pids = [int(one) for one in parent.stdout.readline().split()]
        assert [is_running(pid) for pid in pids] == [True, True]
        parent.kill()
    until_when = time.monotonic() + LONG
    while any(map(is_running, pids)):
        assert time.monotonic() < until_when
        time.sleep(0.02)
