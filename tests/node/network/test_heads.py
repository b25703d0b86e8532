"""One hash tells whether two logs differ, and it is made anew when a log has grown."""

import pytest

from federation.core import Realm
from federation.replication import Log, read_heads_page
from node.network.heads import HeadsCache
from tests.builders import REALM
from tests.node.network.differing import TOWN, Side, chain_of, grow


def test_an_empty_log_has_one_page_about_everybody() -> None:
    realm: Realm = REALM
    (page,) = HeadsCache().pages(Log(realm))
    told = read_heads_page(page)

    assert (told.low, told.high, dict(told.heads)) == (bytes(32), b"\xff" * 32, {})


def test_the_pages_tell_all_heads() -> None:
    side = Side()
    told: dict[bytes, object] = {}
    for page in side.heads.pages(side.world.log):
        told |= read_heads_page(page).heads

    assert told == side.world.log.author_heads()
    assert len(told) >= len(TOWN.founding.agents)


def test_nothing_is_made_twice_for_one_state_and_everything_for_the_next() -> None:
    side = Side()
    before, digest = side.heads.pages(side.world.log), side.heads.digest(side.world.log)

    assert side.heads.pages(side.world.log) is before

    side.hold(grow(chain_of(0), 1, "new"))

    assert side.heads.pages(side.world.log) != before
    assert side.heads.digest(side.world.log) != digest


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
