"""Routes about notices: what concerns an agent, by asking, by waiting, or as a stream.

A read changes nothing. What an agent has dealt with it acknowledges by the notice's cursor; until
then it is told again, so nothing is lost when an answer is.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import msgspec
import trio
from msgspec import Meta
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from federation.core import IdentityId, short
from node.api.calls import EVENTS, Call, Route, Service, Who
from node.api.errors import error_of
from node.api.events import LAST, RESET, EventStream, cursor_of, part, until_set
from node.api.schemas import Cursor, Done, Follow, Most
from node.base.errors import NodeCode, RequestError
from node.notification.letters import Letter, letter_of

_PAGE: Final = 100
LONGEST_WAIT_S: Final = 25
"""Seconds that a question may wait for an answer: less than most proxies have patience."""
PATIENT: Final = 8
"""Questions and streams of one agent that are open at a time: there are places for all callers, and
one agent must not take those of others."""
MISSED: Final = "missed"
"""The event that says that something was dropped before it was read."""


_open: Final[trio.lowlevel.RunVar[Counter[IdentityId]]] = trio.lowlevel.RunVar("open mailboxes")


class AskNotices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which notices to give."""

    after: Cursor = 0
    """Only those above this cursor."""
    most: Most = 50
    """Rows of a page."""
    wait: Annotated[int, Meta(ge=0, le=LONGEST_WAIT_S)] = 0
    """Seconds to wait for one if there is none."""


