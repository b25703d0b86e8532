"""Ask an instance for everything that its HTTP surface gives, route by route from the table."""

from collections.abc import Sequence

import httpx
import trio

from node.api.calls import EVENTS, Route
from node.api.routes import ROUTES

_LISTENING_S = 0.5


async def crawl(client: httpx.AsyncClient, ids: Sequence[bytes]) -> dict[str, bytes]:
    """Give the answers of all GET routes, each asked about all ids: headers and bodies."""
    answers: dict[str, bytes] = {}
    for route in ROUTES:
        if route.method != "GET":
            continue
        for path in _paths(route, ids):
            if route.produces == EVENTS:
                answers[path] = await _events(client, path)
            else:
                answer = await client.get(path)
                assert answer.status_code != 429
                assert answer.status_code < 500 or path == "/ready"
                answers[path] = str(answer.headers).encode() + answer.content
    return answers


def _paths(route: Route, ids: Sequence[bytes]) -> list[str]:
    if not route.parameters:
        return [route.path + ("?after=0" if route.produces == EVENTS else "")]
    (name,) = route.parameters
    return [route.path.replace("{" + name + "}", one.hex()) for one in ids]


async def _events(client: httpx.AsyncClient, path: str) -> bytes:
    """Read the stream of events for a moment: whatever there is already comes at once."""
    heard = b""
    with trio.move_on_after(_LISTENING_S):
        async with client.stream("GET", path) as answer:
            async for part in answer.aiter_bytes():
                heard += part
    assert heard
    return heard
