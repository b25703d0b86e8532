"""Newcomers that keep their own keys register over HTTP: who gets in, and how often it is told."""

from pathlib import Path

import httpx
import pytest
import trio

from federation.protocol import intake
from federation.records import Role
from tests.node.api.living import living, until
from tests.node.api.newcomers import newcomer
from tests.node.api.registering import LIMITS, Town, answers_for, code_of, town


@pytest.mark.trio
async def test_what_registering_takes_is_shown(tmp_path: Path) -> None:
    async with town(tmp_path, instance_least=8) as here:
        page = await here.terms()
        state = here.it.node.world.state
        await here.register_agent("robin")
        after = await here.terms()

    assert page["realm"] == state.realm.hex()
    assert page["instance"] == here.it.node.instance.hex()
    assert page["policy"] == "open"
    assert page["epoch"] == state.tick
    assert page["beacon"] == state.joining.beacon.hex()
    assert (page["free"], page["barred"]) == (False, False)
    assert page["agents"] == {
        "memory_kib": 8, "passes": 1, "parts": 2, "bits": 1, "gate_bits": 4, "left": 8,
    }  # fmt: skip
    assert page["operators"]["bits"] == 2
    assert (after["agents"]["left"], after["operators"]["left"]) == (7, 8)


@pytest.mark.trio
async def test_an_operator_registers_and_then_its_agent(tmp_path: Path) -> None:
    async with town(tmp_path, epoch=2_000) as here:
        world = here.it.node.world
        operator = newcomer(here.realm, Role.OPERATOR, "owner")
        first = await here.register(operator)
        assert first.status_code == 201, first.text
        await until(lambda: operator.id in world.state.operators)
        agent = newcomer(here.realm, Role.AGENT, "robin")
        second = await here.register(agent, answers_for(operator, agent))
        assert second.status_code == 201, second.text
        await until(lambda: agent.id in world.state.agents)
        shown = (await here.client.get(f"/v1/agents/{agent.id.hex()}")).json()

    told = first.json()
    assert (told["id"], told["role"]) == (operator.id.hex(), "operator")
    assert told["operator"] is None
    assert second.json()["operator"] == operator.id.hex()
    assert second.json()["instance"] == here.it.node.instance.hex()
    assert shown["standing"]["custody"] == "self"
    assert shown["operator"]["id"] == operator.id.hex()


@pytest.mark.trio
async def test_a_realm_that_asks_for_no_proof_takes_none(tmp_path: Path) -> None:
    free = {"agent_bits": 0, "operator_bits": 0, "most_bits": 0, "gate_bits": 0}
    async with town(tmp_path, **free) as here:
        agent, word = here.agent()
        page = await here.terms()
        answer = await here.post(agent, None, word)
        admission = here.it.node.world.log.get(bytes.fromhex(answer.json()["admission"]))

    assert page["free"] is True
    assert answer.status_code == 201, answer.text
    assert admission is not None
    assert admission.body.proof is None


@pytest.mark.trio
async def test_the_same_registration_gets_the_same_answer_while_it_waits_and_ever_after(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, epoch=2_000) as here:
        world = here.it.node.world
        agent, word = here.agent()
        work = await here.work(agent)
        first = await here.post(agent, work, word)
        before = len(world.log)
        again = await here.post(agent, work, word)
        assert len(world.log) == before
        await until(lambda: agent.id in world.state.agents)
        tick = world.state.tick
        # By now the proof itself would be too old.
        await until(lambda: world.state.tick >= tick + 2)
        late = await here.post(agent, work, word)

    assert [one.status_code for one in (first, again, late)] == [201] * 3, late.text
    same = ("id", "role", "admission", "operator", "instance")
    told = [{key: one.json()[key] for key in same} for one in (first, again, late)]
    assert told[0] == told[1] == told[2]
    assert late.json()["says"] == "the agent is admitted"


@pytest.mark.trio
async def test_it_gets_the_same_answer_after_a_restart_where_nobody_is_let_in_any_more(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as here:
        operator = newcomer(here.realm, Role.OPERATOR, "owner")
        work = await here.work(operator)
        first = await here.post(operator, work)
    data = here.it.data
    data.settings.write_text(data.settings.read_text() + '\nregistration = "closed"\n')
    async with living(tmp_path, data=data, limits=LIMITS) as it, it.client() as client:
        again = await Town(it=it, client=client).post(operator, work)

    assert first.status_code == again.status_code == 201, again.text
    assert first.json() == again.json()


@pytest.mark.trio
async def test_of_many_at_once_each_newcomer_is_admitted_once(tmp_path: Path) -> None:
    answers: list[httpx.Response] = []
    async with town(tmp_path) as here:
        agent, word = here.agent()
        work = await here.work(agent)

        async def post() -> None:
            answers.append(await here.post(agent, work, word))

        async with trio.open_nursery() as nursery:
            for _ in range(8):
                nursery.start_soon(post)
        world = here.it.node.world
        own = [one for one in world.log.by_kind("agent.admit") if one.body.agent == agent.id]

    assert {one.status_code for one in answers} == {201}
    assert len({one.json()["admission"] for one in answers}) == 1
    assert len(own) == 1


@pytest.mark.trio
async def test_an_agent_that_another_operator_answers_for_is_told_so(tmp_path: Path) -> None:
    async with town(tmp_path, epoch=2_000) as here:
        world = here.it.node.world
        other = newcomer(here.realm, Role.OPERATOR, "other")
        await here.register(other)
        await until(lambda: other.id in world.state.operators)
        agent, word = here.agent()
        first = await here.register(agent, word)
        second = await here.register(agent, answers_for(other, agent))

    assert first.status_code == 201
    assert (second.status_code, code_of(second)) == (409, "DUPLICATE")


@pytest.mark.trio
async def test_a_founder_is_told_that_it_is_admitted(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        node = here.it.node
        first = node.world.log.get(node.world.state.instances[node.instance])
        assert first is not None
        founder = newcomer(here.realm, Role.OPERATOR)
        founder.chain[0] = first
        before = len(node.world.log)
        answer = await here.post(founder, None)

        assert len(node.world.log) == before
    assert answer.status_code == 201
    assert answer.json()["says"] == "the operator is admitted"


@pytest.mark.trio
async def test_an_operator_finds_a_place_although_the_node_is_crowded_with_strangers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MOST_STRANGERS", 0)
    async with town(tmp_path, epoch=2_000) as here:
        operator = newcomer(here.realm, Role.OPERATOR, "owner")
        answer = await here.register(operator)
        await until(lambda: operator.id in here.it.node.world.state.operators)

    assert answer.status_code == 201
