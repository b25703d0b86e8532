"""Operators: who answers for whom, how many agents each may have, and what is held against it."""

from dataclasses import replace

import pytest

from federation.core import AgentId, Code
from federation.records import AgentVouch, RevokeBy, Role
from node.base.errors import NodeCode, RequestError
from node.queries import operators
from node.queries.operators import MOST_AGENTS, MOST_VOUCHES, OperatorPage
from tests.federation.protocol.town import Town
from tests.node.queries import joiners
from tests.node.queries.scenes import plain


def page(here: Town, index: int = 0) -> OperatorPage:
    return operators.one(here.world(), here.founding.operators[index])


def put(here: Town, name: AgentId, **changes: object) -> None:
    """Give an agent another standing in the world of the first instance."""
    agents = here.world().state.agents
    agents[name] = replace(agents[name], **changes)  # type: ignore[arg-type]


def words(found: OperatorPage) -> str:
    return " ".join(found.says)


def test_a_founding_operator_is_shown_with_its_agents_and_instances() -> None:
    here = joiners.town()
    found = page(here, 1)

    assert (found.operator.name, found.admitted, found.admitted_tick) == ("operator 1", True, 0)
    assert found.admitted_by is not None
    assert found.admitted_by.name == "instance 0"
    assert [one.name for one in found.instances] == ["instance 1"]
    assert {one.agent.name for one in found.agents} == {"agent 1", "agent 4"}
    assert all((one.tier, one.revoked, one.found_bad) == (2, False, None) for one in found.agents)
    assert (found.agents_left_out, found.vouches, found.vouches_left_out) == (0, (), 0)
    assert (found.domain, found.revoked, found.forked, found.void.count) == (None, False, False, 0)
    assert found.key.index == 0
    assert found.operator_cap == here.world().charter.trust.operator_cap
    assert found.weight.reviewers == 2
    assert "before the first tick" in found.says[0]
    assert isinstance(plain(found), dict)


def test_a_quota_grows_with_established_agents_and_revoked_ones_make_room() -> None:
    here = joiners.town()
    quota = page(here).quota
    assert (quota.used, quota.established, quota.most, quota.left) == (2, 2, 10, 8)
    assert (quota.base, quota.growth) == (6, 2)
    assert (
        "It answers for 2 of at most 10 agents: 6 for every operator, and 2 for each of its 2"
        in (words(page(here)))
    )

    here = joiners.town()
    put(here, here.agent(0), tier=0)
    quota = page(here).quota
    assert (quota.used, quota.established, quota.most, quota.left) == (2, 1, 8, 6)

    here = joiners.town()
    known = here.world().state.identities
    ended = known[here.agent(0)]
    known[here.agent(0)] = replace(ended, keys=replace(ended.keys, revoked_by=RevokeBy.RECOVERY))
    found = page(here)
    assert (found.quota.used, found.quota.established, found.quota.left) == (1, 1, 7)
    assert {one.agent.name: one.revoked for one in found.agents} == {
        "agent 0": True,
        "agent 3": False,
    }


def test_an_operator_that_has_more_agents_than_it_may_has_no_room() -> None:
    here = joiners.town(1, 9, rules=joiners.RULES)
    for number in range(9):
        put(here, here.agent(number), tier=0)
    quota = page(here).quota

    assert (quota.used, quota.most, quota.left) == (9, 6, 0)


def test_a_newcomer_is_shown_before_and_after_its_admission() -> None:
    here = joiners.town()
    one = here.stranger(Role.OPERATOR)
    record = joiners.admit(
        here, one, proof=joiners.good(here, one, instance=1), instance=1, domain="moot.example.org"
    )
    here.arrive(here.world(), *one.records)
    before = operators.one(here.world(), one.id)
    assert (before.admitted, before.admitted_by, before.admitted_tick) == (False, None, None)
    assert before.says[0] == "No cut has admitted it."
    assert (before.quota.used, before.quota.left, before.agents) == (0, 6, ())
    joiners.decided(here, record)
    found = operators.one(here.world(), one.id)

    assert (found.admitted, found.domain) == (True, "moot.example.org")
    assert found.admitted_by is not None
    assert found.admitted_by.name == "instance 1"
    assert "https://moot.example.org/.well-known/folkmoot.json" in words(found)
    assert "weigh nothing" in words(found)
    rows = {row.operator: row for row in operators.listing(here.world()).items}
    assert rows[found.operator].domain == "moot.example.org"
    assert rows[found.operator].admitted_by == found.admitted_by


def test_refused_admissions_are_listed_for_the_operator_they_name() -> None:
    here = joiners.town()
    one, other = here.stranger(Role.AGENT, 1), here.stranger(Role.OPERATOR, 2)
    signed = [
        joiners.admit(here, one, proof=None, operator=1, instance=2),
        joiners.admit(here, other, proof=None, instance=2),
    ]
    joiners.decided(here, *signed)
    found, newcomer = page(here, 1), operators.one(here.world(), other.id)

    assert [(void.code, void.instance.name) for void in found.void.newest] == [
        (Code.PROOF_MISSING, "instance 2")
    ]
    assert "1 do not count: PROOF_MISSING 1" in words(found)
    assert not newcomer.admitted
    assert [void.record for void in newcomer.void.newest] == [signed[1].id.hex()]
    assert page(here, 0).void.count == 0
    voids = {row.operator.name: row.void for row in operators.listing(here.world()).items}
    assert voids == {"operator 0": 0, "operator 1": 1, "operator 2": 0}


