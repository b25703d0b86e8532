"""What an operator hides is gone on his node at once, stays so, and nowhere else."""

from pathlib import Path

import pytest
import trio

from node.base.errors import NodeCode, RequestError
from node.queries import artifacts
from node.queries.texts import TextState, veiled
from node.recruitment import hiding
from node.recruitment.hiding import Hiding
from tests.builders import named
from tests.federation.protocol.town import Town
from tests.node.recruitment.scenes import stored


@pytest.mark.trio
async def test_it_is_hidden_on_this_node_and_on_no_other(tmp_path: Path) -> None:
    town = Town.of(2, 6)
    record = town.propose(0, "Water boils")
    town.open_round(record)
    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            here = Hiding(store, lambda: world, lambda: 7, ())
            await here.hide(record.id, "Private data.")
            page = artifacts.one(world, record.id, town.now)
            other = artifacts.one(town.world(1), record.id, town.now)
            again = Hiding(store, lambda: world, lambda: 8, await store.hidden())
            kept = again.kept
            await again.show(record.id)
            shown = artifacts.one(world, record.id, town.now)
            left = await store.hidden()

    assert (page.text, page.title, page.prose) == (TextState.HIDDEN, None, None)
    assert page.hidden is not None
    assert "Private data." in page.hidden.why
    assert (other.text, other.hidden) == (TextState.HELD, None)
    assert [(one.artifact, one.reason, one.at) for one in kept] == [(record.id, "Private data.", 7)]
    assert (shown.text, shown.hidden, left) == (TextState.HELD, None, [])


@pytest.mark.trio
async def test_what_is_not_hidden_cannot_be_shown_again(tmp_path: Path) -> None:
    town = Town.of(1, 5)
    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            here = Hiding(store, lambda: world, lambda: 7, ())
            with pytest.raises(RequestError) as caught:
                await here.show(named("x"))

    assert caught.value.code is NodeCode.NOT_FOUND


@pytest.mark.trio
async def test_there_is_an_end_to_what_one_node_hides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hiding, "MOST", 1)
    town = Town.of(1, 5)
    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            here = Hiding(store, lambda: world, lambda: 7, ())
            await here.hide(named("a"), "one")
            await here.hide(named("a"), "another reason")
            with pytest.raises(RequestError) as caught:
                await here.hide(named("b"), "")
            names = set(veiled(world))

    assert caught.value.code is NodeCode.BUSY
    assert names == {named("a")}
