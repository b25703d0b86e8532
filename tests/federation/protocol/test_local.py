from collections.abc import Iterator
from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from federation.charter import preset
from federation.core import MILLION, AgentId
from federation.protocol import Round, World
from federation.protocol.epochs import charter_seeds
from federation.protocol.local import (
    LocalView,
    Policy,
    answer,
    local_reputation,
    look,
    questions,
    view,
)
from federation.protocol.trust_head import head_of
from federation.records import AgentVouch, RevokeBy, TrustHead, TrustRow, trust_head_root
from federation.review.local import LocalVerdict, local_verdict
from federation.trust import Decision, weight
from federation.trust.eigentrust import M, Problem, reckon
from federation.trust.foreign import EXPIRY, PRIOR, Link
from tests.builders import OTHER_REALM, named
from tests.federation.protocol.town import Town, rules

VOTES = ({1: 1, 2: 1, 3: 1}, {1: 1, 2: 1, 3: 1, 4: -1}, {1: 1, 2: -1, 3: 1, 4: 1, 5: -1})


@pytest.fixture(scope="module")
def town() -> Town:
    """Hold three rounds among six founders of six operators, and let what they say sink in."""
    made = Town.of(3, 6, operators=6, review=rules(contest=0, rule=0))
    for number, votes in enumerate(VOTES):
        made.vote(made.propose(0, f"Claim {number}"), votes)
    return made.settled().settled()


def ended(world: World) -> Iterator[Round]:
    found = [one for one in world.rounds.values() if one.phase is None]
    assert len(found) == len(VOTES)
    yield from found


def mine(one: Round, seen: LocalView) -> LocalVerdict:
    found = local_verdict(one.pin, one.finals, seen.weights)
    assert found is not None
    return found


def head(*rows: tuple[bytes, AgentId, int], cut: int = 3) -> TrustHead:
    top = tuple(
        TrustRow(key=key, agent=agent, weight=of)
        for key, agent, of in sorted(rows, key=lambda row: row[1])
    )
    return TrustHead(cut=cut, root=trust_head_root(top), top=top, digest=named("theirs"))


def naming(world: World, agent: AgentId, *, of: int = 255) -> Link:
    """Link a realm whose head names an agent of ours by its key, under another id."""
    key = world.state.identities[agent].keys.key
    rows = ((key, named("theirs"), of), (named("unknown key"), named("other"), 1))
    return Link(realm=OTHER_REALM, weight=255, head=head(*rows), imported=world.state.cut)


def test_with_the_charters_seeds_and_no_policy_every_verdict_is_the_canonical_one(
    town: Town,
) -> None:
    for world in town.live():
        own_words = Policy(seeds=charter_seeds(world.charter))
        for policy in (Policy(), own_words):
            seen = look(world.state, policy)

            assert policy.is_neutral(world.charter)
            assert seen.weights == {}
            for one in ended(world):
                assert one.verdict is not None
                found = mine(one, seen)
                assert found.decision is one.verdict.decision
                assert found.by is one.verdict.by
                assert found.numerator == one.verdict.numerator
                assert found.denominator == one.verdict.denominator
                assert found.v_ppm == one.verdict.v_ppm
                assert not any(shift.size for shift in found.shifts)


def test_the_neutral_look_is_the_canonical_trust_of_the_next_tick(town: Town) -> None:
    state = town.world().state
    seen = look(state, Policy())

    assert sum(seen.trust.agents.values()) == M
    assert seen.trust.realms == {}


def test_an_observed_instance_turns_a_verdict_and_the_shifts_name_it(town: Town) -> None:
    world = town.world()
    # Founders 1 and 4 live there; with them the last round was for, 3 to 2.
    observed = town.founding.instances[1]
    policy = Policy(observed=frozenset({observed}))
    seen = look(world.state, policy)
    theirs = {name for name, agent in world.state.agents.items() if agent.instance == observed}
    last = list(ended(world))[2]
    assert last.verdict is not None
    found = mine(last, seen)

    assert not policy.is_neutral(world.charter)
    assert all(seen.weights[name] == 0 for name in theirs)
    assert not theirs & seen.trust.agents.keys()
    assert found.decision is not last.verdict.decision
    turned = {shift.voter for shift in found.shifts if shift.local == 0}
    assert turned == theirs & {shift.voter for shift in found.shifts}
    assert found.shifts[0].size > 0


def test_a_look_changes_nothing_that_is_certified(town: Town) -> None:
    world = town.world()
    state = world.state
    agent = town.agent(1)
    before = (head_of(state), world.digest, state.graph.version, state.graph.agents())
    views = dict(state.views)
    policy = Policy(
        seeds=frozenset({town.agent(3), named("nobody")}),
        observed=frozenset({town.founding.instances[0]}),
        links=(naming(world, agent),),
    )
    look(state, policy)
    look(state, Policy())

    assert (head_of(state), world.digest, state.graph.version, state.graph.agents()) == before
    assert state.views == views


