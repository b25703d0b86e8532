"""Garbage, oversize, truncated and slow bytes to every route, on plain sockets.

Each ends in a clear refusal or a dropped connection; nothing is stored, and the node answers on.
The routes come from the table, so a new one is attacked without further doing.
"""

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import httpx
import pytest

from node.api.calls import Route
from node.api.limits import Rate
from node.api.routes import ROUTES
from tests.node.api.living import QUICK, Background, background

PATIENT = 6.0
"""Seconds after which a connection that was neither answered nor dropped hangs."""
MEGABYTE = 1024 * 1024
FREE = Rate(per_second=10**6, burst=10**6)
LIMITS = replace(QUICK, by_address=FREE, by_token=FREE, idle_s=0.25, body_s=0.25, linger_s=0.1)
PLAIN = [route for route in ROUTES if route.path != "/v1/events"]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    with background(tmp_path_factory.mktemp("attacks"), limits=LIMITS) as it:
        yield it


def answers(town: Background) -> bool:
    """Ask for its health; on a busy machine even a good request may be too slow for it."""
    for _ in range(20):
        try:
            with httpx.Client(base_url=town.it.url, trust_env=False, timeout=5) as client:
                return client.get("/health").status_code == 200
        except httpx.RemoteProtocolError:
            continue
    return False


@pytest.fixture(autouse=True)
def unharmed(town: Background) -> Iterator[None]:
    """Hold after each attack: nothing was stored, and the node answers."""
    before = town.authored
    yield
    assert answers(town)
    assert town.authored == before


def head(town: Background, route: Route, *lines: str, method: str | None = None) -> bytes:
    name = bytes(32).hex()
    path = route.path.replace("{id}", name).replace("{instance}", name).replace("{name}", "x")
    whole = [
        f"{method or route.method} {path} HTTP/1.1",
        "host: localhost",
        f"authorization: Bearer {town.it.operator}",
        *lines,
    ]
    return "\r\n".join(whole).encode("latin1") + b"\r\n"


def speak(town: Background, *parts: bytes, pause: float = 0.0, close: bool = False) -> bytes:
    """Send parts, and give all that comes back until the node closes the connection."""
    came = b""
    with socket.create_connection(("127.0.0.1", town.it.port), timeout=PATIENT) as line:
        try:
            for part in parts:
                line.sendall(part)
                time.sleep(pause)
            if close:
                line.shutdown(socket.SHUT_WR)
            while part := line.recv(65_536):
                came += part
        except TimeoutError:
            raise
        except OSError:
            pass  # The node closed it while this was still sending.
    return came


def refusal(came: bytes, *statuses: int) -> None:
    """Hold an answer to be one of these refusals, in the one shape; or the connection dropped."""
    if not came:
        return
    before, _, rest = came.partition(b"\r\n\r\n")
    start, *lines = before.decode("latin1").lower().split("\r\n")
    length = int(dict(line.split(": ", 1) for line in lines)["content-length"])
    assert int(start.split()[1]) in statuses, came[:500]
    if len(rest) < length:
        return  # Dropped in the middle: the client itself had hung up.
    assert set(json.loads(rest[:length])) == {"code", "what", "why", "fix", "retry_at"}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_truncated_head_is_dropped_in_time(town: Background, route: Route) -> None:
    began = time.monotonic()
    came = speak(town, head(town, route)[:-9])

    refusal(came, 400)
    assert time.monotonic() - began < PATIENT


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_head_that_comes_byte_by_byte_is_dropped_in_time(town: Background, route: Route) -> None:
    drops = [bytes([one]) for one in head(town, route)[:40]]
    came = speak(town, *drops, pause=0.02)

    refusal(came, 400)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_head_beyond_its_limit_is_refused(town: Background, route: Route) -> None:
    came = speak(town, head(town, route, "x-fill: " + "a" * (LIMITS.head + 70_000)) + b"\r\n")

    refusal(came, 400, 431)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_garbage_after_a_good_line_is_refused(town: Background, route: Route) -> None:
    first = head(town, route).split(b"\r\n")[0]
    for rubbish in (os.urandom(512), b"\0" * 64, b": no name\r\n\r\n", b"a b: c\r\n\r\n"):
        refusal(speak(town, first + b"\r\n" + rubbish + b"\r\n\r\n", close=True), 400)


