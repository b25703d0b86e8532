"""The command line with a running node, as a new user meets both."""

import json
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from node.cli.client import Client, Target
from node.cli.command import Command
from node.cli.main import COMMANDS
from node.cli.moot import STATEMENTS, play
from tests.node.cli.examples import OFFLINE, REFUSED_HERE, STREAMS
from tests.node.cli.running import Running, folkmoot, started
from tests.node.cli.session import Session, run


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A running node with something on it, and where its data lie."""

    data: Path
    running: Running

    @property
    def url(self) -> str:
        """Its address."""
        return str(self.running.told["url"])


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """Start a realm whose windows are seconds, without anybody who plays."""
    folder = tmp_path_factory.mktemp("node")
    data = folder / "data"
    made = folkmoot(
        f"init --data {data} --preset test --http-port 0 --listen /ip4/127.0.0.1/tcp/0 "
        f"--agents ada,brahe,curie,dirac"
    )
    assert made.code == 0, made.people
    with started(f"run --data {data}", folder / "log") as running:
        yield Node(data=data, running=running)


@pytest.fixture(autouse=True)
def ours(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every command line find the node by its data directory."""
    for name in ("FOLKMOOT_URL", "FOLKMOOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOLKMOOT_DATA", str(node.data))


def told(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Run a command line with --json; give what it told."""
    session = run(f"{line} --json", capsys)
    assert (session.code, session.people) == (0, ""), session
    assert session.data.count("\n") == 1
    found = json.loads(session.data)
    assert isinstance(found, dict)
    return found


def propose(title: str, capsys: pytest.CaptureFixture[str]) -> str:
    line = f"artifact propose --agent ada --title '{title}' --prose 'It is.' --topic water"
    return str(told(line, capsys)["id"])


def wait_for(artifact: str, phase: str | None, capsys: pytest.CaptureFixture[str]) -> str:
    """Wait until the artifact's round is in a phase, or is over; give the round."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = told(f"artifact show {artifact}", capsys)
        if found["round"] and found["phase"] == phase and (phase or found["verdict"]):
            return str(found["round"])
        time.sleep(0.05)
    raise AssertionError(f"{artifact} never came to {phase}: {found}")


def test_a_vote_from_proposal_to_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    artifact = propose("Water is wet", capsys)
    waiting = told(f"why {artifact}", capsys)
    assert waiting["verdict"] is None

    found = wait_for(artifact, "deliberate", capsys)
    argued = run(f"review argue {found} --agent brahe --stance for --note 'I felt it.'", capsys)
    assert argued.code == 0, argued.people

    wait_for(artifact, "commit", capsys)
    for agent, choice, reason in (
        ("brahe", "for", "accurate"),
        ("curie", "for", "well_sourced"),
        ("dirac", "against", "unclear"),
    ):
        voted = run(
            f"review vote {found} --agent {agent} --choice {choice} --reason {reason} --basis tool",
            capsys,
        )
        assert voted.code == 0, voted.people
    wait_for(artifact, None, capsys)

    shown = run(f"artifact show {artifact}", capsys)
    assert "\nstate    active\n" in shown.data
    assert "verdict: Accepted by vote" in shown.data
    assert "narrow: " in shown.data
    ballots = told(f"review show {found}", capsys)["ballots"]
    assert isinstance(ballots, list)
    assert {(one["voter"]["name"], one["choice"]) for one in ballots} == {
        ("brahe", "for"),
        ("curie", "for"),
        ("dirac", "against"),
    }
    assert "argument for, brahe: I felt it." in run(f"review show {found}", capsys).data
    assert "verdict" in run(f"artifact history {artifact}", capsys).data
    assert "yes     Water is wet" in run("artifact list --state active", capsys).data


def test_a_moot_decides_as_its_agents_know(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    token = (node.data / "operator.token").read_text(encoding="ascii").strip()
    founders = told("agent list", capsys)["agents"]
    assert isinstance(founders, list)
    reviewers = [agent["id"] for agent in founders if agent["standing"]["founder"]]
    with Client(Target(url=node.url.rstrip("/"), token=token)) as client:
        play(client, reviewers, threading.Event(), STATEMENTS[:2])
    listed = run("artifact list", capsys).data

    for statement in STATEMENTS[:2]:
        (line,) = [line for line in listed.splitlines() if statement.title in line]
        assert line.split()[1] == ("active" if statement.stands else "retracted")


def test_a_moot_ends_when_it_is_told_to(node: Node) -> None:
    over = threading.Event()
    over.set()
    with Client(Target(url=node.url.rstrip("/"), token=None)) as client:
        play(client, ["nobody"], over)


def test_the_rules_refuse_in_three_lines(capsys: pytest.CaptureFixture[str]) -> None:
    artifact = propose("Water is dry", capsys)
    found = wait_for(artifact, "deliberate", capsys)
    session = run(
        f"review vote {found} --agent brahe --choice for --reason accurate --basis tool", capsys
    )

    assert session.code == 3
    assert "phase" in session.three[1]
    assert session.three[2].endswith("[NOT_IN_PHASE]")


@pytest.mark.parametrize(
    "line",
    [
        "artifact show 123456",
        "why 123456",
        "review show 123456",
        "review debate 123456",
        "review read 123456 --agent brahe",
        "agent show 123456",
        "peer why nobody",
        "peer ban nobody",
        "peer remove nobody",
        "trust diff nobody",
    ],
)
def test_what_is_not_there_is_told(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    session = run(line, capsys)

    assert session.code == 1
    assert session.three[2].endswith("[NOT_FOUND]")


def test_an_agent_that_is_created_is_listed_after_the_next_cut(
    node: Node, capsys: pytest.CaptureFixture[str]
) -> None:
    made = told("agent create grace", capsys)
    deadline = time.monotonic() + 20
    agents: object = []
    while time.monotonic() < deadline:
        agents = told("agent list", capsys)["agents"]
        assert isinstance(agents, list)
        if made["id"] in [agent["id"] for agent in agents]:
            break
        time.sleep(0.1)
    else:
        raise AssertionError(f"never listed: {agents}")

    assert "grace" in run("agent list", capsys).data
    assert told("agent show grace", capsys)["name"] == "grace"
    assert "custody" in run("agent show grace", capsys).data
    # Its key is kept, so it can have a token at once.
    assert run("agent token grace", capsys).code == 0
    assert node.data.exists()


def test_two_agents_of_one_name_are_told_apart_by_their_ids(
    capsys: pytest.CaptureFixture[str],
) -> None:
    twins = {str(told("agent create twin", capsys)["id"]) for _ in range(2)}
    deadline = time.monotonic() + 20
    while True:
        session = run("agent show twin", capsys)
        if session.code == 1 and session.three[2].endswith("[AMBIGUOUS]"):
            break
        assert time.monotonic() < deadline, session
        time.sleep(0.1)

    for twin in twins:
        assert twin[:12] in session.three[1]
        assert told(f"agent show {twin[:12]}", capsys)["id"] == twin


def test_a_list_goes_on_behind_its_last_row(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(3):
        wait_for(propose(f"Page {number}", capsys), "deliberate", capsys)
    first = run("artifact list --most 1", capsys)
    after = told("artifact list --most 1", capsys)["next"]
    second = run(f"artifact list --most 1 --after {after}", capsys)

    assert f"--after {after}" in first.people
    assert len(first.data.splitlines()) == len(second.data.splitlines()) == 1
    assert first.data != second.data


def test_a_text_may_come_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "artifact propose --agent ada --title File --topic water --prose-file"
    (tmp_path / "text").write_text("First line.\nSecond: ä\n", encoding="utf-8")
    made = told(f"{line} {tmp_path / 'text'}", capsys)
    (tmp_path / "bad").write_bytes(b"\xff")
    bad = run(f"{line} {tmp_path / 'bad'}", capsys)

    assert "First line.\nSecond: ä\n" in run(f"artifact show {made['id']}", capsys).data
    assert bad.code == 1
    assert bad.three[2].endswith("[NOT_READABLE]")


def test_a_token_of_one_agent_does_not_act_for_another(
    node: Node, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    token = str(told("agent token ada", capsys)["token"])
    number = str(told("agent tokens", capsys)["tokens"][-1]["id"])  # type: ignore[index]
    monkeypatch.setenv("FOLKMOOT_TOKEN", token)
    monkeypatch.setenv("FOLKMOOT_URL", node.url)
    monkeypatch.delenv("FOLKMOOT_DATA")
    line = "artifact propose --agent {} --title T --topic water"

    assert run(line.format("ada"), capsys).code == 0
    refused = run(line.format("brahe"), capsys)
    assert refused.code == 3
    assert refused.three[2].endswith("[NOT_ALLOWED]")
    assert run("peer list", capsys).three[2].endswith("[NOT_ALLOWED]")

    monkeypatch.setenv("FOLKMOOT_DATA", str(node.data))
    assert run(f"agent revoke-token {number}", capsys).code == 0
    assert run(line.format("ada"), capsys).code == 3


def test_the_status_tells_where_and_how(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    found = told("status", capsys)
    people = run("status", capsys)

    assert found["url"] == node.url.rstrip("/")
    assert found["addresses"] == node.running.told["addresses"]
    assert people.data.startswith("state     ready\n")
    assert told(f"status --url {node.url}", capsys)["addresses"] == found["addresses"]


def test_a_second_process_on_the_directory_is_refused_with_the_first_one_s_number(
    node: Node,
) -> None:
    session = folkmoot(f"run --data {node.data}")

    assert session.code == 3
    assert f"process {node.running.process.pid}" in session.three[1]
    assert session.three[2].endswith("[LOCKED]")


@pytest.mark.parametrize(
    ("options", "code", "leaves"),
    [
        ("", "NOT_A_PEER", 0),
        ("--realm " + "ab" * 32, "WRONG_REALM", 1),
        ("--charter " + "ab" * 32, "WRONG_CHARTER", 1),
        ("--protocol 99", "WRONG_PROTOCOL", 1),
    ],
)
def test_a_probe_is_told_what_does_not_fit(
    options: str, code: str, leaves: int, node: Node, capsys: pytest.CaptureFixture[str]
) -> None:
    (address,) = node.running.told["addresses"]  # type: ignore[misc]
    session = run(f"peer probe {address} {options} --json", capsys)
    people = run(f"peer probe {address} {options}", capsys)
    found = json.loads(session.data)

    assert (session.code, people.code) == (leaves, leaves)
    assert (found["code"], found["fits"]) == (code, leaves == 0)
    assert found["why"] in people.people
    assert people.data == ""


def test_a_probe_of_nobody_is_told(node: Node, capsys: pytest.CaptureFixture[str]) -> None:
    (address,) = node.running.told["addresses"]  # type: ignore[misc]
    peer = str(address).rpartition("/")[2]
    session = run(f"peer probe /ip4/127.0.0.1/tcp/1/p2p/{peer}", capsys)

    assert session.code == 1
    assert session.three[2].endswith("[UNREACHABLE]")


def test_a_probe_needs_a_realm(
    node: Node, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (address,) = node.running.told["addresses"]  # type: ignore[misc]
    session = run(f"peer probe {address} --data {tmp_path}", capsys)

    assert session.code == 2
    assert "--realm" in session.three[2]


def test_the_doctor_finds_a_running_node_sound(capsys: pytest.CaptureFixture[str]) -> None:
    propose("Water is sound", capsys)
    found = told("doctor", capsys)
    people = run("doctor", capsys)

    assert found["sound"] is True
    assert found["store"]["records"] > 0  # type: ignore[index]
    assert people.people.endswith("Sound.\n")


@pytest.mark.parametrize(
    ("one", "example"),
    [
        pytest.param(one, example, id=example)
        for one in COMMANDS
        for example in one.examples
        if one.words[0] not in OFFLINE or (one.words[0] == "charter" and "--preset" not in example)
    ],
)
def test_every_example_is_understood_and_tells_what_the_help_says(
    one: Command,
    example: str,
    node: Node,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "key").write_text("a passphrase of its own\n")
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "rules").write_text('{"review": {"k": 11}}')
    line = _replaced(example, one, node, tmp_path, capsys)
    session = run(line, capsys)

    if session.code != 0:
        assert session.three[2].rpartition("[")[2] == f"{REFUSED_HERE[one.name]}]", session
        return
    found = session if line.endswith("--json") else run(f"{line} --json", capsys)
    if found.code == 0 and one.name not in STREAMS:
        _keys_are_those_of_the_help(one, found)


def _keys_are_those_of_the_help(one: Command, session: Session) -> None:
    keys = json.loads(session.data).keys()
    named = one.data.keys() - {"…"}

    assert named <= keys
    if "…" not in one.data:
        assert named == keys


def _replaced(
    example: str,
    one: Command,
    node: Node,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """Put real names and ids in the place of the words in capitals."""
    (address,) = node.running.told["addresses"]  # type: ignore[misc]
    words = example.split(maxsplit=1)[1]
    if "http://127.0.0.1:8420" in words:
        words = words.replace("http://127.0.0.1:8420", node.url)
    words = words.replace("--data moot", f"--data {node.data}")
    if one.name == "agent import":
        run(f"agent export ada --out {folder / 'agent.key'} --open", capsys)
    if "ARTIFACT" in words or "ROUND" in words:
        artifact = propose(f"Water {folder.name}", capsys)
        words = words.replace("ARTIFACT", artifact)
        phase = "commit" if "vote" in words else "deliberate"
        # What is said of an artifact is said of one that a cut contains.
        found = wait_for(artifact, phase, capsys)
        words = words.replace("ROUND", found)
    if "DISPUTE" in words:
        line = f"report file {propose('Water harms', capsys)} --agent brahe --category harmful"
        words = words.replace("DISPUTE", str(told(f"{line} --note 'It does.'", capsys)["id"]))
    if "TOKEN_ID" in words:
        words = words.replace("TOKEN_ID", str(told("agent token ada", capsys)["id"]))
    if "OPERATOR" in words:
        (row,) = told("operator list", capsys)["operators"]  # type: ignore[misc]
        words = words.replace("OPERATOR", row["operator"]["id"])
    if "INVITE_ID" in words:
        words = words.replace("INVITE_ID", str(told("invite create ada", capsys)["id"]))
    acting = "brahe" if one.words[0] == "review" else "ada"
    if one.name == "agent health":
        acting = "dirac"
    for name, value in (
        ("SANCTION", "ab" * 32),
        ("DIGEST", "ab" * 32),
        ("OTHER_AGENT", "dirac"),
        ("AGENT", acting),
        ("OTHER", "curie"),
        ("KEY", "ab" * 32),
        ("trust.svg", str(folder / "trust.svg")),
        ("ADDRESS", str(address)),
        ("INSTANCE", "other"),
        ("REALM", str(node.running.told["realm"])),
        ("NAME", folder.name),
        ("--keys DIR", f"--keys {folder / 'keys'}"),
        ("--url URL", f"--url {node.url}"),
        ("DOMAIN", "moot.example"),
        ("FILE", str(folder / "key")),
        ("agent.key", str(folder / "agent.key")),
        ("rules.json", str(folder / "rules")),
        ("ACT", "abcdef"),
    ):
        words = words.replace(name, value)
    return words


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_node_in_order(by: signal.Signals, tmp_path: Path) -> None:
    data = tmp_path / "data"
    folkmoot(f"init --data {data} --http-port 0 --listen /ip4/127.0.0.1/tcp/0 --agents ada")
    for _ in range(2):
        with started(f"run --data {data}", tmp_path / "log") as running:
            assert (data / "address.json").exists()
            began = time.monotonic()
            assert running.stop(by) == 0
            # Bounded by 3.5 s, and a start of Python on a machine that has other things to do.
            assert time.monotonic() - began < 8
        assert not (data / "address.json").exists()
    assert folkmoot(f"doctor --data {data}").code == 0


def test_dev_plays_a_moot_and_leaves_nothing(tmp_path: Path) -> None:
    with started("dev --http-port 0 --once", tmp_path / "log", TMPDIR=str(tmp_path)) as running:
        data = Path(str(running.told["data"]))
        assert data.is_dir()
        assert tmp_path in data.parents
        assert running.process.wait(60) == 0

    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_dev_without_a_moot_stops_at_ctrl_c(tmp_path: Path) -> None:
    with started("dev --http-port 0 --quiet-moot", tmp_path / "log", TMPDIR=str(tmp_path)) as one:
        url = str(one.told["url"])
        listed = folkmoot(f"artifact list --url {url} --json")
        assert json.loads(listed.data)["items"] == []
        assert one.stop(signal.SIGINT) == 0

    assert [path.name for path in tmp_path.iterdir()] == ["log"]
