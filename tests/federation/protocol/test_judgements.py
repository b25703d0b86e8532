"""Acts of judgement: which approvals and vouches make edges, when they count, and what is refused."""

import functools
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.certificates import Phase
from federation.charter import preset
from federation.core import Code, RefusedError
from federation.protocol import World, custody, judgements, rebuild
from federation.protocol.invariants import broken
from federation.protocol.progress import is_contained
from federation.records import AgentUnvouch, AgentVouch, Record, Role
from federation.trust import Edge, M, ticket_price, trust_ref
from tests.builders import Chain, named
from tests.federation.protocol.acts import fork, next_cut, next_tick, refused
from tests.federation.protocol.alike import edges
from tests.federation.protocol.town import Town, verify
from tests.federation.protocol.trial import Trial, records_of
from tests.federation.protocol.vouching import edge, unvouch, vouch


def newcomer(town: Town, number: int = 1, operator: int = 0) -> Chain:
    pen = town.stranger(Role.AGENT, number)
    town.admit(pen, operator=operator)
    next_cut(town)
    return pen


def test_an_accepted_artifact_is_an_edge_from_each_who_voted_for_it() -> None:
    town = Town.of(3, 6)
    town.vote(town.propose(0), {1: 1, 2: 1, 4: 1, 5: -1})
    next_tick(town)
    graph = town.world().state.graph
    author = town.agent(0)

    assert set(graph.into(author)) == {town.agent(1), town.agent(2), town.agent(4)}
    assert edge(town.world(), town.agent(1), author) == Edge(approvals=1, vouch=0)
    assert not graph.out_of(author)


def test_a_rejected_artifact_is_no_edge_and_voting_alike_makes_none() -> None:
    town = Town.of(3, 6)
    town.vote(town.propose(0), {1: -1, 2: -1, 4: -1, 5: 1})
    next_tick(town)

    assert town.world().state.graph.edges == 0


def test_approvals_leave_with_the_artifact() -> None:
    town = Town.of(3, 6)
    town.vote(town.propose(0), {1: 1, 2: 1, 4: 1, 5: -1})
    next_tick(town)
    state = town.world().state
    (artifact,) = state.artifacts.values()
    judgements.stand(state.graph, artifact, -1)

    assert state.graph.edges == 0


def test_an_artifact_that_nobody_voted_for_makes_no_edge() -> None:
    rules = replace(preset("test").review, shortfall_high="arbitrate", deliberate=0)
    town = Town.of(1, 1, review=rules)
    town.open_round(town.propose(0))
    next_tick(town)

    assert town.world().state.graph.edges == 0


def test_a_vouch_calls_a_cut_and_gives_a_ticket_at_the_next_tick() -> None:
    town = Town.of(3, 6)
    pen = newcomer(town)
    world = town.world()
    tick = world.state.tick
    vouch(town, 1, pen.id)
    next_cut(town)

    assert world.state.tick == tick
    assert edge(world, town.agent(1), pen.id) == Edge(approvals=0, vouch=255)
    assert world.state.agents[pen.id].trust == 0
    next_tick(town)
    agent = world.state.agents[pen.id]

    assert agent.trust >= ticket_price(world.charter.trust)
    assert agent.weight >= world.charter.trust.w_min
    assert agent.ways == 1
    # A ticket is not enough for a tier: it has shown nothing.
    assert (agent.tier, world.state.views[pen.id].reviewer) == (0, False)
    assert sum(one.trust for one in world.state.agents.values()) == M
    for one in town.live():
        assert not broken(one)
        assert one.digest == world.digest or one.state.cut != world.state.cut


def test_trust_ends_with_the_vouch() -> None:
    town = Town.of(1, 5)
    pen = newcomer(town)
    vouch(town, 1, pen.id)
    next_tick(town, 2)
    assert town.world().state.agents[pen.id].trust
    unvouch(town, 1, pen.id)
    next_tick(town, 2)

    assert town.world().state.agents[pen.id].trust == 0
    assert town.world().state.agents[pen.id].weight == 0


