"""One small document by HTTPS, from an address that was looked at before it is called.

The name is looked up once, here. What is called is the address and not the name, so a name server
that gives another answer a moment later changes nothing; the certificate must be valid for the
name all the same. No redirect is followed, no proxy of the environment asked, nothing unpacked, no
cookie kept, and all of it has one deadline.
"""

import functools
import ssl
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import httpx
import trio

from node.base.errors import NetworkError, NodeCode
from node.outbound.addresses import Address, Resolve, by_system, public_addresses

PORT: Final = 443
MOST_BYTES: Final = 16 * 1024
"""Of a document."""
DEADLINE_S: Final = 5.0
"""For look-up, connection and document together."""
CONNECT_S: Final = 2.0
"""For one address, so that one that swallows packets leaves time for another."""
MOST_TRIES: Final = 3
"""Addresses that are called if the first ones do not answer."""
_OK: Final = 200


@functools.cache
def public_roots() -> ssl.SSLContext:
    """Trust the usual authorities; no variable of the environment adds one."""
    return httpx.create_ssl_context(trust_env=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What is reached and how. Only tests make another than `INTERNET`; no setting does."""

    resolve: Resolve = by_system
    """Looks names up."""
    allowed: frozenset[Address] = field(default_factory=frozenset)
    """Addresses that are taken though they are not public."""
    port: int = PORT
    """Where HTTPS is served."""
    roots: ssl.SSLContext | None = None
    """Whose certificates are believed; None for the usual authorities."""
    deadline_s: float = DEADLINE_S
    """Seconds for everything."""


INTERNET: Final = Outside()


async def fetch(name: str, path: str, *, outside: Outside = INTERNET) -> bytes:
    """Give the document at `https://NAME/PATH`, at most 16 KiB.

    `name` is a domain in its ASCII form. Raises NetworkError TIMED_OUT after 5 s, and UNREACHABLE
    for everything else: no public address, no answer, no valid certificate, another status than
    200, too large. Nothing that the other side sent stands in the error.
    """
    found: bytes | None = None
    with trio.move_on_after(outside.deadline_s):
        addresses = await public_addresses(name, resolve=outside.resolve, allowed=outside.allowed)
        found = await _from_first(addresses[:MOST_TRIES], name, path, outside)
    if found is None:
        raise NetworkError(
            "nothing fetched",
            why=f"it did not answer within {outside.deadline_s:g} s",
            fix="try again once it answers at once",
            code=NodeCode.TIMED_OUT,
        )
    return found


async def _from_first(
    addresses: tuple[Address, ...], name: str, path: str, outside: Outside
) -> bytes:
    """Ask the first address that can be connected to."""
    # Reading the authorities takes 60 ms the first time: too long for one turn of a node.
    roots = outside.roots
    if roots is None:
        roots = await trio.to_thread.run_sync(public_roots)
    refused: NetworkError | None = None
    # The transport and not a client: what a client does besides (it reads cookies, and where a
    # redirect leads even if it does not follow) fails on hostile headers in ways of its own.
    async with httpx.AsyncHTTPTransport(verify=roots, trust_env=False) as transport:
        for address in addresses:
            try:
                return await _ask(transport, address, name, path, outside.port)
            except httpx.ConnectTimeout:
                refused = _unreachable("its server does not answer", "let it serve HTTPS")
            except httpx.ConnectError as error:
                refused = not_connected(error)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise _unreachable(
                    "its server broke off or does not speak HTTP", "let it serve HTTPS"
                ) from error
    assert refused is not None, "a name has an address"  # noqa: S101 # our own invariant
    raise refused


async def _ask(
    transport: httpx.AsyncHTTPTransport, address: Address, name: str, path: str, port: int
) -> bytes:
    """Ask one address for a document, in the name of its domain."""
    host = f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004 # of IP
    asked = httpx.Request(
        "GET",
        f"https://{host}:{port}{path}",
        headers={
            "host": name,
            "user-agent": "folkmoot",
            "accept": "application/json",
            # What is packed may unpack to anything; a server that packs all the same is refused.
            "accept-encoding": "identity",
            "connection": "close",
        },
        extensions={
            "sni_hostname": name,
            "timeout": {"connect": CONNECT_S, "read": None, "write": None, "pool": None},
        },
    )
    answer = await transport.handle_async_request(asked)
    async with aclosing(answer):
        if answer.status_code != _OK:
            raise _unreachable(
                f"it answers with status {answer.status_code}"
                + (", and no redirect is followed" if answer.is_redirect else ""),
                "serve the file itself, with status 200",
            )
        if answer.headers.get("content-encoding", "identity") != "identity":
            raise _unreachable("it packs its file unasked", "serve the file as it is")
        found = bytearray()
        # Not by leaving the loop: only a cancelled wait winds up all the generators of httpx.
        with trio.CancelScope() as scope:
            async for part in answer.aiter_raw():
                found += part
                if len(found) > MOST_BYTES:
                    scope.cancel()
        if len(found) > MOST_BYTES:
            raise _unreachable(
                f"its file is larger than {MOST_BYTES:,} bytes", "serve a smaller one"
            )
        return bytes(found)


def not_connected(error: httpx.ConnectError) -> NetworkError:
    """Tell a certificate that proves nothing from a server that is not there."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return _unreachable(
                "its certificate is not valid for its name, or it speaks no TLS",
                "let it serve HTTPS with a certificate that browsers take",
            )
        cause = cause.__cause__ or cause.__context__
    return _unreachable("its server refuses the connection", "let it serve HTTPS at port 443")


def _unreachable(why: str, fix: str) -> NetworkError:
    return NetworkError("nothing fetched", why=why, fix=fix, code=NodeCode.UNREACHABLE)
