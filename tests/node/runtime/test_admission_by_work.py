"""Agents that are admitted by a proof of work, over real nodes, and instances that lie about it."""

import os
import signal
import time
from pathlib import Path

import httpx
import pytest
import trio

from federation import admission
from federation.admission import Work, blank_work
from federation.core import AgentId, Code, RefusedError
from federation.protocol import custody
from federation.protocol.admittance import room_taken
from federation.records import AgentAdmit, Kind, Record, Role
from node.base.errors import NodeCode, NodeError
from node.runtime import Node
from node.runtime.admission import SEARCHES
from node.runtime.running import Running, run
from tests.federation.admission.proofs import gated
from tests.node.runtime.newcomers import admission_of, newcomer
from tests.node.runtime.problems import children_of, is_running
from tests.node.runtime.quick import propose, quick
from tests.node.runtime.realm import Realm, tiny, until

LONG = 90.0
"""Seconds for what includes the start of processes on a busy machine."""
SLOWLY = {"epoch": 3_000}
"""Epochs in which a process has time to start."""
HARD = tiny(memory_kib=1_024, agent_bits=24, operator_bits=24, most_bits=24)
"""Nobody finds such a proof during a test."""


def names(town: Realm) -> set[str]:
    return {kept.name for kept in town.keystore(0).identities()}


def admissions(node: Node, agent: AgentId) -> list[Record]:
    return [
        one
        for one in node.world.log.by_kind(Kind.AGENT_ADMIT)
        if isinstance(one.body, AgentAdmit) and one.body.agent == agent
    ]


def agree(one: Node, other: Node) -> bool:
    mine, theirs = one.world, other.world
    return (mine.state.digest, mine.digest) == (theirs.state.digest, theirs.digest)


async def settled(node: Node) -> None:
    """Wait until an instance signs: it must have met the other."""
    await until(lambda: node.world.me is not None and node.world.me.settled, within=LONG)


def blank(node: Node, key: bytes) -> Work:
    state = node.world.state
    asked = state.joining.in_force(state.tick, Role.AGENT)(state.tick)
    assert asked is not None
    return blank_work(
        realm=node.world.realm,
        role=Role.AGENT,
        instance=node.instance,
        key=key,
        epoch=state.tick,
        beacon=asked.beacon,
        terms=asked.terms,
    )


async def admit_by(node: Node, number: int, proof: bytes | None) -> Record:
    """Let an instance sign for an agent and a proof that nobody has verified."""
    first = newcomer(node.world.realm, number)
    body = await admission_of(node, first, proof)
    return await node.sign(
        node.instance, lambda world, ring, now: custody.author(world, ring, body, now=now)
    )


def false_proof(node: Node, number: int) -> bytes:
    """Give a proof whose gate holds and whose parts do not."""
    first = newcomer(node.world.realm, number)
    key = first.body.key  # type: ignore[union-attr] # it is an inception
    hard = blank(node, key)
    work = gated(hard)
    assert not admission.does_work(work)
    return admission.work_bytes(work)


# Two nodes --------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_an_agent_is_admitted_by_the_proof_that_its_node_finds_and_both_nodes_agree(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path, instances=2, agents=2, timing=SLOWLY, admission=tiny())
    with trio.fail_after(LONG):
        async with town.nodes() as (one, other):
            await settled(one)
            agent = await one.admit("newcomer")
            await until(lambda: other.world.is_admitted(agent), within=LONG)
            await until(lambda: one.world.is_admitted(agent), within=LONG)
            (record,) = admissions(other, agent)
            assert isinstance(record.body, AgentAdmit)
            assert record.body.proof is not None
            # The other has verified it by itself, beside its core.
            assert other.proofs.known(record.body.proof) is True
            assert len(other.proofs.pids) == 1
            # The one need not: it has found it.
            assert one.proofs.pids == ()
            await until(lambda: agree(one, other), within=LONG)
            proposed = await propose(one, agent)
            await until(lambda: proposed.id in other.world.state.artifacts, within=LONG)

            # One of the two may just have come to the next cut.
            await until(lambda: agree(one, other), within=LONG)
            assert one.world.state.refused == other.world.state.refused == {}
    assert children_of(os.getpid(), "prover.py") == []
    assert children_of(os.getpid(), "minter.py") == []


