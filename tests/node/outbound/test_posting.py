"""Posting: which addresses may be named, and what the other side may do to a sender."""

from pathlib import Path

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from node.base.errors import NetworkError, NodeCode, RequestError
from node.outbound.addresses import Address
from node.outbound.fetching import Outside
from node.outbound.posting import LONGEST_URL, MOST_ANSWER, Target, post, read_target
from tests.node.outbound.authority import DOMAIN, Authority, answer, serving

HOSTILE = [
    "",
    "moot.example.org",
    "http://moot.example.org/",
    "HTTP://moot.example.org/",
    "ftp://moot.example.org/",
    "file:///etc/passwd",
    "gopher://moot.example.org/",
    "https:/moot.example.org/",
    "https://",
    "https:///x",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://017700000001/",
    "https://0/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[fe80::1%25eth0]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://1.1.1.1/",
    "https://moot.example.org@127.0.0.1/",
    "https://user:password@moot.example.org/",
    "https://@moot.example.org/",
    "https://moot.example.org#@127.0.0.1/",
    "https://moot.example.org/#fragment",
    "https://moot.example.org\\@127.0.0.1/",
    "https://moot.example.org/a b",
    "https://moot.example.org/\r\nHost: x",
    "https://moot.example.org/\x00",
    "https://moot.example.org/\t",
    "https://moot.example.org\n/",
    "https://moot.example.org/ä",
    "https://mööt.example.org/",
    "https://\uff11\uff12\uff17.0.0.1/",
    "https://moot.example.org./",
    "https://.example.org/",
    "https://moot..example.org/",
    "https://-moot.example.org/",
    "https://moot_x.example.org/",
    "https://%6doot.example.org/",
    "https://moot.example.org:0/",
    "https://moot.example.org:22/",
    "https://moot.example.org:80/",
    "https://moot.example.org:1023/",
    "https://moot.example.org:65536/",
    "https://moot.example.org:-1/",
    "https://moot.example.org:x/",
    "https://moot.example.org:٤٤٣/",
    'https://moot.example.org/"<>',
    "https://moot.example.org/{x}",
    "https://" + "a" * 64 + ".example.org/",
    "https://" + "a." * 130 + "org/",
    "https://moot.example.org/" + "a" * LONGEST_URL,
    " https://moot.example.org/",
]
GOOD = {
    "https://moot.example.org": Target(name=DOMAIN, port=443, path="/"),
    "https://MOOT.example.org/A": Target(name=DOMAIN, port=443, path="/A"),
    "https://moot.example.org:443/a?b=c%20d": Target(name=DOMAIN, port=443, path="/a?b=c%20d"),
    "https://moot.example.org:8443?b": Target(name=DOMAIN, port=8443, path="/?b"),
    "https://localhost:1024/": Target(name="localhost", port=1024, path="/"),
    "https://xn--mt-fkaa.example/": Target(name="xn--mt-fkaa.example", port=443, path="/"),
}


def at(port: int, path: str = "/hook") -> Target:
    return Target(name=DOMAIN, port=port, path=path)


async def refused(target: Target, outside: Outside) -> NetworkError:
    with pytest.raises(NetworkError) as caught:
        await post(target, {"content-type": "text/plain"}, b"body", outside=outside)
    return caught.value


@pytest.mark.parametrize("url", HOSTILE)
def test_an_address_that_may_hide_another_is_refused(url: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_target(url)

    assert caught.value.code is NodeCode.BAD_FIELD


@pytest.mark.parametrize("url", GOOD)
def test_a_good_address_has_one_spelling(url: str) -> None:
    target = read_target(url)

    assert target == GOOD[url]
    assert read_target(target.url) == target


@given(st.text(max_size=80))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    for url in (text, "https://" + text, "https://moot.example.org/" + text):
        try:
            target = read_target(url)
        except RequestError:
            continue
        assert read_target(target.url) == target
        assert target.url.startswith("https://")


@pytest.mark.trio
@pytest.mark.parametrize("status", ["200 OK", "202 Accepted", "204 No Content"])
async def test_what_is_taken_is_done(tmp_path: Path, status: str) -> None:
    async with serving(tmp_path, answer(b"", status=status)) as server:
        await post(at(server.port, "/hook?x=1"), {"a": "b"}, b"", outside=server.outside())

    lines = server.requests[0].decode().lower().split("\r\n")
    assert lines[0] == "post /hook?x=1 http/1.1"
    hosts = [line for line in lines if line.startswith("host:")]
    assert hosts == [f"host: {DOMAIN}:{server.port}"]
    assert "a: b" in lines
    assert server.names == [DOMAIN]


@pytest.mark.trio
@pytest.mark.parametrize("status", ["301 Moved", "307 Again", "400 Bad", "404 No", "500 Oh"])
async def test_another_status_is_a_failure_and_no_redirect_is_followed(
    tmp_path: Path, status: str
) -> None:
    said = answer(b"", "Location: https://moot.example.org/elsewhere", status=status)
    async with serving(tmp_path, said) as server:
        error = await refused(at(server.port), server.outside())

    assert f"status {status[:3]}" in error.why
    assert "elsewhere" not in str(error)
    assert len(server.requests) == 1


@pytest.mark.trio
async def test_an_answer_without_end_is_given_up_at_its_limit_and_its_status_counts(
    tmp_path: Path,
) -> None:
    sent = 0

    async def for_ever(stream: trio.abc.Stream, _: bytes) -> None:
        nonlocal sent
        await stream.send_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            await stream.send_all(b"400\r\n" + b" " * 1_024 + b"\r\n")
            sent += 1_024

    async with serving(tmp_path, for_ever) as server:
        await post(at(server.port), {}, b"", outside=server.outside())

    assert MOST_ANSWER < sent < 64 * 1024 * 1024


@pytest.mark.trio
@pytest.mark.parametrize("said", [b"", b"SSH-2.0-x\r\n", b"\x00" * 200_000])
async def test_a_server_that_breaks_off_or_speaks_otherwise_has_taken_nothing(
    tmp_path: Path, said: bytes
) -> None:
    async with serving(tmp_path, said) as server:
        error = await refused(at(server.port), server.outside())

    assert "broke off or does not speak HTTP" in error.why


@pytest.mark.trio
async def test_a_certificate_for_another_name_or_of_another_authority_is_not_believed(
    tmp_path: Path,
) -> None:
    for more in ({"names": ("other.example.org",)}, {"believed": Authority()}, {"days": -1}):
        async with serving(tmp_path, answer(b""), **more) as server:  # type: ignore[arg-type]
            error = await refused(at(server.port), server.outside())
        assert "certificate" in error.why
        assert server.requests == []


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

    for says in (silent, drips):
        async with serving(tmp_path, says) as server:
            began = trio.current_time()
            error = await refused(at(server.port), server.outside())
            assert error.code is NodeCode.TIMED_OUT
            assert trio.current_time() - began < 5.5


@pytest.mark.trio
async def test_a_name_is_asked_for_once_so_a_second_answer_changes_nothing(tmp_path: Path) -> None:
    asked: list[str] = []
    async with serving(tmp_path, answer(b"")) as server:
        known = server.outside()

        async def resolve(name: str) -> tuple[Address, ...]:
            asked.append(name)
            return await known.resolve(name)

        await post(at(server.port), {}, b"", outside=server.outside(resolve=resolve))

    assert asked == [DOMAIN]
