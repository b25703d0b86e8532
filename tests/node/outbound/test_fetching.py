"""One document by HTTPS: what comes back, and by which code it fails."""

import ipaddress
import ssl
from pathlib import Path

import pytest
import trio
import trio.testing

from node.base.errors import NetworkError, NodeCode
from node.outbound.fetching import INTERNET, MOST_BYTES, fetch, public_roots
from tests.node.outbound.authority import DOMAIN, LOOPBACK, answer, serving


@pytest.mark.trio
async def test_the_document_comes_back_as_it_was_sent(tmp_path: Path) -> None:
    body = bytes(range(256)) * 4
    async with serving(tmp_path, answer(body)) as server:
        assert await fetch(DOMAIN, "/a/b?c=d", outside=server.outside()) == body

    assert server.requests[0].startswith(b"GET /a/b?c=d HTTP/1.1\r\n")
    assert b"cookie" not in server.requests[0].lower()


@pytest.mark.trio
async def test_a_length_that_is_too_large_is_refused_although_little_comes(tmp_path: Path) -> None:
    said = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"8000\r\n" + bytes(0x8000) + b"\r\n"
    async with serving(tmp_path, said + chunk + b"0\r\n\r\n") as server:
        with pytest.raises(NetworkError, match=f"larger than {MOST_BYTES:,}") as caught:
            await fetch(DOMAIN, "/", outside=server.outside())
    assert caught.value.code is NodeCode.UNREACHABLE


@pytest.mark.trio
async def test_being_slow_has_a_code_of_its_own(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    del autojump_clock

    async def silent(stream: trio.abc.Stream, _: bytes) -> None:
        del stream
        await trio.sleep_forever()

    async with serving(tmp_path, silent) as server:
        with pytest.raises(NetworkError) as caught:
            await fetch(DOMAIN, "/", outside=server.outside(deadline_s=2.0))
    assert caught.value.code is NodeCode.TIMED_OUT
    assert "within 2 s" in caught.value.why


@pytest.mark.trio
async def test_no_more_than_three_addresses_are_tried(tmp_path: Path) -> None:
    silent = tuple(ipaddress.ip_address(f"127.0.0.{last}") for last in (2, 3, 4))
    way = frozenset({*silent, LOOPBACK})
    async with serving(tmp_path, answer(b"{}")) as server:
        assert await fetch(DOMAIN, "/", outside=server.outside(*silent[:2], LOOPBACK, allowed=way))
        with pytest.raises(NetworkError, match="refuses the connection"):
            await fetch(DOMAIN, "/", outside=server.outside(*silent, LOOPBACK, allowed=way))

    assert server.connections == 1


def test_the_internet_allows_nothing_and_believes_the_usual_authorities() -> None:
    assert (INTERNET.allowed, INTERNET.port, INTERNET.roots) == (frozenset(), 443, None)


def test_what_the_usual_authorities_are_does_not_depend_on_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    public_roots.cache_clear()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nothing.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    roots = public_roots()

    assert roots.verify_mode is ssl.CERT_REQUIRED
    assert roots.check_hostname
    assert len(roots.get_ca_certs()) > 50
