import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from node.base.paths import DataDir, hold
from node.cli import client
from node.cli.client import Client, Target, target_of
from node.cli.errors import AnswerError, Code, CommandError, Exit, UsageError
from node.cli.main import parser
from node.cli.output import Json
from tests.node.cli.session import run


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("FOLKMOOT_DATA", "FOLKMOOT_URL", "FOLKMOOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)


class Stranger(BaseHTTPRequestHandler):
    """Something on a port that is no node of ours, or one that misbehaves."""

    status: ClassVar[int] = 200
    content: ClassVar[bytes] = b"{}"
    heard: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.heard.append(f"{self.path} {self.headers.get('Authorization')}")
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    do_POST = do_GET  # noqa: N815 # the base class looks for this name
    do_DELETE = do_GET  # noqa: N815 # the same

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # its name is given
        """Say nothing."""


@contextmanager
def stranger(status: int = 200, content: bytes = b"{}") -> Iterator[tuple[str, list[str]]]:
    heard: list[str] = []
    kind = type("Kind", (Stranger,), {"status": status, "content": content, "heard": heard})
    with HTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", heard
        finally:
            server.shutdown()
            thread.join()


def target(line: str) -> Target:
    return target_of(parser().parse_args(f"status {line}".split()))


def instance(folder: Path, url: str) -> DataDir:
    """Make what the command line looks at of a running node's data directory."""
    data = DataDir(folder)
    data.keys.mkdir(parents=True)
    data.genesis.touch()
    data.settings.touch()
    data.operator_token.write_text("fm_operator\n")
    data.address.write_text(json.dumps({"url": url, "addresses": [], "pid": 1}))
    return data


@pytest.fixture
def held(tmp_path: Path) -> Iterator[DataDir]:
    """Hold the default directory, as a node does."""
    data = instance(tmp_path / "folkmoot-data", "http://127.0.0.1:1/")
    with hold(data):
        yield data


def error(url: str, *path: str) -> CommandError:
    with (
        Client(Target(url=url, token=None)) as client,
        pytest.raises(CommandError) as caught,
    ):
        client.get(*path)
    return caught.value


@pytest.mark.usefixtures("held")
def test_the_default_is_the_node_of_the_default_directory() -> None:
    assert target("") == Target(url="http://127.0.0.1:1", token="fm_operator")  # noqa: S106


def test_what_the_line_says_wins_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = instance(tmp_path / "one", "http://127.0.0.1:1")
    two = instance(tmp_path / "two", "http://127.0.0.1:2")
    monkeypatch.setenv("FOLKMOOT_DATA", str(two.root))

    with hold(one), hold(two):
        assert target("").url == "http://127.0.0.1:2"
        monkeypatch.setenv("FOLKMOOT_URL", "http://127.0.0.1:3")
        assert target("").url == "http://127.0.0.1:3"
        assert target(f"--data {one.root}").url == "http://127.0.0.1:1"
        assert target(f"--data {one.root} --url http://127.0.0.1:4").url == "http://127.0.0.1:4"


@pytest.mark.usefixtures("held")
def test_the_operator_s_token_goes_to_no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert target("--url http://127.0.0.1:1").token is None
    assert target("--url http://127.0.0.1:1 --token fm_mine").token == "fm_mine"  # noqa: S105
    monkeypatch.setenv("FOLKMOOT_TOKEN", "fm_other")
    assert target("").token == "fm_other"  # noqa: S105


def test_the_operator_s_token_is_not_sent_to_who_listens_where_a_dead_node_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with stranger() as (url, heard):
        data = instance(tmp_path / "folkmoot-data", url)
        never = run("artifact list", capsys)
        with hold(data):
            alive = run("artifact list", capsys)
        killed = run("artifact list", capsys)

    assert alive.code == 0
    assert heard == ["/v1/artifacts?most=50 Bearer fm_operator"]
    for session in (never, killed):
        assert session.code == 1
        assert session.three[0] == "folkmoot: the node does not run"
        assert "no process holds" in session.three[1]


def test_who_may_not_look_at_the_lock_can_still_ask(
    held: DataDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.operator_token.unlink()

    def refuse(*_: object) -> int:
        raise PermissionError

    monkeypatch.setattr(client.os, "open", refuse)
    assert target("").token is None


def test_without_the_operator_s_token_one_can_still_ask(held: DataDir) -> None:
    held.operator_token.unlink()

    assert target("").token is None


def test_a_node_that_does_not_run_is_told_with_how_to_start_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = instance(tmp_path / "folkmoot-data", "http://127.0.0.1:1")
    data.address.unlink()
    session = run("artifact list", capsys)

    assert session.code == 1
    assert session.three[0] == "folkmoot: the node does not run"
    assert "folkmoot run --data folkmoot-data" in session.three[2]
    assert session.three[2].endswith("[NO_NODE]")


@pytest.mark.usefixtures("held")
def test_a_node_that_does_not_listen_is_told_alike(capsys: pytest.CaptureFixture[str]) -> None:
    session = run("artifact list", capsys)

    assert session.code == 1
    assert session.three[0] == "folkmoot: the node does not run"
    assert "http://127.0.0.1:1" in session.three[1]


def test_an_address_file_that_is_damaged_is_told(tmp_path: Path) -> None:
    instance(tmp_path / "folkmoot-data", "").address.write_text("{")

    with pytest.raises(CommandError) as caught:
        target("")
    assert caught.value.code == Code.NOT_READABLE


@pytest.mark.parametrize("url", ["127.0.0.1:8420", "ftp://127.0.0.1", "http://"])
def test_what_is_no_address_is_a_mistake_of_the_line(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = run(f"status --url {url}", capsys)

    assert session.code == 2
    assert url in session.three[1]


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, b"<html>"),
        (200, b"\xff"),
        (500, b"oops"),
        (404, b"{}"),
        (404, b'{"code":"X","what":"no"}'),
        (302, b"{}"),
    ],
)
def test_what_is_no_node_is_told_apart(status: int, content: bytes) -> None:
    with stranger(status, content) as (url, _):
        found = error(url, "health")

    assert found.code == Code.NO_ANSWER
    assert found.leaves is Exit.FAILED
    assert url in found.why


