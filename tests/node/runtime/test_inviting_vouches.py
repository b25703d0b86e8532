"""Inviters keep their promises: after the cut, after a crash, within their quotas, and only once."""

import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import trio
import trio.testing

from federation.core import AgentId, Code
from federation.protocol import custody
from federation.protocol.inputs import Arrived
from federation.records import AgentUnvouch, AgentVouch, Kind, Revoke, RevokeBy, sign_record
from node.base.errors import NodeCode
from node.runtime import Node, inviting_vouches
from node.store import Invited
from tests.node.cli.session import ROOT
from tests.node.runtime.newcomers import admit, join, newcomer, strict_quotas, weight, words
from tests.node.runtime.quick import quick
from tests.node.runtime.realm import until


async def invite(node: Node, inviter: AgentId, *, uses: int = 1, heavy: int = 64) -> str:
    code, _ = await node.invites.create(inviter, weight=heavy, uses=uses, days=7)
    return code


async def settled(node: Node, agent: AgentId) -> Invited:
    """Wait until nothing more is done about a vouch."""

    def found() -> bool:
        one = node.invites.book.invited(agent)
        return one is not None and one.is_settled

    await until(found)
    one = node.invites.book.invited(agent)
    assert one is not None
    return one


@pytest.mark.trio
async def test_once_a_cut_has_admitted_the_newcomer_its_inviter_vouches(tmp_path: Path) -> None:
    town = quick(tmp_path, agents=2)
    inviter = town.agents_of(0)[0]
    with trio.fail_after(30):
        async with town.node(0) as node:
            agent = await join(node, await invite(node, inviter, heavy=77), 1)
            one = await settled(node, agent)
            said = words(node, inviter, agent)

            assert weight(node, inviter, agent) == 77
        async with town.node(0) as node:
            kept = node.invites.book.invited(agent)
    assert [word.id for word in said] == [one.record]
    assert kept == one


@pytest.mark.trio
async def test_nobody_vouches_for_a_place_without_an_admission(tmp_path: Path) -> None:
    town = quick(tmp_path, agents=2)
    inviter = town.agents_of(0)[0]
    with trio.fail_after(30):
        async with town.node(0) as node:
            code = await invite(node, inviter)
            first = newcomer(node.world.realm, 1)
            await node.invites.note(node.invites.redeem(code, first.id), first.id)
            cut = node.world.state.cut
            await until(lambda: node.world.state.cut > cut + 1)
            before = words(node, inviter, first.id)
            await admit(node, first)
            await settled(node, first.id)

            assert weight(node, inviter, first.id) == 64
    assert before == []


@pytest.mark.trio
async def test_who_is_admitted_already_when_its_place_is_durable_waits_for_no_other_cut(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path, agents=2, timing={"epoch": 3_000})
    inviter = town.agents_of(0)[0]
    with trio.fail_after(30):
        async with town.node(0) as node:
            first = newcomer(node.world.realm, 1)
            code = await invite(node, inviter)
            await admit(node, first)
            await until(lambda: first.id in node.world.state.agents)
            await trio.testing.wait_all_tasks_blocked(0.05)
            await node.invites.note(node.invites.redeem(code, first.id), first.id)
            # The next tick is three seconds away.
            await until(lambda: words(node, inviter, first.id), within=1.5)


