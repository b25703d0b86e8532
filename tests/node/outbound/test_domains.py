"""Domains: who is proven, and every way in which a file does not prove anything."""

import ipaddress
import json
from pathlib import Path

import pytest
import trio

from node.base.errors import NodeCode, RequestError
from node.outbound.addresses import Address
from node.outbound.domains import MOST_CHECKS, check
from node.outbound.fetching import MOST_BYTES, Outside
from tests.node.outbound.authority import DOMAIN, LOOPBACK, Authority, answer, serving

ME = bytes(range(32))
FILE = json.dumps({"operators": [bytes(32).hex(), ME.hex()]}).encode()


async def refused(outside: Outside, *, domain: str = DOMAIN) -> str:
    """Check a domain that does not prove anything; give the reason."""
    with pytest.raises(RequestError) as caught:
        await check(domain, ME, outside=outside)
    assert caught.value.code is NodeCode.DOMAIN_NOT_PROVEN
    return caught.value.why


@pytest.mark.trio
async def test_a_domain_that_names_the_operator_proves_it(tmp_path: Path) -> None:
    async with serving(tmp_path, answer(FILE)) as server:
        await check(DOMAIN, ME, outside=server.outside())

    (request,) = server.requests
    lines = request.decode().lower().split("\r\n")
    assert lines[0] == "get /.well-known/folkmoot.json http/1.1"
    assert [line for line in lines if line.startswith("host:")] == [f"host: {DOMAIN}"]
    assert "accept-encoding: identity" in lines
    assert server.names == [DOMAIN]


@pytest.mark.trio
@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"operators": [ME.hex().upper()]}).encode(),
        json.dumps({"contact": "a", "operators": [ME.hex()], "more": [1]}).encode(),
    ],
)
async def test_case_and_further_fields_do_not_matter(tmp_path: Path, body: bytes) -> None:
    async with serving(tmp_path, answer(body)) as server:
        await check(DOMAIN, ME, outside=server.outside())


@pytest.mark.trio
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (json.dumps({"operators": [bytes(32).hex()]}).encode(), "does not name this operator"),
        (b'{"operators": []}', "does not name this operator"),
        (json.dumps({"operators": ME.hex()}).encode(), "not JSON with a list"),
        (json.dumps({"operators": [1]}).encode(), "not JSON with a list"),
        (json.dumps([ME.hex()]).encode(), "not JSON with a list"),
        (b"", "not JSON with a list"),
        (ME.hex().encode(), "not JSON with a list"),
        (b'{"operators": ["\xff"]}', "not JSON with a list"),
        (b"[" * 16_000, "not JSON with a list"),
        (b'{"operators": ' + b"[" * 16_000, "not JSON with a list"),
    ],
)
async def test_a_file_that_does_not_name_the_operator_proves_nothing(
    tmp_path: Path, body: bytes, why: str
) -> None:
    async with serving(tmp_path, answer(body)) as server:
        assert why in await refused(server.outside())


@pytest.mark.trio
async def test_nothing_of_what_the_other_side_sent_stands_in_the_error(tmp_path: Path) -> None:
    secret = b'{"token": "hunter2"}'
    for said in (answer(secret), answer(secret, status="500 hunter2"), secret):
        async with serving(tmp_path, said) as server:
            with pytest.raises(RequestError) as caught:
                await check(DOMAIN, ME, outside=server.outside())
        assert "hunter2" not in str(caught.value)


@pytest.mark.trio
@pytest.mark.parametrize(
    "domain",
    [
        *("127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.0x1", "a.0x7f01"),
        *("[::1]", "::1", "localhost", "fe80::1", "1.2.3.4.", "example.org.", "Example.org"),
        *("", ".", "a..b", "-a.org", "a-.org", "exa mple.org", "example.org:443", "a.org/x"),
        *("a.org#", "a.org?x", "u@a.org", "a.org\n", "\u0435xample.org", "a.\u0661org", "a_b.org"),
        *("a" * 64 + ".org", "a." * 130 + "org", "a.org\x00.b.org", "%61.org", "a.org\\@b.org"),
    ],
)
async def test_what_is_no_domain_is_not_even_looked_up(domain: str) -> None:
    asked: list[str] = []

    async def resolve(name: str) -> tuple[Address, ...]:
        asked.append(name)
        return (LOOPBACK,)

    assert "no domain name" in await refused(Outside(resolve=resolve), domain=domain)
    assert asked == []


@pytest.mark.trio
@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "169.254.169.254", "64:ff9b::7f00:1"])
async def test_a_name_that_leads_inside_is_not_called(tmp_path: Path, address: str) -> None:
    inside = ipaddress.ip_address(address)
    async with serving(tmp_path, answer(FILE)) as server:
        why = await refused(server.outside(inside, allowed=frozenset()))

    assert "not public" in why
    assert server.connections == 0


