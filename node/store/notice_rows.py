"""How notices, webhooks and deliveries become rows; every statement may be written again.

Acknowledged notices stay for a while, so that one which is derived again is still known; then they
go. What follows from a new notice or from one that goes is done by triggers of the schema.
"""

from typing import Final, TypeAlias, assert_never

from node.store.notices import (
    AckNotices,
    DropDelivery,
    DropWebhook,
    Noted,
    SaveCondition,
    SaveNotice,
    SetDelivery,
    Webhook,
)
from node.store.statements import Row, Statement

ACKED_KEPT: Final = 64
"""Newest acknowledged notices of one agent that stay."""
LONGEST_WHY: Final = 500
"""Characters of a reason that are kept."""

NoticeWrite: TypeAlias = (
    SaveNotice
    | AckNotices
    | Noted
    | SaveCondition
    | Webhook
    | DropWebhook
    | SetDelivery
    | DropDelivery
)

NOTICES: Final = Statement(
    "INSERT INTO notices (agent, kind, subject, about, body, at)",
    6,
    "ON CONFLICT (agent, kind, subject, about) DO NOTHING",
)
ACKED: Final = Statement(
    "UPDATE notices SET acked = 1 WHERE agent = ?1 AND cursor <= ?2 AND acked = 0"
)
FORGOTTEN: Final = Statement(
    "DELETE FROM notices WHERE agent = ?1 AND acked = 1 AND cursor <= ("  # noqa: S608 # ours
    "SELECT cursor FROM notices WHERE agent = ?1 AND acked = 1"
    f" ORDER BY cursor DESC LIMIT 1 OFFSET {ACKED_KEPT})"
    " AND NOT EXISTS (SELECT 1 FROM deliveries WHERE deliveries.cursor = notices.cursor)"
)
NOTED: Final = Statement(
    "INSERT INTO noted (one, event, tick)",
    3,
    "ON CONFLICT (one) DO UPDATE SET event = max(event, excluded.event),"
    " tick = max(tick, excluded.tick)",
)
CONDITIONS: Final = Statement(
    "INSERT INTO conditions (artifact, state, flags)",
    3,
    "ON CONFLICT (artifact) DO UPDATE SET state = excluded.state, flags = excluded.flags",
)
WEBHOOKS: Final = Statement(
    "INSERT INTO webhooks (id, agent, url, secret_key, created, on_, why)",
    7,
    "ON CONFLICT (id) DO UPDATE SET on_ = excluded.on_, why = excluded.why",
)
WEBHOOKS_DROPPED: Final = Statement("DELETE FROM webhooks WHERE id = ?")
DELIVERIES: Final = Statement(
    "UPDATE deliveries SET state = ?2, tries = ?3, due = ?4, last = ?5 WHERE id = ?1"
)
DELIVERED: Final = Statement("DELETE FROM deliveries WHERE id = ?")


def notice_rows(write: NoticeWrite) -> tuple[list[tuple[Statement, Row]], int]:
    """Turn a write into rows by statement, in order; also give about how many bytes they hold."""
    match write:
        case SaveNotice():
            row: Row = (
                write.agent,
                write.kind,
                write.subject,
                write.about,
                write.body,
                write.at,
            )
            return [(NOTICES, row)], len(write.body) + 200
        case AckNotices(agent=agent, cursor=cursor):
            return [(ACKED, (agent, cursor)), (FORGOTTEN, (agent,))], 0
        case Noted(event=event, tick=tick):
            return [(NOTED, (1, event, tick))], 0
        case SaveCondition(artifact=artifact, state=state, flags=flags):
            return [(CONDITIONS, (artifact, state, " ".join(flags)))], 0
        case Webhook():
            row = (
                write.id,
                write.agent,
                write.url,
                write.secret_key,
                write.created,
                int(write.is_on),
                write.why[:LONGEST_WHY],
            )
            return [(WEBHOOKS, row)], len(write.url)
        case DropWebhook(id=name):
            return [(WEBHOOKS_DROPPED, (name,))], 0
        case SetDelivery():
            row = (write.id, write.state, write.tries, write.due, write.last[:LONGEST_WHY])
            return [(DELIVERIES, row)], 0
        case DropDelivery(id=number):
            return [(DELIVERED, (number,))], 0
        case _:
            assert_never(write)
