"""What moves at a tick, and that nothing of it moves between ticks."""

from dataclasses import replace as alter

from msgspec.structs import replace

from federation.certificates import Phase
from federation.charter import preset
from federation.protocol import World, begin, epochs
from federation.records import AgentDeclare, AgentSubscribe, Role
from federation.review import AgentView
from federation.trust import EvidenceKind, Problem, reckon
from tests.federation.protocol.acts import EPOCH, fork, next_cut, next_tick
from tests.federation.protocol.town import Town, founding, verify


def view(world: World, agent: bytes) -> AgentView:
    return world.state.views[agent]


def test_a_founder_starts_with_its_tier_and_a_full_seat() -> None:
    town = Town.of(1, 5)
    agent = town.world().state.agents[town.agent(0)]

    assert agent.founder is not None
    assert (agent.tier, agent.weight, agent.competence) == (2, 700_000, 700_000)
    assert (agent.r, agent.interactions, agent.admitted_tick) == (500_000, 0, 0)
    assert view(town.world(), agent.agent).reviewer


def test_a_newcomer_starts_with_nothing() -> None:
    town = Town.of(3, 6)
    newcomer = town.stranger(Role.AGENT)
    town.admit(newcomer, operator=1, instance=2)
    town.in_cut(1)
    agent = town.world().state.agents[newcomer.id]

    assert (agent.operator, agent.instance) == (
        town.founding.operators[1],
        town.founding.instances[2],
    )
    assert agent.founder is None
    assert (agent.tier, agent.weight, agent.r) == (0, 0, 500_000)
    assert not view(town.world(), newcomer.id).reviewer
    assert not view(town.world(), newcomer.id).revoked


def test_a_forked_founder_is_no_reviewer() -> None:
    town = Town.of(1, 5)
    fork(town, 1)
    next_cut(town)
    seen = view(town.world(), town.agent(1))

    assert (seen.forked, seen.reviewer, seen.tier) == (True, False, 2)


def test_evidence_counts_at_the_tick_after_the_cut_that_ends_the_round() -> None:
    town = Town.of(3, 6)
    world = town.world()
    town.vote(town.propose(0), {1: 1, 2: 1, 4: 1, 5: -1})
    # A proposal calls a cut before the tick, which contains the end of the first round.
    town.open_round(town.propose(0, title="Another"))

    assert world.state.tick == 0
    assert len(world.state.pending) == 1
    assert {agent.r for agent in world.state.agents.values()} == {500_000}
    next_tick(town)

    assert not world.state.pending
    right, wrong = (world.state.agents[town.agent(index)] for index in (1, 5))
    assert right.r > 500_000 > wrong.r
    assert right.interactions == wrong.interactions == 1
    # The author has one outcome, split over the operators that voted with the decision.
    author = world.state.agents[town.agent(0)]
    assert author.interactions == 1
    rows = world.state.ledger.rows(author.agent)
    assert {row.kind for row in rows} == {EvidenceKind.CONTRIBUTION}
    assert sum(row.positive for row in rows) == 1_000_000
    assert {row.source for row in rows} == {town.founding.operators[1], town.founding.operators[2]}


def test_competence_and_weight_follow_agreement_at_the_tick() -> None:
    town = Town.of(3, 6)
    world = town.world()
    for number in range(4):
        good = number % 2 == 0
        votes = {1: 1, 2: 1, 4: 1, 5: -1} if good else {1: -1, 2: -1, 4: -1, 5: 1}
        town.vote(town.propose(0, title=f"Claim {number}"), votes)
    next_tick(town, 2)
    right, wrong, absent = (world.state.agents[town.agent(index)] for index in (1, 5, 3))

    assert right.competence > 700_000 > wrong.competence
    assert right.weight == right.competence
    assert wrong.weight == wrong.competence
    assert absent.weight == 700_000


def test_a_founder_keeps_its_tier_until_it_has_shown_enough_itself() -> None:
    town = Town.of(1, 5)
    next_tick(town, 3)

    assert {agent.tier for agent in town.world().state.agents.values()} == {2}


def test_tiers_are_lost_by_those_who_are_often_wrong() -> None:
    trust = replace(preset("test").trust, founder_interactions=3)
    town = Town.of(3, 6, trust=trust)
    world = town.world()
    for number in range(3):
        town.vote(town.propose(0, title=f"Claim {number}"), {1: 1, 2: 1, 4: 1, 5: -1})
    next_tick(town, 2)

    assert world.state.agents[town.agent(5)].tier == 0
    assert not view(world, town.agent(5)).reviewer
    assert world.state.agents[town.agent(3)].tier == 2


def test_the_weights_of_a_round_are_those_of_its_opening_cut() -> None:
    town = Town.of(3, 6)
    world = town.world()
    town.vote(town.propose(0, title="First"), {1: 1, 2: 1, 4: 1, 5: -1})
    opened = town.open_round(town.propose(3, title="Second"))
    pinned = world.rounds[opened].pin.agents
    town.in_phase(opened, Phase.COMMIT)
    votes = {1: 1, 2: 1, 4: 1, 5: -1}
    for index, choice in votes.items():
        town.cast(index, opened, choice)
    next_tick(town)

    assert world.state.agents[town.agent(5)].weight < 700_000
    assert world.state.agents[town.agent(1)].weight > 700_000
    assert world.rounds[opened].pin.agents is pinned
    town.in_phase(opened, Phase.DECIDE)
    for index in votes:
        town.reveal(index, opened)
    town.in_phase(opened, None)
    verdict = world.rounds[opened].verdict

    assert verdict is not None
    # Agents 1 and 4 are of one operator that keeps their keys: one voice.
    weights = {ballot.voter: ballot.weight for ballot in verdict.ballots}
    heavy = {town.agent(1): 350_000, town.agent(4): 350_000}
    light = {town.agent(2): 350_000, town.agent(5): 350_000}
    assert weights == heavy | light
    assert (verdict.numerator, verdict.denominator) == (700_000, 1_400_000)


