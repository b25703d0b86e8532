"""The body of one request, taken in while it is answered.

A task of its own reads on whatever the handler does. Without it a body that nobody reads fills
the server's queue, and then the answer cannot leave either: the connection would hang for ever.
What is beyond the limit is read and dropped, never kept.
"""

from typing import Final

import trio
from starlette.types import Message, Receive

from node.api.errors import error_of
from node.base.errors import NodeCode

_MOST_DROPPED: Final = 8 * 1024 * 1024
"""Bytes that are read and dropped for the sake of a clear answer; then the connection goes."""


class ClientGoneError(Exception):
    """The client went away; there is nobody to answer."""


class Intake:
    """Reads one request to its end."""

    def __init__(self, receive: Receive, nursery: trio.Nursery) -> None:
        """Read nothing yet; `nursery` is the request's own."""
        self._receive = receive
        self._nursery = nursery
        self._most = 0
        self._begun = False
        self._parts: list[bytes] = []
        self._size = 0
        self._told = trio.Event()
        """The body is whole, or too large, or the client is gone."""
        self._ended = trio.Event()
        """Nothing more comes that is worth waiting for."""
        self._whole = False
        self._gone = False

    def _begin(self, most: int) -> None:
        if not self._begun:
            self._begun, self._most = True, most
            self._nursery.start_soon(self._run)

    async def _run(self) -> None:
        """Read until the client is gone, or the request is answered and the nursery cancelled."""
        while not self._gone:
            self._take(await self._receive())

    def _take(self, message: Message) -> None:
        if message["type"] == "http.disconnect":
            self._gone = True
        else:
            part: bytes = message.get("body", b"")
            self._size += len(part)
            if self._size <= self._most:
                self._parts.append(part)
            else:
                self._parts.clear()
                self._told.set()
            self._whole = not message.get("more_body", False)
            if not self._whole and self._size <= self._most + _MOST_DROPPED:
                return
        self._told.set()
        self._ended.set()

    async def body(self, *, most: int, within_s: float) -> bytes:
        """Give the whole body, of at most `most` bytes.

        Raises NodeError BODY_TOO_LARGE or TOO_SLOW, and ClientGoneError.
        """
        self._begin(most)
        with trio.move_on_after(within_s) as patience:
            await self._told.wait()
        if patience.cancelled_caught:
            raise error_of(NodeCode.TOO_SLOW, "request refused")
        if self._size > self._most:
            raise error_of(
                NodeCode.BODY_TOO_LARGE,
                "request refused",
                why=f"its body has more than {self._most} bytes",
            )
        if not self._whole:
            raise ClientGoneError
        return b"".join(self._parts)

    async def linger(self, *, most_s: float) -> None:
        """Let the rest of a refused body arrive: a client that still sends reads no answer."""
        self._begin(0)
        with trio.move_on_after(most_s):
            await self._ended.wait()
