"""Filing names the field at fault before anything is drawn, and says the same thing once."""

from pathlib import Path

import pytest
import trio

from federation.core import Code, RefusedError
from federation.records import Category, DisputeReport, Ground, Record
from node.base.errors import NodeCode, RequestError
from node.commands import Filing, dispute, report, resubmit, rule, seal_argument, withdraw
from node.commands.curation import evidence_of
from node.runtime import Node
from tests.node.runtime.moot import moot
from tests.node.runtime.quick import propose
from tests.node.runtime.realm import until

DIGESTS = tuple(bytes([number]) * 32 for number in range(17))
NAME = bytes(32)


def test_evidence_is_a_set_of_few() -> None:
    assert evidence_of(()) == ()
    assert evidence_of((DIGESTS[1], DIGESTS[0])) == DIGESTS[:2]
    for members, least in ((DIGESTS, 0), ((), 1), (DIGESTS[:1] * 2, 0)):
        with pytest.raises(RequestError) as caught:
            evidence_of(members, least=least)
        assert caught.value.code is NodeCode.BAD_FIELD
        assert caught.value.why.endswith("`$.evidence`")


def _never(count: int) -> bytes:
    raise AssertionError(f"{count} bytes were drawn for nothing")


@pytest.mark.trio
async def test_what_is_wrong_with_a_field_is_found_before_anything_is_drawn(
    tmp_path: Path,
) -> None:
    town = moot(tmp_path)
    agent = town.agents_of(0)[1]

    async def refused(node: Node, field: str, act: object) -> None:
        with pytest.raises(RequestError) as caught:
            await act  # type: ignore[misc]
        assert caught.value.code is NodeCode.BAD_FIELD
        assert caught.value.why.endswith(f"`{field}`")
        del node

    with trio.fail_after(30):
        async with town.node(0) as node:
            node.entropy = _never
            for claim in (0, 17, -1):
                filing = Filing(ground=Ground.OUTDATED, claim=claim)
                await refused(node, "$.claim", dispute(node, agent, NAME, filing))
            await refused(node, "$.evidence", resubmit(node, agent, NAME, evidence=(), note="n"))
            await refused(node, "$.reason", withdraw(node, agent, NAME, reason="x" * 501))
            for ground in ("", "Not fair", "x" * 41):
                ruling = rule(node, agent, NAME, ruling="reject", ground=ground, note="")  # type: ignore[arg-type]
                await refused(node, "$.ground", ruling)
            await refused(
                node,
                "$.note",
                seal_argument(node, agent, NAME, stance="for", note=""),  # type: ignore[arg-type]
            )


@pytest.mark.trio
async def test_the_same_report_said_again_before_its_cut_is_the_same_record(
    tmp_path: Path,
) -> None:
    town = moot(tmp_path)
    author, agent, other = town.agents_of(0)[:3]
    with trio.fail_after(30):
        async with town.node(0) as node:
            proposed = await propose(node, author)
            await until(lambda: proposed.id in node.world.state.artifacts)
            made: list[Record] = []

            async def say(who: bytes, note: str) -> None:
                made.append(
                    await report(node, who, proposed.id, category=Category.PRIVACY, note=note)
                )

            # Both are asked for within one turn of the loop: no cut comes between them.
            async with trio.open_nursery() as nursery:
                nursery.start_soon(say, agent, "It names me.")
                nursery.start_soon(say, agent, "It names me!")
            assert made[0] == made[1]
            assert isinstance(made[0].body, DisputeReport)
            await until(lambda: made[0].id not in node.world.triggers)
            # Of somebody else it is another report, which is one too many for now.
            with pytest.raises(RefusedError) as caught:
                await say(other, "It names me.")
            assert caught.value.code is Code.GUARD_FAILED
