"""What happens, as it happens: server-sent events, resumable by cursor.

Nothing is queued for a client. Each stream asks the feed for what follows its own cursor, as fast
as its client reads, so a slow client costs a connection and no memory. Every event carries its
cursor as id; a client that comes back sends it as `Last-Event-ID`, which browsers do by
themselves, and misses nothing, also after the node was killed: only stored events are shown.
"""

from typing import Final

import msgspec
import trio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from federation.core import Millis
from node.api.calls import EVENTS, Call, Service
from node.api.errors import error_of
from node.api.schemas import Cursor, Follow
from node.base.errors import NodeCode
from node.commands import bad_field
from node.store import SaveEvent

_PAGE: Final = 100
LAST: Final = "last-event-id"
"""The header in which a client says how far it has read."""
RESET: Final = "reset"
"""The event that says that a cursor is of another store: what the client knows may be wrong."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """The data of one event."""

    cursor: int
    """Its number; grows by time, also across restarts."""
    at: Millis
    """When it was seen here, Unix time in ms."""
    subject: str
    """What it is about, in hex: the digest of a cut, the id of a round, an identity."""
    phase: str | None
    """Which phase began, if one did."""


async def follow(call: Call) -> Response:
    """Open a stream: from the cursor that the client names, else from now on."""
    asked = call.ask(Follow).after
    last = call.headers.get(LAST)
    if last is not None:
        asked = cursor_of(last)
    newest = call.node.events.last
    return EventStream(call.service, newest if asked is None else asked, newest)


def cursor_of(text: str) -> int:
    """Read a `Last-Event-ID`; raises RequestError BAD_FIELD."""
    try:
        return msgspec.convert(text, Cursor, strict=False)
    except msgspec.ValidationError as error:
        raise bad_field("Last-Event-ID", "it is no cursor of this stream") from error


class EventStream(Response):
    """One client's stream."""

    def __init__(self, service: Service, after: int, newest: int) -> None:
        """Begin after a cursor; `newest` is the newest there is."""
        super().__init__(
            media_type=EVENTS, headers={"cache-control": "no-store", "x-accel-buffering": "no"}
        )
        # The length is not known; the server then sends chunks.
        del self.headers["content-length"]
        self._service = service
        self._after = after
        self._newest = newest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client goes or the node stops."""
        streams = self._service.streams
        if scope["method"] == "HEAD":
            await send(self._start())
            await send({"type": "http.response.body"})
            return
        try:
            streams.acquire_on_behalf_of_nowait(self)
        except trio.WouldBlock as error:
            raise error_of(
                NodeCode.BUSY,
                "stream refused",
                why=f"{streams.total_tokens} clients follow the events already",
            ) from error
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_until_gone, receive, nursery.cancel_scope)
                nursery.start_soon(until_set, self._service.stop, nursery.cancel_scope)
                await self._stream(send)
        finally:
            streams.release_on_behalf_of(self)
        # Ends the answer well: a browser then comes back by itself. Of no effect if it is gone.
        with trio.CancelScope(shield=True), trio.move_on_after(self._service.limits.drain_s):
            await send({"type": "http.response.body"})

    def _start(self) -> dict[str, object]:
        return {"type": "http.response.start", "status": 200, "headers": self.raw_headers}

    async def _stream(self, send: Send) -> None:
        feed = self._service.node.events
        cursor = self._after
        await send(self._start())
        # Browsers wait this long before they come back.
        await part(send, b"retry: 2000\n\n")
        if cursor > self._newest:
            cursor = self._newest
            await part(send, f"id: {cursor}\nevent: {RESET}\ndata: {{}}\n\n".encode())
        while True:
            newest = feed.last
            page = await feed.after(cursor, _PAGE)
            if page:
                cursor = page[-1].cursor
                await self._service.node.flushed()
                await part(send, b"".join(map(_spell, page)))
                continue
            # What lies between is no longer kept.
            cursor = max(cursor, newest)
            with trio.move_on_after(self._service.limits.heartbeat_s) as quiet:
                await feed.wait(cursor)
            if quiet.cancelled_caught:
                # A comment: it keeps proxies from closing the stream, and finds dead clients.
                await part(send, b": alive\n\n")


def _spell(event: SaveEvent) -> bytes:
    data = msgspec.json.encode(
        Event(cursor=event.cursor, at=event.at, subject=event.subject.hex(), phase=event.phase)
    )
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.cursor, event.event.encode(), data)


async def part(send: Send, body: bytes) -> None:
    """Send a part of a stream."""
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def _until_gone(receive: Receive, scope: trio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


async def until_set(event: trio.Event, scope: trio.CancelScope) -> None:
    """Cancel a scope once an event is set."""
    await event.wait()
    scope.cancel()
