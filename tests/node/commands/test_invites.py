"""Invites for an agent whose key is kept here: fields at fault are named."""

from pathlib import Path

import pytest
import trio

from node.base.errors import NodeCode, RequestError
from node.commands import invite
from tests.node.api.living import living


@pytest.mark.trio
async def test_a_bad_field_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            node, alice = it.node, it.agents[0]
            for field, wrong in (
                ("weight", (0, 256, -1)),
                ("uses", (0, 65, -1)),
                ("days", (0, 91, -1, 2**70)),
            ):
                for value in wrong:
                    with pytest.raises(RequestError) as caught:
                        await invite(node, alice, **{field: value})
                    assert caught.value.code is NodeCode.BAD_FIELD
                    assert caught.value.why.endswith(f" - at `$.{field}`")

            assert node.invites.book.all() == []


@pytest.mark.trio
async def test_what_is_not_said_is_the_usual_and_the_bounds_are_allowed(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            node, alice = it.node, it.agents[0]
            _, usual = await invite(node, alice)
            _, most = await invite(node, alice, weight=255, uses=64, days=90)
            _, least = await invite(node, alice, weight=1, uses=1, days=1)

    assert (usual.weight, usual.uses, usual.until - usual.created) == (64, 1, 7 * 86_400_000)
    assert (most.weight, most.uses, most.until - most.created) == (255, 64, 90 * 86_400_000)
    assert (least.weight, least.uses, least.until - least.created) == (1, 1, 86_400_000)
