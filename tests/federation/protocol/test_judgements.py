"""Acts of judgement: which approvals and vouches make edges, when they count, and what is refused."""

import pytest
from msgspec.structs import replace

from federation.certificates import Phase
from federation.charter import preset
from federation.core import Code, RefusedError
from federation.protocol import World, custody, judgements
from federation.protocol.invariants import broken
from federation.records import AgentUnvouch, AgentVouch, Body, Record, Role
from federation.trust import Edge, M, ticket_price, trust_ref
from tests.builders import Chain, named
from tests.federation.protocol.acts import fork, next_cut, next_tick, refused
from tests.federation.protocol.town import Town


def vouch(town: Town, index: int, agent: bytes, weight: int = 255) -> Record:
    """Let a founder vouch through the door of its home."""
    return said(town, index, AgentVouch(agent=agent, weight=weight, reason="knows its work"))


def unvouch(town: Town, index: int, agent: bytes) -> Record:
    return said(town, index, AgentUnvouch(agent=agent, reason="no longer"))


def said(town: Town, index: int, body: Body) -> Record:
    record = custody.author(town.home(index), town.keyring(index), body, now=town.now)
    town.arrive(town.home(index), record)
    return record


def edge(world: World, by: bytes, agent: bytes) -> Edge:
    return world.state.graph.edge(by, agent)


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