def test_what_we_export_holds_nothing_of_what_we_link(town: Town) -> None:
    """No transitive re-export: the head is the same with and without a link to any realm."""
    world = town.world()
    before = head_of(world.state)
    linked = look(world.state, Policy(links=(naming(world, town.agent(1)),)))

    assert linked.trust.realms[OTHER_REALM] > 0
    assert head_of(world.state) == before
    assert OTHER_REALM not in {row.agent for row in before.top}


def test_a_linked_realm_gives_trust_and_a_prior_to_whom_it_names(town: Town) -> None:
    world = town.world()
    agent = town.agent(1)
    seen = look(world.state, Policy(links=(naming(world, agent),)))
    plain = look(world.state, Policy())

    assert set(seen.priors) == {agent}
    assert 0 < seen.priors[agent] <= PRIOR * MILLION
    assert 0 < seen.realms[OTHER_REALM] <= MILLION
    others = [name for name in plain.trust.agents if name != agent]
    assert all(seen.trust.agents[name] < plain.trust.agents[name] for name in others)
    assert seen.trust.agents[agent] > seen.trust.agents[others[0]]
    known = local_reputation(world.state, agent, seen.priors[agent])
    assert known > world.state.agents[agent].r
    assert local_reputation(world.state, agent, 0) == world.state.agents[agent].r


def test_a_prior_steers_weights_only_where_the_charter_blends() -> None:
    trust = changed(preset("test").trust, voting="blend")
    made = Town.of(1, 4, trust=trust).settled()
    world = made.world()
    agent = made.agent(1)
    seen = look(world.state, Policy(links=(naming(world, agent),)))
    r = local_reputation(world.state, agent, seen.priors[agent])

    assert seen.weights[agent] == weight(
        trust, t=seen.trust.agents[agent], competence=world.state.agents[agent].competence, r=r
    )
    assert seen.weights[agent] > world.state.agents[agent].weight


def test_a_head_of_an_age_says_nothing_any_more(town: Town) -> None:
    world = town.world()
    old = replace(naming(world, town.agent(1)), imported=world.state.cut - EXPIRY)
    seen = look(world.state, Policy(links=(old,)))

    assert seen.weights == seen.priors == seen.realms == {}


def test_a_key_of_a_revoked_agent_is_nobodys(town: Town) -> None:
    world = town.world()
    state = world.state
    agent = town.agent(5)
    one = state.identities[agent]
    link = naming(world, agent)
    try:
        state.identities[agent] = replace(one, keys=replace(one.keys, revoked_by=RevokeBy.CURRENT))
        seen = look(state, Policy(links=(link,)))
    finally:
        state.identities[agent] = one

    assert seen.priors == {}


def test_my_seeds_decide_alone(town: Town) -> None:
    world = town.world()
    only = frozenset({town.agent(4)})
    seen = look(world.state, Policy(seeds=only))

    # It has approved work of the author's.
    assert seen.trust.agents.keys() == {town.agent(0), town.agent(4)}
    assert sum(seen.trust.agents.values()) == M
    assert all(seen.weights[town.agent(n)] == 0 for n in (1, 2, 3, 5))
    first, second, _ = (mine(one, seen) for one in ended(world))
    # In the first round it cast no ballot, in the second it was alone against.
    assert first.denominator == 0
    assert second.v_ppm == -MILLION
    assert second.decision is Decision.REJECT


def test_where_all_seeds_are_observed_nobody_weighs_anything(town: Town) -> None:
    world = town.world()
    seen = look(world.state, Policy(observed=frozenset(town.founding.instances)))

    assert seen.trust.agents == {}
    assert set(seen.weights.values()) == {0}


def test_questions_and_answers_may_lie_apart(town: Town) -> None:
    """A node asks on its loop, answers beside it, and the world may have moved meanwhile."""
    state = town.world().state
    asked = questions(state, Policy(seeds=frozenset({town.agent(2)})))
    solved: list[Problem] = []

    def solve(problem: Problem) -> bytes:
        solved.append(problem)
        return reckon(problem)

    answers = {
        "charter": answer(asked.charter, solve),
        "mine": answer(asked.mine, solve),
    }
    newcomer = named("newcomer")
    state.agents[newcomer] = replace(state.agents[town.agent(0)], agent=newcomer)
    try:
        seen = view(state, asked, **answers)
    finally:
        del state.agents[newcomer]

    assert len(solved) == 2
    assert newcomer not in seen.weights
    assert seen.cut == state.cut


def test_a_vouch_of_this_realm_moves_my_trust_and_leaves_the_policy_neutral() -> None:
    made = Town.of(1, 4).settled()
    by, agent = made.agent(0), made.agent(1)
    vouch = made.sign(0, AgentVouch(agent=agent, weight=200, reason="I know its work."))
    made.arrive(made.home(0), vouch)
    state = made.settled().world().state
    seen = look(state, Policy())

    assert state.graph.out_of(by)[agent].vouch == 200
    assert seen.trust.agents[agent] > seen.trust.agents[by]
    assert seen.weights == {}
