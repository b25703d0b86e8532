"""Who joins: what an admission brings with it. The refusals are among the tests of the fold."""

from federation.core import Code
from federation.records import AgentAdmit, AgentDeclare, Custody, Delegate, Role
from federation.trust import M, model_of
from tests.federation.protocol.acts import next_cut, refused
from tests.federation.protocol.town import Town


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
