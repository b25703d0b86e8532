"""A receiver of webhooks as somebody would write one: HTTPS, checks each signature, counts."""

import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h11
import msgspec
import trio

from node.notification.signatures import verify
from node.outbound.addresses import Address
from node.outbound.fetching import Outside
from tests.node.outbound.authority import DOMAIN, LOOPBACK, Authority

Says = Callable[["Got"], Awaitable[int]]
"""Gives the status that a request is answered with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Got:
    """One request."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(self.body)
        return found

    @property
    def at(self) -> object:
        """Tell which notice it is, as the tests number them."""
        return self.told["notice"]["at"]


@dataclass(slots=True, kw_only=True)
class Receiver:
    """A running receiver and what came."""

    port: int
    roots: ssl.SSLContext
    got: list[Got] = field(default_factory=list)
    open: int = 0
    most_open: int = 0
    nonces: set[str] = field(default_factory=set)

    def url(self, path: str = "/moot", host: str = DOMAIN) -> str:
        return f"https://{host}:{self.port}{path}"

    def outside(self, *addresses: Address, **more: object) -> Outside:
        """Give the way to it: every name leads to some addresses, or to loopback."""

        async def resolve(name: str) -> tuple[Address, ...]:
            del name
            return addresses or (LOOPBACK,)

        kept: dict[str, object] = {
            "resolve": resolve,
            "allowed": frozenset({LOOPBACK}),
            "roots": self.roots,
            **more,
        }
        return Outside(**kept)  # type: ignore[arg-type]

    def is_new(self, nonce: str) -> bool:
        fresh = nonce not in self.nonces
        self.nonces.add(nonce)
        return fresh

    def check(
        self, one: Got, key: bytes, keyid: str, *, path: str = "/moot", host: str = DOMAIN
    ) -> None:
        """Check a request as the how-to page says."""
        verify(
            method=one.method,
            url=self.url(path, host),
            headers=one.headers,
            body=one.body,
            key=key,
            keyid=keyid,
            now=int(time.time()),
            is_new=self.is_new,
        )


async def takes(one: Got) -> int:
    """Take everything."""
    del one
    return 204


@asynccontextmanager
async def receiving(
    folder: Path,
    says: Says = takes,
    *,
    names: tuple[str, ...] = (DOMAIN,),
    extra: str = "",
    authority: Authority | None = None,
) -> AsyncIterator[Receiver]:
    """Receive on loopback; `extra` is where a redirect leads."""
    authority = authority or Authority()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.certificate(folder, *names))
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    receiver = Receiver(port=listener.socket.getsockname()[1], roots=authority.roots())

    async def meet(stream: trio.SocketStream) -> None:
        secure = trio.SSLStream(stream, context, server_side=True, https_compatible=True)
        receiver.open += 1
        receiver.most_open = max(receiver.most_open, receiver.open)
        try:
            await _answer(secure, receiver, says, extra)
        except (trio.BrokenResourceError, h11.RemoteProtocolError):
            pass
        finally:
            receiver.open -= 1
            await trio.aclose_forcefully(secure)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, meet, [listener])
        try:
            yield receiver
        finally:
            nursery.cancel_scope.cancel()


async def _answer(
    stream: trio.SSLStream[trio.SocketStream], receiver: Receiver, says: Says, extra: str
) -> None:
    http = h11.Connection(h11.SERVER)
    head: h11.Request | None = None
    body = b""
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            http.receive_data(await stream.receive_some(65_536))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        else:
            break
    if head is None:
        return
    one = Got(
        method=head.method.decode(),
        target=head.target.decode(),
        headers={name.decode().lower(): value.decode() for name, value in head.headers},
        body=body,
    )
    receiver.got.append(one)
    status = await says(one)
    headers = [("content-length", "0"), ("connection", "close")]
    if extra:
        headers.append(("location", extra))
    answer = http.send(h11.Response(status_code=status, headers=headers))
    await stream.send_all((answer or b"") + (http.send(h11.EndOfMessage()) or b""))