@pytest.mark.trio
async def test_an_agent_stays_admitted_when_its_node_folds_the_log_anew(tmp_path: Path) -> None:
    town = quick(tmp_path, timing=SLOWLY, admission=tiny())
    with trio.fail_after(LONG):
        async with town.node(0) as node:
            agent = await node.admit("newcomer")
            await until(lambda: node.world.is_admitted(agent), within=LONG)
        async with town.node(0) as node:
            (record,) = admissions(node, agent)
            assert isinstance(record.body, AgentAdmit)

            assert node.world.is_admitted(agent)
            assert node.world.prove == node.proofs.known


@pytest.mark.trio
@pytest.mark.parametrize("with_what", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_cut_comes_although_the_process_that_verifies_is_killed_or_frozen(
    tmp_path: Path, with_what: signal.Signals
) -> None:
    town = quick(tmp_path, instances=2, agents=2, timing=SLOWLY, admission=tiny())
    with trio.fail_after(LONG):
        async with town.nodes() as (one, other):
            await settled(one)
            other.proofs._patience = 2.0
            first = await one.admit("first")
            await until(lambda: other.world.is_admitted(first), within=LONG)
            (pid,) = other.proofs.pids
            os.kill(pid, with_what)
            second = await one.admit("second")
            await until(lambda: other.world.is_admitted(second), within=LONG)
            await until(lambda: agree(one, other), within=LONG)

            assert other.proofs.failures >= 1
            assert not is_running(pid)


@pytest.mark.trio
async def test_an_instance_that_signs_for_a_proof_of_no_work_is_barred_on_every_node(
    tmp_path: Path,
) -> None:
    # So many bits that no value at random does the work.
    hard = tiny(agent_bits=20, operator_bits=20, most_bits=20)
    town = quick(tmp_path, instances=2, agents=2, timing=SLOWLY, admission=hard)
    with trio.fail_after(LONG):
        async with town.nodes() as (one, other):
            await settled(one)
            false = await admit_by(one, 1, false_proof(one, 1))
            for node in (one, other):
                refused = node.world.state.refused
                await until(lambda: false.id in refused, within=LONG)  # noqa: B023 # it ends with the turn

                assert refused[false.id] is Code.PROOF_WORK
            await until(lambda: agree(one, other), within=LONG)
            assert one.proofs.failures == other.proofs.failures == 0


# One node ---------------------------------------------------------------------------------------


@pytest.mark.trio
async def test_where_a_quota_is_used_up_nothing_is_searched_for_and_no_key_is_kept(
    tmp_path: Path,
) -> None:
    town = quick(tmp_path, timing=SLOWLY, admission=tiny(operator_agents=1))
    with trio.fail_after(LONG):
        async with town.node(0) as node:
            await node.admit("first")
            operator = node.world.state.instances[node.instance]
            # It counts from the first moment on, not only once a cut contains it.
            waits = room_taken(
                node.world, role=Role.AGENT, instance=node.instance, operator=operator
            )
            with pytest.raises(RefusedError) as refused:
                await node.admit("second")
            assert children_of(os.getpid(), "minter.py") == []
            assert waits in {(1, 1), (0, 0)}

    assert refused.value.code is Code.OVER_QUOTA
    assert "second" not in names(town)


@pytest.mark.trio
async def test_an_instance_that_is_barred_admits_nobody_and_keeps_no_key(tmp_path: Path) -> None:
    town = quick(tmp_path, timing={"epoch": 60_000}, admission=tiny())
    with trio.fail_after(LONG):
        async with town.node(0) as node:
            node.world.state.joining.false.add(node.instance)
            with pytest.raises(RefusedError) as refused:
                await node.admit("newcomer")

    assert refused.value.code is Code.INSTANCE_BARRED
    assert "newcomer" not in names(town)


@pytest.mark.trio
async def test_who_gives_up_during_the_search_leaves_nothing_behind(tmp_path: Path) -> None:
    town = quick(tmp_path, timing=SLOWLY, admission=HARD)
    with trio.fail_after(LONG):
        async with town.node(0) as node:
            listeners, own = len(node.driver.listeners), node.world.log.count_of(node.instance)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(node.admit, "newcomer")
                await until(lambda: node.proofs.minting.progress, within=LONG)
                (pid,) = node.proofs.minting.pids
                nursery.cancel_scope.cancel()

            assert not is_running(pid)
            assert len(node.driver.listeners) == listeners
            assert not [one for one in node.world.log.by_kind(Kind.AGENT_ADMIT) if one.seq > own]
    assert "newcomer" not in names(town)


@pytest.mark.trio
async def test_a_search_that_outlasts_its_epochs_begins_anew_a_few_times(tmp_path: Path) -> None:
    town = quick(tmp_path, timing={"epoch": 300}, admission=HARD)
    with trio.fail_after(LONG):
        async with town.node(0) as node:
            tick = node.world.state.tick
            with pytest.raises(RefusedError) as refused:
                await node.admit("newcomer")

            assert node.world.state.tick >= tick + 2 * SEARCHES

    assert refused.value.code is Code.PROOF_STALE
    assert "newcomer" not in names(town)


@pytest.mark.trio
async def test_a_node_that_stops_says_so_to_whoever_waits_for_a_search(tmp_path: Path) -> None:
    town = quick(tmp_path, timing=SLOWLY, admission=HARD)
    codes = list[NodeCode]()

    async def create(node: Node) -> None:
        with pytest.raises(NodeError) as refused:
            await node.admit("newcomer")
        codes.append(refused.value.code)

    with trio.fail_after(LONG):
        async with town.node(0) as node, trio.open_nursery() as nursery:
            nursery.start_soon(create, node)
            nursery.start_soon(create, node)
            await until(lambda: node.proofs.minting.pids, within=LONG)
            node.stopping = True

    assert codes == [NodeCode.STOPPING] * 2
    assert "newcomer" not in names(town)


@pytest.mark.trio
@pytest.mark.parametrize("is_frozen", [False, True])
async def test_a_running_node_ends_at_once_while_it_searches(
    tmp_path: Path, *, is_frozen: bool
) -> None:
    town = quick(tmp_path, timing=SLOWLY, admission=HARD)
    found = list[Running]()
    ready, stop, over = trio.Event(), trio.Event(), trio.Event()
    answers = list[httpx.Response]()

    def tell(one: Running) -> None:
        found.append(one)
        ready.set()

    async def main() -> None:
        await run(town.places[0], town.settings(0), town.keystore(0), ready=tell, stop=stop)
        over.set()

    async def create() -> None:
        token = town.places[0].operator_token.read_text().strip()
        async with httpx.AsyncClient(
            base_url=found[0].url,
            headers={"authorization": f"Bearer {token}"},
            timeout=LONG,
            trust_env=False,
        ) as client:
            answers.append(await client.post("/v1/admin/agents", json={"name": "newcomer"}))

    with trio.fail_after(LONG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(main)
            await ready.wait()
            nursery.start_soon(create)
            minting = found[0].node.proofs.minting
            await until(lambda: minting.progress and minting.progress.tried, within=LONG)
            (pid,) = minting.pids
            if is_frozen:
                os.kill(pid, signal.SIGSTOP)
            began = time.monotonic()
            stop.set()
            await over.wait()
            took = time.monotonic() - began

    assert (answers[0].status_code, answers[0].json()["code"]) == (503, NodeCode.STOPPING)
    assert took < 3
    assert not is_running(pid)
