"""A running instance that asks newcomers for a proof, and command lines that register with it."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from federation.records import Role
from node.api.limits import Limits, Rate
from node.cli import register_delivery
from node.cli.client import Client, Target
from node.cli.output import Output
from node.cli.register_delivery import Wish
from node.cli.register_search import Effort
from node.cli.register_steps import Outcome, Registration
from tests.node.api.living import QUICK, Background, found, in_thread, living
from tests.node.cli.session import Session, run
from tests.node.runtime.realm import tiny

FREE = Rate(per_second=10**6, burst=10**6)
LIMITS: Limits = replace(
    QUICK, by_address=FREE, by_token=FREE, by_operator=FREE, idle_s=15.0, body_s=10.0, send_s=10.0
)
PASSPHRASE = b"secret"
EPOCH_MS = 1_000
LONG_MS = 600_000
"""An epoch that no test sees the end of."""


@contextmanager
def town(
    root: Path,
    *,
    epoch: int = EPOCH_MS,
    registration: str = "open",
    asks: bool = True,
    **terms: int,
) -> Iterator[Background]:
    """Run an instance in a thread until the context is left."""
    data = found(
        root,
        admission=tiny(**terms) if asks else None,
        # An admission calls a cut: where no epoch ends, none comes before its time either.
        timing={"epoch": epoch, "cut_min": epoch if epoch >= LONG_MS else 100},
        registration=registration,
    )

    async def serve(show: Callable[[Background], None], over: trio.Event) -> None:
        async with living(root, limits=LIMITS, data=data) as it:
            show(Background(it=it, token=trio.lowlevel.current_trio_token()))
            await over.wait()

    with in_thread(serve, within=20) as running:
        yield running


class Keeper:
    """Somebody with a directory of keys, at the command line."""

    def __init__(self, root: Path, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root / "keys of mine"
        self.url = url
        self._capsys = capsys
        self._secret = root / "secret"
        self._secret.write_bytes(PASSPHRASE)
        self._secret.chmod(0o600)

    def line(self, what: str, **more: str) -> str:
        url = more.pop("url", self.url)
        options = "".join(f" --{name} '{value}'" for name, value in more.items())
        return (
            f"{what} --keys '{self.root}' --passphrase-file '{self._secret}' --url {url}{options}"
        )

    def run(self, what: str, **more: str) -> Session:
        return run(self.line(what, **more), self._capsys)

    def told(self, what: str, **more: str) -> dict[str, Any]:
        """Run a command line with --json; give what it told."""
        session = self.run(f"{what} --json", **more)
        assert (session.code, session.people) == (0, ""), session
        told: dict[str, Any] = json.loads(session.data)
        return told

    def files(self, kind: str) -> list[Path]:
        return sorted(self.root.glob(f"*.{kind}"))


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait for long."""
    monkeypatch.setattr(register_delivery, "_LOOK_S", 0.05)
    monkeypatch.setattr(register_delivery, "_PAUSES_S", (0.01, 0.01))


Change = Callable[[httpx.Request, httpx.Response], httpx.Response]


class Liar(httpx.BaseTransport):
    """A way to an instance on which answers are changed, or lost."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._real = httpx.HTTPTransport()
        self.asked: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(f"{request.method} {request.url.path}")
        request.read()
        answer = self._real.handle_request(request)
        answer.read()
        return self._change(request, answer)

    def close(self) -> None:
        self._real.close()


class Deaf(httpx.BaseTransport):
    """A way to an instance on which nothing that is posted arrives."""

    def __init__(self) -> None:
        self._real = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            raise httpx.ConnectError("gone", request=request)
        return self._real.handle_request(request)

    def close(self) -> None:
        self._real.close()


def altered(answer: httpx.Response, changes: Mapping[str, object]) -> httpx.Response:
    """Give an answer with some fields changed."""
    return httpx.Response(answer.status_code, json={**answer.json(), **changes})


def register(
    keeper: Keeper, transport: httpx.BaseTransport, role: Role, name: str, *, waits: bool = False
) -> Outcome:
    """Register over a way of one's own."""
    wish = Wish(
        role=role,
        name=name,
        url=keeper.url,
        root=keeper.root,
        realm=None,
        operator=None,
        invite=None,
        domain=None,
        effort=Effort(processes=1, most_hours=1),
        waits=waits,
    )
    with Client(Target(url=keeper.url, token=None), transport=transport) as client:
        return Registration(wish, Output.standard(), client).run(lambda _: PASSPHRASE)