@pytest.mark.parametrize("moment", ["noted", "admitted", "cut", "vouched"])
@pytest.mark.trio
async def test_a_node_that_is_killed_keeps_the_promise_when_it_is_back(
    moment: str, tmp_path: Path
) -> None:
    town = quick(tmp_path, agents=1)
    inviter = town.agents_of(0)[0]
    child = [sys.executable, "-m", "tests.node.runtime.child_inviting", moment]
    died = await trio.run_process(
        [*child, str(town.places[0].root)],
        cwd=ROOT,
        capture_stdout=True,
        capture_stderr=True,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr.decode()
    with trio.fail_after(40):
        async with town.node(0) as node:
            first = newcomer(node.world.realm, 1)
            held = node.invites.book.invited(first.id)
            signed = node.world.log.by_kind(Kind.AGENT_ADMIT)
            if moment == "noted":
                assert first.id not in node.world.log
            if all(one.body.agent != first.id for one in signed):
                # A lone member folds in the step that signs: what was not durable yet is sent again.
                assert moment in {"noted", "cut"}
                opened = node.invites.redeem(died.stdout.decode(), first.id)
                await node.invites.note(opened, first.id)
                await admit(node, first)
            one = await settled(node, first.id)
            said = words(node, inviter, first.id)

            assert weight(node, inviter, first.id) == 77
    assert held is not None
    assert not held.is_settled
    assert [word.id for word in said] == [one.record]


@pytest.mark.trio
async def test_over_its_quota_an_inviter_vouches_as_soon_as_it_may_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict_quotas(monkeypatch, vouches_epoch=1)
    town = quick(tmp_path, agents=2)
    inviter, other = town.agents_of(0)
    with trio.fail_after(50):
        async with town.node(0) as node:
            code = await invite(node, inviter, uses=3)
            agents = [await join(node, code, number) for number in range(3)]
            free = await join(node, await invite(node, other), 9)
            seen = set[str | None]()

            def are_all_settled() -> bool:
                held = [node.invites.book.invited(agent) for agent in agents]
                seen.update(one.code for one in held if one)
                return all(one and one.is_settled for one in held)

            await until(are_all_settled, within=30)
            await settled(node, free)

            assert [weight(node, inviter, agent) for agent in agents] == [64] * 3
            assert weight(node, other, free) == 64
            assert [len(words(node, inviter, agent)) for agent in agents] == [1] * 3
    assert Code.OVER_QUOTA in seen


@pytest.mark.trio
async def test_what_a_cut_finds_one_too_many_is_said_again_with_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neither node knows of the others' vouches before the cut that allows but one of them.
    strict_quotas(monkeypatch, vouches_family=1)
    town = quick(tmp_path, instances=3, agents=3)
    void = set[Code]()
    with trio.fail_after(110):
        async with town.nodes() as nodes:
            await until(lambda: all(node.world.me and node.world.me.settled for node in nodes))
            # Their vouches fall into one cut at once, or after a few rounds.
            for round_number in range(8):
                if not void:
                    void = await vouched_at_once(
                        nodes, [town.agents_of(index)[0] for index in range(3)], round_number
                    )

    assert void == {Code.OVER_QUOTA}


async def vouched_at_once(
    nodes: Sequence[Node], inviters: Sequence[AgentId], number: int
) -> set[Code]:
    """Let each node keep a promise at the same moment; gives why vouches did not count at first."""
    firsts = [newcomer(node.world.realm, 10 * number + place) for place, node in enumerate(nodes)]
    for node, first in zip(nodes, firsts, strict=True):
        await admit(node, first)
    await until(
        lambda: all(first.id in node.world.state.agents for first in firsts for node in nodes)
    )
    codes = [await invite(node, inviter) for node, inviter in zip(nodes, inviters, strict=True)]
    async with trio.open_nursery() as nursery:
        for node, first, code in zip(nodes, firsts, codes, strict=True):
            opened = node.invites.redeem(code, first.id)
            nursery.start_soon(node.invites.note, opened, first.id)
    void = set[Code]()
    for node, inviter, first in zip(nodes, inviters, firsts, strict=True):
        one = await settled(node, first.id)
        said = words(node, inviter, first.id)
        assert weight(node, inviter, first.id) == 64
        assert one.record == said[-1].id
        void |= {node.world.state.refused[word.id] for word in said[:-1]}
    return void


@pytest.mark.trio
async def test_it_gives_up_after_so_many_vouches_that_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inviting_vouches, "MOST_TRIES", 2)
    town = quick(tmp_path, agents=2)
    inviter = town.agents_of(0)[0]
    with trio.fail_after(40):
        async with town.node(0) as node:
            first = newcomer(node.world.realm, 1)
            # Said before the newcomer is admitted, they are void at once.
            code = await invite(node, inviter)
            await node.invites.note(node.invites.redeem(code, first.id), first.id)
            for heavy in (1, 2):
                await said_too_early(node, inviter, first.id, heavy)
            await admit(node, first)
            one = await settled(node, first.id)

            assert weight(node, inviter, first.id) == 0
    assert (one.record, one.code) == (None, Code.UNKNOWN_AGENT)
    assert one.why == "cuts found 2 vouches not to count, the last one by UNKNOWN_AGENT"


