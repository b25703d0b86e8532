"""Charters and decisions by hand from the command line, with running nodes."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.node.cli.running import Running, folkmoot, started
from tests.node.cli.session import Session, run


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Running]]:
    """Start a realm of one operator whose windows are seconds."""
    folder = tmp_path_factory.mktemp("node")
    data = folder / "data"
    made = folkmoot(
        f"init --data {data} --preset test --http-port 0 --listen /ip4/127.0.0.1/tcp/0 "
        "--agents ada,brahe,curie"
    )
    assert made.code == 0, made.people
    with started(f"run --data {data}", folder / "log") as running:
        yield data, running


@pytest.fixture(autouse=True)
def ours(node: tuple[Path, Running], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FOLKMOOT_URL", "FOLKMOOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOLKMOOT_DATA", str(node[0]))


def told(line: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    session = run(f"{line} --json", capsys)
    assert session.code == 0, session
    found = json.loads(session.data)
    assert isinstance(found, dict)
    return found


def in_force(number: int, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Wait until a charter is in force."""
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        page = told("charter show", capsys)
        if page["number"] == number:
            return page
        time.sleep(0.1)
    raise AssertionError(f"charter {number} never was in force")


def test_a_charter_from_its_proposal_until_it_is_in_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = told("charter show", capsys)
    number = int(str(first["number"]))
    k = 12 + number
    proposed = run(f"charter propose --set review.k={k} --reason 'More.'", capsys)
    assert proposed.code == 0, proposed
    assert "high sensitivity is settled within" in proposed.people
    assert f"Proposed as charter {number + 1}." in proposed.people
    page = in_force(number + 1, capsys)
    listed = run("charter acts", capsys)
    shown = run("charter show", capsys)

    assert page["review"]["k"] == k  # type: ignore[index]
    assert page["hash"] != first["hash"]
    assert page["act"] is not None
    assert f"review.k {first['review']['k']} -> {k}" in listed.data  # type: ignore[index]
    assert f"Charter {number + 1} of" in shown.people
    assert f"review.k {k}" in shown.data.splitlines()
    # What is shown can be changed and proposed again.
    file = tmp_path / "rules.json"
    page["review"]["k"] = k - 1  # type: ignore[index]
    file.write_text(json.dumps(page))
    again = run(f"charter propose {file} --from-tick {2**40} --reason 'Fewer.'", capsys)
    assert again.code == 0, again
    deadline = time.monotonic() + 20
    while not (coming := told("charter show", capsys)["coming"]):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert [row["from_tick"] for row in coming] == [2**40]  # type: ignore[attr-defined]
    assert f"is adopted from tick {2**40} on" in run("charter show", capsys).people
    assert "waits" in run("charter acts", capsys).data
    found = run("doctor", capsys)
    assert found.people.endswith("Sound.\n"), found.people


def test_a_node_comes_back_under_the_charter_that_was_adopted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    made = folkmoot(
        f"init --data {data} --preset test --http-port 0 --listen /ip4/127.0.0.1/tcp/0 --agents ada"
    )
    assert made.code == 0, made.people
    monkeypatch.setenv("FOLKMOOT_DATA", str(data))
    with started(f"run --data {data}", tmp_path / "log"):
        assert run("charter propose --set review.k=8 --reason x", capsys).code == 0
        before = in_force(1, capsys)
    stopped = run("doctor", capsys)
    with started(f"run --data {data}", tmp_path / "log"):
        after = told("charter show", capsys)
        more = run("charter propose --set review.k=9 --reason x", capsys)
        in_force(2, capsys)

    assert stopped.people.endswith("Sound.\n"), stopped.people
    assert (after["number"], after["hash"]) == (1, before["hash"])
    assert more.code == 0, more


@pytest.mark.parametrize(
    ("line", "code", "leaves"),
    [
        ("--set review.q_min=200", "BAD_CHARTER", 3),
        ("--set review.k=0", "USAGE", 2),
        ("--set nothing=0", "USAGE", 2),
        ("", "BAD_REQUEST", 2),
    ],
)
def test_rules_that_cannot_be_are_not_proposed(
    line: str, code: str, leaves: int, capsys: pytest.CaptureFixture[str]
) -> None:
    before = told("charter acts", capsys)
    session = run(f"charter propose {line} --reason no", capsys)

    assert session.code == leaves
    assert session.people.rstrip().endswith(f"[{code}]")
    assert told("charter acts", capsys)["open"] == before["open"]


@pytest.mark.parametrize("line", ["charter adopt abcdef", "admin cosign abcdef"])
def test_an_act_that_is_not_open_is_not_cosigned(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(line, capsys)

    assert session.code == 1
    assert session.three[2].endswith("[NOT_FOUND]")


def test_an_artifact_is_hidden_and_shown_again_by_hand(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = "artifact propose --agent ada --title Water --prose 'It is wet.' --topic water"
    artifact = str(told(line, capsys)["id"])
    _until_contained(artifact, capsys)
    hide = f"admin review {artifact} --decision hide --reason 'It names somebody.'"
    assert run(hide, capsys).code == 0
    _until(lambda: "It is wet." not in run(f"artifact show {artifact}", capsys).data)
    assert run(hide.replace("hide", "show"), capsys).code == 0
    _until(lambda: "It is wet." in run(f"artifact show {artifact}", capsys).data)

    queue = run("admin queue", capsys)
    assert queue.code == 0
    assert "Acts that can be cosigned:" in queue.people


def _until_contained(artifact: str, capsys: pytest.CaptureFixture[str]) -> None:
    _until(lambda: bool(told(f"artifact show {artifact}", capsys)["round"]))


def _until(done: object) -> None:
    deadline = time.monotonic() + 30
    while not done():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_an_instance_that_does_not_keep_its_operator_s_key_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    made = folkmoot(
        f"init --data {data} --preset test --http-port 0 --listen /ip4/127.0.0.1/tcp/0 --agents ada"
    )
    assert made.code == 0, made.people
    monkeypatch.setenv("FOLKMOOT_DATA", str(data))
    kept = told("keys list", capsys)["identities"]
    (operator,) = [one for one in kept if one["role"] == "operator"]  # type: ignore[attr-defined]
    (file,) = [one for one in (data / "keys").iterdir() if operator["id"][:16] in one.name]
    file.unlink()
    with started(f"run --data {data}", tmp_path / "log"):
        session: Session = run("charter propose --set review.k=8 --reason x", capsys)

    assert session.code == 3
    assert session.people.rstrip().endswith("[NOT_IN_CUSTODY]")
    assert "sign the record yourself" in session.people
