"""A search always comes to its proof or to an end, whatever happens to the process."""

import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from federation import admission
from federation.admission import Mint, Work
from federation.core import ParameterError
from node.base.errors import NodeCode, NodeError, RequestError
from node.runtime import minting
from node.runtime.minting import Minting
from tests.federation.admission.proofs import blank, terms
from tests.node.runtime.problems import children_of, is_running
from tests.node.runtime.proving import descriptors
from tests.node.runtime.realm import until

SOME = terms(memory_kib=256, bits=11, parts=2)
"""A search of about a second."""
ENDLESS = terms(bits=32)
LONG = 120.0
"""Seconds for what includes the start of processes on a busy machine."""
REPORTS = (
    "import sys\nfrom federation import admission\nfrom federation.admission import Mint\n"
    "from federation.codec import encode\nfrom node.base import pipes\n"
    "from msgspec.structs import replace\n"
    "source = sys.stdin.buffer\n"
    "mint = Mint(blank=admission.read_work(pipes.read_frame(source, 1_024)))\n"
    "begun = mint.start()\n"
    "def say(raw):\n    sys.stdout.buffer.write(raw)\n    sys.stdout.buffer.flush()\n"
    "def report(one):\n    say(pipes.frame(encode(one)))\n"
)
BROKEN = {
    "it ends": "",
    "it is silent": "import time\ntime.sleep(100)\n",
    "it talks junk": REPORTS + "say(bytes([255]) * 100_000)\n",
    "it promises a frame and ends": REPORTS + "say(bytes([0, 0, 1, 0, 7]))\n",
    "it says what is no progress": REPORTS + "say(pipes.frame(b'progress'))\n",
    "it reports of another search": REPORTS + "report(replace(begun, bound_to=bytes(32)))\n",
    "it reports of fewer parts": REPORTS + "report(replace(begun, found=(None,), tried=9))\n",
    "it makes no progress": REPORTS + "report(begun)\n",
    "it has found what is none": REPORTS
    + "report(replace(begun, found=(bytes(8),) * len(begun.found), gate=bytes(8)))\n",
    "it has found too little": REPORTS
    + "report(replace(begun, found=(bytes(8),), gate=bytes(8)))\n",
}


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Give a way to put another program in the place of ours."""

    def replace(text: str) -> None:
        path = tmp_path / "minter.py"
        path.write_text(text)
        monkeypatch.setattr(minting, "_PROGRAM", path)

    return replace


@asynccontextmanager
async def one(patience: float = 20.0) -> AsyncIterator[Minting]:
    """Give searches whose process must not outlive the block."""
    made = Minting(patience=patience)
    with trio.fail_after(LONG):
        yield made
    assert made.pids == ()
    assert children_of(os.getpid(), "minter.py") == []


def is_proof(work: Work) -> bool:
    return admission.passes_gate(work) and admission.does_work(work)


def tried(made: Minting) -> int:
    return made.progress.tried if made.progress else 0


@pytest.mark.trio
async def test_a_process_finds_the_proof_that_the_search_would_find_here() -> None:
    search = Mint(blank=blank(terms()))
    progress = search.start()
    while not progress.is_over:
        progress = search.advance(progress, 1_000)
    async with one() as made:
        assert await made.mint(search.blank) == search.finish(progress)
        assert made.failures == 0
        assert made.progress is None


@pytest.mark.trio
async def test_one_search_waits_for_the_other() -> None:
    running = list[int]()
    found = list[Work]()
    async with one() as made:

        async def search(epoch: int) -> None:
            found.append(await made.mint(blank(SOME, epoch)))

        async def look() -> None:
            while len(found) < 3:
                running.append(len(children_of(os.getpid(), "minter.py")))
                await trio.sleep(0.02)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(look)
            for epoch in range(3):
                nursery.start_soon(search, epoch)

    assert all(map(is_proof, found))
    assert {work.epoch for work in found} == {0, 1, 2}
    assert max(running) == 1


@pytest.mark.trio
async def test_a_search_that_nobody_wants_any_more_ends_at_once_frozen_or_not() -> None:
    for is_frozen in (False, True):
        async with one() as made, trio.open_nursery() as nursery:
            nursery.start_soon(made.mint, blank(ENDLESS))
            await until(lambda: tried(made) > 0, within=LONG)  # it ends with the turn
            (pid,) = made.pids
            if is_frozen:
                os.kill(pid, signal.SIGSTOP)
            nursery.cancel_scope.cancel()
            began = trio.current_time()

        assert trio.current_time() - began < 2
        assert not is_running(pid)


@pytest.mark.trio
async def test_what_waits_for_its_turn_can_be_cancelled_and_disturbs_nobody() -> None:
    async with one() as made, trio.open_nursery() as nursery:
        nursery.start_soon(made.mint, blank(ENDLESS))
        await until(lambda: tried(made) > 0, within=LONG)
        (pid,) = made.pids
        with trio.move_on_after(0.1):
            await made.mint(blank(terms()))

        assert made.pids == (pid,)
        assert is_running(pid)
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_a_process_that_is_killed_again_and_again_costs_only_what_it_had_not_reported() -> (
    None
):
    async with one() as made, trio.open_nursery() as nursery:
        nursery.start_soon(made.mint, blank(ENDLESS))
        for _ in range(5):
            before = tried(made)
            await until(lambda: tried(made) > before, within=LONG)  # noqa: B023 # it ends with the turn
            (pid,) = made.pids
            os.kill(pid, signal.SIGKILL)
            await until(lambda: made.pids not in {(), (pid,)}, within=LONG)  # noqa: B023 # as above

            # The successor began where this one was, not at the start.
            assert tried(made) > before
        assert made.failures == 5
        nursery.cancel_scope.cancel()


@pytest.mark.trio
@pytest.mark.parametrize("after", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8])
@pytest.mark.parametrize("with_what", [signal.SIGKILL, signal.SIGSTOP])
async def test_whenever_a_process_is_killed_or_frozen_the_proof_is_found(
    after: float, with_what: signal.Signals
) -> None:
    found = list[Work]()
    # The patience is short, but longer than a process takes to start.
    async with one(patience=5.0) as made, trio.open_nursery() as nursery:

        async def search() -> None:
            found.append(await made.mint(blank(SOME)))

        nursery.start_soon(search)
        await until(lambda: made.pids, within=LONG)
        await trio.sleep(after)
        for pid in made.pids:
            os.kill(pid, with_what)

    assert is_proof(found[0])


@pytest.mark.trio
@pytest.mark.parametrize("fault", BROKEN)
async def test_where_processes_do_not_work_a_thread_finds_it_and_the_log_says_so(
    program: Callable[[str], None], caplog: pytest.LogCaptureFixture, fault: str
) -> None:
    program(BROKEN[fault])
    async with one(patience=2.0) as made:
        assert is_proof(await made.mint(blank(terms())))
        assert made.failures == 2
        assert "minter.given_up failures=2" in caplog.messages


@pytest.mark.trio
async def test_a_process_that_cannot_be_started_costs_no_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    async with one() as made:
        assert is_proof(await made.mint(blank(terms())))
        assert made.failures == 2


@pytest.mark.trio
async def test_a_search_in_a_thread_is_cancelled_between_two_tries(
    program: Callable[[str], None],
) -> None:
    program("")
    async with one() as made, trio.open_nursery() as nursery:
        nursery.start_soon(made.mint, blank(ENDLESS))
        await until(lambda: made.failures == 2 and tried(made) > 10, within=LONG)
        nursery.cancel_scope.cancel()
        began = trio.current_time()

    assert trio.current_time() - began < 2


@pytest.mark.trio
@pytest.mark.parametrize("is_broken", [False, True])
async def test_closing_ends_the_search_that_is_under_way_and_lets_no_other_begin(
    program: Callable[[str], None], *, is_broken: bool
) -> None:
    if is_broken:
        program("")
    codes = list[NodeCode]()
    async with one() as made:

        async def search() -> None:
            with pytest.raises(NodeError) as refused:
                await made.mint(blank(ENDLESS))
            codes.append(refused.value.code)

        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(search)
            await until(lambda: tried(made) > 0, within=LONG)
            made.close()
        made.close()
        await search()

    assert codes == [NodeCode.STOPPING] * 3


@pytest.mark.trio
async def test_terms_outside_the_limits_are_refused_before_anything_starts() -> None:
    async with one() as made:
        beyond = blank(terms())
        with pytest.raises(ParameterError):
            await made.mint(
                Work(*(0 if name == "passes" else getattr(beyond, name) for name in FIELDS))
            )
        assert made.failures == 0


FIELDS = Work.__struct_fields__


@pytest.mark.trio
async def test_too_little_memory_is_said_and_leaves_the_next_search_its_turn(
    monkeypatch: pytest.MonkeyPatch, program: Callable[[str], None]
) -> None:
    def no_room(*_: object) -> bytes:
        raise MemoryError

    program("")
    async with one() as made:
        with monkeypatch.context() as short:
            short.setattr("federation.admission.mint.part_hash", no_room)
            with pytest.raises(RequestError) as refused:
                await made.mint(blank(terms()))

        assert refused.value.code is NodeCode.BUSY
        assert is_proof(await made.mint(blank(terms())))


@pytest.mark.trio
async def test_more_searches_than_may_wait_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minting, "ROOM", 2)
    async with one() as made, trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(made.mint, blank(ENDLESS))
        await until(lambda: made.pids, within=LONG)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(RequestError) as refused:
            await made.mint(blank(terms()))

        assert refused.value.code is NodeCode.BUSY
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_processes_that_die_leave_no_descriptor_open(program: Callable[[str], None]) -> None:
    async with one() as made:
        await made.mint(blank(terms()))
        before = descriptors()
        program("")
        for _ in range(10):
            await made.mint(blank(terms()))

        assert made.failures == 20
        assert descriptors() <= before
