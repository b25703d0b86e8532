"""Reads of notices, of webhooks, and of what is on its way to them."""

from dataclasses import dataclass
from typing import Final

from federation.core import IdentityId
from node.store.loading import Fetch, as_bytes, as_int
from node.store.notices import (
    Delivery,
    Noted,
    Notice,
    SaveCondition,
    Sending,
    Webhook,
)
from node.store.statements import Row

_NOTICE: Final = "n.cursor, n.agent, n.kind, n.subject, n.about, n.body, n.at"
_UNREAD: Final = (
    f"SELECT {_NOTICE} FROM notices AS n"  # noqa: S608 # constants of ours
    " WHERE n.agent = ?1 AND n.cursor > ?2 AND n.acked = 0 ORDER BY n.cursor LIMIT ?3"
)
_WEBHOOKS: Final = "SELECT id, agent, url, secret_key, created, on_, why FROM webhooks"
_DELIVERY: Final = (
    f"SELECT d.id, d.webhook, d.tries, d.due, d.state, d.last, {_NOTICE}"  # noqa: S608 # the same
    " FROM deliveries AS d JOIN notices AS n ON n.cursor = d.cursor"
)
_NEXT: Final = (
    f"{_DELIVERY} WHERE d.webhook = ?1 AND d.state = 'waiting' ORDER BY d.cursor, d.id LIMIT 1"
)
_DEAD: Final = (
    f"{_DELIVERY} JOIN webhooks AS w ON w.id = d.webhook"
    " WHERE w.agent = ?1 AND d.state = 'dead' AND d.id > ?2 ORDER BY d.id LIMIT ?3"
)
_ONE: Final = f"{_DELIVERY} WHERE d.id = ?1"
_COUNTS: Final = (
    "SELECT webhook, count(*) FILTER (WHERE state = 'waiting'),"
    " count(*) FILTER (WHERE state = 'dead') FROM deliveries"
    " WHERE webhook IN (SELECT id FROM webhooks WHERE agent = ?1) GROUP BY webhook"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Queued:
    """How much is on its way to a webhook."""

    waiting: int = 0
    dead: int = 0


class NoticeReads:
    """What a store holds of notices; every read is one query."""

    def __init__(self, fetch: Fetch) -> None:
        """Read by `fetch`."""
        self._fetch = fetch

    async def noted(self) -> Noted | None:
        """Tell how far events were turned into notices; None before any was."""
        rows = await self._fetch("SELECT event, tick FROM noted", ())
        return Noted(event=as_int(rows[0][0]), tick=as_int(rows[0][1])) if rows else None

    async def conditions(self) -> list[SaveCondition]:
        """List what was last told about artifacts."""
        return [
            SaveCondition(
                artifact=as_bytes(artifact), state=str(state), flags=tuple(str(flags).split())
            )
            for artifact, state, flags in await self._fetch(
                "SELECT artifact, state, flags FROM conditions", ()
            )
        ]

    async def unread(self, agent: IdentityId, after: int, most: int) -> list[Notice]:
        """List what an agent has not acknowledged, above a cursor, in order."""
        return [_read_notice(row) for row in await self._fetch(_UNREAD, (agent, after, most))]

    async def dropped(self, agent: IdentityId) -> int:
        """Give the highest cursor of what was dropped although nobody had acknowledged it; 0 if none."""
        rows = await self._fetch("SELECT upto FROM dropped WHERE agent = ?1", (agent,))
        return as_int(rows[0][0]) if rows else 0

    async def last_notice(self) -> int:
        """Give the highest cursor that any notice ever had, 0 before the first."""
        rows = await self._fetch("SELECT seq FROM sqlite_sequence WHERE name = 'notices'", ())
        return as_int(rows[0][0]) if rows else 0

    async def webhooks(self) -> list[Webhook]:
        """List all webhooks, oldest first."""
        return [
            Webhook(
                id=as_bytes(row[0]),
                agent=as_bytes(row[1]),
                url=str(row[2]),
                secret_key=as_bytes(row[3]),
                created=as_int(row[4]),
                is_on=bool(row[5]),
                why=str(row[6]),
            )
            for row in await self._fetch(f"{_WEBHOOKS} ORDER BY created, id", ())
        ]

    async def next_delivery(self, webhook: bytes) -> Delivery | None:
        """Give what is first in line for a webhook, due or not."""
        rows = await self._fetch(_NEXT, (webhook,))
        return _read_delivery(rows[0]) if rows else None

    async def dead(self, agent: IdentityId, after: int, most: int) -> list[Delivery]:
        """List what was given up for the webhooks of an agent, above a number, in order."""
        return [_read_delivery(row) for row in await self._fetch(_DEAD, (agent, after, most))]

    async def delivery(self, number: int) -> Delivery | None:
        """Give one delivery; None once it has arrived or was dropped."""
        rows = await self._fetch(_ONE, (number,))
        return _read_delivery(rows[0]) if rows else None

    async def queued(self, agent: IdentityId) -> dict[bytes, Queued]:
        """Count what is on its way, by webhook of an agent; those without anything are left out."""
        return {
            as_bytes(name): Queued(waiting=as_int(waiting), dead=as_int(given_up))
            for name, waiting, given_up in await self._fetch(_COUNTS, (agent,))
        }


def _read_notice(row: Row) -> Notice:
    cursor, agent, kind, subject, about, body, at = row
    return Notice(
        cursor=as_int(cursor),
        agent=as_bytes(agent),
        kind=str(kind),
        subject=as_bytes(subject),
        about=str(about),
        body=as_bytes(body),
        at=as_int(at),
    )


def _read_delivery(row: Row) -> Delivery:
    number, webhook, tries, due, state, last, *notice = row
    return Delivery(
        id=as_int(number),
        webhook=as_bytes(webhook),
        tries=as_int(tries),
        due=as_int(due),
        state=Sending(str(state)),
        last=str(last or ""),
        notice=_read_notice(tuple(notice)),
    )
