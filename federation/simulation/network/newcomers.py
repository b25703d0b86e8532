"""A crowd of newcomers: admitted in large numbers, and busy with everything that newcomers may do.

One instance admits them: operators first, then their agents, a handful at a time. From then on
each of them votes in every round it sees, all alike and past the door, as Sybils of one mind do.
What they change by that is what admission is about: without trust, nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from federation.certificates import Phase
from federation.core import AgentId, Lots, Millis, OperatorId, RoundId
from federation.crypto import Ballot, Basis, Choice, KeySigner, Reason
from federation.protocol import Keys, World, custody, incept
from federation.protocol import effects as fx
from federation.protocol import inputs as ins
from federation.protocol.custody import Keyring
from federation.records import (
    AgentAdmit,
    AgentVouch,
    Body,
    Custody,
    Delegate,
    OperatorAdmit,
    Record,
    Role,
    sign_record,
)
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.node import SimNode

_AT_ONCE: Final = 200
"""Admissions that are signed in one go."""
_PAUSE: Final[Millis] = 500
"""Virtual time between two of them: one cut a tick takes no more than 4,096 records of any kind."""
_THINKING: Final[Millis] = 5
"""How soon they act: no later than the quickest honest agent."""


@dataclass(slots=True, kw_only=True)
class _Chain:
    """An identity that writes by itself, wherever its records are sent."""

    keys: KeySigner
    last: Record

    def say(self, realm: bytes, body: Body) -> Record:
        """Sign the next record."""
        self.last = sign_record(
            body,
            realm=realm,
            signer=self.keys,
            author=self.last.author,
            key_index=0,
            seq=self.last.seq + 1,
            prev=self.last.id,
            at=0,
        )
        return self.last


@dataclass(slots=True, kw_only=True)
class Newcomers:
    """A crowd, and who of it has been admitted."""

    network: SimNetwork
    operators: int
    """How many operators answer for them, in turn."""
    agents: int
    home: int = 0
    """The instance that admits them, by its place in the founding."""
    voters: int | None = None
    """How many of them vote in each round; None for all."""
    choice: Choice = Choice.AGAINST
    names: list[AgentId] = field(default_factory=list)
    """Their ids, in the order in which they came."""
    answer: list[OperatorId] = field(default_factory=list)
    """Ids of their operators."""
    votes: int = 0
    reveals: int = 0
    _chains: list[_Chain] = field(default_factory=list)
    _keys: dict[AgentId, KeySigner] = field(default_factory=dict)

    # Coming ---------------------------------------------------------------------------------------

    def come(self) -> None:
        """Begin to be admitted now; the operators first, and their agents once a cut has them."""
        node = self._node
        for number in range(self.operators):
            keys = Keys.derived(b"crowd/operator/%d" % number)
            first = incept(node.founding.realm, f"sybil {number}", Role.OPERATOR, keys)
            self._chains.append(_Chain(keys=KeySigner(keys.current), last=first))
            self.answer.append(first.id)
        self._admit_operators(0)

    @property
    def are_in(self) -> bool:
        """Whether every honest instance has all of them admitted."""
        return len(self.names) == self.agents and all(
            self.names[-1] in world.state.agents and self.names[0] in world.state.agents
            for world in self.network.worlds
        )

    def _admit_operators(self, begun: int) -> None:
        for chain in self._chains[begun : begun + _AT_ONCE]:
            # The instance names them first: a stranger's records are stored once it is named.
            self._instance_says(OperatorAdmit(operator=chain.last.id))
            self._arrive(chain.last)
        if begun + _AT_ONCE < self.operators:
            self.network.timeline.after(_PAUSE, lambda: self._admit_operators(begun + _AT_ONCE))
        else:
            self._await_operators()

    def _await_operators(self) -> None:
        if all(name in self._world.state.operators for name in self.answer):
            self._admit_agents(0)
        else:
            self.network.timeline.after(_PAUSE, self._await_operators)

    def _admit_agents(self, begun: int) -> None:
        realm = self._node.founding.realm
        end = min(begun + _AT_ONCE, self.agents)
        for number in range(begun, end):
            keys = Keys.derived(b"crowd/agent/%d" % number)
            first = incept(realm, f"newcomer {number}", Role.AGENT, keys)
            chain = self._chains[number % self.operators]
            word = chain.say(realm, Delegate(agent=first.id, scope=()))
            self._arrive(word)
            self._arrive(first)
            self._instance_says(
                AgentAdmit(
                    agent=first.id, operator=word.author, delegate=word.id, custody=Custody.SELF
                )
            )
            self._keys[first.id] = KeySigner(keys.current)
            self.names.append(first.id)
        if end < self.agents:
            self.network.timeline.after(_PAUSE, lambda: self._admit_agents(end))

    # Acting ---------------------------------------------------------------------------------------

    def act(self) -> None:
        """Vote and reveal from now on, in every round of which their instance tells."""
        self.network.listeners.append(self._hear)

    def vouch(self, by: AgentId, agent: AgentId, weight: int = 255) -> None:
        """Let one of them vouch for another; raises RefusedError if the door refuses."""
        ring = Keyring(agent=by, keys=(self._keys[by],))
        body = AgentVouch(agent=agent, weight=weight, reason="we are many")
        self._arrive(custody.author(self._world, ring, body, now=self._node.local()))

    def _hear(self, node: SimNode, told: fx.Tell) -> None:
        if node is not self._node or told.event is not fx.Happening.PHASE:
            return
        round_id = told.subject
        if told.phase in (Phase.COMMIT, Phase.COMMIT2):
            self.network.timeline.after(_THINKING, lambda: self._vote(round_id))
        elif told.phase is Phase.DECIDE:
            self.network.timeline.after(_THINKING, lambda: self._reveal(round_id))

    def _vote(self, round_id: RoundId) -> None:
        world, node = self._world, self._node
        one = world.rounds[round_id]
        if one.phase not in (Phase.COMMIT, Phase.COMMIT2):
            return
        ballot = Ballot(self.choice, Reason.INACCURATE, Basis.MEMORY)
        for name in self._busy():
            if name not in one.pin.eligible.practice and name not in one.pin.eligible.reviewers:
                continue
            lots = Lots(self.network.seed, "crowd", name.hex(), round_id.hex())
            record = custody.cast(
                world,
                Keyring(agent=name, keys=(self._keys[name],)),
                round_id,
                ballot,
                nonce=lots.bytes32(),
                salt=lots.bytes32()[:24],
                now=node.local(),
            )
            self._arrive(record)
            self.votes += 1

    def _reveal(self, round_id: RoundId) -> None:
        world, node = self._world, self._node
        for name in self._busy():
            if custody.may_reveal(world, round_id, name) is None:
                continue
            ring = Keyring(agent=name, keys=(self._keys[name],))
            self._arrive(custody.reveal(world, ring, round_id, now=node.local()))
            self.reveals += 1

    def _busy(self) -> Iterator[AgentId]:
        yield from self.names[: self.agents if self.voters is None else self.voters]

    # How records come to their instance -----------------------------------------------------------

    @property
    def _node(self) -> SimNode:
        return self.network.node(self.home)

    @property
    def _world(self) -> World:
        world = self._node.world
        assert world is not None, "the instance of a crowd stays up"  # noqa: S101 # ours
        return world

    def _arrive(self, record: Record) -> None:
        self._node.take(ins.Arrived(records=(record,), peer=None))

    def _instance_says(self, body: Body) -> None:
        ring = Keyring(agent=self._node.instance, keys=(self._node.signer,))
        self._arrive(custody.author(self._world, ring, body, now=self._node.local()))
