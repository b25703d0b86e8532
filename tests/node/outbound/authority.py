"""An authority of its own for tests, and HTTPS servers on loopback that say what a test tells them."""

import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import trio
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from node.outbound.addresses import Address
from node.outbound.fetching import Outside

LOOPBACK = ipaddress.ip_address("127.0.0.1")
DOMAIN = "moot.example.org"

Says = Callable[[trio.abc.Stream, bytes], Awaitable[None]]
"""Answers a request on an open connection."""


@dataclass(slots=True)
class Authority:
    """Signs certificates that only its own `roots` believe."""

    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def certificate(self, folder: Path, *names: str, days: int = 1) -> Path:
        """Write a key with a certificate for some names; `days` below 0 makes an expired one."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._signed(key.public_key(), names, ca=False, days=days)
        found = folder / f"{names[0]}{days}.pem"
        found.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + made.public_bytes(serialization.Encoding.PEM)
        )
        return found

    def roots(self) -> ssl.SSLContext:
        """Believe this authority, and nobody else."""
        own = self._signed(self.key.public_key(), (), ca=True, days=1)
        return ssl.create_default_context(
            cadata=own.public_bytes(serialization.Encoding.PEM).decode()
        )

    def _signed(
        self, key: ec.EllipticCurvePublicKey, names: tuple[str, ...], *, ca: bool, days: int
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of tests")])
        subject = (
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])]) if names else issuer
        )
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=3))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if names:
            alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
            builder = builder.add_extension(alternatives, critical=False)
        return builder.sign(self.key, hashes.SHA256())


@dataclass(slots=True)
class Server:
    """An HTTPS server on loopback, and what it was asked."""

    port: int
    authority: Authority
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    """What the callers' TLS asked for."""

    def outside(self, *addresses: Address, **more: object) -> Outside:
        """Give the way to it: every name leads to some addresses, or to loopback."""

        async def resolve(name: str) -> tuple[Address, ...]:
            del name
            return addresses or (LOOPBACK,)

        kept: dict[str, object] = {
            "resolve": resolve,
            "allowed": frozenset({LOOPBACK}),
            "port": self.port,
            "roots": self.authority.roots(),
            **more,
        }
        return Outside(**kept)  # type: ignore[arg-type]


@asynccontextmanager
async def serving(
    folder: Path,
    says: Says | bytes,
    *,
    names: tuple[str, ...] = (DOMAIN,),
    days: int = 1,
    believed: Authority | None = None,
    host: str = "127.0.0.1",
) -> AsyncIterator[Server]:
    """Serve HTTPS on loopback; `believed` is another authority than the one that signed."""
    authority = Authority()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.certificate(folder, *names, days=days))
    (listener,) = await trio.open_tcp_listeners(0, host=host)
    server = Server(listener.socket.getsockname()[1], believed or authority)

    def note(connection: object, name: str | None, _: object) -> None:
        del connection
        server.names.append(name)

    context.sni_callback = note

    async def meet(stream: trio.SocketStream) -> None:
        server.connections += 1
        secure = trio.SSLStream(stream, context, server_side=True, https_compatible=True)
        try:
            with trio.move_on_after(20):
                raw = b""
                while not raw.endswith(b"\r\n\r\n"):
                    part = await secure.receive_some(4_096)
                    if not part:
                        return
                    raw += part
                server.requests.append(raw)
                await (secure.send_all(says) if isinstance(says, bytes) else says(secure, raw))
        except trio.BrokenResourceError:
            pass
        finally:
            await trio.aclose_forcefully(secure)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, meet, [listener])
        try:
            yield server
        finally:
            nursery.cancel_scope.cancel()


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """Spell an answer of HTTP."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
