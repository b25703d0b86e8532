"""What is found is what may be shown, where it stands now."""

from dataclasses import replace
from pathlib import Path

import pytest
import trio

from federation.artifacts import Flag
from node.base.errors import NodeCode, RequestError
from node.queries.texts import veil
from node.recruitment.search import EXCERPT, Search, Within, excerpt
from node.store import Store
from tests.builders import artifact_text
from tests.federation.protocol.town import Town
from tests.node.recruitment.scenes import keep, stored


def titles(page: object) -> list[str | None]:
    return [hit.artifact.title for hit in page.items]  # type: ignore[attr-defined]


@pytest.mark.trio
async def test_accepted_knowledge_is_found_with_its_verdict_unless_more_is_asked_for(
    tmp_path: Path,
) -> None:
    town = Town.of(1, 5)
    taken = town.propose(0, "Water boils")
    town.vote(taken, {1: 1, 2: 1, 3: 1})
    town.vote(town.propose(1, "Water is dry"), {0: -1, 2: -1, 3: -1})
    town.settled()
    open_ = town.propose(2, "Water freezes", topics=("notes/lab",), cites=(taken.id,))
    town.open_round(open_)
    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            search = Search(store, lambda: world)
            usual = await search.find("WATER")
            every = await search.find("water", within=Within.ANY)
            retracted = await search.find("water", within=Within.RETRACTED)
            lab = await search.find("water", within=Within.ANY, topic="notes")
            nothing = await search.find("salt", within=Within.ANY)
            empty = await search.find(" --- ", within=Within.ANY)
            early = await search.find("water", whole=False)

    (hit,) = usual.items
    assert hit.artifact.title == "Water boils"
    assert hit.artifact.verdict is not None
    assert hit.artifact.verdict.narrow
    assert (hit.excerpt, hit.support) == ("It holds.", 0)
    assert (usual.terms, usual.next, usual.partial) == (("WATER",), None, False)
    assert set(titles(every)) == {"Water boils", "Water is dry", "Water freezes"}
    assert titles(retracted) == ["Water is dry"]
    assert titles(lab) == ["Water freezes"]
    assert nothing.items == empty.items == ()
    assert early.partial, "texts are still being indexed"


@pytest.mark.trio
async def test_what_is_hidden_is_never_found(tmp_path: Path) -> None:
    town = Town.of(1, 5)
    record = town.propose(0, "Water boils")
    town.vote(record, {1: 1, 2: 1, 3: 1})
    town.settled()
    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            search = Search(store, lambda: world)
            before = await search.find("water")
            veil(world, {record.id: ""})
            here = await search.find("water", within=Within.ANY)
            veil(world, {})
            artifact = world.state.artifacts[record.id]
            world.state.artifacts[record.id] = replace(artifact, flags=frozenset({Flag.HIDDEN}))
            realm = await search.find("water", within=Within.ANY)
            world.state.artifacts[record.id] = artifact
            world.log.drop_text(record.id)
            gone = await search.find("water")

    assert titles(before) == ["Water boils"]
    assert here.items == realm.items == gone.items == ()


@pytest.mark.trio
async def test_pages_follow_each_other_and_every_artifact_comes_once(tmp_path: Path) -> None:
    town = Town.of(1, 5)
    for number in range(4):
        town.propose(number, "Water " + "salt " * number)
    town.in_cut(1)
    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            search = Search(store, lambda: world)
            whole = await search.find("water", within=Within.ANY)
            shown, after = [], None
            while True:
                page = await search.find("water", within=Within.ANY, after=after, most=1)
                shown += page.items
                if page.next is None:
                    break
                after = bytes.fromhex(page.next)
            with pytest.raises(RequestError) as lost:
                await search.find("water", within=Within.ANY, after=bytes(32))
            with pytest.raises(RequestError) as many:
                await search.find("water", most=101)

    assert tuple(shown) == whole.items
    assert len(shown) == 4
    assert lost.value.code is NodeCode.NOT_FOUND
    assert many.value.code is NodeCode.BAD_REQUEST


@pytest.mark.trio
async def test_a_proposal_that_no_cut_contains_is_not_found(tmp_path: Path) -> None:
    town = Town.of(1, 5)
    town.in_cut(1)
    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            town.propose(0, "Water boils")
            await keep(town, store)
            found = await Search(store, lambda: world).find("water", within=Within.ANY)

    assert found.items == ()


@pytest.mark.trio
async def test_a_search_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    town = Town.of(1, 5)
    town.in_cut(1)

    class Slow(Store):
        async def search(self, expression: str, most: int) -> list[bytes]:
            del expression, most
            await trio.sleep_forever()
            return []

    with trio.fail_after(20):
        async with stored(town, tmp_path) as (store, world):
            store.__class__ = Slow
            search = Search(store, lambda: world)
            codes = []

            async def ask() -> None:
                with pytest.raises(RequestError) as caught:
                    await search.find("water")
                codes.append(caught.value.code)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask)
                nursery.start_soon(ask)

    assert codes == [NodeCode.BUSY] * 2


def test_an_excerpt_shows_what_was_asked_for_and_no_half_words() -> None:
    text = artifact_text(prose=f"{'before ' * 60}the boiling point {'after ' * 60}", claims=())
    shown = excerpt(text, ("BOILING",))

    assert "the boiling point" in shown
    assert shown.startswith("… before")
    assert shown.endswith("after …")
    assert len(shown) <= EXCERPT + 4


@pytest.mark.parametrize("prose", ["", "short", "x" * 5_000, "(.*)" * 100, " \n\t "])
def test_any_text_has_an_excerpt(prose: str) -> None:
    text = artifact_text(prose=prose, claims=())

    assert len(excerpt(text, ("(.*)", "y"))) <= EXCERPT + 4
