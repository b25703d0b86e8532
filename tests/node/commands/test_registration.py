"""Registration in process: domains that are proven, and places of invites."""

import json
from pathlib import Path

import pytest
import trio

from federation.core import RefusedError
from federation.records import Record, Role, wire
from node import commands
from node.base.errors import NodeCode, RequestError
from tests.node.api.living import until
from tests.node.api.newcomers import Newcomer, newcomer
from tests.node.api.registering import Town, code_of, town
from tests.node.outbound.authority import DOMAIN, answer, serving

FREE = {"agent_bits": 0, "operator_bits": 0, "most_bits": 0, "gate_bits": 0}


def wish(one: Newcomer, *others: Record, **more: str) -> commands.Wish:
    return commands.Wish(
        role=one.role,
        records=tuple(wire(record) for record in (one.chain[0], *others)),
        proof=None,
        invite=more.get("invite"),
        domain=more.get("domain"),
    )


async def code_from(here: Town, index: int = 0, *, uses: int = 1) -> str:
    code, _ = await commands.invite(here.it.node, here.it.agents[index], uses=uses)
    return code


@pytest.mark.trio
async def test_a_domain_that_names_the_operator_stands_in_its_admission(tmp_path: Path) -> None:
    async with town(tmp_path, epoch=2_000, **FREE) as here:
        node = here.it.node
        operator = newcomer(here.realm, Role.OPERATOR, "owner")
        file = json.dumps({"operators": [operator.id.hex()]}).encode()
        async with serving(tmp_path, answer(file)) as server:
            await commands.register(node, wish(operator, domain=DOMAIN), outside=server.outside())
            other = newcomer(here.realm, Role.OPERATOR, "other")
            with pytest.raises(RequestError) as caught:
                await commands.register(node, wish(other, domain=DOMAIN), outside=server.outside())
        await until(lambda: operator.id in node.world.state.operators)

        assert node.world.state.operators[operator.id].domain == DOMAIN
        assert other.id not in node.world.log
    assert caught.value.code is NodeCode.DOMAIN_NOT_PROVEN


@pytest.mark.trio
async def test_a_code_lets_in_as_many_agents_as_it_says_and_each_as_often_as_it_asks(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, registration="invited") as here:
        code = await code_from(here)
        (first, word), (second, other) = here.agent("first"), here.agent("second")
        work = await here.work(first)
        answers = [await here.post(first, work, word, invite=code) for _ in range(3)]
        other = here.agent("second")[1] if other.prev not in here.it.node.world.log else other
        late = await here.register(second, other, invite=code)
        kept = here.it.node.invites.book.invited(first.id)

    assert {one.status_code for one in answers} == {201}, answers[0].text
    assert (late.status_code, code_of(late)) == (403, "INVITE_REFUSED")
    assert kept is not None


@pytest.mark.trio
async def test_an_operator_needs_a_code_too_and_takes_no_place_of_it(tmp_path: Path) -> None:
    async with town(tmp_path, registration="invited") as here:
        code = await code_from(here)
        operator = newcomer(here.realm, Role.OPERATOR, "owner")
        made = await here.register(operator, invite=code)
        agent, word = here.agent()
        joined = await here.register(agent, word, invite=code)

    assert made.status_code == joined.status_code == 201


@pytest.mark.trio
async def test_where_registration_is_open_a_code_brings_a_vouch(tmp_path: Path) -> None:
    async with town(tmp_path, epoch=2_000, **FREE) as here:
        world = here.it.node.world
        code = await code_from(here)
        agent, word = here.agent()
        answer = await here.post(agent, None, word, invite=code)
        await until(lambda: agent.id in world.state.agents)
        alice = here.it.agents[0]
        await until(
            lambda: any(
                one.author == alice and one.body.agent == agent.id
                for one in world.log.by_kind("agent.vouch")
            )
        )

    assert answer.status_code == 201


@pytest.mark.trio
async def test_a_place_is_given_back_where_nothing_was_signed(tmp_path: Path) -> None:
    outcomes: list[str] = []
    async with town(tmp_path, instance_least=1, instance_share=0, **FREE) as here:
        node = here.it.node
        code = await code_from(here, uses=2)

        async def join(one: Newcomer, by: Record) -> None:
            try:
                await commands.register(node, wish(one, by, invite=code))
                outcomes.append("in")
            except RefusedError as error:
                outcomes.append(error.code)

        # Both are let through at first, and only one of them can be admitted.
        both = [here.agent("first"), here.agent("second")]
        async with trio.open_nursery() as nursery:
            for one, by in both:
                nursery.start_soon(join, one, by)
        (invite,) = node.invites.book.all()

        assert node.invites.book.used(invite.id) == 1
    assert outcomes.count("in") == 1
    assert set(outcomes) <= {"in", "FORK", "OVER_QUOTA"}
