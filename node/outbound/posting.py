"""One small document sent by HTTPS, to an address that was looked at before it is called.

The rules are those of `fetching`: the name is looked up once, what is called is an address that was
found public, the certificate must be valid for the name, no redirect is followed, and all of it has
one deadline. Of the answer only the status counts; its body is read, up to a limit, and forgotten.
"""

import re
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx
import trio

from node.base.errors import NetworkError, NodeCode, RequestError
from node.outbound.addresses import Address, public_addresses
from node.outbound.fetching import (
    CONNECT_S,
    INTERNET,
    MOST_TRIES,
    PORT,
    Outside,
    not_connected,
    public_roots,
)

MOST_ANSWER: Final = 64 * 1024
"""Bytes of an answer that are read."""
LONGEST_URL: Final = 1_000
"""Characters of an address."""
_LONGEST_NAME: Final = 253
_LABEL: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
# The last label begins with a letter, so that no spelling of a number is ever a name.
_NAME: Final = re.compile(rf"({_LABEL}\.)*[a-z]([a-z0-9-]{{0,61}}[a-z0-9])?")
_PATH: Final = re.compile(r"/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*(\?[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*)?")
_FREE_PORTS: Final = range(1_024, 65_536)
_OK: Final = range(200, 300)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where something is sent to."""

    name: str
    """A host by its name; never an address, because names are what certificates are made for."""
    port: int
    path: str
    """Path and query, from the first slash on."""

    @property
    def authority(self) -> str:
        """The host as a request names it."""
        return self.name if self.port == PORT else f"{self.name}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address, in its one spelling."""
        return f"https://{self.authority}{self.path}"


def read_target(url: str) -> Target:
    """Read an address of HTTPS that strangers may name; raises RequestError BAD_FIELD.

    It holds a host by its name, in lower case and ASCII, perhaps a port (443 or from 1024 on),
    path and query; no user, no fragment.
    """
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable():
        raise _refused(f"it is longer than {LONGEST_URL} characters, or not plain ASCII")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _refused("it is no address") from error
    if parts.scheme != "https":
        raise _refused("only https is spoken")
    if "@" in parts.netloc or "#" in url or "\\" in url or " " in url:
        raise _refused("it names a user or a fragment, or holds a space or a backslash")
    name = parts.hostname or ""
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        raise _refused("its host is no name in ASCII; numbers and addresses are not taken")
    if port is not None and port != PORT and port not in _FREE_PORTS:
        raise _refused(f"its port is neither {PORT} nor 1024 or higher")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not _PATH.fullmatch(path):
        raise _refused("its path holds characters that must be escaped")
    return Target(name=name, port=port or PORT, path=path)


async def post(
    target: Target, headers: Mapping[str, str], body: bytes, *, outside: Outside = INTERNET
) -> None:
    """Send a document; returns once the other side has taken it with a status of 200 to 299.

    Raises NetworkError TIMED_OUT after 5 s, and UNREACHABLE for everything else: no public address,
    no answer, no valid certificate, another status. Nothing that the other side sent stands in it.
    """
    is_done = False
    with trio.move_on_after(outside.deadline_s):
        addresses = await public_addresses(
            target.name, resolve=outside.resolve, allowed=outside.allowed
        )
        await _to_first(addresses[:MOST_TRIES], target, headers, body, outside)
        is_done = True
    if not is_done:
        raise NetworkError(
            "nothing delivered",
            why=f"it did not answer within {outside.deadline_s:g} s",
            fix="answer at once, and do the work afterwards",
            code=NodeCode.TIMED_OUT,
        )


async def _to_first(
    addresses: tuple[Address, ...],
    target: Target,
    headers: Mapping[str, str],
    body: bytes,
    outside: Outside,
) -> None:
    """Send to the first address that can be connected to; never twice."""
    roots = outside.roots
    if roots is None:
        roots = await trio.to_thread.run_sync(public_roots)
    refused: NetworkError | None = None
    async with httpx.AsyncHTTPTransport(verify=roots, trust_env=False) as transport:
        for address in addresses:
            try:
                await _send(transport, address, target, headers, body)
            except httpx.ConnectTimeout:
                refused = _unreachable("its server does not answer", "let it serve HTTPS")
            except httpx.ConnectError as error:
                refused = not_connected(error)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise _unreachable(
                    "its server broke off or does not speak HTTP", "let it serve HTTPS"
                ) from error
            else:
                return
    assert refused is not None, "a name has an address"  # noqa: S101 # our own invariant
    raise refused


async def _send(
    transport: httpx.AsyncHTTPTransport,
    address: Address,
    target: Target,
    headers: Mapping[str, str],
    body: bytes,
) -> None:
    """Send to one address, in the name of its host."""
    host = f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004 # of IP
    asked = httpx.Request(
        "POST",
        f"https://{host}:{target.port}{target.path}",
        headers={
            **headers,
            "host": target.authority,
            "user-agent": "folkmoot",
            "accept-encoding": "identity",
            "connection": "close",
        },
        content=body,
        extensions={
            "sni_hostname": target.name,
            "timeout": {"connect": CONNECT_S, "read": None, "write": None, "pool": None},
        },
    )
    answer = await transport.handle_async_request(asked)
    async with aclosing(answer):
        left = MOST_ANSWER
        # Read, so that a server which answers in parts is not cut off in the middle. Not by leaving
        # the loop: only a cancelled wait winds up all the generators of httpx.
        with trio.CancelScope() as scope:
            async for part in answer.aiter_raw():
                left -= len(part)
                if left < 0:
                    scope.cancel()
        if answer.status_code not in _OK:
            raise _unreachable(
                f"it answers with status {answer.status_code}"
                + (", and no redirect is followed" if answer.is_redirect else ""),
                "answer with a status of 200 to 299",
            )


def _refused(why: str) -> RequestError:
    return RequestError(
        "address refused",
        why=f"$.url: {why}",
        fix="give an address such as https://hooks.example.org/moot",
        code=NodeCode.BAD_FIELD,
    )


def _unreachable(why: str, fix: str) -> NetworkError:
    return NetworkError("nothing delivered", why=why, fix=fix, code=NodeCode.UNREACHABLE)
