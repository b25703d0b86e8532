"""A small honest realm beside a crowd of newcomers, and what the crowd would like to change there.

The same realm and seed can be run without the crowd, and everything compared: verdicts, tallies,
who may decide, and the standing of every founder.
"""

from dataclasses import dataclass, field
from typing import Final

from federation.artifacts import Artifact
from federation.charter import Review
from federation.core import AgentId, Millis, RecordId
from federation.crypto import Choice
from federation.protocol import custody
from federation.protocol.state import State
from federation.records import AgentVouch
from federation.simulation.network.community import community
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.newcomers import Newcomers
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest

HONEST: Final = 6
"""Founders, two on each of three instances."""
_BEGIN: Final[Millis] = 10_000
"""When the founders begin to decide at the earliest, with a crowd or without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a crowd would like to change."""

    verdicts: tuple[tuple[object, ...], ...]
    """Of each artifact: state, decision, by what rule, tally, and which safeguards it lacks."""
    founders: dict[AgentId, tuple[object, ...]]
    """Tier, reputation, competence, trust and weight."""
    reviewers: int
    """Agents that may decide: what quorums are made of."""


@dataclass(slots=True, kw_only=True)
class Crowded:
    """Six founders, and a crowd beside them."""

    network: SimNetwork
    crowd: Newcomers
    proposed: list[RecordId] = field(default_factory=list)

    @property
    def state(self) -> State:
        """Give the certified state."""
        return self.network.worlds[0].state

    @property
    def digests(self) -> int:
        """Count the world digests that the instances have come to: 1 if they agree."""
        return len({world.digest for world in self.network.worlds})

    def decide(self, rounds: int) -> bool:
        """Let the founders propose and decide one artifact after the other; tell if all ended."""
        for number in range(rounds):
            record = self.network.propose(number % HONEST, f"artifact {len(self.proposed)}")
            if record is None:
                return False
            self.proposed.append(record.id)
            if not self.network.run_until(self._is_at_rest, most=self.network.now + 120_000):
                return False
        return True

    def tick(self, times: int = 1) -> bool:
        """Let epochs pass, until all instances agree on the last; tell if it came to that."""
        tick = self.state.tick + times
        return self.network.run_until(
            lambda: all(world.state.tick >= tick for world in self.network.worlds),
            most=self.network.now + 60_000,
        )

    def look(self) -> Decided:
        """Tell what has been decided, and by whom it could be."""
        state = self.state
        return Decided(
            verdicts=tuple(_verdict(state.artifacts[name]) for name in self.proposed),
            founders={
                name: _standing(state, name) for name in self.network.community.founding.agents
            },
            reviewers=sum(view.reviewer for view in state.views.values()),
        )

    def fool(self, founder: int, agent: AgentId, weight: int = 255) -> None:
        """Let a founder vouch for one of the crowd; raises RefusedError if the door refuses."""
        fooled = self.network.agents[founder]
        node = self.network.nodes[fooled.instance]
        if node.world is not None:
            body = AgentVouch(agent=agent, weight=weight, reason="it asked so nicely")
            record = custody.author(node.world, fooled.keyring, body, now=node.local())
            self.network.submit(fooled.instance, record)

    def _is_at_rest(self) -> bool:
        return is_at_rest(self.network, artifacts=len(self.proposed))


def crowded(
    *,
    operators: int = 0,
    agents: int = 0,
    voters: int | None = None,
    choice: Choice = Choice.AGAINST,
    review: Review = REVIEW,
) -> Crowded:
    """Found a realm and let a crowd be admitted, that votes from then on; no crowd with 0 agents.

    Raises RuntimeError if it is not admitted within ten minutes of virtual time.
    """
    town = community(3, agents=HONEST, timing=TIMING, review=review, name="crowded")
    network = SimNetwork(town, seed="crowd", sync_every=500)
    network.start()
    crowd = Newcomers(
        network=network, operators=operators, agents=agents, voters=voters, choice=choice
    )
    if agents:
        crowd.come()
        if not network.run_until(lambda: crowd.are_in, most=600_000):
            raise RuntimeError(f"only {len(network.worlds[0].state.agents)} agents were admitted")
        crowd.act()
    network.run_until(max(network.now, _BEGIN))
    return Crowded(network=network, crowd=crowd)


def _verdict(artifact: Artifact) -> tuple[object, ...]:
    verdict = artifact.verdict
    if verdict is None:
        return (artifact.state,)
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
