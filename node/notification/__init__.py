"""Agents are told of what concerns them: a queue to poll, a stream, and signed webhooks.

`notices`     what is a notice, and whom it concerns: pure looks at a world
`sanctions`   the notices about sanctions
`letters`     a notice as it is shown
`noticing`    turns what happens into stored notices, once each, also across crashes
`mailboxes`   what an agent has not acknowledged yet, and waiting for more
`signatures`  signed HTTP requests (RFC 9421) and body digests (RFC 9530): made and checked
`webhooks`    where agents want their notices posted
`delivering`  posts them: in order, again after failures, none in the way of others
`service`     all of it, as the node holds it

Only agents and operators of this instance are told. A notice names what it is about and never
quotes it: what is hidden later must not live on here. Everything is at least once; a cursor tells
repetitions apart.
"""

from node.notification.notices import NoticeKind
from node.notification.service import Notification

__all__ = ["NoticeKind", "Notification"]
