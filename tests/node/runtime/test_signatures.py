import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from federation.crypto import KeySigner
from federation.records import signing_payload
from node.runtime import signatures
from node.runtime.signatures import LONG, MOST_FAILURES, Asked, Checkers, is_right
from tests.builders import named

SIGNER = KeySigner(named("seed"))


def question(number: int, *, good: bool = True) -> Asked:
    record = named("record", number)
    signed = record if good else named("another")
    return Asked(SIGNER.public, record, SIGNER.sign(signing_payload(signed)))


RUN = [question(number, good=number % 5 != 0) for number in range(2 * LONG)]
ANSWERS = [number % 5 != 0 for number in range(2 * LONG)]


@pytest.fixture
def checkers() -> Iterator[Checkers]:
    made = Checkers(1, patience=1)
    yield made
    made.close()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_one_signature_is_right_or_wrong() -> None:
    assert is_right(question(1))
    assert not is_right(question(1, good=False))


def test_a_short_run_starts_no_process(checkers: Checkers) -> None:
    assert checkers.check(RUN[: LONG - 1]) == ANSWERS[: LONG - 1]
    assert checkers.pids == ()


def test_a_long_run_is_answered_in_order_by_a_process_that_stays(checkers: Checkers) -> None:
    assert checkers.check(RUN) == ANSWERS
    pids = checkers.pids
    assert checkers.check(RUN[LONG:]) == ANSWERS[LONG:]

    assert len(pids) == 1
    assert checkers.pids == pids
    assert checkers.failures == 0


def test_threads_take_turns_when_there_are_fewer_processes(checkers: Checkers) -> None:
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(checkers.check, [RUN] * 6)) == [ANSWERS] * 6

    assert len(checkers.pids) == 1


def test_closing_ends_the_processes(checkers: Checkers) -> None:
    checkers.check(RUN)
    (pid,) = checkers.pids
    checkers.close()

    assert not is_running(pid)
    assert checkers.pids == ()


def test_no_process_outlives_what_it_works_for() -> None:
    made = Checkers(1)
    made.check(RUN)
    (pid,) = made.pids
    del made

    assert not is_running(pid)


def test_after_closing_answers_still_come(checkers: Checkers) -> None:
    checkers.check(RUN)
    checkers.close()

    assert checkers.check(RUN) == ANSWERS


def test_a_killed_process_costs_no_answer_and_is_replaced(checkers: Checkers) -> None:
    checkers.check(RUN)
    (pid,) = checkers.pids
    os.kill(pid, signal.SIGKILL)

    assert checkers.check(RUN) == ANSWERS
    assert checkers.failures == 1
    assert checkers.check(RUN) == ANSWERS
    assert checkers.failures == 1
    assert checkers.pids not in {(), (pid,)}


def test_a_stuck_process_is_given_up(checkers: Checkers) -> None:
    checkers.check(RUN)
    (pid,) = checkers.pids
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()

    assert checkers.check(RUN) == ANSWERS
    assert time.monotonic() - began < 5
    assert not is_running(pid)


def test_a_process_that_stops_half_way_is_given_up(
    checkers: Checkers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    half = tmp_path / "half.py"
    half.write_text(
        "import sys, time\n"
        "sys.stdin.buffer.read(4)\n"
        "sys.stdout.buffer.write(bytes([1]) * 10)\n"
        "sys.stdout.buffer.flush()\n"
        "time.sleep(10)\n"
    )
    monkeypatch.setattr(signatures, "_PROGRAM", half)
    began = time.monotonic()

    assert checkers.check(RUN) == ANSWERS
    assert time.monotonic() - began < 5
    assert checkers.failures == 1


def test_a_run_that_fits_into_no_pipe_is_answered_or_given_up(checkers: Checkers) -> None:
    run, answers = RUN * 20, ANSWERS * 20
    assert checkers.check(run) == answers
    assert checkers.failures == 0
    (pid,) = checkers.pids
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()

    assert checkers.check(run) == answers
    assert time.monotonic() - began < 5


def test_descriptors_from_1024_on_are_as_good_as_others(checkers: Checkers) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limits[1] > 1_200 or limits[1] == resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 1_200), limits[1]))
    taken = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while taken[-1] < 1_024:
            taken.append(os.dup(taken[0]))

        assert checkers.check(RUN) == ANSWERS
        assert checkers.failures == 0
    finally:
        for one in taken:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_closing_does_not_wait_for_processes_that_are_stopped() -> None:
    made = Checkers(3, patience=1)
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(made.check, [RUN] * 12))
    pids = made.pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    made.close()

    assert pids
    assert time.monotonic() - began < 0.5
    assert not any(map(is_running, pids))


def test_where_processes_do_not_work_threads_do_and_the_log_says_so_once(
    checkers: Checkers,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("import sys\nsys.stdin.buffer.read(4)\n")
    monkeypatch.setattr(signatures, "_PROGRAM", broken)
    for _ in range(MOST_FAILURES + 1):
        assert checkers.check(RUN) == ANSWERS

    assert checkers.failures == MOST_FAILURES
    assert [one.getMessage() for one in caplog.records] == [
        f"checkers.given_up failures={MOST_FAILURES}"
    ]


def test_a_program_that_cannot_be_started_costs_no_answer(
    checkers: Checkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert checkers.check(RUN) == ANSWERS
    assert checkers.failures == 1
