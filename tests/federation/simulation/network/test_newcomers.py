"""A crowd that is admitted and votes with one voice: it changes nothing for anybody without trust."""

from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from federation.artifacts import Artifact
from federation.charter import Review
from federation.core import AgentId, RecordId
from federation.crypto import Choice
from federation.protocol import custody
from federation.protocol.state import State
from federation.records import AgentVouch
from federation.simulation.network import SimNetwork, community
from federation.simulation.network.newcomers import Newcomers
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest

ROUNDS = 3
HONEST = 6


@dataclass(frozen=True)
class Decided:
    """What a crowd would like to change."""

    verdicts: tuple[tuple[object, ...], ...]
    """Of each artifact: state, decision, by what rule, tally, who is counted, whether the quorum
    was met."""
    founders: dict[AgentId, tuple[object, ...]]
    """Tier, reputation, competence, trust and weight."""
    reviewers: int
    """Agents that may decide."""


@dataclass
class Scene:
    """Six founders, and a crowd beside them."""

    network: SimNetwork
    crowd: Newcomers
    proposed: list[RecordId] = field(default_factory=list)

    @property
    def state(self) -> State:
        return self.network.worlds[0].state

    def decide(self, rounds: int = ROUNDS) -> None:
        """Let the founders propose and decide one artifact after the other."""
        for number in range(rounds):
            record = self.network.propose(number % HONEST, f"artifact {len(self.proposed)}")
            assert record is not None
            self.proposed.append(record.id)
            assert self.network.run_until(
                lambda: is_at_rest(self.network, artifacts=len(self.proposed)),
                most=self.network.now + 120_000,
            )

    def tick(self, times: int = 1) -> None:
        """Let epochs pass, until all instances agree on the last."""
        tick = self.state.tick + times
        assert self.network.run_until(
            lambda: all(world.state.tick >= tick for world in self.network.worlds),
            most=self.network.now + 60_000,
        )

    def look(self) -> Decided:
        assert len({world.digest for world in self.network.worlds}) == 1
        state = self.state
        return Decided(
            verdicts=tuple(_verdict(state.artifacts[name]) for name in self.proposed),
            founders={
                name: _standing(state, name) for name in self.network.community.founding.agents
            },
            reviewers=sum(view.reviewer for view in state.views.values()),
        )

    def vouch(self, by: int, agent: AgentId, weight: int = 255) -> None:
        """Let a founder be fooled."""
        founder = self.network.agents[by]
        node = self.network.nodes[founder.instance]
        assert node.world is not None
        body = AgentVouch(agent=agent, weight=weight, reason="it asked so nicely")
        record = custody.author(node.world, founder.keyring, body, now=node.local())
        self.network.submit(founder.instance, record)


def scene(
    *,
    operators: int = 0,
    agents: int = 0,
    choice: Choice = Choice.AGAINST,
    review: Review = REVIEW,
) -> Scene:
    """Admit a crowd that votes from then on."""
    town = community(3, agents=HONEST, timing=TIMING, review=review, name="crowded")
    network = SimNetwork(town, seed="crowd", sync_every=500)
    network.start()
    crowd = Newcomers(network=network, operators=operators, agents=agents, choice=choice)
    if agents:
        crowd.come()
        assert network.run_until(lambda: crowd.are_in, most=600_000)
        crowd.act()
    # As late as with the largest crowd, so that everybody decides in the same epochs.
    network.run_until(max(network.now, 10_000))
    return Scene(network, crowd)


def decided(made: Scene) -> Decided:
    made.decide()
    made.tick(2)
    return made.look()


def _verdict(artifact: Artifact) -> tuple[object, ...]:
    verdict = artifact.verdict
    assert verdict is not None
    return (
        artifact.state,
        verdict.decision,
        verdict.by,
        verdict.numerator,
        verdict.denominator,
        verdict.narrow,
    )


def _standing(state: State, name: AgentId) -> tuple[object, ...]:
    agent = state.agents[name]
    return (agent.tier, agent.r, agent.competence, agent.trust, agent.weight)


@pytest.mark.parametrize(("operators", "agents"), [(1, 150), (30, 150)])
def test_a_crowd_without_trust_changes_no_verdict_no_quorum_and_no_tier(
    operators: int, agents: int
) -> None:
    alone = decided(scene())
    made = scene(operators=operators, agents=agents)
    beside = decided(made)

    assert len(made.state.agents) == HONEST + agents
    assert made.crowd.votes == ROUNDS * agents
    assert beside.verdicts == alone.verdicts
    assert beside.reviewers == alone.reviewers == HONEST
    assert beside.founders == alone.founders
    crowd = [agent for agent in made.state.agents.values() if agent.founder is None]
    assert {(one.tier, one.trust, one.weight) for one in crowd} == {(0, 0, 0)}


def test_more_votes_than_a_list_has_room_for_crowd_no_reviewer_out() -> None:
    narrow = replace(REVIEW, list_most=20)
    alone = decided(scene(review=narrow))
    made = scene(operators=5, agents=60, review=narrow)
    beside = decided(made)

    assert made.crowd.votes == ROUNDS * 60
    assert 0 < made.crowd.reveals <= ROUNDS * 20
    assert beside.verdicts == alone.verdicts
    assert beside.founders == alone.founders


@pytest.mark.parametrize("fooled", [1, 3])
def test_with_vouches_a_crowd_holds_no_more_than_the_theorem_allows(fooled: int) -> None:
    made = scene(operators=40, agents=40, choice=Choice.FOR)
    rules = made.network.community.founding.charter.trust
    for by in range(fooled):
        made.vouch(by, made.crowd.names[by])
    made.decide(6)
    made.tick(2)
    inner = [name for name in made.crowd.names if made.state.agents[name].tier]
    assert inner == made.crowd.names[:fooled]
    for number, name in enumerate(made.crowd.names[fooled:]):
        made.crowd.vouch(inner[number % fooled], name)
    made.tick(3)

    crowd = [made.state.agents[name] for name in made.crowd.names]
    trust = sum(one.trust for one in crowd)
    weight = sum(one.weight for one in crowd)
    assert sum(bool(one.trust) for one in crowd) == 40
    assert 0 < trust * rules.seats <= fooled * rules.kappa * 2**60
    assert 0 < weight <= fooled * rules.kappa * rules.w_max
