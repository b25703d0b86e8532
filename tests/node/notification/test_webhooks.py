"""The book of webhooks: bounded, the same on disk, and quiet about secrets."""

from pathlib import Path

import pytest
import trio

from federation.core import AgentId
from node.base.entropy import random_bytes
from node.base.errors import NodeCode, RequestError
from node.notification import webhooks
from node.notification.webhooks import EACH, Webhooks
from node.store import open_store
from tests.builders import REALM

ADA, BERT = AgentId(b"a" * 32), AgentId(b"b" * 32)


@pytest.mark.trio
async def test_what_is_made_is_there_after_a_restart_until_it_is_removed(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.db", realm=REALM) as store:
        book = Webhooks(store, random_bytes)
        one = await book.add(ADA, "https://Moot.example.org:443", 5)
        two = await book.add(BERT, "https://moot.example.org/", 6)
        await book.turn_off(two.id, "because")
    async with open_store(tmp_path / "s.db", realm=REALM) as store:
        book = Webhooks(store, random_bytes)
        await book.load()
        kept = book.all()
        await book.remove(ADA, one.id)
        with pytest.raises(RequestError) as caught:
            await book.remove(ADA, two.id)
        again = Webhooks(store, random_bytes)
        await again.load()

        assert [one.id for one in again.all()] == [two.id]
    assert (kept[0], kept[0].url) == (one, "https://moot.example.org/")
    assert (kept[1].is_on, kept[1].why, kept[1].secret_key) == (False, "because", two.secret_key)
    assert one.secret_key != two.secret_key
    assert caught.value.code is NodeCode.NOT_FOUND


@pytest.mark.trio
async def test_the_same_address_is_the_same_webhook_turned_on(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.db", realm=REALM) as store:
        book = Webhooks(store, random_bytes)
        one = await book.add(ADA, "https://moot.example.org/", 5)
        await book.turn_off(one.id, "because")

        assert await book.add(ADA, "https://moot.example.org", 9) == one


@pytest.mark.trio
async def test_an_agent_and_an_instance_have_only_so_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MOST", EACH + 1)
    codes: list[NodeCode] = []
    async with open_store(tmp_path / "s.db", realm=REALM) as store:
        book = Webhooks(store, random_bytes)

        async def add(agent: AgentId, number: int) -> None:
            try:
                await book.add(agent, f"https://moot.example.org/{number}", 1)
            except RequestError as error:
                codes.append(error.code)

        async with trio.open_nursery() as nursery:
            for number in range(EACH + 2):
                nursery.start_soon(add, ADA, number)
        for number in range(2):
            await add(BERT, number)

        assert (len(book.of(ADA)), len(book.of(BERT))) == (EACH, 1)
    assert codes == [NodeCode.BUSY] * 3


@pytest.mark.trio
async def test_every_change_is_told_to_who_waits_for_it(tmp_path: Path) -> None:
    async with open_store(tmp_path / "s.db", realm=REALM) as store:
        book = Webhooks(store, random_bytes)
        first = book.changed
        one = await book.add(ADA, "https://moot.example.org/", 5)
        second = book.changed
        await book.turn_on(one.id)

        assert first.is_set()
        assert not second.is_set(), "it was on"
        await book.turn_off(one.id, "because")
        assert second.is_set()