class NoticesPage(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent has not acknowledged."""

    notices: tuple[Letter, ...]
    """One each, oldest first."""
    next: int
    """Acknowledge this once they are dealt with, or pass it as `after`."""
    missed: bool
    """Others above `after` were dropped unread: too many of their kind came."""


class AckNotices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is dealt with."""

    cursor: Cursor
    """That of the last notice that is; all up to it are given no more."""


def mailbox_of(call: Call) -> IdentityId:
    """Give whose notices an address means, if the token may; an operator's need the operator's.

    Raises NodeError NOT_ALLOWED, NOT_FOUND, or what `resolve` raises.
    """
    name = call.agent(call.path["id"])
    if not call.node.notification.is_ours(name):
        raise RequestError(
            "no notices",
            why=f"{short(name)} is no agent or operator that this instance admitted",
            fix="ask the instance that admitted it",
            code=NodeCode.NOT_FOUND,
        )
    return name


async def list_notices(call: Call) -> NoticesPage:
    """Give what an agent has not acknowledged; wait for something if asked to."""
    asked, name = call.ask(AskNotices), mailbox_of(call)
    boxes, service = call.node.notification.mailboxes, call.service
    found = await boxes.look(name, after=asked.after, most=asked.most)
    if not found.notices and asked.wait and service.streams.available_tokens and _has_room(name):
        # It takes the place of a stream; where none is free, the answer comes at once.
        with _one_more(name):
            async with service.streams, trio.open_nursery() as nursery:
                nursery.start_soon(until_set, service.stop, nursery.cancel_scope)
                found = await boxes.look(
                    name, after=asked.after, most=asked.most, wait_s=float(asked.wait)
                )
                nursery.cancel_scope.cancel()
    rows = tuple(letter_of(one) for one in found.notices)
    return NoticesPage(
        notices=rows, next=rows[-1].cursor if rows else asked.after, missed=found.missed
    )


async def ack_notices(call: Call) -> Done:
    """Take note of what an agent has dealt with."""
    asked, name = call.take(AckNotices), mailbox_of(call)
    await call.node.notification.mailboxes.ack(name, asked.cursor)
    return Done()


async def follow_notices(call: Call) -> Response:
    """Open a stream: from the cursor that the client names, else with all that waits."""
    name = mailbox_of(call)
    after = call.ask(Follow).after or 0
    last = call.headers.get(LAST)
    if last is not None:
        after = cursor_of(last)
    newest = await call.node.store.notices.last_notice()
    return NoticeStream(call.service, name, after, newest)


def _opened() -> Counter[IdentityId]:
    """Count what is open, by agent, in this run of trio."""
    try:
        return _open.get()
    except LookupError:
        made: Counter[IdentityId] = Counter()
        _open.set(made)
        return made


def _has_room(name: IdentityId) -> bool:
    """Tell whether one more may be open for an agent."""
    return _opened()[name] < PATIENT


@contextmanager
def _one_more(name: IdentityId) -> Iterator[None]:
    """Count one that is open, while it is."""
    opened = _opened()
    opened[name] += 1
    try:
        yield
    finally:
        opened[name] -= 1
        if not opened[name]:
            del opened[name]


class NoticeStream(EventStream):
    """The notices of one agent, as they come."""

    def __init__(self, service: Service, name: IdentityId, after: int, newest: int) -> None:
        """Begin after a cursor; `newest` is the newest that there is of anybody."""
        super().__init__(service, after, newest)
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send notices until the client goes or the node stops; raises NodeError BUSY."""
        if not _has_room(self._name):
            raise error_of(
                NodeCode.BUSY,
                "stream refused",
                why=f"{PATIENT} clients wait for the notices of this agent already",
            )
        with _one_more(self._name):
            await super().__call__(scope, receive, send)

    async def _stream(self, send: Send) -> None:
        boxes = self._service.node.notification.mailboxes
        cursor = self._after
        await send(self._start())
        await part(send, b"retry: 2000\n\n")
        if cursor > self._newest:
            # It is of another store.
            cursor = 0
            await part(send, f"id: {cursor}\nevent: {RESET}\ndata: {{}}\n\n".encode())
        while True:
            # Taken before the look: what is stored during it wakes this as well.
            moved = boxes.moved(self._name)
            found = await boxes.look(self._name, after=cursor, most=_PAGE)
            if found.notices:
                lines = [_spell(letter_of(one)) for one in found.notices]
                if found.missed:
                    lines.insert(0, f"event: {MISSED}\ndata: {{}}\n\n".encode())
                cursor = found.notices[-1].cursor
                await part(send, b"".join(lines))
                continue
            with trio.move_on_after(self._service.limits.heartbeat_s) as quiet:
                await moved.wait()
            if quiet.cancelled_caught:
                # A comment: it keeps proxies from closing the stream, and finds dead clients.
                await part(send, b": alive\n\n")


def _spell(letter: Letter) -> bytes:
    data = msgspec.json.encode(letter)
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (letter.cursor, letter.kind.value.encode(), data)


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/agents/{id}/notices",
        summary="What concerns an agent and is not acknowledged",
        handler=list_notices,
        gives=NoticesPage,
        query=AskNotices,
        who=Who.AGENT,
        says="Also of an operator, by its id and with the operator's token. Reading changes nothing: "
        "acknowledge what is dealt with. `wait` lets the question stay open until something comes, "
        "for 25 s at most; beyond eight that wait for one agent the answer comes at once. Of each "
        "kind the newest 256 are kept for an agent.",
    ),
    Route(
        method="POST",
        path="/v1/agents/{id}/notices/ack",
        summary="Acknowledge notices",
        handler=ack_notices,
        gives=Done,
        takes=AckNotices,
        who=Who.AGENT,
        says="All up to the cursor are given no more. Acknowledging twice changes nothing.",
    ),
    Route(
        method="GET",
        path="/v1/agents/{id}/notices/stream",
        summary="Notices as they come (server-sent events)",
        handler=follow_notices,
        gives=None,
        query=Follow,
        who=Who.AGENT,
        produces=EVENTS,
        says="Begins with all that is not acknowledged, or behind `Last-Event-ID`, or behind `after`. "
        "An event `missed` says that others were dropped unread.",
    ),
)
"""Rows of the table of routes."""
