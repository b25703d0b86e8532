import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from federation.admission import does_work, passes_gate
from federation.core import CallerError
from node.minting import MintingError, Saved, Search, Standing, search, start
from tests.node.minting.works import blank, endless

ROOT = Path(__file__).parents[3]
PATIENCE_S = 20


class Enough(Exception):  # noqa: N818 # it is no error
    """Raised by a test that has seen enough."""


def nothing(saved: Saved) -> None:
    del saved


def ignored(standing: Standing) -> None:
    del standing


def interrupted(saved: Saved, *, processes: int, after: int) -> Saved:
    """Search until so many hashes were tried, and give what was saved."""
    kept: list[Saved] = []

    def tell(standing: Standing) -> None:
        if standing.tried - saved.tried >= after:
            raise Enough

    with pytest.raises(Enough):
        Search(saved, processes=processes).run(tell=tell, keep=kept.append)
    return kept[-1]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("processes", [1, 3])
def test_several_processes_find_a_proof(processes: int) -> None:
    kept: list[Saved] = []
    shown: list[Standing] = []
    work = Search(start(blank(bits=6)), processes=processes).run(
        tell=shown.append, keep=kept.append
    )

    assert passes_gate(work)
    assert does_work(work)
    assert shown[-1].found == shown[-1].parts == 3
    assert kept[-1].gate == work.gate
    assert kept[-1].tried == shown[-1].tried > 0


def test_an_interrupted_search_goes_on_with_another_number_of_processes() -> None:
    begun = start(endless())
    first = interrupted(begun, processes=2, after=500)
    second = interrupted(first, processes=1, after=500)

    assert first.tried >= 500
    assert second.tried >= first.tried + 500
    assert second.spent_ms > first.spent_ms > 0
    assert all(after >= before for after, before in zip(second.nexts, first.nexts, strict=True))


def test_what_was_found_before_an_interruption_is_in_the_proof() -> None:
    whole = start(blank(bits=6))
    finished: list[Saved] = []
    Search(whole, processes=1).run(tell=ignored, keep=finished.append)
    half = replace(whole, found=(finished[-1].found[0], None, None), nexts=(900, 900, 900))
    work = Search(half, processes=2).run(tell=ignored, keep=nothing)

    assert work.solutions[0] == half.found[0]
    assert does_work(work)


def test_a_finished_search_starts_no_process() -> None:
    finished: list[Saved] = []
    work = Search(start(blank()), processes=1).run(tell=ignored, keep=finished.append)
    again = Search(finished[-1], processes=1)

    assert again.run(tell=ignored, keep=nothing) == work


def test_no_process_is_left_however_it_ends() -> None:
    one = Search(start(endless()), processes=2)
    pids: list[int] = []

    def tell(standing: Standing) -> None:
        if standing.tried:
            pids.extend(one.pids)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        one.run(tell=tell, keep=nothing)

    assert len(pids) == 2
    assert not any(map(is_alive, pids))


def test_a_killed_process_is_replaced() -> None:
    one = Search(start(endless()), processes=2)
    killed: list[int] = []

    def tell(standing: Standing) -> None:
        if not killed and standing.tried:
            killed.append(one.pids[0])
            os.kill(killed[0], signal.SIGKILL)
            tell.tried = standing.tried  # type: ignore[attr-defined]
        elif killed and killed[0] not in one.pids and len(one.pids) == 2:
            raise Enough

    with pytest.raises(Enough):
        one.run(tell=tell, keep=nothing)


def test_a_frozen_process_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_PATIENCE_S", 1.0)
    one = Search(start(endless()), processes=1)
    frozen: list[int] = []

    def tell(standing: Standing) -> None:
        if not frozen and standing.tried:
            frozen.extend(one.pids)
            os.kill(frozen[0], signal.SIGSTOP)
        elif frozen and one.pids and one.pids[0] != frozen[0]:
            raise Enough

    with pytest.raises(Enough):
        one.run(tell=tell, keep=nothing)

    assert not is_alive(frozen[0])


def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(code)
    monkeypatch.setattr(search, "_PROGRAM", file)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit(3)", "too little memory"),
        ("import sys; sys.exit(9)", "the last left 9"),
        ("import sys; sys.stdout.buffer.write(bytes(3) + b'\\x05' + b'wrong')", "no answer"),
        ("import sys; sys.stdout.buffer.write(b'\\xff' * 99)", "the last left"),
        ("raise SystemExit", "the last left 0"),
    ],
)
def test_processes_that_only_die_end_the_search(
    code: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, monkeypatch, code)
    kept: list[Saved] = []
    with pytest.raises(MintingError, match=why):
        Search(start(endless()), processes=2).run(tell=ignored, keep=kept.append)

    assert kept == [start(endless())] or kept[-1].found == (None, None, None)


def test_processes_that_cannot_be_started_end_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    with pytest.raises(MintingError, match="could not be started"):
        Search(start(endless()), processes=2).run(tell=ignored, keep=nothing)


def test_false_solutions_of_a_file_are_noticed() -> None:
    false = replace(start(blank(bits=32, gate_bits=2)), found=(bytes(8),) * 3)
    with pytest.raises(CallerError):
        Search(false, processes=1).run(tell=ignored, keep=nothing)


def test_its_processes_end_when_it_is_killed() -> None:
    code = (
        "from node.minting import Search, start\n"
        "from tests.node.minting.works import endless\n"
        "one = Search(start(endless()), processes=2)\n"
        "told = []\n"
        "def tell(standing):\n"
        "    if standing.tried and not told:\n"
        "        told.append(1)\n"
        "        print(*one.pids, flush=True)\n"
        "one.run(tell=tell, keep=lambda saved: None)\n"
    )
    with subprocess.Popen(  # noqa: S603 # our own code
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        parent.kill()
    deadline = time.monotonic() + PATIENCE_S
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)

    assert len(pids) == 2
    assert not any(map(is_alive, pids))
