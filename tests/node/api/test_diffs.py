"""The route that compares our certified world with a peer's."""

from pathlib import Path

import pytest
import trio

from federation.protocol.digest import TableName
from tests.node.api.living import living, until
from tests.node.runtime.realm import introduce, realm

DAY = 86_400_000


@pytest.mark.trio
async def test_a_peer_is_compared_for_the_operator_alone(tmp_path: Path) -> None:
    town = realm(tmp_path, instances=2, agents=4, epoch=DAY)
    with trio.fail_after(40):
        async with (
            living(tmp_path, data=town.places[0]) as it,
            town.node(1) as two,
            it.client(it.operator) as operator,
            it.client() as anybody,
        ):
            path = f"/v1/peers/{two.instance.hex()}/diff"
            alone = await operator.get(path)
            introduce([two, it.node])
            await until(lambda: two.instance in it.node.links.connected)
            refused = await anybody.get(path)
            same = await operator.get(path)
            two.world.state.tables.named(TableName.AGENTS).put(town.agents_of(1)[0], [1])
            differs = await operator.get(path)
            nobody = await operator.get(f"/v1/peers/{it.node.instance.hex()}/diff")

    assert (alone.status_code, alone.json()["code"]) == (503, "UNREACHABLE")
    assert refused.status_code == 401
    assert same.status_code == 200
    assert same.json()["same"] is True
    assert (differs.status_code, differs.json()["same"]) == (200, False)
    (row,) = differs.json()["rows"]
    assert (row["table"], row["name"]) == ("agents", "agent 1")
    assert {cause["code"] for cause in differs.json()["causes"]} >= {"form"}
    assert (nobody.status_code, nobody.json()["code"]) == (404, "NOT_FOUND")