@pytest.mark.parametrize("route", PLAIN, ids=lambda route: route.name)
def test_a_body_larger_than_allowed_is_refused_while_it_comes(
    town: Background, route: Route
) -> None:
    size = 2 * (route.most or LIMITS.body) + MEGABYTE
    announced = head(town, route, f"content-length: {size}", "content-type: application/json")
    came = speak(town, announced + b"\r\n", *[b" " * 65_536] * (size // 65_536))

    refusal(came, 400, 413)
    assert route.takes is None or not came or b"413" in came.split(b"\r\n")[0]


@pytest.mark.parametrize("route", PLAIN, ids=lambda route: route.name)
def test_endless_chunks_are_refused(town: Background, route: Route) -> None:
    begun = head(town, route, "transfer-encoding: chunked", "content-type: application/json")
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    came = speak(town, begun + b"\r\n", *[chunk] * 300)

    refusal(came, 400, 413)


@pytest.mark.parametrize("route", PLAIN, ids=lambda route: route.name)
def test_a_body_that_does_not_come_is_not_waited_for_long(town: Background, route: Route) -> None:
    begun = head(
        town, route, "content-length: 40", "content-type: application/json", "connection: close"
    )
    came = speak(town, begun + b"\r\n", b'{"agent":', b'"', pause=0.1)

    refusal(came, 400, 408)


@pytest.mark.parametrize("route", PLAIN, ids=lambda route: route.name)
def test_a_client_that_hangs_up_in_a_body_leaves_nothing(town: Background, route: Route) -> None:
    begun = head(town, route, "content-length: 40", "content-type: application/json")
    came = speak(town, begun + b'\r\n{"agent":"', close=True)

    refusal(came, 400, 408)


@pytest.mark.parametrize("route", PLAIN, ids=lambda route: route.name)
def test_broken_chunks_are_refused(town: Background, route: Route) -> None:
    begun = head(town, route, "transfer-encoding: chunked", "content-type: application/json")
    came = speak(town, begun + b"\r\nzz\r\nnothing\r\n0\r\n\r\n", close=True)

    refusal(came, 400, 408)


@pytest.mark.parametrize("route", PLAIN, ids=lambda route: route.name)
def test_two_lengths_are_refused(town: Background, route: Route) -> None:
    """Two readings of one request is how requests are smuggled past a proxy."""
    both = head(town, route, "content-length: 4", "transfer-encoding: chunked", "connection: close")
    two = head(town, route, "content-length: 4", "content-length: 5", "connection: close")

    refusal(speak(town, both + b"\r\n0\r\n\r\n"), 400, 415)
    refusal(speak(town, two + b"\r\nabcde"), 400)


MESSES: list[Callable[[], bytes]] = [
    lambda: os.urandom(4_096),
    lambda: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500),
    lambda: b"GET / HTTP/9.9\r\n\r\n",
    lambda: b"GET /\r\n\r\n",
    lambda: b"\r\n" * 5_000,
    lambda: b"A" * 200_000,
    lambda: b"GET /\xff\xfe HTTP/1.1\r\nhost: localhost\r\n\r\n",
    lambda: b"GET http://evil.example/ HTTP/1.1\r\nhost: evil.example\r\n\r\n",
    lambda: b"CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example\r\n\r\n",
    lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(200),
    lambda: b"OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    lambda: b"GET / HTTP/1.1\r\n\r\n",
    lambda: b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
]


@pytest.mark.parametrize("mess", MESSES, ids=range(len(MESSES)))
def test_what_is_no_request_is_refused_or_dropped(
    town: Background, mess: Callable[[], bytes]
) -> None:
    refusal(speak(town, mess(), close=True), 400, 403, 404, 405, 431)


@pytest.mark.parametrize(
    "lines",
    [
        ("connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQ"),
        (
            "connection: upgrade",
            "upgrade: websocket",
            "sec-websocket-version: 13",
            "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==",
        ),
    ],
)
def test_nothing_else_than_http_1_1_is_spoken(town: Background, lines: tuple[str, ...]) -> None:
    route = next(route for route in ROUTES if route.path == "/health")
    came = speak(town, head(town, route, *lines) + b"\r\n", close=True)

    assert came.startswith(b"HTTP/1.1 200 ")
    assert b'"state"' in came


def test_many_requests_at_once_on_one_line_are_answered_in_order(town: Background) -> None:
    route = next(route for route in ROUTES if route.path == "/health")
    last = head(town, route, "connection: close") + b"\r\n"
    came = speak(town, (head(town, route) + b"\r\n") * 50 + last)

    assert came.count(b"HTTP/1.1 200 ") == 51