def test_ways_are_other_operators_whose_agents_hold_tickets() -> None:
    realm = founding(3, 6)
    ann, ben, cat, dan, eve, fay = realm.agents
    genesis = replace(realm.charter.genesis, seeds=(ann,))
    state = begin(replace(realm.charter, genesis=genesis), realm.records, verify=verify).state
    for by, agent in ((ann, ben), (ann, fay), (ben, cat), (fay, cat), (dan, cat), (eve, cat)):
        state.graph.vouch(by, agent, 255)
    reckoned = epochs.reckoning(state, reckon)
    assert isinstance(reckoned, epochs.Reckoning)
    epochs.tick(state, reckoned)

    # Of who vouches for Cat only Ben counts: Fay is of Cat's own operator, Dan and Eve hold nothing.
    operators = [state.agents[name].operator for name in realm.agents]
    assert operators[2] == operators[5] != operators[1] == operators[4]
    assert [state.agents[name].ways for name in realm.agents] == [0, 1, 1, 0, 0, 1]
    assert (state.agents[dan].trust, state.agents[eve].trust) == (0, 0)


def test_trust_is_reckoned_anew_only_if_what_it_depends_on_has_changed() -> None:
    state = begin(founding(1, 4).charter, founding(1, 4).records, verify=verify).state
    ann, ben, *_ = state.agents
    asked = []

    def solve(problem: Problem) -> bytes:
        asked.append(problem)
        return reckon(problem)

    def again() -> int:
        reckoned = epochs.reckoning(state, solve)
        assert isinstance(reckoned, epochs.Reckoning)
        epochs.tick(state, reckoned)
        return len(asked)

    # What genesis has reckoned stands.
    assert [again(), again()] == [0, 0]
    state.graph.vouch(ann, ben, 1)
    assert [again(), again()] == [1, 1]
    held = state.agents[ben].trust
    state.identities[ann] = alter(state.identities[ann], forked_in=0)
    assert [again(), again()] == [2, 2]
    assert state.agents[ben].trust < held
    # A node that came back from a snapshot does not know what was asked, and finds the same.
    before, state.reckoned = dict(state.agents), None
    assert again() == 3
    assert state.agents == before


def test_cut_members_sign_with_the_keys_of_the_last_tick() -> None:
    town = Town.of(1, 5)
    world = town.world()
    members = world.state.cut_members
    town.propose(0)
    town.in_cut(1)

    assert world.state.tick == 0
    assert world.state.cut_members is members
    next_tick(town)

    assert world.state.cut_members == members
    assert world.state.cut_members is not members


def test_views_show_family_revocation_and_nothing_of_strangers() -> None:
    town = Town.of(1, 5)
    world = town.world()
    town.arrive(world, town.sign(1, AgentDeclare(family="llama", provider="p", model="m")))
    town.arrive(world, town.sign(2, AgentSubscribe(topics=("code",), keywords=(), on=True)))
    town.arrive(world, town.pen(Role.AGENT, 3).revoke())
    town.arrive(world, town.stranger(Role.AGENT).head)
    town.in_cut(1)

    declared = world.state.agents[town.agent(1)].declared
    assert declared is not None
    assert declared.family == "llama"
    assert world.state.agents[town.agent(2)].declared is None
    revoked = view(world, town.agent(3))
    assert revoked.revoked
    assert not revoked.reviewer
    assert set(world.state.views) == set(town.founding.agents)


def test_views_are_replaced_whole_and_only_when_something_moved() -> None:
    town = Town.of(1, 5)
    world = town.world()
    before = world.state.views
    town.propose(0)
    town.in_cut(1)

    assert world.state.views is before
    town.arrive(world, town.pen(Role.AGENT, 3).revoke())
    town.propose(0, title="Another")
    town.in_cut(2)

    assert world.state.views is not before
    assert not before[town.agent(3)].revoked


def test_a_view_that_did_not_change_is_the_very_one_of_before() -> None:
    town = Town.of(1, 5)
    world = town.world()
    before = dict(world.state.views)
    town.vote(town.propose(0), {1: 1, 2: 1, 3: 1})
    next_tick(town)
    kept = [name for name in before if world.state.views[name] is before[name]]

    # Who proposed and who voted moved; an agent that did nothing stays the same object.
    assert town.agent(4) in kept
    for name, view_ in before.items():
        assert (world.state.views[name] == view_) is (name in kept)


def test_an_epoch_has_a_tick_and_idle_cuts_come_once_an_epoch() -> None:
    town = Town.of(3, 6)
    world = town.world()
    town.rest(4 * EPOCH + EPOCH // 2)

    assert world.state.tick == 4
    assert world.state.cut == 4


def test_cuts_between_ticks_move_no_reputation() -> None:
    town = Town.of(1, 5)
    world = town.world()
    for number in range(3):
        town.open_round(town.propose(0, title=f"Claim {number}"))

    assert world.state.cut == 3
    assert world.state.tick == 0


def test_a_tick_needs_more_members_than_may_lie() -> None:
    town = Town.of(4, 4)
    town.ahead[town.founding.instances[0]] = 100 * EPOCH
    for number in range(4):
        town.propose(1, title=f"Claim {number}")
        town.rest(1_000)

    assert all(world.state.tick == 0 for world in town.live())
    assert all(world.state.cut >= 3 for world in town.live())
    town.rest(EPOCH)
    assert {world.state.tick for world in town.live()} == {1}
