"""Standing of agents, and pages of operators, instances and strangers."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from federation.charter import preset
from federation.records import AgentDeclare, AgentSubscribe, Custody, Delegate, Role, did_key
from node.base.errors import NodeCode, RequestError
from node.queries import agents
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import here, plain, voted


def test_a_founder_is_shown_with_its_standing() -> None:
    town = Town.of(3, 6)
    voted(town, {1: 1, 2: 1, 4: 1})
    town.settled()
    world, _ = here(town)
    page = agents.one(world, town.agent(1))
    known = world.state.agents[town.agent(1)]
    standing = page.standing

    assert (page.name, page.role) == ("agent 1", Role.AGENT)
    assert page.key.did == did_key(bytes.fromhex(page.key.key))
    assert (page.admitted, page.contained, page.revoked, page.forked) == (True, True, False, False)
    assert standing is not None
    assert (standing.tier, standing.weight, standing.reputation) == (2, known.weight, known.r)
    assert standing.interactions == 1
    assert (standing.founder, standing.reviewer) == (True, True)
    assert standing.operator.name == "operator 1"
    assert page.operator == standing.operator
    assert standing.instance.name == "instance 1"
    assert standing.custody is Custody.NODE
    assert (standing.admitted_tick, standing.declared, standing.topics) == (0, None, ())
    assert isinstance(plain(page), dict)


def test_a_newcomer_is_admitted_with_nothing() -> None:
    town = Town.of(1, 5)
    newcomer = town.stranger(Role.AGENT)
    world, _ = here(town)
    town.arrive(world, *newcomer.records)
    stranger = agents.one(world, newcomer.id)
    assert (stranger.admitted, stranger.contained) == (False, False)
    assert stranger.standing is None
    assert stranger.operator is None

    town.admit(newcomer, scope=("review.argue",))
    town.until(lambda one: newcomer.id in one.world().state.agents)
    standing = agents.one(world, newcomer.id).standing
    assert standing is not None
    assert (standing.tier, standing.weight, standing.founder) == (0, 0, False)
    assert (standing.reviewer, standing.custody) == (False, Custody.SELF)
    assert standing.scope == ("review.argue",)
    assert standing.proposals_left == 100


def test_what_an_agent_declares_and_subscribes_to_is_shown() -> None:
    town = Town.of(1, 5)
    said = AgentDeclare(family="F", provider="P", model="M", cutoff="2026-01")
    offer = AgentSubscribe(topics=("code",), keywords=("python",), on=True)
    for index, body in ((0, said), (0, offer), (1, changed(offer, on=False))):
        town.arrive(town.world(), town.sign(index, body))
    town.settled()
    standing = agents.one(town.world(), town.agent(0)).standing
    off = agents.one(town.world(), town.agent(1)).standing

    assert standing is not None
    assert standing.declared == agents.Declared(
        family="F", provider="P", model="M", cutoff="2026-01"
    )
    assert (standing.topics, standing.keywords) == (("code",), ("python",))
    assert off is not None
    assert (off.topics, off.keywords) == ((), ())


def test_the_quota_of_proposals_is_counted_down_until_the_next_tick() -> None:
    town = Town.of(1, 5, quotas=changed(preset("test").quotas, proposals_epoch=2))
    town.open_round(town.propose(0))
    world, _ = here(town)

    def left() -> int:
        standing = agents.one(world, town.agent(0)).standing
        return standing.proposals_left if standing else -1

    assert left() == 1
    town.until(lambda one: one.world().state.tick == 1)
    assert left() == 2


def test_operators_and_instances_have_pages_without_standing() -> None:
    town = Town.of(2, 4)
    world, _ = here(town)
    operator = agents.one(world, town.founding.operators[0])
    instance = agents.one(world, town.founding.instances[0])

    assert (operator.role, operator.standing, operator.operator) == (Role.OPERATOR, None, None)
    assert (instance.role, instance.standing) == (Role.INSTANCE, None)
    assert instance.operator is not None
    assert instance.operator.name == "operator 0"


def test_a_forked_agent_is_marked() -> None:
    town = Town.of(1, 5)
    world, _ = here(town)
    known = world.state.identities[town.agent(0)]
    world.state.identities[town.agent(0)] = replace(known, forked_in=1)

    assert agents.one(world, town.agent(0)).forked


def test_the_head_of_an_operator_is_its_newest_record_here_and_nil_once_it_forks() -> None:
    town = Town.of(2, 4)
    world, _ = here(town)
    name = town.founding.operators[0]
    before = agents.one(world, name).head
    assert before is not None
    assert before.record == world.log.heads_of(name)[0][1].hex()

    pen, other = town.pen(Role.OPERATOR, 0), town.pen(Role.OPERATOR, 0)
    word = pen.say(Delegate(agent=town.agent(1), scope=()))
    town.arrive(world, word)
    assert agents.one(world, name).head == agents.Head(seq=before.seq + 1, record=word.id.hex())
    town.arrive(world, other.say(Delegate(agent=town.agent(2), scope=())))
    assert agents.one(world, name).head is None


def test_no_head_is_told_of_an_agent() -> None:
    town = Town.of(1, 2)
    assert agents.one(town.world(), town.agent(0)).head is None
    assert agents.one(town.world(), town.founding.instances[0]).head is not None


def test_custody_is_that_of_the_certified_state() -> None:
    world, _ = here(Town.of(1, 2))
    name = next(iter(world.state.agents))
    world.state.agents[name] = replace(world.state.agents[name], custody=Custody.SELF)
    standing = agents.one(world, name).standing

    assert standing is not None
    assert standing.custody is Custody.SELF


def test_trust_and_badges_are_shown_with_their_reason() -> None:
    world, _ = here(Town.of(2, 4))
    name = next(iter(world.state.agents))
    known = world.state.agents[name]
    assert known.founder is not None
    founder = changed(known.founder, badges=("moderator", "arbiter"))
    world.state.agents[name] = replace(known, founder=founder)
    standing = agents.one(world, name).standing

    assert standing is not None
    # Four seeds share what 100 seats hold.
    assert standing.trust == 25_000_000
    assert standing.ways == 0
    assert [(one.badge, one.reason) for one in standing.badges] == [
        ("arbiter", "founder"),
        ("moderator", "founder"),
    ]


def test_pages_are_in_order_of_admission_and_newcomers_come_last() -> None:
    town = Town.of(1, 5)
    world, _ = here(town)
    first = agents.listing(world, most=3)
    assert first.next == first.items[-1].id
    newcomer = town.stranger(Role.AGENT)
    town.admit(newcomer)
    town.until(lambda one: newcomer.id in one.world().state.agents)
    second = agents.listing(world, after=bytes.fromhex(first.next), most=3)

    shown = [one.id for one in (*first.items, *second.items)]
    assert shown == [name.hex() for name in world.state.agents]
    assert shown[-1] == newcomer.id.hex()
    assert second.next is None
    assert all(one.standing and one.standing.custody for one in second.items)


def test_unknown_names_and_sizes_are_refused() -> None:
    world = Town.of(1, 1).world()
    with pytest.raises(RequestError) as caught:
        agents.one(world, bytes(32))
    assert caught.value.code is NodeCode.NOT_FOUND
    with pytest.raises(RequestError) as cursor:
        agents.listing(world, after=bytes(32))
    assert cursor.value.code is NodeCode.NOT_FOUND
    with pytest.raises(RequestError) as size:
        agents.listing(world, most=0)
    assert size.value.code is NodeCode.BAD_REQUEST
