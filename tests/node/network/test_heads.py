"""One hash tells whether two logs differ, and what a record changes is made anew and no more."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.core import Realm
from federation.records import AgentSubscribe, Record, Role
from federation.replication import (
    HeadsPage,
    Log,
    heads_pages,
    read_heads_page,
    write_heads_page,
)
from node.network import heads as module
from node.network.heads import HeadsCache
from tests.builders import REALM, Chain, person
from tests.node.network.differing import TOWN, Side, chain_of, differences, grow
from tests.node.network.test_reconcile import frames_of


def test_an_empty_log_has_one_page_about_everybody() -> None:
    realm: Realm = REALM
    page, high = HeadsCache().page_at(Log(realm), b"x" * 32)
    told = read_heads_page(page)

    assert (told.low, told.high, dict(told.heads)) == (bytes(32), b"\xff" * 32, {})
    assert high == told.high


def test_the_pages_tell_all_heads() -> None:
    side = Side()
    told: dict[bytes, object] = {}
    for page in side.pages():
        told |= read_heads_page(page).heads

    assert told == side.world.log.author_heads()
    assert len(told) >= len(TOWN.founding.agents)


@settings(max_examples=40)
@given(sides=differences(), rows=st.sampled_from([1, 2, 3, 1_000]), data=st.data())
def test_a_cache_that_has_seen_a_log_grow_knows_what_a_new_one_finds(
    sides: tuple[list[Record], list[Record]], rows: int, data: st.DataObject
) -> None:
    side, waiting = Side(), [*sides[0], *sides[1]]
    with frames_of(512, rows):
        while waiting:
            some = data.draw(st.integers(1, len(waiting)))
            side.hold(waiting[:some])
            waiting = waiting[some:]
            look = data.draw(st.sampled_from(["at a page", "at all pages", "at the hash", "away"]))
            if look == "at a page":
                author = data.draw(st.sampled_from(side.world.log.authors()))
                raw, high = side.heads.page_at(side.world.log, author)
                page = read_heads_page(raw)
                assert page.low <= author <= page.high == high
                assert page.heads[author] == side.world.log.heads_of(author)
            elif look == "at all pages":
                side.pages()
            elif look == "at the hash":
                side.heads.digest(side.world.log)

        assert side.pages() == list(heads_pages(side.world.log.author_heads()))
        assert side.heads.digest(side.world.log) == HeadsCache().digest(side.world.log)


def crowd(size: int) -> tuple[Log, list[Chain]]:
    """Give a log of so many authors, and their pens."""
    log, pens = Log(REALM, verify=lambda *_: True), []
    for number in range(size):
        pens.append(Chain(person(Role.AGENT, number)))
        log.add(pens[-1].head)
    return log, pens


def say(pen: Chain, log: Log) -> None:
    log.add(pen.say(AgentSubscribe(topics=("news",), keywords=(), on=True)))


def test_a_record_costs_one_page_and_nothing_is_made_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log, pens = crowd(3_000)
    cache = HeadsCache()
    made: list[bytes] = []

    def noted(page: HeadsPage) -> bytes:
        made.append(page.low)
        return write_heads_page(page)

    monkeypatch.setattr(module, "write_heads_page", noted)
    before = cache.digest(log)
    pages = len(made)
    assert pages >= 4
    assert cache.digest(log) == before
    assert len(made) == pages

    say(pens[0], log)

    assert cache.digest(log) != before
    assert len(made) == pages + 1

    # Whoever wants one page does not pay for the others.
    for pen in pens:
        say(pen, log)
    raw, _ = cache.page_at(log, pens[0].id)
    assert read_heads_page(raw).heads[pens[0].id] == ((2, pens[0].head.id),)
    assert len(made) == pages + 2


@pytest.mark.parametrize("forked", [False, True])
def test_the_digest_does_not_tell_in_which_order_records_came(forked: bool) -> None:
    pen = chain_of(1)
    twin = pen.fork()
    mine, theirs = grow(pen, 2, "left"), grow(twin, 2, "right") if forked else []
    others = grow(chain_of(2), 2, "other")
    one, two = Side(), Side()
    one.hold([*mine, *theirs, *others])
    two.hold([*others, *theirs, *mine])

    assert one.heads.digest(one.world.log) == two.heads.digest(two.world.log)


def test_another_head_is_another_digest() -> None:
    def digest_of(records: Sequence[Record]) -> bytes:
        side = Side()
        side.hold(records)
        return side.heads.digest(side.world.log)

    pen = chain_of(0)
    one, two = grow(pen, 2, "new")

    assert len({digest_of([]), digest_of([one]), digest_of([one, two])}) == 3