def test_the_newest_vouch_counts() -> None:
    town = Town.of(1, 5)
    vouch(town, 1, town.agent(2), 10)
    vouch(town, 1, town.agent(2), 200)
    next_cut(town)

    assert edge(town.world(), town.agent(1), town.agent(2)).vouch == 200


def test_an_agent_that_revoked_passes_nothing_on() -> None:
    town = Town.of(1, 5)
    pen = newcomer(town)
    vouch(town, 1, pen.id)
    next_tick(town, 2)
    assert town.world().state.agents[pen.id].trust
    town.arrive(town.world(), town.pen(Role.AGENT, 1).revoke(reason="lost its key"))
    next_tick(town, 2)

    assert town.world().state.agents[pen.id].trust == 0


@pytest.mark.parametrize(
    ("whom", "code"),
    [("itself", Code.SELF_VOUCH), ("nobody", Code.UNKNOWN_AGENT), ("operator", Code.UNKNOWN_AGENT)],
)
def test_the_door_refuses_a_vouch_for_oneself_or_for_an_unknown_agent(
    whom: str, code: Code
) -> None:
    town = Town.of(1, 5)
    agent = {
        "itself": town.agent(1),
        "nobody": named("nobody"),
        "operator": town.founding.operators[0],
    }[whom]
    with pytest.raises(RefusedError) as error:
        vouch(town, 1, agent)

    assert error.value.code is code
    assert error.value.fix


def test_the_door_refuses_a_vouch_beyond_the_rate_and_the_next_epoch_allows_it() -> None:
    quotas = replace(preset("test").quotas, vouches_epoch=2)
    town = Town.of(1, 6, quotas=quotas)
    for index in (2, 3):
        vouch(town, 1, town.agent(index))
    next_cut(town)
    with pytest.raises(RefusedError) as error:
        vouch(town, 1, town.agent(4))

    assert error.value.code is Code.OVER_QUOTA
    next_tick(town)
    vouch(town, 1, town.agent(4))
    next_cut(town)
    assert edge(town.world(), town.agent(1), town.agent(4)).vouch


def test_the_door_counts_the_vouches_that_still_wait_for_a_cut() -> None:
    quotas = replace(preset("test").quotas, vouches_epoch=2)
    town = Town.of(1, 6, quotas=quotas)
    vouch(town, 1, town.agent(2))
    vouch(town, 1, town.agent(3))
    with pytest.raises(RefusedError) as error:
        vouch(town, 1, town.agent(4))

    assert error.value.code is Code.OVER_QUOTA
    vouch(town, 2, town.agent(4))
    next_cut(town)
    unvouch(town, 1, town.agent(2))


def test_a_cut_refuses_what_a_hostile_agent_signs_past_the_door() -> None:
    quotas = replace(preset("test").quotas, vouches_epoch=1)
    town = Town.of(1, 6, quotas=quotas)
    pen = newcomer(town)
    mallory = town.pen(Role.AGENT, 1)
    says = [
        mallory.say(AgentVouch(agent=agent, weight=255, reason=""))
        for agent in (mallory.id, named("nobody"), town.agent(2), town.agent(3))
    ]
    says.append(mallory.say(AgentUnvouch(agent=town.agent(4), reason="")))
    low = pen.say(AgentVouch(agent=town.agent(2), weight=255, reason=""))
    town.arrive(town.world(), *says, low)
    next_cut(town)
    world = town.world()

    assert [refused(world, one) for one in says] == [
        Code.SELF_VOUCH,
        Code.UNKNOWN_AGENT,
        None,
        Code.OVER_QUOTA,
        Code.NO_VOUCH,
    ]
    assert refused(world, low) is Code.NOT_ELIGIBLE
    assert world.state.graph.edges == 1


def test_what_does_not_count_calls_no_cut() -> None:
    town = Town.of(1, 5)
    mallory = town.pen(Role.AGENT, 1)
    town.arrive(town.world(), mallory.say(AgentVouch(agent=mallory.id, weight=1, reason="")))

    assert not town.world().triggers


