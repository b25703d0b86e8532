"""Disputes, reports, rulings and the way back by command line, against a node that decides them."""

import json
import time
from collections.abc import Callable, Iterator

import pytest
import trio

from tests.node.api.living import Living, in_thread, living
from tests.node.cli.session import run
from tests.node.runtime.moot import FIRST, FRESH, moot

DIGEST = "ab" * 32


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Living]:
    """Run a moot in a thread."""
    root = tmp_path_factory.mktemp("moot")
    founded = moot(root, contest=1_500, rule=10_000)

    async def play(show: Callable[[Living], None], over: trio.Event) -> None:
        async with living(root, data=founded.places[0]) as it:
            show(it)
            await over.wait()

    with in_thread(play, within=30) as it:
        yield it


@pytest.fixture(autouse=True)
def ours(town: Living, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every command line find the node."""
    monkeypatch.setenv("FOLKMOOT_URL", town.url)
    monkeypatch.setenv("FOLKMOOT_TOKEN", town.operator)
    monkeypatch.delenv("FOLKMOOT_DATA", raising=False)


class Shell:
    """A command line, and what it told."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Read what commands print."""
        self._capsys = capsys

    def people(self, line: str) -> str:
        """Run a command to a good end; give what it printed for people."""
        session = run(line, self._capsys)
        assert session.code == 0, session
        return session.data

    def told(self, line: str) -> dict[str, object]:
        """Run it with --json."""
        found = json.loads(self.people(f"{line} --json"))
        assert isinstance(found, dict)
        return found

    def refused(self, line: str, code: str, leaves: int = 3) -> None:
        """Run a command that is refused."""
        session = run(line, self._capsys)
        assert session.code == leaves, session
        assert session.three[2].endswith(f"[{code}]"), session

    def until(self, line: str, claim: Callable[[dict[str, object]], object]) -> dict[str, object]:
        """Ask until a claim about the answer holds."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = self.told(line)
            if claim(found):
                return found
            time.sleep(0.05)
        raise AssertionError(f"{line} never came there: {found}")

    def voted(self, name: str, voters: tuple[int, ...], choice: str) -> None:
        """Let a panel vote."""
        self.until(f"review show {name}", lambda page: page["phase"] == "commit")
        for index in voters:
            self.people(
                f"review vote {name} --agent 'agent {index}' --choice {choice} --reason unclear "
                "--basis tool"
            )

    def accepted(self, title: str) -> str:
        """Let a proposal be accepted; give its id."""
        line = f"artifact propose --agent 'agent 0' --title '{title}' --prose It. --topic water"
        artifact = str(self.told(line)["id"])
        page = self.until(f"artifact show {artifact}", lambda one: one["round"])
        self.voted(str(page["round"]), FIRST, "for")
        self.until(f"artifact show {artifact}", lambda one: one["settled"] and one["verdict"])
        return artifact


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Give a command line."""
    return Shell(capsys)


def test_a_dispute_by_command_line_from_filing_to_retraction(shell: Shell) -> None:
    artifact = shell.accepted("Water is wet")
    filed = shell.told(
        f"dispute file {artifact} --agent 'agent 4' --ground inaccurate --evidence {DIGEST} "
        "--note 'It is \x1b[2J dry.'"
    )
    page = shell.until(f"dispute show {filed['id']}", lambda one: one["rounds"])
    (name,) = page["rounds"]  # type: ignore[misc]
    shell.refused(f"dispute file {artifact} --agent 'agent 4' --ground outdated", "GUARD_FAILED")
    assert "It is \N{REPLACEMENT CHARACTER}[2J dry." in shell.people(f"review show {name}")
    shell.voted(str(name), FRESH, "against")
    # A row of the table is taken in a cut, and told from then on.
    shell.until(
        f"artifact show {artifact}", lambda one: one["state"] == "retracted" and one["settled"]
    )

    listed = shell.people(f"dispute list --artifact {artifact}")
    assert "inaccurate" in listed
    assert "agent 4" in listed
    assert "verdict: Retracted by vote" in shell.people(f"dispute show {filed['id']}")
    story = shell.people(f"artifact history {artifact}")
    assert "disputed to retracted by retract" in story
    assert "agent 4 disputes it as inaccurate." in story
    # What agents wrote moves no cursor.
    assert "\x1b" not in story
    assert "disputes left: 2" in shell.people(f"artifact show {artifact}")


def test_a_report_and_a_ruling_by_command_line(shell: Shell) -> None:
    artifact = shell.accepted("Water is warm")
    shell.refused(
        f"report file {artifact} --agent 'agent 4' --category harmful --note ''", "NO_GROUNDS"
    )
    filed = shell.told(
        f"report file {artifact} --agent 'agent 4' --category harmful --note 'It burns.'"
    )
    page = shell.until(f"dispute show {filed['id']}", lambda one: one["phase"] == "assess")
    (name,) = page["rounds"]  # type: ignore[misc]
    shell.refused(f"report assess {name} --agent 'agent 5' --credible", "NOT_MODERATOR")
    shell.people(f"report assess {name} --agent 'agent 9' --credible --note 'It does.'")
    hidden = shell.until(f"artifact show {artifact}", lambda one: "hidden" in one["flags"])  # type: ignore[operator]
    assert hidden["prose"] is None
    shell.voted(str(name), (5, 6, 7, 8, 10), "for")
    shell.until(f"review show {name}", lambda one: one["phase"] == "contest")
    shell.people(f"contest {name} --agent 'agent 4' --ground not_heard --note 'Nobody.'")
    ruling = shell.until(f"review show {name}", lambda one: one["phase"] == "rule")
    (drawn,) = ruling["proceedings"]["arbiters"]  # type: ignore[index]
    shell.refused(f"rule {name} --agent 'agent 8' --ruling by_sign --ground fair", "NOT_DRAWN")
    arbiter = drawn["agent"]["name"]
    shell.people(f"rule {name} --agent '{arbiter}' --ruling by_sign --ground fair --note Fair.")
    shown = shell.people(f"review show {name}")
    assert f"arbiter 1, {arbiter}: lot " in shown
    assert f"ruling, {arbiter}: by_sign" in shown
    assert "contest of the result, agent 4: not_heard; Nobody." in shown
    assert "assessment, agent 9: credible; It does." in shown
    shell.until(f"artifact show {artifact}", lambda one: one["state"] == "active")


def test_the_way_back_by_command_line(shell: Shell) -> None:
    artifact = shell.accepted("Water is old")
    flag = f"artifact flag-stale {artifact} --agent 'agent 5' --evidence {DIGEST}"
    assert shell.told(flag)["kind"] == "artifact.flag_stale"
    shell.until(f"artifact show {artifact}", lambda one: "stale" in one["flags"])  # type: ignore[operator]
    revision = shell.told(
        f"artifact revise {artifact} --agent 'agent 0' --title Newer --prose Now. --topic water"
    )
    page = shell.until(f"artifact show {revision['id']}", lambda one: one["curation"])
    assert page["curation"]["revises"] == artifact  # type: ignore[index]
    assert f"revises: {artifact[:12]}" in shell.people(f"artifact show {revision['id']}")
    shell.refused(f"artifact withdraw {artifact} --agent 'agent 5' --reason no", "NOT_AUTHOR")
    shell.people(f"artifact withdraw {artifact} --agent 'agent 0' --reason 'I was wrong.'")
    gone = shell.until(f"artifact show {artifact}", lambda one: one["state"] == "retracted")
    assert "taken it back" in gone["waits"]["sentence"]  # type: ignore[index]
    assert "cooldown until" in shell.people(f"artifact show {artifact}")
    back = f"artifact resubmit {artifact} --agent 'agent 0' --evidence {'cd' * 32} --note Look."
    end = time.monotonic() + 20
    while run(back, shell._capsys).code != 0:
        assert time.monotonic() < end
        time.sleep(0.1)
    shell.until(f"artifact show {artifact}", lambda one: one["state"] != "retracted")


def test_nothing_here_is_not_found_and_no_sanction_is_appealed(shell: Shell) -> None:
    shell.refused(f"dispute show {DIGEST}", "NOT_FOUND", leaves=1)
    shell.refused(f"appeal {DIGEST} --agent 'agent 1'", "UNKNOWN_SANCTION", leaves=1)
    shell.refused("dispute list --kind gossip", "USAGE", leaves=2)
    shell.refused(f"report assess {DIGEST} --agent 'agent 9'", "USAGE", leaves=2)
    assert shell.told("dispute list --kind appeal")["items"] == []
