"""Trust on the command line with a running node: vouch, see it, draw it, and what is refused."""

import io
import json
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec
import pytest

from federation.records import AgentVouch
from node.cli.errors import Exit
from node.cli.output import Json, Output
from node.cli.tables import row_of
from node.cli.trust_cmd import _tell
from node.queries import trust
from tests.federation.protocol.town import Town
from tests.node.cli.running import PATIENCE_S, folkmoot, started
from tests.node.cli.session import run

HOSTILE = "</text><script>alert(1)</script>&\"'"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Start a realm whose windows are seconds."""
    folder = tmp_path_factory.mktemp("node")
    made = folkmoot(
        f"init --data {folder / 'data'} --preset test --http-port 0 "
        "--listen /ip4/127.0.0.1/tcp/0 --agents ada,brahe,curie,dirac"
    )
    assert made.code == 0, made.people
    with started(f"run --data {folder / 'data'}", folder / "log"):
        yield folder / "data"


@pytest.fixture(autouse=True)
def ours(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every command line find the node by its data directory."""
    for name in ("FOLKMOOT_URL", "FOLKMOOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOLKMOOT_DATA", str(data))


def told(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict[str, object]]]:
    """Run a command line with --json; give what it told."""
    session = run(f"{line} --json", capsys)
    assert (session.code, session.people) == (0, ""), session
    assert session.data.count("\n") == 1
    found: dict[str, list[dict[str, object]]] = json.loads(session.data)
    return found


