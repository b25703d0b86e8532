"""A process that computes gets pipes, a way to our modules, and nothing else of its parent."""

import os
import signal
import time
from pathlib import Path

import pytest
import trio
import trio.testing

from node.runtime import children
from tests.node.runtime.problems import is_running
from tests.node.runtime.realm import until


def program(root: Path, text: str) -> Path:
    path = root / "program.py"
    path.write_text(text)
    return path


def test_it_finds_our_modules_and_only_the_surroundings_that_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLKMOOT_PASSPHRASE", "secret")
    text = "import os, node\nprint(*sorted(name for name in os.environ if name != 'LC_CTYPE'))\n"
    process = children.start(program(tmp_path, text), {"SIZE": "1"})
    said, _ = process.communicate(timeout=30)

    assert said == b"PYTHONPATH SIZE\n"


def test_questions_go_in_and_answers_come_out(tmp_path: Path) -> None:
    text = "import sys\nsys.stdout.write(sys.stdin.read(3) + '!')\nsys.stdout.flush()\n"
    process = children.start(program(tmp_path, text))
    source, target = children.pipes(process)
    os.write(target, b"why")

    assert os.read(source, 10) == b"why!"
    children.end(process)


@pytest.mark.parametrize("way", [children.end, children.kill])
def test_a_frozen_one_is_ended_at_once(tmp_path: Path, way: object) -> None:
    process = children.start(program(tmp_path, "import sys\nsys.stdin.read()\n"))
    os.kill(process.pid, signal.SIGSTOP)
    began = time.monotonic()
    assert callable(way)
    way(process)

    assert time.monotonic() - began < 5
    assert not is_running(process.pid)
    children.end(process)


def test_ending_twice_changes_nothing(tmp_path: Path) -> None:
    process = children.start(program(tmp_path, ""))
    children.end(process)
    children.end(process)

    assert process.stdin is not None
    assert process.stdin.closed


@pytest.mark.trio
async def test_a_talk_goes_both_ways_and_takes_what_no_pipe_holds(tmp_path: Path) -> None:
    text = (
        "import sys\nsize = 1_000_000\n"
        "sys.stdout.buffer.write(sys.stdin.buffer.read(size)[::-1])\nsys.stdout.flush()\n"
    )
    content = os.urandom(1_000_000)
    talk = children.Talk(program(tmp_path, text))
    try:
        with trio.fail_after(30):
            await talk.say(content)
            heard = await talk.hear(len(content))

        assert heard == content[::-1]
    finally:
        talk.end()


@pytest.mark.trio
async def test_whoever_talks_with_a_process_hears_its_end(tmp_path: Path) -> None:
    talk = children.Talk(program(tmp_path, "import sys\nsys.stdin.read()\n"))
    heard = list[type]()

    async def listen() -> None:
        try:
            await talk.hear(1)
        except EOFError as error:
            heard.append(type(error))

    try:
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(listen)
                await trio.testing.wait_all_tasks_blocked()
                talk.kill()
            await until(lambda: not is_running(talk.pid))
            with pytest.raises(OSError, match="pipe"):
                await talk.say(bytes(4_096))

        assert heard == [EOFError]
    finally:
        talk.end()
    assert not is_running(talk.pid)


@pytest.mark.trio
async def test_a_talk_with_a_frozen_process_can_be_given_up(tmp_path: Path) -> None:
    talk = children.Talk(program(tmp_path, "import sys\nsys.stdin.read()\n"))
    os.kill(talk.pid, signal.SIGSTOP)
    for words in (talk.say(bytes(10_000_000)), talk.hear(1)):
        with trio.move_on_after(0.1) as patience:
            await words
        assert patience.cancelled_caught
    talk.end()

    assert not is_running(talk.pid)
