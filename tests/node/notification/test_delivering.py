"""Webhooks with a real receiver: signed, in order, again after failures, none in another's way."""

import ipaddress
import itertools
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from federation.core import AgentId
from node.base.entropy import random_bytes
from node.notification import delivering
from node.notification.delivering import (
    DEAD_IN_A_ROW,
    FIRST_WAIT,
    LONGEST_WAIT,
    MOST_TRIES,
    Delivering,
    wait_after,
)
from node.notification.mailboxes import Mailboxes
from node.notification.signatures import BadRequestSignatureError, public_key
from node.notification.webhooks import Webhooks
from node.outbound.fetching import Outside
from node.store import Store, open_store
from node.store.notices import SaveNotice, Webhook
from tests.builders import REALM
from tests.node.notification.receiver import Got, Receiver, receiving

ADA, BERT = AgentId(b"a" * 32), AgentId(b"b" * 32)


@dataclass(slots=True, kw_only=True)
class Post:
    """A store, its webhooks, and what delivers; time is a number that tests turn."""

    store: Store
    webhooks: Webhooks
    mailboxes: Mailboxes
    outside: Outside
    now: int = 1_000

    def delivering(self) -> Delivering:
        return Delivering(
            store=self.store,
            webhooks=self.webhooks,
            mailboxes=self.mailboxes,
            outside=lambda: self.outside,
            now=lambda: self.now,
            wall=lambda: time.time_ns() // 1_000_000,
            entropy=random_bytes,
        )

    async def tell(self, agent: bytes, *numbers: int) -> None:
        await self.store.write(
            [
                SaveNotice(
                    agent=agent,
                    kind="match",
                    subject=number.to_bytes(32, "big"),
                    about="",
                    body=b'{"why":"It may be of interest."}',
                    at=number,
                )
                for number in numbers
            ]
        )
        self.mailboxes.wake([agent])

    async def turn(self, by: int = LONGEST_WAIT * 2) -> None:
        """Let time pass and everybody look at the clock."""
        self.now += by
        self.mailboxes.wake([ADA, BERT])

    async def states(self) -> list[tuple[str, int]]:
        found = await self.store.notices._fetch(
            "SELECT state, tries FROM deliveries ORDER BY id", ()
        )
        return [(str(state), int(str(tries))) for state, tries in found]


async def opened(store: Store, outside: Outside) -> Post:
    webhooks = Webhooks(store, random_bytes)
    await webhooks.load()
    return Post(store=store, webhooks=webhooks, mailboxes=Mailboxes(store), outside=outside)


def check(receiver: Receiver, one: Got, hook: Webhook, path: str = "/moot") -> None:
    receiver.check(one, public_key(hook.secret_key), hook.id.hex(), path=path)


async def until(claim: object, *, within: float = 10) -> None:
    assert callable(claim)
    with trio.fail_after(within):
        while not (found := claim()):  # noqa: ASYNC110 # a claim is no event of its own
            await trio.sleep(0.01)
        assert found


@pytest.mark.trio
async def test_notices_arrive_signed_and_in_order(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.db", realm=REALM) as store, receiving(tmp_path) as receiver:
        post = await opened(store, receiver.outside())
        hook = await post.webhooks.add(ADA, receiver.url(), 5)
        await post.tell(ADA, *range(10))
        await post.tell(BERT, 99)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post.delivering().run)
            await until(lambda: len(receiver.got) == 10)
            await post.tell(ADA, 10)
            await until(lambda: len(receiver.got) == 11)
            await until_settled(post)
            nursery.cancel_scope.cancel()

        for one in receiver.got:
            check(receiver, one, hook)
        with pytest.raises(BadRequestSignatureError, match="sent before"):
            check(receiver, receiver.got[0], hook)
    assert [one.at for one in receiver.got] == list(range(11))
    first = receiver.got[0]
    assert (first.method, first.target) == ("POST", "/moot")
    assert first.headers["host"] == f"moot.example.org:{receiver.port}"
    assert first.told["agent"] == ADA.hex()
    assert first.told["webhook"] == hook.id.hex()
    assert len({one.headers["signature"] for one in receiver.got}) == 11


async def until_states(post: Post, states: list[tuple[str, int]]) -> None:
    """Wait until the first deliveries stand so."""
    with trio.fail_after(10):
        while (await post.states())[: len(states)] != states:  # noqa: ASYNC110 # the same
            await trio.sleep(0.01)


