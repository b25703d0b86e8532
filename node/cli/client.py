"""Talk to a running node over its API.

The node is found by `--url`, else by `--data`, else by FOLKMOOT_URL, else in the default data
directory, where a running node writes its address and where the operator's token lies. That token
is only ever sent to the address that stands beside it, and only while a node holds the directory:
of one that was killed the address stays behind, and anybody on this machine may listen there now.
"""

import argparse
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote, urlsplit

import httpx
import msgspec

from node.base.paths import DataDir
from node.cli.errors import AnswerError, Code, CommandError, Exit, UsageError
from node.cli.output import Json
from node.cli.tables import row_of

DATA_VARIABLE: Final = "FOLKMOOT_DATA"
URL_VARIABLE: Final = "FOLKMOOT_URL"
TOKEN_VARIABLE: Final = "FOLKMOOT_TOKEN"  # noqa: S105 # the name of a variable
DEFAULT_DATA: Final = Path("folkmoot-data")
_CONNECT: Final = 5.0
_WAIT: Final = 30.0
"""Seconds until a command gives up on a connection, and on an answer."""
_MOST_ANSWER: Final = 64 * 1024 * 1024
"""Bytes of an answer; no node gives a tenth of it, and whoever listens there may be no node."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


class _Address(msgspec.Struct, frozen=True):
    """What a running node tells of itself in its data directory."""

    url: str
    pid: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Which node to ask, and by which right."""

    url: str
    token: str | None


def data_option(parser: argparse.ArgumentParser) -> None:
    """Add `--data`."""
    parser.add_argument(
        "--data",
        metavar="DIR",
        type=Path,
        help="data directory of the instance (default $FOLKMOOT_DATA, else ./folkmoot-data)",
    )


def node_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which node to ask."""
    data_option(parser)
    parser.add_argument(
        "--url",
        metavar="URL",
        help="ask the node at this address instead of the one in the data directory "
        "(default $FOLKMOOT_URL)",
    )
    parser.add_argument(
        "--token",
        metavar="TOKEN",
        help="act by this token instead of the operator's (default $FOLKMOOT_TOKEN, "
        "which others on this machine cannot see)",
    )


def data_of(arguments: argparse.Namespace) -> DataDir:
    """Give the data directory that a command line names."""
    named: Path | None = arguments.data
    return DataDir(named or Path(os.environ.get(DATA_VARIABLE) or DEFAULT_DATA))


def target_of(arguments: argparse.Namespace) -> Target:
    """Find the node that a command line means; raises CommandError NO_NODE if none runs."""
    url: str | None = arguments.url
    token = _sendable(arguments.token or os.environ.get(TOKEN_VARIABLE) or None)
    if url is None and arguments.data is None:
        url = os.environ.get(URL_VARIABLE) or None
    if url is not None:
        return Target(url=_checked(url), token=token)
    data = data_of(arguments)
    data.check()
    try:
        address = msgspec.json.decode(data.address.read_bytes(), type=_Address)
    except FileNotFoundError as error:
        raise _no_node(data, f"no running node has written {data.address}") from error
    except (OSError, msgspec.MsgspecError) as error:
        raise CommandError(
            "the node was not found",
            why=f"{data.address} cannot be read: {error}",
            fix=f"start the node again with `folkmoot run --data {data.root}`, or use --url",
            code=Code.NOT_READABLE,
            leaves=Exit.FAILED,
        ) from error
    if not _is_held(data):
        raise _no_node(
            data, f"no process holds {data.lock}; {data.address.name} is of one that died"
        )
    return Target(url=address.url.rstrip("/"), token=token or _operator_token(data))


def _sendable(token: str | None) -> str | None:
    """Refuse what no header can carry; whether a token is valid only the node knows."""
    if token is not None and not (token.isascii() and token.isprintable()):
        raise UsageError(
            "token not understood",
            why="it has characters that no token has",
            fix="give it as `folkmoot agent token` printed it; check --token and FOLKMOOT_TOKEN",
        )
    return token


def _is_held(data: DataDir) -> bool:
    """Tell whether a process works on a data directory, as the kernel knows it.

    Who may not open the lock cannot read the operator's token either, and may ask without it.
    """
    try:
        descriptor = os.open(data.lock, os.O_RDONLY)
    except PermissionError:
        return True
    except OSError:
        return False
    try:
        # Shared and at once let go: commands that look at the same time see no holder in each other.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _no_node(data: DataDir, why: str) -> CommandError:
    return CommandError(
        "the node does not run",
        why=why,
        fix=f"start it with `folkmoot run --data {data.root}`",
        code=Code.NO_NODE,
        leaves=Exit.FAILED,
    )


def _operator_token(data: DataDir) -> str | None:
    """Give the operator's token, unless it is not ours to read: much can be asked without it."""
    try:
        return data.operator_token.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(
            "address of the node not understood",
            why=f"{url!r} is not an address such as http://127.0.0.1:8420",
            fix="correct --url or FOLKMOOT_URL",
        )
    return url.rstrip("/")


