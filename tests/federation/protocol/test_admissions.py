"""Who joins: what an admission brings with it, and what an instance asks before it signs one.

The refusals are among the tests of `vetting` and of the fold.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.admission import work_bytes
from federation.charter import preset
from federation.core import Code
from federation.protocol import rebuild, snapshot
from federation.protocol.admissions import over_quota, proof_fault
from federation.protocol.invariants import broken, disagreements
from federation.protocol.judge import Fate, judge
from federation.records import (
    AgentAdmit,
    AgentDeclare,
    Custody,
    Delegate,
    OperatorAdmit,
    Role,
)
from federation.trust import M, model_of
from tests.builders import Chain, named
from tests.federation.protocol.acts import next_cut, next_tick, refused
from tests.federation.protocol.joiners import (
    admit_operator,
    costly,
    found,
    gated,
    minted,
    proof,
    soon,
    worthless,
)
from tests.federation.protocol.town import Town, verify
from tests.federation.protocol.trial import Trial, durable_of, records_of


def test_founders_share_all_trust_at_genesis_and_a_newcomer_has_none() -> None:
    town = Town.of(1, 5)
    pen = town.stranger(Role.AGENT)
    town.admit(pen)
    next_cut(town)
    agents = town.world().state.agents
    held = [agents[town.agent(index)].trust for index in range(5)]

    assert sum(held) == M
    assert max(held) - min(held) <= 1
    assert (agents[pen.id].trust, agents[pen.id].ways, agents[pen.id].weight) == (0, 0, 0)


def test_an_admission_says_who_keeps_the_keys() -> None:
    town = Town.of(1, 5)
    pen = town.stranger(Role.AGENT)
    town.admit(pen)
    next_cut(town)
    agents = town.world().state.agents

    assert agents[pen.id].custody is Custody.SELF
    assert agents[town.agent(0)].custody is Custody.NODE
    views = town.world().state.views
    assert views[pen.id].keeper == pen.id
    assert views[town.agent(0)].keeper == town.founding.operators[0]


def test_who_declares_the_same_weights_is_one_model() -> None:
    town = Town.of(1, 5)
    same = AgentDeclare(family="f", provider="p", model="m", weights=bytes(32))
    for index in (0, 1):
        town.arrive(town.world(), town.sign(index, same))
    unsaid = AgentDeclare(family="f", provider="p", model="m")
    town.arrive(town.world(), town.sign(2, unsaid))
    next_cut(town)
    views = town.world().state.views

    assert views[town.agent(0)].model == views[town.agent(1)].model == model_of(b"", bytes(32))
    assert views[town.agent(2)].model == town.agent(2)


def test_an_agent_is_admitted_once_and_by_members_only() -> None:
    town = Town.of(2, 4)
    pen = town.stranger(Role.AGENT)
    first = town.admit(pen, instance=0)
    second = town.admit(pen, operator=1, instance=1)
    grant = town.pen(Role.OPERATOR, 0).say(Delegate(agent=pen.id, scope=()))
    outsider = town.stranger(Role.INSTANCE)
    body = AgentAdmit(agent=pen.id, operator=grant.author, delegate=grant.id, custody=Custody.SELF)
    bold = outsider.say(body)
    town.arrive(town.world(), grant, *outsider.records)
    next_cut(town)
    world = town.world()

    assert {refused(world, first), refused(world, second)} == {None, Code.DUPLICATE}
    assert refused(world, bold) in {None, Code.NOT_ELIGIBLE}
    assert world.state.agents[pen.id].operator in town.founding.operators


# Proofs and quotas ------------------------------------------------------------------------------


def fault(town: Town, pen: Chain, raw: bytes | None) -> Code | None:
    state = town.world().state
    code, work = proof_fault(
        state,
        role=pen.identity.role,
        instance=town.founding.instances[0],
        key=pen.identity.key,
        raw=raw,
    )
    assert code is not None or (work is None) is state.joining.is_free
    return code


def test_a_fault_of_a_proof_is_found_without_looking_at_its_work() -> None:
    town = costly()
    pen = town.stranger(Role.AGENT)
    good = minted(town.world(), pen, town.founding.instances[0])

    assert fault(town, pen, work_bytes(good)) is None
    assert fault(town, pen, work_bytes(gated(good, holds=False))) is None
    assert fault(town, pen, work_bytes(worthless(good))) is None
    assert fault(town, pen, None) is Code.PROOF_MISSING
    assert fault(town, pen, b"\x00") is Code.NOT_CANONICAL
    assert fault(town, pen, bytes(2_000)) is Code.TOO_LARGE
    assert fault(town, town.stranger(Role.AGENT, 2), work_bytes(good)) is Code.PROOF_WRONG_KEY
    town.admit(pen, proof=work_bytes(good))
    soon(town)
    assert fault(town, pen, work_bytes(good)) is Code.PROOF_REPLAYED
    assert fault(town, pen, work_bytes(found(replace(good, bits=3)))) is None


def test_a_realm_that_asks_for_nothing_finds_no_fault() -> None:
    town = Town.of(1, 4)

    assert fault(town, town.stranger(Role.AGENT), None) is None
    assert fault(town, town.stranger(Role.AGENT), b"whatever") is None


def full(town: Town, role: Role = Role.AGENT, *, operator: int | None = 0, **more: int) -> str:
    return over_quota(
        town.world().state,
        role=role,
        instance=town.founding.instances[0],
        operator=None if operator is None else town.founding.operators[operator],
        **more,
    )


def test_whose_quota_is_used_up_is_said_and_when_it_is_free_again() -> None:
    town = costly(instance_least=2, operator_agents=5, operator_growth=0)
    assert full(town) == ""
    assert "its instance admits 2 agents" in full(town, by_instance=2)
    assert "its operator answers for 5 agents" in full(town, by_operator=1)
    pen = town.stranger(Role.AGENT)
    town.admit(pen, proof=proof(town, pen))
    soon(town)

    assert "room for 0 comes with each of them that reaches tier 1" in full(town)
    assert full(town, operator=None) == ""
    assert "the next tick makes room" in full(town, by_instance=1)
    assert full(town, Role.OPERATOR, operator=None, by_instance=1) == ""
    assert "2 operators" in full(town, Role.OPERATOR, operator=None, by_instance=2)


def test_an_operator_of_whom_nobody_knows_has_room() -> None:
    town = costly(operator_agents=1, operator_growth=0)
    state = town.world().state
    here = town.founding.instances[0]

    assert over_quota(state, role=Role.AGENT, instance=here, operator=named("nobody")) == ""


def test_a_tick_moves_what_joining_costs_on_every_node_alike() -> None:
    town = costly(2, target=1, most_bits=4)
    for number in range(3):
        pen = town.stranger(Role.AGENT, number)
        town.admit(pen, proof=proof(town, pen))
    next_tick(town)
    for world in town.live():
        joining = world.state.joining
        assert (joining.bits, joining.beacon) == (3, world.state.beacon)
        assert joining.before is not None
        assert (joining.before[0], joining.agents) == (2, {})
        assert not broken(world)
    assert disagreements(town.live()) == []


def eventful() -> Trial:
    """Two instances admit agents and operators by good, false and old proofs, over two epochs."""
    town = costly(2, 4, instance_least=3, target=1)
    pens = [town.stranger(Role.AGENT, number) for number in range(9)]
    operator = town.stranger(Role.OPERATOR)
    for pen in pens[:2]:
        town.admit(pen, proof=proof(town, pen))
    admit_operator(town, operator, proof(town, operator, instance=1), instance=1)
    soon(town)
    bad = worthless(minted(town.world(), pens[4], town.founding.instances[0]))
    town.admit(pens[4], proof=work_bytes(bad))
    town.admit(pens[5], proof=None)
    next_tick(town)
    for pen in (pens[2], pens[3], pens[6], pens[8]):
        town.admit(pen, proof=proof(town, pen))
    town.admit(pens[7], proof=work_bytes(worthless(minted(town.world(), pens[7], named("x")))))
    soon(town)
    soon(town)
    return town


@pytest.fixture(scope="module")
def played() -> Trial:
    return eventful()


def test_much_can_happen_and_all_nodes_agree_on_every_code(played: Trial) -> None:
    one, other = played.live()
    codes = {
        record.body.agent: refused(one, record)
        for record in records_of(one)
        if isinstance(record.body, AgentAdmit)
    }

    assert one.state.refused == other.state.refused
    assert set(codes.values()) == {
        None,
        Code.OVER_QUOTA,
        Code.PROOF_WORK,
        Code.INSTANCE_BARRED,
        Code.PROOF_WRONG_INSTANCE,
    }
    assert one.digest == other.digest
    assert not broken(one)


def test_what_joining_costs_comes_back_from_a_snapshot(played: Trial) -> None:
    world = played.world()
    content = snapshot.take(world)
    state = snapshot.read(content, charter=world.charter, log=world.log).certified.state
    joining = state.joining
    assert joining.agents
    assert joining.spent
    assert joining.before

    assert joining == world.state.joining
    assert state.operators == world.state.operators


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_admissions_in_any_order_give_the_same_world(played: Trial, seed: int) -> None:
    world = played.world()
    records = records_of(world)
    random.Random(seed).shuffle(records)
    stored = played.stored[played.founding.instances[0]]
    built = rebuild(
        played.founding.charter,
        played.founding.records,
        records,
        durable_of(stored).blobs,
        verify=verify,
    )

    assert built.state.cut >= world.state.cut - 1
    assert not broken(built)
    if built.state.cut == world.state.cut - 1:
        # Only the newest certificate stands in no record yet.
        assert built.state.refused.items() <= world.state.refused.items()
    assert all(world.state.operators[name] == one for name, one in built.state.operators.items())


@pytest.mark.parametrize("late", ["the agent", "its operator", "the operator's admission"])
def test_an_admission_counts_once_a_later_cut_has_what_it_rests_on(late: str) -> None:
    town = Town.of(1, 5)
    world = town.world()
    agent, stranger = town.stranger(Role.AGENT), town.stranger(Role.OPERATOR)
    grant = stranger.say(Delegate(agent=agent.id, scope=()))
    body = AgentAdmit(agent=agent.id, operator=stranger.id, delegate=grant.id, custody=Custody.SELF)
    comes = {
        "the agent": lambda: town.arrive(world, *agent.records),
        "its operator": lambda: town.arrive(world, *stranger.records),
        "the operator's admission": lambda: town.say(0, OperatorAdmit(operator=stranger.id)),
    }
    for what, arrives in comes.items():
        if what != late:
            arrives()
    said = town.say(0, body)
    next_cut(town)
    assert judge(world, said).fate is Fate.WAITS
    comes[late]()
    next_cut(town)

    assert world.state.agents[agent.id].operator == stranger.id
    assert judge(world, said).fate is Fate.COUNTS
    assert not world.state.joining.waiting


def test_no_more_admissions_wait_than_an_instance_may_admit() -> None:
    rules = replace(preset("test").admission, instance_least=2, instance_share=0)
    town = Town.of(1, 5, admission=rules)
    said = [
        town.say(
            0,
            AgentAdmit(
                agent=town.stranger(Role.AGENT, number).id,
                operator=town.founding.operators[0],
                delegate=named("nothing"),
                custody=Custody.SELF,
            ),
        )
        for number in (1, 2)
    ]
    body = said[0].body
    assert isinstance(body, AgentAdmit)
    more = town.say(0, replace(body, agent=named("another")))
    next_cut(town)

    assert [refused(town.world(), one) for one in (*said, more)] == [None, None, Code.NOT_ADMITTED]