@pytest.mark.trio
async def test_one_address_inside_among_others_stops_it(tmp_path: Path) -> None:
    bad = ipaddress.ip_address("10.0.0.1")
    async with serving(tmp_path, answer(FILE)) as server:
        for order in ((LOOPBACK, bad), (bad, LOOPBACK)):
            assert "not public" in await refused(server.outside(*order))

    assert server.connections == 0


@pytest.mark.trio
async def test_a_name_that_is_bound_anew_after_the_look_up_changes_nothing(tmp_path: Path) -> None:
    # The attack: a public address for the check, one inside for the connection.
    found = [LOOPBACK, ipaddress.ip_address("127.0.0.2")]
    asked: list[str] = []

    async def resolve(name: str) -> tuple[Address, ...]:
        asked.append(name)
        return (found.pop(0),)

    async with serving(tmp_path, answer(FILE)) as server:
        await check(DOMAIN, ME, outside=server.outside(resolve=resolve))

    assert asked == [DOMAIN]
    assert server.connections == 1


@pytest.mark.trio
async def test_an_address_that_does_not_answer_is_followed_by_the_next(tmp_path: Path) -> None:
    silent = ipaddress.ip_address("127.0.0.2")
    async with serving(tmp_path, answer(FILE)) as server:
        way = server.outside(silent, LOOPBACK, allowed=frozenset({silent, LOOPBACK}))
        await check(DOMAIN, ME, outside=way)


@pytest.mark.trio
async def test_an_address_of_ipv6_is_called_as_well(tmp_path: Path) -> None:
    six = ipaddress.ip_address("::1")
    async with serving(tmp_path, answer(FILE), host="::1") as server:
        await check(DOMAIN, ME, outside=server.outside(six, allowed=frozenset({six})))

    assert server.names == [DOMAIN]


@pytest.mark.trio
@pytest.mark.parametrize(
    ("names", "days"),
    [(("other.example.org",), 1), (("example.org",), 1), (("127.0.0.1",), 1), ((DOMAIN,), -1)],
)
async def test_a_certificate_for_another_name_or_an_expired_one_proves_nothing(
    tmp_path: Path, names: tuple[str, ...], days: int
) -> None:
    async with serving(tmp_path, answer(FILE), names=names, days=days) as server:
        assert "certificate" in await refused(server.outside())

    assert server.requests == []


@pytest.mark.trio
async def test_a_certificate_of_an_authority_that_nobody_knows_proves_nothing(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, answer(FILE), believed=Authority()) as server:
        assert "certificate" in await refused(server.outside())
        assert "certificate" in await refused(server.outside(roots=None))

    assert server.requests == []


@pytest.mark.trio
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
async def test_a_redirect_is_not_followed(tmp_path: Path, status: str) -> None:
    said = answer(FILE, f"Location: https://{DOMAIN}/elsewhere", status=status)
    async with serving(tmp_path, said) as server:
        assert "no redirect is followed" in await refused(server.outside())

    assert len(server.requests) == 1


@pytest.mark.trio
@pytest.mark.parametrize(
    "header",
    [
        *("Location: http://xn--" + "a" * 50_000, "Location: http://[", "Location: https://\x7f"),
        *("Set-Cookie: a=" + " " * 90_000 + "b", "Set-Cookie: " + "a=b; " * 18_000),
    ],
)
async def test_hostile_headers_do_no_more_than_be_refused(tmp_path: Path, header: str) -> None:
    async with serving(tmp_path, answer(b"", header, status="302 Found")) as server:
        assert await refused(server.outside())


@pytest.mark.trio
@pytest.mark.parametrize("status", ["201 Created", "204 No", "404 Not", "500 Oh", "999 What"])
async def test_another_status_proves_nothing(tmp_path: Path, status: str) -> None:
    async with serving(tmp_path, answer(FILE, status=status)) as server:
        assert f"status {status[:3]}" in await refused(server.outside())


@pytest.mark.trio
async def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    whole = FILE + b" " * (MOST_BYTES - len(FILE))
    async with serving(tmp_path, answer(whole)) as server:
        await check(DOMAIN, ME, outside=server.outside())
    async with serving(tmp_path, answer(whole + b" ")) as server:
        assert "larger than" in await refused(server.outside())


@pytest.mark.trio
async def test_a_file_without_end_is_given_up_at_its_limit(tmp_path: Path) -> None:
    sent = 0

    async def for_ever(stream: trio.abc.Stream, _: bytes) -> None:
        nonlocal sent
        await stream.send_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await stream.send_all(b"400\r\n" + b" " * 1_024 + b"\r\n")
            sent += 1_024

    async with serving(tmp_path, for_ever) as server:
        assert "larger than" in await refused(server.outside())

    assert sent < 64 * 1024 * 1024


@pytest.mark.trio
async def test_a_packed_file_is_not_unpacked(tmp_path: Path) -> None:
    async with serving(tmp_path, answer(FILE, "Content-Encoding: gzip")) as server:
        assert "packs" in await refused(server.outside())