def test_vouches_of_its_agents_are_listed_and_those_for_the_bad_come_first() -> None:
    here = joiners.town()
    for by, whom in ((0, 1), (0, 2), (3, 4)):
        here.arrive(
            here.home(by), here.sign(by, AgentVouch(agent=here.agent(whom), weight=9, reason=""))
        )
    here.until(lambda one: sum(1 for _ in one.world().state.graph.vouches()) == 3, most=7_200_000)
    put(here, here.agent(4), found_bad=7)
    put(here, here.agent(3), found_bad=5)
    found = page(here)

    told = [(one.by.name, one.agent.name, one.weight, one.found_bad) for one in found.vouches]
    assert told[0] == ("agent 3", "agent 4", 9, 7)
    assert sorted(told[1:]) == [("agent 0", "agent 1", 9, None), ("agent 0", "agent 2", 9, None)]
    assert "3 vouches that stand, 1 of them for agents that were found bad" in words(found)
    assert "Of its agents 1 were found bad, the last at tick 5." in found.says
    assert found.vouches_cut == here.world().charter.quotas.vouches_operator
    assert [row.found_bad for row in operators.listing(here.world()).items].count(1) == 2


def test_of_very_many_agents_and_vouches_the_first_are_shown_and_all_are_counted() -> None:
    here = joiners.town(1, 4)
    state = here.world().state
    for number in range(MOST_AGENTS):
        name = bytes([7]) * 30 + number.to_bytes(2, "big")
        state.agents[name] = replace(state.agents[here.agent(0)], agent=name, weight=number)
        state.identities[name] = state.identities[here.agent(0)]
        state.graph.vouch(name, here.agent(1), 5)
    found = page(here)

    assert len(found.agents) == MOST_AGENTS
    assert found.agents_left_out == 4
    weights = [one.weight for one in found.agents]
    assert weights == sorted(weights, reverse=True)
    assert len(found.vouches) == MOST_VOUCHES
    assert found.vouches_left_out == MOST_AGENTS - MOST_VOUCHES
    assert f"{MOST_AGENTS} vouches" in words(found)


def test_a_revoked_operator_is_told_as_one() -> None:
    here = joiners.town()
    known, name = here.world().state.identities, here.founding.operators[2]
    known[name] = replace(known[name], keys=replace(known[name].keys, revoked_by=RevokeBy.CURRENT))

    assert page(here, 2).revoked
    assert "It is revoked" in words(page(here, 2))


def test_pages_are_in_order_of_admission_and_a_newcomer_is_last() -> None:
    here = joiners.town()
    one = here.stranger(Role.OPERATOR)
    record = joiners.admit(here, one, proof=joiners.good(here, one))
    joiners.decided(here, record)
    world = here.world()
    # Here the tick of a newcomer is 0 as well; a later one comes last whatever its id.
    world.state.operators[one.id] = replace(world.state.operators[one.id], admitted_tick=1)
    first = operators.listing(world, most=2)
    assert first.next == first.items[-1].operator.id
    rest = operators.listing(world, after=bytes.fromhex(first.next), most=2)

    names = [row.operator.id for row in (*first.items, *rest.items)]
    assert sorted(names) == sorted(name.hex() for name in world.state.operators)
    assert names[-1] == one.id.hex()
    assert rest.next is None


def test_the_heaviest_come_first_for_the_status_page() -> None:
    here = joiners.town()
    for number in (1, 4):
        put(here, here.agent(number), weight=10)
    state = here.world().state
    for number in (1, 4):
        view = state.views[here.agent(number)]
        state.views[here.agent(number)] = replace(view, weight=10)
    shown = operators.heaviest(here.world(), most=3)

    assert len(shown) == 3
    assert shown[-1].operator.name == "operator 1"
    shares = [row.weight.before for row in shown]
    assert shares == sorted(shares, reverse=True)
    assert len(operators.heaviest(here.world(), most=2)) == 2


@pytest.mark.parametrize("who", ["agent", "instance"])
def test_other_identities_are_no_operators(who: str) -> None:
    here = Town.of(1, 2)
    names = {"agent": here.agent(0), "instance": here.founding.instances[0]}
    with pytest.raises(RequestError) as caught:
        operators.one(here.world(), names[who])
    assert caught.value.code is NodeCode.NOT_FOUND
    assert who in caught.value.why


def test_unknown_names_and_sizes_are_refused() -> None:
    world = Town.of(1, 1).world()
    with pytest.raises(RequestError) as caught:
        operators.one(world, bytes(32))
    assert caught.value.code is NodeCode.NOT_FOUND
    with pytest.raises(RequestError) as cursor:
        operators.listing(world, after=bytes(32))
    assert cursor.value.code is NodeCode.NOT_FOUND
    for most in (0, 201):
        with pytest.raises(RequestError) as size:
            operators.listing(world, most=most)
        assert size.value.code is NodeCode.BAD_REQUEST