def test_an_answer_that_does_not_end_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_MOST_ANSWER", 1_000)
    fits = stranger(200, b'"' + b"a" * 998 + b'"')
    with fits as (url, _), Client(Target(url=url, token=None)) as one:
        assert one.get("health") == "a" * 998
    with stranger(200, b'"' + b"a" * 999 + b'"') as (url, _):
        found = error(url, "health")

    assert found.code == Code.NO_ANSWER
    assert "does not end" in found.why


def test_an_answer_that_hides_its_size_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def packed(self: Stranger) -> None:
        assert self.headers["Accept-Encoding"] == "identity"
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(gzip.compress(b"{}"))

    monkeypatch.setattr(Stranger, "do_GET", packed)
    with stranger() as (url, _):
        found = error(url, "health")

    assert found.code == Code.NO_ANSWER
    assert "compressed" in found.why


def test_an_error_of_the_node_is_told_in_its_own_words() -> None:
    content = b'{"code":"NOT_ELIGIBLE","what":"w","why":"y","fix":"f","retry_at":null}'
    with stranger(403, content) as (url, _):
        found = error(url, "v1", "rounds", "x")

    assert isinstance(found, AnswerError)
    assert (found.code, found.what, found.why, found.fix) == ("NOT_ELIGIBLE", "w", "y", "f")
    assert found.leaves is Exit.REFUSED


def test_an_error_of_the_node_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = b'{"code":"X","what":"a\\u001b[2J","why":"b\\nc","fix":"d"}'
    with stranger(409, content) as (url, _):
        session = run(f"status --url {url}", capsys)

    assert session.code == 3
    assert "\x1b" not in session.people
    assert len(session.three) == 3


def test_names_in_a_path_are_escaped_and_tokens_are_sent() -> None:
    with (
        stranger() as (url, heard),
        Client(Target(url=url, token="fm_x")) as client,  # noqa: S106
    ):
        client.get("v1", "artifacts", "../../a b?c", most=3, after=None)
        told: Json = client.post("v1", "x", body={"a": None})
        client.delete("v1", "y")

    assert told == {}
    assert heard[0] == "/v1/artifacts/..%2F..%2Fa%20b%3Fc?most=3 Bearer fm_x"


def test_an_empty_answer_is_an_empty_object() -> None:
    with stranger(204, b"") as (url, _), Client(Target(url=url, token=None)) as client:
        assert client.delete("v1", "y") == {}


def test_a_connection_that_breaks_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stranger, "do_GET", lambda self: self.wfile.close())
    with stranger() as (url, _):
        found = error(url, "health")

    assert found.code == Code.NO_ANSWER


@pytest.mark.parametrize("token", ["fm_\u00e9", "\udcff", "fm_a\nHost:b"])
def test_a_token_that_no_header_carries_is_refused_before_it_is_sent(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOLKMOOT_TOKEN", token)
    with pytest.raises(UsageError) as caught:
        target("--url http://127.0.0.1:1")

    assert token not in caught.value.why


def test_words_that_are_no_utf_8_are_refused_and_not_sent() -> None:
    with stranger() as (url, heard), Client(Target(url=url, token=None)) as client:
        for send in (
            lambda: client.get("v1", "agents", "\udcff"),
            lambda: client.get("v1", "artifacts", topic="\udcff"),
            lambda: client.post("v1", "artifacts", body={"title": "\udcff"}),
        ):
            with pytest.raises(UsageError, match="not understood"):
                send()

    assert heard == []
