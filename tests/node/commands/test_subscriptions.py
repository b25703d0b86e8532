"""Offers for an agent whose key is kept here: fields at fault are named, nothing is said twice."""

from pathlib import Path

import pytest
import trio

from federation.records import AgentSubscribe
from node.base.errors import NodeCode, RequestError
from node.commands import subscribe
from tests.node.api.living import living, until


@pytest.mark.trio
@pytest.mark.parametrize(
    ("topics", "keywords", "on", "field"),
    [
        ((), (), True, "$.topics"),
        (("a",), (), False, "$.on"),
        (("Not a topic",), (), True, "$.topics[0]"),
        (tuple(f"t{n}" for n in range(33)), (), True, "$.topics"),
        ((), ("x" * 129,), True, "$.keywords[0]"),
        ((), (" ",), True, "$.keywords[0]"),
    ],
)
async def test_a_bad_offer_signs_nothing(
    tmp_path: Path, topics: tuple[str, ...], keywords: tuple[str, ...], on: bool, field: str
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it:
            before = len(it.node.world.log)
            with pytest.raises(RequestError) as caught:
                await subscribe(it.node, it.agents[0], topics=topics, keywords=keywords, on=on)
            after = len(it.node.world.log)

    assert caught.value.code is NodeCode.BAD_FIELD
    assert f" - at `{field}`" in caught.value.why
    assert after == before


@pytest.mark.trio
async def test_the_same_offer_said_again_is_the_same_record(tmp_path: Path) -> None:
    with trio.fail_after(30):
        async with living(tmp_path) as it:
            node, agent = it.node, it.agents[0]
            first = await subscribe(node, agent, topics=("b", "a", "b"), keywords=("Two  words",))
            again = await subscribe(node, agent, topics=("a", "b"), keywords=("Two words",))
            await until(lambda: node.world.state.agents[agent].offer is not None)
            later = await subscribe(node, agent, topics=("b", "a"), keywords=("Two words",))
            off = await subscribe(node, agent, topics=(), keywords=(), on=False)
            back = await subscribe(node, agent, topics=("a", "b"), keywords=("Two words",))

    assert first.body == AgentSubscribe(topics=("a", "b"), keywords=("Two words",), on=True)
    assert first.id == again.id == later.id
    assert len({first.id, off.id, back.id}) == 3