async def until_settled(post: Post) -> None:
    with trio.fail_after(10):
        while await post.states():  # noqa: ASYNC110 # the database has no event for it
            await trio.sleep(0.01)


@pytest.mark.trio
async def test_a_key_belongs_to_one_webhook(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.db", realm=REALM) as store, receiving(tmp_path) as receiver:
        post = await opened(store, receiver.outside())
        one = await post.webhooks.add(ADA, receiver.url("/one"), 1)
        two = await post.webhooks.add(ADA, receiver.url("/two"), 1)
        await post.tell(ADA, 1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post.delivering().run)
            await until(lambda: len(receiver.got) == 2)
            nursery.cancel_scope.cancel()
        got = {each.target: each for each in receiver.got}

        check(receiver, got["/one"], one, "/one")
        check(receiver, got["/two"], two, "/two")
        for wrong, path in ((two, "/one"), (one, "/two")):
            with pytest.raises(BadRequestSignatureError):
                check(receiver, got["/one"], wrong, path)


@pytest.mark.trio
async def test_what_fails_is_tried_again_before_what_follows_it(tmp_path: Path) -> None:
    statuses = itertools.chain([500, 302, 404], itertools.repeat(200))

    async def says(_: Got) -> int:
        return next(statuses)

    async with (
        open_store(tmp_path / "s.db", realm=REALM) as store,
        receiving(tmp_path, says, extra="https://moot.example.org/elsewhere") as receiver,
    ):
        post = await opened(store, receiver.outside())
        await post.webhooks.add(ADA, receiver.url(), 1)
        await post.tell(ADA, 1, 2)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post.delivering().run)
            for tries in (1, 2, 3):
                await until(lambda tries=tries: len(receiver.got) == tries)
                await trio.sleep(0.2)
                assert len(receiver.got) == tries, "not before its time"
                assert (await post.states())[0] == ("waiting", tries)
                await post.turn()
            await until(lambda: len(receiver.got) == 5)
            nursery.cancel_scope.cancel()

    assert [one.at for one in receiver.got] == [1, 1, 1, 1, 2]
    assert {one.target for one in receiver.got} == {"/moot"}, "no redirect is followed"
    assert len({one.headers["signature"] for one in receiver.got}) == 5


@pytest.mark.trio
async def test_what_fails_too_often_is_dead_and_comes_to_life_by_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "MOST_TRIES", 2)
    broken = [True]

    async def says(_: Got) -> int:
        return 500 if broken[0] else 200

    async with (
        open_store(tmp_path / "s.db", realm=REALM) as store,
        receiving(tmp_path, says) as receiver,
    ):
        post = await opened(store, receiver.outside())
        hook = await post.webhooks.add(ADA, receiver.url(), 1)
        await post.tell(ADA, *range(DEAD_IN_A_ROW + 1))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post.delivering().run)
            with trio.fail_after(10):
                while (found := post.webhooks.get(hook.id)) and found.is_on:
                    await post.turn()
                    await trio.sleep(0.02)
            calls = len(receiver.got)
            await post.turn()
            await post.tell(ADA, 77)
            await trio.sleep(0.2)
            states = await post.states()
            off = post.webhooks.get(hook.id)
            dead = await store.notices.dead(ADA, 0, 10)

            broken[0] = False
            await post.webhooks.turn_on(hook.id)
            await until(lambda: receiver.got[-1].at == DEAD_IN_A_ROW)
            nursery.cancel_scope.cancel()

    assert calls == 2 * DEAD_IN_A_ROW
    assert states == [("dead", 2)] * DEAD_IN_A_ROW + [("waiting", 0)]
    assert off is not None
    assert "status 500" in off.why
    assert [one.notice.at for one in dead] == [0, 1, 2]
    assert {one.last for one in dead} == {"it answers with status 500"}


@pytest.mark.trio
async def test_deliveries_go_on_after_a_crash_and_are_at_least_once(tmp_path: Path) -> None:
    hold = trio.Event()

    async def says(one: Got) -> int:
        if one.at == 1 and not hold.is_set():
            await hold.wait()
        return 200

    async with receiving(tmp_path, says) as receiver:
        async with open_store(tmp_path / "s.db", realm=REALM) as store:
            post = await opened(store, receiver.outside())
            hook = await post.webhooks.add(ADA, receiver.url(), 1)
            await post.tell(ADA, 0, 1, 2)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(post.delivering().run)
                await until(lambda: len(receiver.got) == 2)
                nursery.cancel_scope.cancel()  # In the middle of the second.
        hold.set()
        async with open_store(tmp_path / "s.db", realm=REALM) as store:
            post = await opened(store, receiver.outside())
            assert post.webhooks.all() == [hook]
            async with trio.open_nursery() as nursery:
                nursery.start_soon(post.delivering().run)
                await until_settled(post)
                nursery.cancel_scope.cancel()

    assert [one.at for one in receiver.got] == [0, 1, 1, 2]


