"""The route of the capture table, on a real instance."""

import time
from pathlib import Path

import msgspec
import pytest
import trio

from federation.charter import Charter
from federation.trust import Community
from node.api import capture
from node.queries.capture import Basis, CapturePage, capture_page, community_of
from tests.node.api.living import found, living


@pytest.mark.trio
async def test_anybody_is_told_what_capturing_this_community_takes(tmp_path: Path) -> None:
    with trio.fail_after(20):
        async with living(tmp_path) as it, it.client() as anybody:
            answer = await anybody.get("/v1/charter/cost")
            world = it.node.world
            expected = capture_page(world.charter, community_of(world), Basis.MEASURED)

    page = msgspec.json.decode(answer.content, type=CapturePage)
    assert answer.status_code == 200
    assert page.basis is Basis.MEASURED
    assert page.cut is not None
    assert page.rows == expected.rows
    assert (page.operators, page.instances, page.agents) == (1, 1, 5)


@pytest.mark.trio
async def test_many_who_ask_at_once_are_told_the_same(tmp_path: Path) -> None:
    told: list[tuple[int, bytes]] = []
    with trio.fail_after(20):
        async with living(tmp_path) as it:

            async def ask() -> None:
                async with it.client() as one:
                    answer = await one.get("/v1/charter/cost")
                    told.append((answer.status_code, answer.content))

            async with trio.open_nursery() as nursery:
                for _ in range(8):
                    nursery.start_soon(ask)

    by_cut = {msgspec.json.decode(content, type=CapturePage).cut: content for _, content in told}
    assert {status for status, _ in told} == {200}
    assert {content for _, content in told} == set(by_cut.values())


@pytest.mark.trio
async def test_a_table_is_worked_out_for_everybody_and_the_next_one_only_after_a_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    working: list[None] = []
    most: list[int] = []

    def slow(
        charter: Charter, community: Community, basis: Basis, *, cut: int | None = None
    ) -> CapturePage:
        working.append(None)
        most.append(len(working))
        time.sleep(0.4)
        working.pop()
        return capture_page(charter, community, basis, cut=cut)

    monkeypatch.setattr(capture, "capture_page", slow)
    shown: list[int | None] = []
    with trio.fail_after(30):
        # Cuts come twice a second.
        async with living(tmp_path, data=found(tmp_path, timing={"epoch": 500})) as it:
            world = it.node.world

            async def ask() -> None:
                async with it.client() as one:
                    answer = await one.get("/v1/charter/cost")
                    shown.append(msgspec.json.decode(answer.content, type=CapturePage).cut)

            async with trio.open_nursery() as nursery:
                for _ in range(25):
                    nursery.start_soon(ask)
                    await trio.sleep(0.1)
            first = len(most)
            await trio.sleep(2.5)
            await ask()

    assert set(most) == {1}, "never two at a time"
    assert first == 1
    assert world.state.cut > 4
    assert shown[-1] != shown[0], "what is old is worked out anew"
