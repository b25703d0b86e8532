"""Vouches for an agent whose key is kept here: fields at fault are named, nothing is said twice."""

from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest
import trio

from federation.core import Code, RefusedError
from federation.records import AgentUnvouch, AgentVouch, Record
from node.base.errors import NodeCode, RequestError
from node.commands import unvouch, vouch
from tests.node.api.living import Living, living, until


async def named(field: str, call: Callable[[], Coroutine[None, None, Record]]) -> None:
    with pytest.raises(RequestError) as caught:
        await call()
    assert caught.value.code is NodeCode.BAD_FIELD
    assert caught.value.why.endswith(f" - at `{field}`")


def stands(it: Living) -> int:
    return it.node.world.state.graph.edge(it.agents[0], it.agents[1]).vouch


@pytest.mark.trio
async def test_a_bad_vouch_signs_nothing(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            node, one, other = it.node, it.agents[0], it.agents[1]
            before = len(node.world.log)
            for weight in (0, 256, -1):
                await named(
                    "$.weight", lambda w=weight: vouch(node, one, other, weight=w, reason="r")
                )
            for reason in ("", "x" * 501):
                await named(
                    "$.reason", lambda r=reason: vouch(node, one, other, weight=1, reason=r)
                )
                await named("$.reason", lambda r=reason: unvouch(node, one, other, reason=r))
            with pytest.raises(RequestError) as caught:
                await vouch(node, bytes(32), other, weight=1, reason="r")
            after = len(node.world.log)

    assert caught.value.code is NodeCode.NOT_IN_CUSTODY
    assert after == before


@pytest.mark.trio
async def test_only_the_same_weight_for_the_same_agent_is_the_same_vouch(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it:
            node, one, other, third = it.node, *it.agents[:3]
            first = await vouch(node, one, other, weight=5, reason="r")
            waiting = await vouch(node, one, other, weight=5, reason="another")
            of_another = await vouch(node, third, other, weight=5, reason="r")
            for_another = await vouch(node, one, third, weight=5, reason="r")
            heavier = await vouch(node, one, other, weight=6, reason="r")
            back = await vouch(node, one, other, weight=5, reason="r")
            await until(lambda: stands(it) == 5)
            standing = await vouch(node, one, other, weight=5, reason="r")

    assert waiting == first
    assert len({one.id for one in (first, of_another, for_another, heavier, back)}) == 5
    assert standing == back
    assert isinstance(back.body, AgentVouch)


@pytest.mark.trio
async def test_an_end_that_is_repeated_is_the_same_while_it_waits(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it:
            node, one, other = it.node, *it.agents[:2]
            with pytest.raises(RefusedError) as never:
                await unvouch(node, one, other, reason="r")
            await vouch(node, one, other, weight=5, reason="r")
            await until(lambda: stands(it))
            ended = await unvouch(node, one, other, reason="r")
            again = await unvouch(node, one, other, reason="r") if stands(it) else ended
            await until(lambda: not stands(it))
            with pytest.raises(RefusedError) as over:
                await unvouch(node, one, other, reason="r")

    assert again == ended
    assert isinstance(ended.body, AgentUnvouch)
    assert never.value.code is over.value.code is Code.NO_VOUCH
