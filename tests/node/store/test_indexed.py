"""What is hidden on one node is kept, changed and forgotten there."""

from pathlib import Path

import pytest
import trio

from node.base.errors import NodeCode, StoreError
from node.store import Hidden, Indexed, ShowAgain, open_store
from tests.builders import named
from tests.node.store.ledger import REALM


@pytest.mark.trio
async def test_what_is_hidden_is_found_again_with_its_newest_reason(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    one = Hidden(artifact=named("a"), reason="spam", at=1)
    other = Hidden(artifact=named("b"), reason="", at=2)
    again = Hidden(artifact=named("a"), reason="worse", at=3)
    with trio.fail_after(10):
        async with open_store(path, realm=REALM) as store:
            for write in (one, other, again, ShowAgain(artifact=named("b"))):
                await store.write([write])
            await store.write([ShowAgain(artifact=named("never"))])
        async with open_store(path, realm=REALM) as store:
            assert await store.hidden() == [again]
            assert await store.indexed() == Indexed(format=0, upto=0)


@pytest.mark.trio
@pytest.mark.parametrize(
    "bad",
    [
        Hidden(artifact=b"short", reason="", at=1),
        Hidden(artifact=named("a"), reason="x" * 501, at=1),
    ],
    ids=["id", "reason"],
)
async def test_what_breaks_a_rule_is_refused(tmp_path: Path, bad: Hidden) -> None:
    with trio.fail_after(10):
        async with open_store(tmp_path / "store.db", realm=REALM) as store:
            with pytest.raises(StoreError) as caught:
                await store.write([bad])

    assert caught.value.code is NodeCode.WRITE_REFUSED
