import json

import pytest

from tests.node.cli.session import run, run_process
from tests.node.demo.verdicts import KEYS


def test_the_data_is_one_line_of_json_and_people_hear_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = run("demo --in-process --items 6 --reviewers 5 --json --progress", capsys)
    told = json.loads(session.data)

    assert session.code == 0
    assert session.people == ""
    assert session.data.count("\n") == 1
    assert list(told) == KEYS
    assert told["artifacts"] == told["decided"] + told["ambiguous"] == 6
    assert (told["instances"], told["agents"], told["verdicts_equal"]) == (3, 51, True)
    assert len(told["digests"]) == 3
    assert len(set(told["digests"])) == 1


def test_people_see_progress_one_round_and_a_table_and_no_data(
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = run("demo --in-process --items 6 --reviewers 5 --progress", capsys)

    assert (session.code, session.data) == (0, "")
    assert "verdicts [##############################] 6/6" in session.people
    assert "One round, close up" in session.people
    assert "plain majority, all rounds" in session.people


def test_without_a_terminal_there_is_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("demo --in-process --items 1 --reviewers 3", capsys)

    assert "verdicts [" not in session.people


@pytest.mark.parametrize("option", ["--kill 1@5s", "--keep"])
def test_what_needs_processes_is_refused_in_process(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"demo --in-process {option}", capsys)

    assert session.code == 2
    assert session.three[1:] == [
        "  why: --kill and --keep need processes and directories, --in-process has neither",
        "  fix: leave --in-process out [USAGE]",
    ]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--items 0", "argument --items: '0' is not a whole number from 1 to 800"),
        ("--items 801", "'801'"),
        ("--items six", "'six'"),
        ("--reviewers 2", "argument --reviewers: '2' is not a whole number from 3 to 50"),
        ("--reviewers 51", "'51'"),
        (f"--seed {'s' * 65}", "argument --seed: a word has 1 to 64 printable characters"),
        ("--kill 3@5s", "argument --kill: '3@5s' is not INSTANCE@SECONDSs"),
        ("--kill 1@4000s", "'1@4000s'"),
        ("--kill now", "'now'"),
        ("--seed a\x07b", "argument --seed"),
        ("--seed \udc80", "argument --seed"),
    ],
)
def test_a_wrong_value_is_told_with_what_is_allowed(
    options: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"demo --in-process {options}", capsys)

    assert session.code == 2
    assert why in session.three[1]


def test_a_seed_gives_the_same_digests_in_every_process() -> None:
    # Another order of sets and dictionaries of bytes must not reach the result.
    line = "demo --in-process --items 3 --reviewers 3 --seed 7 --json"
    one, other = (json.loads(run_process(line, PYTHONHASHSEED=salt).data) for salt in "12")
    seconds = [one.pop("seconds"), other.pop("seconds")]

    assert one == other
    assert min(seconds) > 0