@pytest.mark.trio
async def test_a_receiver_that_never_answers_stalls_no_other(tmp_path: Path) -> None:
    async def says(one: Got) -> int:
        if one.target == "/slow":
            await trio.sleep_forever()
        return 200

    async with (
        open_store(tmp_path / "s.db", realm=REALM) as store,
        receiving(tmp_path, says) as receiver,
    ):
        post = await opened(store, receiver.outside())
        await post.webhooks.add(BERT, receiver.url("/slow"), 1)
        await post.webhooks.add(ADA, receiver.url("/quick"), 1)
        await post.tell(BERT, *range(20))
        await post.tell(ADA, *range(20))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post.delivering().run)
            await until(lambda: sum(one.target == "/quick" for one in receiver.got) == 20, within=4)
            slow = [one for one in receiver.got if one.target == "/slow"]
            await until_states(post, [("waiting", 1)])
            nursery.cancel_scope.cancel()

    assert len(slow) == 1
    assert receiver.most_open <= 2


@pytest.mark.trio
@pytest.mark.parametrize(
    "address", ["10.0.0.1", "169.254.169.254", "127.0.0.2", "::1", "::ffff:127.0.0.1", "0.0.0.1"]
)
async def test_a_name_that_leads_inside_is_never_called(tmp_path: Path, address: str) -> None:
    inside = ipaddress.ip_address(address)
    async with open_store(tmp_path / "s.db", realm=REALM) as store, receiving(tmp_path) as receiver:
        # The second answer of the name server would be the allowed one: it is asked once.
        post = await opened(store, receiver.outside(inside))
        await post.webhooks.add(ADA, receiver.url(), 1)
        await post.tell(ADA, 1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post.delivering().run)
            await until_states(post, [("waiting", 1)])
            nursery.cancel_scope.cancel()
        last = await store.notices._fetch("SELECT last FROM deliveries", ())

    assert receiver.got == []
    assert receiver.most_open == 0
    assert last == [("its name has no address, or one that is not public",)]


@pytest.mark.trio
async def test_a_webhook_that_is_removed_is_called_no_more(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.db", realm=REALM) as store, receiving(tmp_path) as receiver:
        post = await opened(store, receiver.outside())
        hook = await post.webhooks.add(ADA, receiver.url(), 1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post.delivering().run)
            await post.tell(ADA, 1)
            await until(lambda: len(receiver.got) == 1)
            await post.webhooks.remove(ADA, hook.id)
            await post.tell(ADA, 2)
            await trio.sleep(0.3)
            nursery.cancel_scope.cancel()
        assert await post.states() == []

    assert len(receiver.got) == 1


@pytest.mark.trio
async def test_what_was_not_foreseen_stops_nobody(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.db", realm=REALM) as store, receiving(tmp_path) as receiver:

        async def resolve(name: str) -> tuple[object, ...]:
            raise ZeroDivisionError(name)

        post = await opened(store, receiver.outside(resolve=resolve))
        await post.webhooks.add(ADA, receiver.url(), 1)
        await post.tell(ADA, 1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(post.delivering().run)
            await until_states(post, [("waiting", 1)])
            nursery.cancel_scope.cancel()


def test_waits_double_up_to_an_hour_and_no_two_keep_step() -> None:
    least = [wait_after(tries, bytes) for tries in range(1, MOST_TRIES)]
    most = [wait_after(tries, lambda count: b"\xff" * count) for tries in range(1, MOST_TRIES)]

    assert least[:4] == [FIRST_WAIT // 2 << tries for tries in range(4)]
    assert max(least) <= LONGEST_WAIT // 2
    assert wait_after(10**3, bytes) == LONGEST_WAIT // 2
    assert all(low < high < 3 * low for low, high in zip(least, most, strict=True))
    assert len({wait_after(1, random_bytes) for _ in range(50)}) > 30