def newcomer(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Create an agent and wait until a cut has admitted it."""
    made = run(f"agent create {shlex.quote(name)} --json", capsys)
    agent = str(json.loads(made.data)["id"])
    deadline = time.monotonic() + PATIENCE_S
    while run(f"trust show {agent} --json", capsys).code:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return agent


def test_a_vouch_is_given_seen_drawn_and_taken_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = newcomer(HOSTILE, capsys)
    given = run(f"vouch {agent} --as ada --weight 200 --reason 'I know its work.'", capsys)
    again = told(f"vouch {agent} --as ada --weight 200 --reason 'I know its work.'", capsys)
    deadline = time.monotonic() + PATIENCE_S
    while not told(f"trust show {agent}", capsys)["score"]["seats"]:  # type: ignore[call-overload]
        assert time.monotonic() < deadline
        time.sleep(0.2)
    shown = run(f"trust show {agent}", capsys)
    listed = run("trust graph", capsys)
    file = tmp_path / "trust.svg"
    drawn = run(f"trust graph --svg {file}", capsys)
    first = file.read_bytes()
    root = ET.fromstring(first)  # noqa: S314 # our own bytes
    (edge,) = told(f"trust graph --svg {file}", capsys)["edges"]
    ended = run(f"unvouch {agent} --as ada --reason 'No more.'", capsys)

    assert given.code == 0
    assert "It counts from the next tick on" in given.people
    assert str(again["id"]) in given.data
    assert "It has a ticket" in shown.data
    assert "I know its work." in shown.data
    assert "Who passes trust to it" in shown.people
    assert HOSTILE in listed.data
    assert drawn.people == f"Drawn: 5 agents, into {file}.\n"
    assert (drawn.code, drawn.data) == (0, "")
    assert not [one for one in root.iter() if one.tag.endswith("script")]
    assert any(one.text and one.text.startswith("</text><script>") for one in root.iter())
    assert (edge["vouch"], edge["weight"]) == (200, 200)
    assert file.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [file]
    assert ended.code == 0


@pytest.mark.parametrize(
    ("line", "code", "leaves"),
    [
        ("vouch ada --as ada --weight 9 --reason r", "SELF_VOUCH", Exit.REFUSED),
        ("vouch ada --as brahe --weight 9 --reason ''", "BAD_FIELD", Exit.REFUSED),
        ("vouch nobody --as brahe --weight 9 --reason r", "NOT_FOUND", Exit.FAILED),
        (f"vouch {'0' * 64} --as brahe --weight 9 --reason r", "NOT_FOUND", Exit.FAILED),
        (f"vouch ada --as {'0' * 64} --weight 9 --reason r", "NOT_FOUND", Exit.FAILED),
        ("unvouch ada --as dirac --reason r", "NO_VOUCH", Exit.REFUSED),
        ("vouch ada --as brahe --weight 0 --reason r", "USAGE", Exit.USAGE),
        ("vouch ada --as brahe --weight 256 --reason r", "USAGE", Exit.USAGE),
        ("vouch ada --as brahe --weight many --reason r", "USAGE", Exit.USAGE),
        ("vouch ada --as brahe --reason r", "USAGE", Exit.USAGE),
        ("vouch ada --weight 9 --reason r", "USAGE", Exit.USAGE),
        ("trust show nobody", "NOT_FOUND", Exit.FAILED),
        ("vouch ada --as nobody --weight 9 --reason r", "NOT_FOUND", Exit.FAILED),
        ("vouch ada --as brahe --weight 9 --reason \udcff", "USAGE", Exit.USAGE),
        ("trust graph --svg ''", "USAGE", Exit.USAGE),
        ("trust graph --svg /", "USAGE", Exit.USAGE),
        ("trust graph --svg /dev/null", "USAGE", Exit.USAGE),
        ("trust graph --svg /no/such/place/trust.svg", "USAGE", Exit.USAGE),
        (f"trust graph --svg {'x' * 300}", "NOT_WRITTEN", Exit.FAILED),
    ],
)
def test_a_refusal_is_three_lines(
    line: str, code: str, leaves: Exit, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(line, capsys)

    assert session.three[2].endswith(f"[{code}]")
    assert (session.code, session.data) == (leaves, "")


def test_a_vouch_by_a_newcomer_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    agent = newcomer("gauss", capsys)
    session = run(f"vouch ada --as {agent} --weight 9 --reason r", capsys)

    assert session.three[2].endswith("[NOT_ELIGIBLE]")


def test_nothing_of_a_page_moves_the_cursor() -> None:
    """Whatever field of it a stranger could write, and whatever is added to the page later."""
    evil = "\x1b[2J\x9b1A\u202e\r"

    def poisoned(value: Json) -> Json:
        if isinstance(value, str):
            return evil
        if isinstance(value, dict):
            return {name: poisoned(one) for name, one in value.items()}
        return [poisoned(one) for one in value] if isinstance(value, list) else value

    town = Town.of(3, 6)
    vouch = AgentVouch(agent=town.agent(1), weight=9, reason="Good.")
    town.arrive(town.home(0), town.sign(0, vouch))
    town.vote(town.propose(1), {0: 1, 2: 1, 3: 1})
    page = msgspec.json.decode(msgspec.json.encode(trust.trust(town.world(), town.agent(1))))
    shown = Output(data=io.StringIO(), people=io.StringIO(), quiet=False)
    _tell(shown, row_of(poisoned(page)))
    assert isinstance(shown.data, io.StringIO)
    written = shown.data.getvalue()

    assert written.count("[2J") > 30
    assert not set(written) & set("\x1b\x9b\u202e\r")


def test_a_vouch_by_id_never_falls_on_who_is_named_like_that_id(
    capsys: pytest.CaptureFixture[str],
) -> None:
    agents = told("agent list", capsys)["agents"]
    (meant,) = [str(row["id"]) for row in agents if row["name"] == "curie"]
    newcomer(meant, capsys)
    beginning = meant[:8]
    newcomer(beginning, capsys)
    given = run(f"vouch {meant} --as dirac --weight 7 --reason r --json", capsys)
    record = told(f"trust show {meant}", capsys)["agent"]
    doubtful = run(f"vouch {beginning} --as dirac --weight 7 --reason r", capsys)

    assert given.code == 0
    assert record["name"] == "curie"  # type: ignore[call-overload]
    assert doubtful.three[2].endswith("[AMBIGUOUS]")
    assert "2 are called so" in doubtful.people
