"""The command that runs many seeds, or repeats one with its transcript."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import simnet
from federation.simulation.network import schedules
from federation.simulation.network.monitors import Worlds

ROOT = Path(__file__).parents[2]


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["simnet", *arguments])
    return simnet.main()


def test_the_runner_counts_kinds_and_finds_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status = call(monkeypatch, "--seeds", "0-3", "--n", "3", "--kind", "liar", "--json")
    result = json.loads(capsys.readouterr().out)

    assert status == 0
    assert result["runs"]["3 available"] == {"all honest": 2}
    assert sum(result["runs"]["3 strict"].values()) == 2
    assert set(result["runs"]["3 strict"]) <= set(schedules.KINDS)
    assert result["failures"] == []
    assert result["events"] > 100


def test_the_runner_repeats_one_seed_with_its_transcript(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hashes = set()
    for _ in range(2):
        assert call(monkeypatch, "--seeds", "7", "--n", "3", "--transcript") == 0
        shown = capsys.readouterr()
        assert " i0 " in shown.out
        hashes.add(shown.err)

    assert hashes == {
        f"transcript hash {schedules.run(schedules.draw(7, members=3)).transcript_hash}\n"
    }


@pytest.mark.parametrize("kind", ["any", "liar", "none", "twins"])
def test_the_command_that_a_scenario_prints_repeats_exactly_its_run(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in (0, 3):
        scenario = schedules.draw(seed, members=3, kind=kind)
        interpreter, module, name, *arguments = shlex.split(scenario.replay)

        assert [interpreter, module, name] == [".venv/bin/python", "-m", "benchmarks.simnet"]
        assert call(monkeypatch, *arguments) == 0
        assert capsys.readouterr().err == (
            f"transcript hash {schedules.run(scenario).transcript_hash}\n"
        )


def test_a_seed_is_repeated_exactly_by_another_process_whatever_its_hashes_are() -> None:
    command = [sys.executable, "-m", "benchmarks.simnet", "--seeds", "7", "--n", "4"]
    shown = {
        subprocess.run(  # noqa: S603 # our own runner
            [*command, "--transcript"],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for seed in ("1", "2")
    }

    assert len(shown) == 1
    assert shown.pop().startswith("transcript hash ")


def test_the_runner_shows_what_was_found_and_how_to_repeat_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Worlds, "finish", lambda self: self.broke("a rule", "a detail"))
    status = call(monkeypatch, "--seeds", "5-5", "--n", "1")
    shown = capsys.readouterr().err

    assert status == 1
    assert "a rule: a detail (seed 5" in shown
    assert (
        ".venv/bin/python -m benchmarks.simnet --seeds 5 --n 1 --kind none --transcript\n" in shown
    )


def test_a_run_that_never_comes_to_rest_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schedules, "is_at_rest", lambda _network, **_: False)
    status = call(monkeypatch, "--seeds", "5-5", "--n", "1")

    assert status == 1
    assert "it never came to rest" in capsys.readouterr().err