@pytest.mark.trio
@pytest.mark.parametrize(
    "said",
    [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}", b"\x00" * 200_000],
)
async def test_a_server_that_breaks_off_or_speaks_otherwise_proves_nothing(
    tmp_path: Path, said: bytes
) -> None:
    async with serving(tmp_path, said) as server:
        assert "broke off or does not speak HTTP" in await refused(server.outside())


@pytest.mark.trio
async def test_headers_without_end_are_given_up(tmp_path: Path) -> None:
    async def for_ever(stream: trio.abc.Stream, _: bytes) -> None:
        await stream.send_all(b"HTTP/1.1 200 OK\r\n")
        while True:
            await stream.send_all(b"X: " + b"y" * 1_000 + b"\r\n")

    async with serving(tmp_path, for_ever) as server:
        assert "broke off" in await refused(server.outside())


@pytest.mark.trio
async def test_every_way_to_be_slow_ends_at_the_deadline(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    del autojump_clock

    async def silent(stream: trio.abc.Stream, _: bytes) -> None:
        del stream
        await trio.sleep_forever()

    async def drips(stream: trio.abc.Stream, _: bytes) -> None:
        await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n")
        while True:
            await stream.send_all(b" ")
            await trio.sleep(0.5)

    async def goes_on(stream: trio.abc.Stream, _: bytes) -> None:
        while True:
            await stream.send_all(b"HTTP/1.1 100 Continue\r\n\r\n")
            await trio.sleep(0.5)

    for says in (silent, drips, goes_on):
        async with serving(tmp_path, says) as server:
            began = trio.current_time()
            assert "within 5 s" in await refused(server.outside())
            assert trio.current_time() - began < 5.5


@pytest.mark.trio
async def test_a_look_up_that_never_ends_is_left_behind(
    autojump_clock: trio.testing.MockClock,
) -> None:
    del autojump_clock

    async def resolve(name: str) -> tuple[Address, ...]:
        await trio.sleep_forever()
        raise AssertionError(name)

    assert "within 5 s" in await refused(Outside(resolve=resolve))


@pytest.mark.trio
async def test_a_port_where_nobody_listens_is_told_from_a_bad_certificate(tmp_path: Path) -> None:
    async with serving(tmp_path, answer(FILE)) as server:
        outside = server.outside()
    assert "refuses the connection" in await refused(outside)


@pytest.mark.trio
async def test_a_server_that_speaks_no_tls_proves_nothing(tmp_path: Path) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")

    async def plain(stream: trio.SocketStream) -> None:
        await stream.send_all(answer(FILE))

    async with serving(tmp_path, b"") as server, trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, plain, [listener])
        port = listener.socket.getsockname()[1]
        assert "speaks no TLS" in await refused(server.outside(port=port))
        nursery.cancel_scope.cancel()


@pytest.mark.trio
async def test_the_proxies_of_the_environment_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    async with serving(tmp_path, answer(FILE)) as server:
        await check(DOMAIN, ME, outside=server.outside())


@pytest.mark.trio
async def test_more_checks_than_may_run_at_once_are_told_to_come_back(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    del autojump_clock
    ends: list[NodeCode] = []

    async def silent(stream: trio.abc.Stream, _: bytes) -> None:
        del stream
        await trio.sleep_forever()

    async with serving(tmp_path, silent) as server:
        outside = server.outside()

        async def one(asker: int) -> None:
            with pytest.raises(RequestError) as caught:
                await check(DOMAIN, ME, asker=bytes([asker]), outside=outside)
            ends.append(caught.value.code)

        async with trio.open_nursery() as nursery:
            for asker in range(MOST_CHECKS + 3):
                nursery.start_soon(one, asker)

    assert ends.count(NodeCode.BUSY) == 3
    assert ends.count(NodeCode.DOMAIN_NOT_PROVEN) == MOST_CHECKS
    async with serving(tmp_path, answer(FILE)) as server:
        await check(DOMAIN, ME, outside=server.outside())


@pytest.mark.trio
async def test_one_with_a_slow_domain_does_not_take_the_places_of_all(tmp_path: Path) -> None:
    ends: list[str] = []

    async def silent(stream: trio.abc.Stream, _: bytes) -> None:
        del stream
        await trio.sleep_forever()

    async with serving(tmp_path, silent) as slow, serving(tmp_path, answer(FILE)) as server:

        async def one(operator: int) -> None:
            with pytest.raises(RequestError) as caught:
                await check(DOMAIN, bytes([operator]), asker=b"key", outside=slow.outside())
            ends.append(caught.value.code)

        async with trio.open_nursery() as nursery:
            for operator in range(MOST_CHECKS):
                nursery.start_soon(one, operator)
            await trio.sleep(0.3)
            await check(DOMAIN, ME, outside=server.outside())

    assert ends.count(NodeCode.BUSY) == MOST_CHECKS - 1
    assert ends.count(NodeCode.DOMAIN_NOT_PROVEN) == 1