async def said_too_early(node: Node, inviter: AgentId, agent: AgentId, heavy: int) -> None:
    """Let a cut find a vouch for an agent that no cut has admitted."""
    ring = node.keystore.keyring(inviter)
    assert ring is not None
    seq, head = node.world.log.heads_of(inviter)[-1]
    # The door would refuse it: a program with keys of its own need not ask one.
    record = sign_record(
        AgentVouch(agent=agent, weight=heavy, reason="early"),
        realm=node.world.realm,
        signer=ring.current,
        author=inviter,
        key_index=0,
        seq=seq + 1,
        prev=head,
        at=1,
    )
    node.driver.take(Arrived(records=(record,), peer=None))
    await until(lambda: record.id in node.world.state.refused)


@pytest.mark.trio
async def test_whose_inviter_has_spoken_itself_is_left_alone(tmp_path: Path) -> None:
    town = quick(tmp_path, agents=2)
    inviter = town.agents_of(0)[0]
    with trio.fail_after(40):
        async with town.node(0) as node:
            agent = await join(node, await invite(node, inviter), 1)
            await settled(node, agent)
            for body in (
                AgentVouch(agent=agent, weight=9, reason="less"),
                AgentUnvouch(agent=agent, reason="none"),
            ):
                await node.sign(
                    inviter,
                    lambda world, ring, now, b=body: custody.author(world, ring, b, now=now),
                )
            await until(lambda: weight(node, inviter, agent) == 0)
            # As if the node had been killed before it could note that its vouch counted.
            held = node.invites.book.invited(agent)
            assert held is not None
            await node.store.write([replace(held, is_settled=False, record=None)])
        async with town.node(0) as node:
            one = await settled(node, agent)

            assert len(words(node, inviter, agent)) == 3
            assert weight(node, inviter, agent) == 0
    assert one.why == "the inviter has taken its vouch back"


@pytest.mark.trio
async def test_who_is_revoked_or_whose_inviter_is_gets_no_vouch_and_it_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict_quotas(monkeypatch, vouches_epoch=0)
    town = quick(tmp_path, agents=3)
    one, other, third = town.agents_of(0)
    with trio.fail_after(40):
        async with town.node(0) as node:
            by_one = await join(node, await invite(node, one), 1)
            by_other = await join(node, await invite(node, other), 2)
            by_third = await join(node, await invite(node, third), 3)
            await until(
                lambda: all(
                    (held := node.invites.book.invited(agent)) and held.code == Code.OVER_QUOTA
                    for agent in (by_one, by_other, by_third)
                )
            )
            await node.sign(
                one,
                lambda world, ring, now: custody.author(
                    world, ring, Revoke(by=RevokeBy.CURRENT, reason="stolen"), now=now
                ),
            )
            agents = node.world.state.agents
            agents[by_other] = replace(agents[by_other], found_bad=1)
            held_by_third = node.invites.book.invited(by_third)
            assert held_by_third is not None
            await node.invites.revoke(held_by_third.invite)
            codes = [(await settled(node, agent)) for agent in (by_one, by_other, by_third)]
            said = [words(node, *pair) for pair in ((one, by_one), (other, by_other))]

    assert [held.code for held in codes] == [
        Code.REVOKED,
        Code.NOT_ELIGIBLE,
        NodeCode.INVITE_REFUSED,
    ]
    assert all(held.why for held in codes)
    assert said == [[], []]