def test_a_forked_or_revoked_agent_vouches_for_nobody() -> None:
    town = Town.of(1, 6)
    pen, _ = fork(town, 1)
    gone = town.pen(Role.AGENT, 2)
    town.arrive(town.world(), gone.revoke(reason="lost"))
    next_cut(town)
    world = town.world()
    body = AgentVouch(agent=town.agent(3), weight=1, reason="")

    assert judgements.refusal(world.state, pen.fork().say(body), body) is Code.FORK
    late = town.sign(2, body)
    assert judgements.refusal(world.state, late, body) is Code.REVOKED
    stranger = town.stranger(Role.AGENT).say(body)
    assert judgements.refusal(world.state, stranger, body) is Code.NOT_ADMITTED


def test_a_vouch_counts_in_the_cut_that_admits_whom_it_names() -> None:
    town = Town.of(1, 5)
    pen = town.stranger(Role.AGENT)
    record = town.sign(1, AgentVouch(agent=pen.id, weight=9, reason=""))
    town.arrive(town.world(), record)
    assert not town.world().triggers
    town.admit(pen)
    next_cut(town)

    assert refused(town.world(), record) is None
    assert edge(town.world(), town.agent(1), pen.id).vouch == 9


def in_the_cut_of_a_tick(town: Town, by: int) -> Record:
    """Let a founder vouch for a stranger, which calls no cut, and the next tick admit it."""
    pen, tick = town.stranger(Role.AGENT), town.world().state.tick
    record = town.sign(by, AgentVouch(agent=pen.id, weight=255, reason=""))
    town.arrive(town.world(), record)
    town.admit(pen)
    next_cut(town)
    assert town.world().state.tick == tick + 1
    assert is_contained(town.world(), record)
    return record


def test_what_only_the_cut_of_a_tick_contains_counts_an_epoch_later() -> None:
    town = Town.of(1, 5)
    body = in_the_cut_of_a_tick(town, 1).body
    assert isinstance(body, AgentVouch)
    world = town.world()

    assert edge(world, town.agent(1), body.agent).vouch == 255
    assert world.state.agents[body.agent].trust == 0
    # It is one of the epoch that begins.
    assert world.state.agents[town.agent(1)].vouched == (1, 1)
    next_tick(town)
    assert world.state.agents[body.agent].trust > 0


def test_a_vouch_in_the_cut_of_a_tick_is_judged_by_the_tiers_of_that_tick() -> None:
    town = Town.of(1, 6, trust=replace(preset("test").trust, founder_interactions=3))
    for number in range(3):
        town.vote(town.propose(0, title=f"Claim {number}"), {1: 1, 2: 1, 3: 1, 5: -1})
    doubtful = town.agent(5)
    assert town.world().state.agents[doubtful].tier == 2
    record = in_the_cut_of_a_tick(town, 5)

    assert town.world().state.agents[doubtful].tier == 0
    assert refused(town.world(), record) is Code.NOT_ELIGIBLE
    assert not town.world().state.graph.out_of(doubtful)


def test_a_seed_that_revokes_keeps_its_part_and_a_recovery_passes_it_on_again() -> None:
    town = Town.of(1, 5)
    owner, world = town.pen(Role.AGENT, 1), town.world()
    pen = newcomer(town)
    town.arrive(world, owner.say(AgentVouch(agent=pen.id, weight=255, reason="")))
    next_tick(town, 2)
    flowing = world.state.agents[pen.id].trust
    town.arrive(world, owner.revoke(reason="a thief's"))
    next_tick(town, 2)
    assert (world.state.agents[pen.id].trust, world.state.agents[pen.id].ways) == (0, 0)
    assert world.state.agents[owner.id].trust >= M // 5
    town.arrive(world, owner.recover())
    next_tick(town, 2)

    assert world.state.agents[pen.id].trust == flowing > 0


