"""A notice as it is shown: the same by the queue, the stream and webhooks."""

import msgspec

from federation.core import Millis
from node.notification.notices import About, NoticeKind
from node.store.notices import Notice


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """One notice."""

    cursor: int
    """Its number; acknowledge it by this. It grows by time, also across restarts."""
    kind: NoticeKind
    """What it is."""
    at: Millis
    """When it was noticed here, Unix time in ms."""
    why: str
    """What it means, in a sentence."""
    subject: str
    """What it is about, in hex: a round, an artifact, or a violation."""
    artifact: str | None
    """Id of the artifact, in hex."""
    round: str | None
    """Id of the round, in hex."""
    phase: str | None
    """The phase that opened."""
    act: str | None
    """What the receiver may do now: vote, practice, open, argue, contest, rule, assess, decide."""
    agent: str | None
    """Where an operator is told: the agent that it is about, in hex."""


def letter_of(notice: Notice) -> Letter:
    """Show a stored notice."""
    told = msgspec.json.decode(notice.body, type=About)
    return Letter(
        cursor=notice.cursor,
        kind=NoticeKind(notice.kind),
        at=notice.at,
        why=told.why,
        subject=notice.subject.hex(),
        artifact=told.artifact,
        round=told.round,
        phase=told.phase,
        act=told.act,
        agent=told.agent,
    )