class _Bounded(httpx.SyncByteStream):
    """The body of an answer, which ends the talk when it becomes too large."""

    def __init__(self, body: httpx.SyncByteStream, request: httpx.Request) -> None:
        self._body = body
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        left = _MOST_ANSWER
        for piece in self._body:
            left -= len(piece)
            if left < 0:
                raise httpx.DecodingError("the answer does not end", request=self._request)
            yield piece

    def close(self) -> None:
        self._body.close()


def _bound(answer: httpx.Response) -> None:
    """Hold an answer to a size; raises httpx.DecodingError for one that hides it."""
    if "content-encoding" in answer.headers:
        raise httpx.DecodingError("the answer is compressed", request=answer.request)
    assert isinstance(answer.stream, httpx.SyncByteStream), "the client is synchronous"  # noqa: S101 # our own invariant
    answer.stream = _Bounded(answer.stream, answer.request)


class Client:
    """One command's talk with one node."""

    def __init__(self, target: Target, *, transport: httpx.BaseTransport | None = None) -> None:
        """Open nothing yet; `transport` stands in for the network."""
        self.url: Final = target.url
        headers = {"Authorization": f"Bearer {target.token}"} if target.token else {}
        # What is compressed has no size that could be known before it fills the memory.
        headers["Accept-Encoding"] = "identity"
        self._http: Final = httpx.Client(
            base_url=target.url,
            headers=headers,
            timeout=httpx.Timeout(_WAIT, connect=_CONNECT),
            transport=transport,
            event_hooks={"response": [_bound]},
            # A proxy of the environment cannot reach this machine's own loopback.
            trust_env=urlsplit(target.url).hostname not in _LOOPBACK,
        )

    def __enter__(self) -> Self:
        """Give the client."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close its connections."""
        del kind, error, trace
        self._http.close()

    def get(self, *path: str, **query: str | int | None) -> Json:
        """Ask; parts of the path are escaped, and a query that is None is left out."""
        return self._send("GET", path, query={k: v for k, v in query.items() if v is not None})

    def post(self, *path: str, body: dict[str, Json] | None = None, wait_s: float = _WAIT) -> Json:
        """Act; what is None in the body is left out. The answer may take `wait_s` seconds."""
        if body is None:
            return self._send("POST", path, wait_s=wait_s)
        given: dict[str, Json] = {k: v for k, v in body.items() if v is not None}
        return self._send("POST", path, body=given, wait_s=wait_s)

    def delete(self, *path: str) -> Json:
        """Take something away."""
        return self._send("DELETE", path)

    def _send(
        self,
        method: str,
        path: tuple[str, ...],
        *,
        query: dict[str, str | int] | None = None,
        body: dict[str, Json] | None = None,
        wait_s: float = _WAIT,
    ) -> Json:
        try:
            where = "/" + "/".join(quote(part, safe="") for part in path)
            answer = self._http.request(
                method,
                where,
                params=query,
                content=None if body is None else msgspec.json.encode(body),
                headers={} if body is None else {"Content-Type": "application/json"},
                timeout=httpx.Timeout(wait_s, connect=_CONNECT),
            )
        except UnicodeEncodeError as error:
            # A word of the command line that is no UTF-8 holds halves of characters.
            raise UsageError(
                "command line not understood",
                why="a word of it is not UTF-8",
                fix="write it in UTF-8",
            ) from error
        except httpx.ConnectError as error:
            raise CommandError(
                "the node does not run",
                why=f"nobody answers at {self.url}",
                fix="if it is yours, start it with `folkmoot run`; else check its address",
                code=Code.NO_NODE,
                leaves=Exit.FAILED,
            ) from error
        except httpx.TimeoutException as error:
            raise _no_answer(f"{self.url} did not answer within {wait_s:.0f} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _no_answer(f"{self.url}: {error}") from error
        return self._read(answer)

    def _read(self, answer: httpx.Response) -> Json:
        try:
            told: Json = msgspec.json.decode(answer.content) if answer.content else {}
        except msgspec.DecodeError as error:
            raise _no_answer(
                f"{self.url} answered {answer.status_code}, but not as a node does"
            ) from error
        if answer.is_success:
            return told
        fault = row_of(told)
        if not {"code", "what", "why", "fix"} <= fault.keys():
            raise _no_answer(f"{self.url} answered {answer.status_code}, but not as a node does")
        raise AnswerError(
            str(fault["what"]),
            why=str(fault["why"]),
            fix=str(fault["fix"]),
            code=str(fault["code"]),
            status=answer.status_code,
        )


def _no_answer(why: str) -> CommandError:
    return CommandError(
        "the node did not answer",
        why=why,
        fix="look at what the node itself prints; with --url, check the address",
        code=Code.NO_ANSWER,
        leaves=Exit.FAILED,
    )


def connect(arguments: argparse.Namespace) -> Client:
    """Make a client of the node that a command line means."""
    return Client(target_of(arguments))