@functools.cache
def busy() -> Trial:
    """Let founders vouch, take back and judge over some epochs; one revokes, one forks."""
    town = Trial.of(3, 6, operators=6)
    for by, agent, weight in ((1, 2, 255), (2, 3, 7), (4, 1, 30), (1, 5, 9), (3, 4, 100)):
        vouch(town, by, town.agent(agent), weight)
    next_cut(town)
    # 1, 2, 3 and 4 would make a circle; which of their vouches is the one too many, ids decide.
    assert list(town.world().state.refused.values()) == [Code.CIRCULAR_VOUCH]
    town.vote(town.propose(0), {1: 1, 2: 1, 4: 1, 5: -1})
    unvouch(town, 1, town.agent(5))
    town.arrive(town.home(2), town.pen(Role.AGENT, 2).revoke(reason="lost"))
    fork(town, 3)
    next_tick(town)
    vouch(town, 1, town.agent(5), 200)
    next_cut(town)
    next_tick(town, 2)
    # Until the certificate of the last cut is a record too.
    town.rest(2_000)
    agents = town.world().state.agents.values()
    assert len({agent.trust for agent in agents}) > 3
    return town


@settings(max_examples=6)
@given(order=st.randoms(use_true_random=False))
def test_judgements_in_any_order_give_the_same_trust(order: Random) -> None:
    town = busy()
    world = town.world()
    records = list(records_of(world))
    order.shuffle(records)
    blobs = town.durable(0).blobs
    found = rebuild(town.founding.charter, town.founding.records, records, blobs, verify=verify)

    assert (found.state.cut, found.digest) == (world.state.cut, world.digest)
    assert found.state.agents == world.state.agents
    assert edges(found) == edges(world)


def test_the_door_tells_a_newcomer_what_it_lacks() -> None:
    town = Town.of(1, 5)
    pen = newcomer(town)
    ring = custody.Keyring(agent=pen.id, keys=(pen.signer,))
    body = AgentVouch(agent=town.agent(2), weight=1, reason="")
    with pytest.raises(RefusedError) as error:
        custody.author(town.world(), ring, body, now=town.now)

    assert error.value.code is Code.NOT_ELIGIBLE
    assert "tier 1" in error.value.fix


def test_a_scope_without_vouches_is_enforced() -> None:
    town = Town.of(1, 5)
    pen = town.stranger(Role.AGENT)
    town.admit(pen, scope=("artifact.propose",))
    next_cut(town)
    body = AgentVouch(agent=town.agent(3), weight=1, reason="")

    assert judgements.refusal(town.world().state, pen.say(body), body) is Code.NOT_ELIGIBLE


def test_a_hundred_newcomers_that_vote_with_the_majority_gain_no_weight() -> None:
    town = Town.of(1, 5)
    crowd = [town.stranger(Role.AGENT, number) for number in range(100)]
    for pen in crowd:
        town.admit(pen)
    next_cut(town)
    world = town.world()
    for number in range(3):
        opened = town.open_round(town.propose(0, title=f"Claim {number}"))
        town.in_phase(opened, Phase.COMMIT)
        rings = [custody.Keyring(agent=pen.id, keys=(pen.signer,)) for pen in crowd]
        for ring in rings:
            town.arrive(world, cast(town, world, ring, opened))
        for index in (1, 2, 3):
            town.cast(index, opened, 1)
        town.in_phase(opened, Phase.DECIDE)
        for ring in rings:
            town.arrive(world, custody.reveal(world, ring, opened, now=town.now))
        for index in (1, 2, 3):
            town.reveal(index, opened)
        town.in_phase(opened, None)
        next_tick(town)
    next_tick(town)
    agents = [world.state.agents[pen.id] for pen in crowd]

    assert {agent.interactions for agent in agents} == {3}
    assert {(agent.trust, agent.weight, agent.tier) for agent in agents} == {(0, 0, 0)}
    assert not any(world.state.views[pen.id].reviewer for pen in crowd)
    assert world.state.agents[town.agent(0)].trust >= trust_ref(world.charter.trust)


def cast(town: Town, world: World, ring: custody.Keyring, opened: bytes) -> Record:
    nonce = named(f"{ring.agent.hex()}{opened.hex()}")
    return custody.cast(
        world, ring, opened, town.ballot(1), nonce=nonce, salt=nonce[:24], now=town.now
    )
