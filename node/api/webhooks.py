"""Routes about webhooks: where an agent's notices are posted, and what could not be delivered."""

import base64
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from federation.core import Millis
from node.api.calls import Call, Reply, Route, Who
from node.api.notices import mailbox_of
from node.api.schemas import Cursor, Done, Most
from node.notification import signatures
from node.notification.letters import Letter, letter_of
from node.notification.webhooks import unknown_webhook
from node.outbound.posting import LONGEST_URL
from node.store.notices import Delivery, Webhook

_CREATED: Final = 201
_ID_DIGITS: Final = 16
_MOST_DIGITS: Final = 15


class AddWebhook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where to post."""

    url: Annotated[str, Meta(min_length=1, max_length=LONGEST_URL)]
    """An https address by name; port 443 or from 1024 on. It must lead to public addresses."""


class MadeWebhook(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook, and the key that its receiver keeps."""

    id: str
    """Names it: sixteen hex digits, no secret."""
    url: str
    """Where notices are posted, in the spelling that is signed."""
    keyid: str
    """Name of the signing key in `signature-input`: the webhook's id."""
    algorithm: str
    """`ed25519`."""
    public_key: str
    """The 32 bytes of the public key, in base64."""


class WebhookRow(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook and how it stands."""

    id: str
    """Names it."""
    url: str
    """Where notices are posted."""
    on: bool
    """Whether it is called."""
    why: str
    """Why it was turned off; empty while it is on."""
    public_key: str
    """The 32 bytes of its public key, in base64."""
    created: Millis
    """Unix time in ms."""
    waiting: int
    """Notices on their way."""
    dead: int
    """Notices that were given up."""


class WebhooksPage(msgspec.Struct, frozen=True, kw_only=True):
    """The webhooks of an agent."""

    webhooks: tuple[WebhookRow, ...]
    """One each, oldest first."""


class ListDead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which dead letters to list."""

    after: Cursor = 0
    """Go on behind this number."""
    most: Most = 50
    """Rows of a page."""


class DeadRow(msgspec.Struct, frozen=True, kw_only=True):
    """A notice that could not be delivered."""

    n: int
    """Names the dead letter, to try it again."""
    webhook: str
    """Id of the webhook."""
    tries: int
    """How often it was tried."""
    last: str
    """Why the last try failed."""
    notice: Letter
    """The notice."""


class DeadPage(msgspec.Struct, frozen=True, kw_only=True):
    """Dead letters, oldest first."""

    dead: tuple[DeadRow, ...]
    """One each."""
    next: int | None
    """Pass it as `after` for the next page; nil on the last."""


async def add_webhook(call: Call) -> Reply:
    """Let an agent's notices be posted somewhere."""
    asked, name = call.take(AddWebhook), mailbox_of(call)
    made = await call.node.notification.webhooks.add(name, asked.url, call.node.clock.wall())
    return Reply(
        status=_CREATED,
        content=MadeWebhook(
            id=made.id.hex(),
            url=made.url,
            keyid=made.id.hex(),
            algorithm=signatures.ALGORITHM,
            public_key=_public(made),
        ),
    )


async def list_webhooks(call: Call) -> WebhooksPage:
    """List an agent's webhooks."""
    name = mailbox_of(call)
    queued = await call.node.store.notices.queued(name)
    return WebhooksPage(
        webhooks=tuple(
            WebhookRow(
                id=one.id.hex(),
                url=one.url,
                on=one.is_on,
                why=one.why,
                public_key=_public(one),
                created=one.created,
                waiting=queued[one.id].waiting if one.id in queued else 0,
                dead=queued[one.id].dead if one.id in queued else 0,
            )
            for one in call.node.notification.webhooks.of(name)
        )
    )


async def remove_webhook(call: Call) -> Done:
    """Forget a webhook."""
    name, said = mailbox_of(call), call.path["webhook"].lower()
    if len(said) != _ID_DIGITS or not set(said) <= set("0123456789abcdef"):
        raise unknown_webhook()
    await call.node.notification.webhooks.remove(name, bytes.fromhex(said))
    return Done()


async def list_dead(call: Call) -> DeadPage:
    """List what could not be delivered to an agent's webhooks."""
    asked, name = call.ask(ListDead), mailbox_of(call)
    found = await call.node.store.notices.dead(name, asked.after, asked.most + 1)
    rows = tuple(_dead(one) for one in found[: asked.most])
    return DeadPage(dead=rows, next=rows[-1].n if len(found) > asked.most else None)


async def retry_dead(call: Call) -> Done:
    """Try a dead letter again."""
    name, said = mailbox_of(call), call.path["n"]
    if not (said.isascii() and said.isdigit() and len(said) <= _MOST_DIGITS):
        raise unknown_webhook()
    await call.node.notification.retry(name, int(said))
    return Done()


def _dead(one: Delivery) -> DeadRow:
    return DeadRow(
        n=one.id,
        webhook=one.webhook.hex(),
        tries=one.tries,
        last=one.last,
        notice=letter_of(one.notice),
    )


def _public(one: Webhook) -> str:
    return base64.b64encode(signatures.public_key(one.secret_key)).decode()


ROUTES: Final = (
    Route(
        method="POST",
        path="/v1/agents/{id}/webhooks",
        summary="Have an agent's notices posted to an address",
        handler=add_webhook,
        gives=MadeWebhook,
        takes=AddWebhook,
        who=Who.AGENT,
        says="From now on each notice is posted there, signed (RFC 9421) by a key of this webhook's own; "
        "the same address again gives the same webhook, turned on. Nothing is called now. An agent has "
        "at most 4.",
    ),
    Route(
        method="GET",
        path="/v1/agents/{id}/webhooks",
        summary="An agent's webhooks, and how they stand",
        handler=list_webhooks,
        gives=WebhooksPage,
        who=Who.AGENT,
    ),
    Route(
        method="GET",
        path="/v1/agents/{id}/webhooks/dead",
        summary="Notices that could not be delivered",
        handler=list_dead,
        gives=DeadPage,
        query=ListDead,
        who=Who.AGENT,
    ),
    Route(
        method="POST",
        path="/v1/agents/{id}/webhooks/dead/{n}/retry",
        summary="Deliver a notice after all",
        handler=retry_dead,
        gives=Done,
        who=Who.AGENT,
        says="Its webhook is turned on if it was off.",
    ),
    Route(
        method="DELETE",
        path="/v1/agents/{id}/webhooks/{webhook}",
        summary="Post an agent's notices there no more",
        handler=remove_webhook,
        gives=Done,
        who=Who.AGENT,
        says="What waits for it, dead letters too, is forgotten; the polling queue keeps everything.",
    ),
)
"""Rows of the table of routes."""
