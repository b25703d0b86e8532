import argparse
import dataclasses
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from node.base.errors import NodeCode, NodeError
from node.cli.errors import MEANING, Exit
from node.cli.main import COMMANDS, main
from node.cli.output import Output
from node.cli.version_cmd import VERSION
from tests.node.cli.session import ROOT, command, run, run_process


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "COMMAND"),
        ("charter", "VERB"),
        ("frobnicate", "frobnicate"),
        ("charter burn", "burn"),
        ("demo --in-process --frobnicate", "--frobnicate"),
        ("demo --in-process --item 6", "--item"),
    ],
)
def test_a_mistake_is_told_in_three_lines_and_leaves_code_2(
    line: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(line, capsys)

    assert session.code == 2
    assert session.data == ""
    assert why in session.three[1]
    assert "--help" in session.three[2]
    assert session.three[2].endswith("[USAGE]")


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("--help", capsys)

    assert (session.code, session.people) == (0, "")
    for one in COMMANDS:
        assert one.words[0] in session.data
    for code, meaning in MEANING.items():
        assert f"  {int(code):<3}  {meaning}" in session.data


@pytest.mark.parametrize("name", [one.name for one in COMMANDS])
def test_help_of_a_command_gives_why_options_examples_and_exit_codes(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = next(one for one in COMMANDS if one.name == name)
    session = run(f"{name} --help", capsys)
    flat = " ".join(session.data.split())

    assert session.code == 0
    assert one.summary in flat
    assert one.why in flat
    assert "--json" in flat
    for example in one.examples:
        assert example in flat
    for code, meaning in one.exits.items():
        assert f"  {int(code):<3}  {meaning}" in session.data


def test_help_fits_into_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("", *(one.name for one in COMMANDS)):
        session = run(f"{name} --help", capsys)
        assert max(len(line) for line in session.data.splitlines()) <= 100


@pytest.mark.parametrize(
    "example",
    # Those of other commands need a data directory or a running node: test_running has them.
    [
        example
        for one in COMMANDS
        for example in one.examples
        if one.words[0] == "version" or (one.words[0] == "charter" and "--preset" in example)
    ],
)
def test_every_example_runs(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    program, line = example.split(maxsplit=1)
    session = run(line, capsys)

    assert program == "folkmoot"
    assert session.code == 0
    assert session.data or session.people


def test_every_command_says_what_it_is_for() -> None:
    for one in COMMANDS:
        assert not one.summary.endswith(".")
        assert one.why.endswith(".")
        assert one.examples
        assert one.data


def test_main_reads_the_command_line_of_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["folkmoot", "version"])

    assert main() == 0
    assert capsys.readouterr().out == "0.1.0\n"


def _complaint() -> NodeError:
    return NodeError("what", why="why", fix="fix", code=NodeCode.STORE_FAILED)


@pytest.mark.parametrize(
    ("raised", "code", "first"),
    [
        (_complaint(), 1, "folkmoot: what"),
        (
            ExceptionGroup("", [ValueError(), ExceptionGroup("", [_complaint()])]),
            1,
            "folkmoot: what",
        ),
        (KeyboardInterrupt(), 130, "folkmoot: interrupted"),
        (BaseExceptionGroup("", [KeyboardInterrupt()]), 130, "folkmoot: interrupted"),
    ],
)
def test_what_goes_wrong_alone_or_in_a_group_is_told_in_three_lines(
    raised: BaseException,
    code: int,
    first: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    _raising(raised, monkeypatch)
    session = run("version", capsys)

    assert session.code == code
    assert session.three[0] == first


def test_a_bug_of_ours_shows_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _raising(ExceptionGroup("", [ExceptionGroup("", [ValueError()])]), monkeypatch)

    with pytest.raises(ExceptionGroup):
        run("version", capsys)


def _raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `folkmoot version` go wrong."""

    def fail(arguments: argparse.Namespace, output: Output) -> Exit:
        del arguments, output
        raise error

    failing = dataclasses.replace(VERSION, run=fail)
    monkeypatch.setattr("node.cli.main.COMMANDS", (failing,))


def test_python_dash_m_node_is_the_same_command() -> None:
    assert run_process("version").data == "0.1.0\n"
    refused = run_process("charter check")
    assert refused.code == 2
    assert refused.three[0] == "folkmoot: charter check not understood"


def test_a_reader_that_went_away_is_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(  # noqa: S603 # our own command
            command("charter show --preset community"),
            cwd=ROOT,
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (141, "")


@pytest.fixture
def heard_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C reach our commands also where a shell runs the tests in the background.

    Such a shell has its jobs ignore SIGINT, and a process inherits what is ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_ctrl_c")
def test_ctrl_c_stops_at_once_and_says_so() -> None:
    with subprocess.Popen(  # noqa: S603 # our own command
        command("demo --in-process --items 800"),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        data, people = process.communicate(timeout=30)

    assert process.returncode == 130
    assert data == ""
    assert people.splitlines()[-3] == "folkmoot: interrupted"
    assert people.endswith("[INTERRUPTED]\n")
