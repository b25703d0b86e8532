"""`folkmoot federation …` between two realms, each of one running instance, by files and keys."""

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from node.base.entropy import Entropy
from node.base.settings import Settings
from node.setup import found_realm, write_instance
from node.setup.founding import Founder
from tests.node.cli.running import Running, started
from tests.node.cli.session import Session, run

REALMS = ("oak", "elm")
AGENTS = ("ada", "bob", "eve")


def same_every_time() -> Entropy:
    """Give both realms the same keys: the same people take part in both."""
    count = itertools.count()

    def entropy(size: int) -> bytes:
        return hashlib.sha256(b"%d" % next(count)).digest()[:size]

    return entropy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write two realms of one instance each."""
    folder = tmp_path_factory.mktemp("realms")
    (folder / "secret").write_text("secret\n")
    (folder / "secret").chmod(0o600)
    for name in REALMS:
        founded = found_realm(
            name=name,
            preset="test",
            operators=[f"operator of {name}"],
            instances=[(name, 0)],
            founders=[Founder(name=agent, operator=0, instance=0) for agent in AGENTS],
            entropy=same_every_time(),
        )
        write_instance(
            folder / name,
            founded,
            passphrase=b"secret",
            settings=Settings(
                name=name,
                http_port=0,
                listen=("/ip4/127.0.0.1/tcp/0",),
                passphrase_file=Path("../secret"),
            ),
        )
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """Two running instances of two realms."""

    oak: Running
    elm: Running


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[Both]:
    with (
        started(f"run --data {folder / 'oak'}", folder / "oak.log") as oak,
        started(f"run --data {folder / 'elm'}", folder / "elm.log") as elm,
    ):
        yield Both(oak=oak, elm=elm)


@pytest.fixture(autouse=True)
def ours(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the first realm unless told otherwise."""
    for name in ("FOLKMOOT_URL", "FOLKMOOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOLKMOOT_DATA", str(folder / "oak"))


def told(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    done = run(f"{line} --json", capsys)
    assert done.code == 0, done.people
    found = json.loads(done.data)
    assert isinstance(found, dict)
    return found


def head_of(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Let a realm write its head beside the data directories."""
    return told(f"federation head {folder / name}.head --data {folder / name}", capsys)


@pytest.mark.usefixtures("both")
def test_a_realm_is_linked_by_a_file_and_a_pinned_key(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run(f"federation head {folder / 'elm.head'} --data {folder / 'elm'}", capsys)
    elm = head_of("elm", folder, capsys)

    assert said.code == 0, said.people
    assert f"realm  {elm['realm']}" in said.data
    assert f"key    {elm['key']}" in said.data
    assert "file" not in elm

    line = f"federation link {elm['realm']} --head {folder / 'elm.head'} --key {elm['key']}"
    linked = run(f"{line} --weight 200", capsys)
    assert linked.code == 0, linked.people
    assert "ada: weight" in linked.data
    (link,) = told("federation links", capsys)["links"]  # type: ignore[misc]
    assert (link["weight"], link["known"], link["head_agents"]) == (200, 3, 3)  # type: ignore[index]
    assert not told("federation policy", capsys)["neutral"]
    assert str(elm["realm"])[:12] in run("federation links", capsys).data

    # What oak shows others is its own trust, and nothing of what it links.
    oak = head_of("oak", folder, capsys)
    assert oak["agents"] == 3
    assert bytes.fromhex(str(elm["realm"])) not in (folder / "oak.head").read_bytes()

    assert run(f"federation unlink {str(elm['realm'])[:8]}", capsys).code == 0
    assert told("federation links", capsys)["links"] == []
    assert told("federation policy", capsys)["neutral"]


@pytest.mark.usefixtures("both")
def test_every_way_to_hand_in_the_wrong_head_says_what_is_wrong(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elm, oak = head_of("elm", folder, capsys), head_of("oak", folder, capsys)
    (folder / "torn.head").write_bytes((folder / "elm.head").read_bytes()[:-9])
    (folder / "huge.head").write_bytes(bytes(10**6))

    def link(realm: object, head: str, key: object, weight: int = 9) -> Session:
        path = folder / head
        return run(f"federation link {realm} --head {path} --key {key} --weight {weight}", capsys)

    for session, code, why in (
        (link(oak["realm"], "oak.head", oak["key"]), 3, "this realm itself"),
        (link(elm["realm"], "oak.head", elm["key"]), 3, "it is of realm"),
        (link(elm["realm"], "elm.head", "ab" * 32), 3, "has not signed"),
        (link(elm["realm"], "torn.head", elm["key"]), 3, ""),
        (link(elm["realm"], "huge.head", elm["key"]), 1, "bytes"),
        (link(elm["realm"], "no.head", elm["key"]), 1, "No such file"),
        (link(elm["realm"], "elm.head", elm["key"], 0), 2, "from 1 to 255"),
        (link(elm["realm"], "elm.head", elm["key"], 256), 2, "from 1 to 255"),
        (link("oak", "elm.head", elm["key"]), 2, "64 hex digits"),
        (run("federation unlink abcdef", capsys), 1, "0 linked realms"),
    ):
        assert why in session.three[1]
        assert session.code == code, session.people
    assert told("federation links", capsys)["links"] == []


@pytest.mark.usefixtures("both")
def test_seeds_are_named_shown_and_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    own = run("federation seeds eve", capsys)
    assert own.code == 0, own.people
    assert "eve" in own.data
    assert "this node's own" in own.people
    assert [one["name"] for one in told("federation seeds", capsys)["seeds"]] == ["eve"]  # type: ignore[attr-defined]

    page = told("federation disagreement", capsys)
    assert (page["compared"], page["rounds"]) == (0, [])
    assert "0 rounds compared" in run("federation disagreement", capsys).people

    back = run("federation seeds --charter", capsys)
    assert "the charter's" in back.people
    assert told("federation seeds", capsys)["from_charter"]


@pytest.mark.usefixtures("both")
def test_instances_are_listed_and_this_one_cannot_be_observed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    listed = run("federation policy", capsys)
    own = run("federation policy oak observe", capsys)

    assert listed.code == 0
    assert "oak (this one)" in listed.data
    assert "allow" in listed.data
    assert own.code != 0
    assert "this is the instance itself" in own.three[1]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("policy oak", "not what to think of it"),
        ("policy oak drop", "invalid choice"),
        ("policy oak pause", "invalid choice"),
        ("seeds ada --charter", "at once"),
        ("disagreement --rounds 0", "from 1 to"),
        ("link " + "ab" * 32 + " --head f --weight 1", "--key"),
    ],
)
def test_what_is_not_understood_is_told_before_any_node_is_asked(
    line: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"federation {line}", capsys)

    assert session.code == 2
    assert why in session.three[1]
