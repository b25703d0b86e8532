"""Posts notices to webhooks: in order for each, again after failures, none in the way of others.

A delivery is a row that goes away when the receiver has answered with a status of 200 to 299. If
the node dies in between it is posted again: at least once, and the notice's cursor tells a
repetition. What fails is tried again after a wait that doubles each time; after the last try it is
a dead letter, and only somebody's word tries it once more. A receiver that lets several notices in
a row die is called no more until somebody turns its webhook on.
"""

import base64
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec
import trio

from federation.core import Millis
from node.base.entropy import Entropy
from node.base.errors import NetworkError, NodeError
from node.notification.letters import Letter, letter_of
from node.notification.mailboxes import Mailboxes
from node.notification.signatures import signed_headers
from node.notification.webhooks import Webhooks
from node.outbound.fetching import Outside
from node.outbound.posting import post, read_target
from node.store import Store
from node.store.notices import Delivery, DropDelivery, Sending, SetDelivery, Webhook
from node.telemetry import log

CALLS: Final = 16
"""Receivers that are called at the same time."""
MOST_TRIES: Final = 10
"""Tries before a notice is a dead letter: with the waits between them about an hour and a half."""
FIRST_WAIT: Final = Millis(10_000)
"""Between the first failure and the second try, in ms, give or take half of it."""
LONGEST_WAIT: Final = Millis(3_600_000)
DEAD_IN_A_ROW: Final = 3
"""Dead letters after which a webhook is turned off."""
_SECOND: Final = 1_000
_NONCE: Final = 16
_JITTER: Final = 4


class Posted(msgspec.Struct, frozen=True, kw_only=True):
    """What a receiver is sent, as JSON."""

    webhook: str
    """Id of the webhook, in hex: also the name of the key that signs."""
    agent: str
    """Whose notice it is, in hex."""
    notice: Letter
    """The notice, as the polling queue gives it."""


def wait_after(tries: int, entropy: Entropy) -> Millis:
    """Give the wait in ms after so many failed tries: it doubles, and no two keep step."""
    whole = min(FIRST_WAIT << max(tries - 1, 0), LONGEST_WAIT)
    return Millis(whole // 2 + int.from_bytes(entropy(_JITTER), "big") % whole)


class Delivering:
    """Carries notices to receivers, for ever."""

    def __init__(
        self,
        *,
        store: Store,
        webhooks: Webhooks,
        mailboxes: Mailboxes,
        outside: Callable[[], Outside],
        now: Callable[[], Millis],
        wall: Callable[[], Millis],
        entropy: Entropy,
    ) -> None:
        """Call receivers `outside`; `now` is the node's own clock, `wall` Unix time, both in ms."""
        self._store = store
        self._webhooks = webhooks
        self._mailboxes = mailboxes
        self._outside = outside
        self._now = now
        self._wall = wall
        self._entropy = entropy
        self._calls = trio.CapacityLimiter(CALLS)
        self._serving: dict[bytes, trio.CancelScope] = {}
        self._died: dict[bytes, int] = {}

    async def run(self) -> None:
        """Serve each webhook by a task of its own, those that are made later too."""
        self._serving.clear()
        async with trio.open_nursery() as nursery:
            while True:
                changed = self._webhooks.changed
                on = {one.id for one in self._webhooks.all() if one.is_on}
                for name in self._serving.keys() - on:
                    self._serving.pop(name).cancel()
                for name in sorted(on - self._serving.keys()):
                    scope = self._serving[name] = trio.CancelScope()
                    nursery.start_soon(self._serve, name, scope)
                await changed.wait()

    async def _serve(self, name: bytes, scope: trio.CancelScope) -> None:
        """Post what waits for one webhook, one notice at a time, in order."""
        with scope:
            while True:
                changed = self._webhooks.changed
                hook = self._webhooks.get(name)
                if hook is None or not hook.is_on:
                    # Cancelled here, unless it was turned on again meanwhile.
                    await changed.wait()
                    continue
                # Taken before the look: what is stored during it wakes this as well.
                moved = self._mailboxes.moved(hook.agent)
                first = await self._store.notices.next_delivery(name)
                if first is None:
                    await moved.wait()
                    continue
                wait = first.due - self._now()
                if wait > 0:
                    with trio.move_on_after(wait / _SECOND):
                        await moved.wait()
                    continue
                await self._try(hook, first)

    async def _try(self, hook: Webhook, first: Delivery) -> None:
        """Post one notice and keep what came of it."""
        async with self._calls:
            began = trio.current_time()
            failure = await self._post(hook, first)
            took = trio.current_time() - began
        if failure is None:
            self._died.pop(hook.id, None)
            await self._store.write([DropDelivery(id=first.id)])
        else:
            await self._put_off(hook, first, failure)
        # A slow receiver leaves its place to others for as long as it held it.
        await trio.sleep(took)

    async def _post(self, hook: Webhook, first: Delivery) -> str | None:
        """Post one notice; gives why it failed, or None."""
        body = msgspec.json.encode(
            Posted(webhook=hook.id.hex(), agent=hook.agent.hex(), notice=letter_of(first.notice))
        )
        try:
            target = read_target(hook.url)
            headers = signed_headers(
                method="POST",
                url=target.url,
                body=body,
                content_type="application/json",
                seed=hook.secret_key,
                keyid=hook.id.hex(),
                created=self._wall() // _SECOND,
                nonce=base64.urlsafe_b64encode(self._entropy(_NONCE)).decode().rstrip("="),
            )
            await post(target, headers, body, outside=self._outside())
        except NetworkError as error:
            return error.why
        except NodeError as error:
            # Its address was taken by an earlier version and is not any more.
            return error.why
        except Exception as error:  # noqa: BLE001 # one receiver's doing must not stop the others
            log.warning("webhook.failed", error=type(error).__name__)
            return "its server did something that was not foreseen"
        return None

    async def _put_off(self, hook: Webhook, first: Delivery, why: str) -> None:
        """Try again later, or give up."""
        tries = first.tries + 1
        is_dead = tries >= MOST_TRIES
        await self._store.write(
            [
                SetDelivery(
                    id=first.id,
                    state=Sending.DEAD if is_dead else Sending.WAITING,
                    tries=tries,
                    due=Millis(self._now() + wait_after(tries, self._entropy)),
                    last=why,
                )
            ]
        )
        if not is_dead:
            return
        self._died[hook.id] = died = self._died.get(hook.id, 0) + 1
        if died >= DEAD_IN_A_ROW:
            self._died.pop(hook.id)
            with suppress(NodeError):
                await self._webhooks.turn_off(hook.id, f"{died} notices in a row: {why}")
