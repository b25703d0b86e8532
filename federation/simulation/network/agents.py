"""Simulated agents: they propose, argue, vote and reveal through the door that signs for agents.

What an agent thinks is a `Policy`; when it acts follows from the state of its instance. It
forgets nothing that matters, because it remembers nothing: whether it has voted stands in the
log, and the ballot to reveal is the sealed copy in its own commit record (design: custody).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from federation.certificates import Phase
from federation.core import AgentId, InstanceId, Lots, Millis, RefusedError, RoundId
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.protocol import Round, World
from federation.protocol import custody as door
from federation.protocol.custody import Keyring
from federation.records import Kind, Record, Stance
from federation.review import course


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What an agent looks at when it makes up its mind."""

    agent: AgentId
    index: int
    """Place of the agent among the founders."""
    world: World
    round: Round


class Policy(Protocol):
    """How agents make up their minds; asked again until they have acted, so keep it pure."""

    def objection(self, view: View) -> Reason | None:
        """Object while the fast window is open, or not."""
        ...

    def argument(self, view: View) -> tuple[Stance, str] | None:
        """Argue before the vote, or not."""
        ...

    def ballot(self, view: View) -> Ballot | None:
        """Vote, or not."""
        ...


class Agreeable:
    """A policy: nobody objects, the first agents argue, everybody votes for."""

    def __init__(self, *, arguments: int = 0) -> None:
        """Let the agents of index below `arguments` argue."""
        self._arguments = arguments

    def objection(self, view: View) -> Reason | None:
        """Object to nothing."""
        del view
        return None

    def argument(self, view: View) -> tuple[Stance, str] | None:
        """Support it in one sentence."""
        return (Stance.FOR, "It agrees with its source.") if view.index < self._arguments else None

    def ballot(self, view: View) -> Ballot | None:
        """Vote for it."""
        del view
        return Ballot(Choice.FOR, Reason.ACCURATE, Basis.TOOL)


Permission: TypeAlias = Callable[[World, RoundId, AgentId], Record | None]
"""Gives the listed commit record of an agent if it may reveal now."""


class SimAgent:
    """One agent, hosted by one instance."""

    def __init__(
        self,
        *,
        keyring: Keyring,
        index: int,
        instance: InstanceId,
        policy: Policy,
        seed: str,
    ) -> None:
        """Host an agent; nonces and salts are drawn from `seed`, for they must not repeat."""
        self.keyring = keyring
        self.index = index
        self.instance = instance
        self.policy = policy
        self.lots = Lots(seed, "agent", index)
        self.may_reveal: Permission = door.may_reveal
        """A test can give a careless agent another permission, to see that this is noticed."""

    @property
    def agent(self) -> AgentId:
        """Name the agent."""
        return self.keyring.agent

    def act(self, world: World, now: Millis) -> Record | None:
        """Sign the next thing that this agent wants to say in any open round, if there is one.

        The record must be stored by the agent's instance before the agent is asked again.
        """
        for one in list(world.rounds.values()):
            if one.phase is None or self._may_not(one):
                continue
            try:
                record = self._act(
                    View(agent=self.agent, index=self.index, world=world, round=one), now
                )
            except RefusedError:
                # The door knows better; the agent tries again when something has changed.
                continue
            if record is not None:
                return record
        return None

    def _may_not(self, one: Round) -> bool:
        """Tell without asking the door that this agent has no part in the open phase."""
        may = one.pin.eligible
        votes = self.agent in may.reviewers or self.agent in may.practice
        # The author of an artifact does not vote on it, but it may answer.
        return not votes and one.phase is not Phase.DELIBERATE

    def _act(self, view: View, now: Millis) -> Record | None:
        one = view.round
        name = one.pin.round
        match one.phase:
            case Phase.FAST:
                reason = None if self._has(view, Kind.OBJECT) else self.policy.objection(view)
                if reason is None:
                    return None
                return door.object_to(view.world, self.keyring, name, reason=reason, now=now)
            case Phase.DELIBERATE:
                said = None if self._has(view, Kind.ARGUE) else self.policy.argument(view)
                if said is None:
                    return None
                return door.argue(
                    view.world,
                    self.keyring,
                    name,
                    stance=said[0],
                    note=said[1],
                    salt=self.lots.bytes32()[:16],
                    now=now,
                )
            case Phase.COMMIT | Phase.COMMIT2:
                return None if self._has(view, Kind.COMMIT) else self._cast(view, now)
            case Phase.DECIDE:
                return None if self._has(view, Kind.REVEAL) else self._reveal(view, now)
            case _:
                return None

    def _cast(self, view: View, now: Millis) -> Record | None:
        ballot = self.policy.ballot(view)
        if ballot is None:
            return None
        return door.cast(
            view.world,
            self.keyring,
            view.round.pin.round,
            ballot,
            nonce=self.lots.bytes32(),
            salt=self.lots.bytes32()[:24],
            now=now,
        )

    def _reveal(self, view: View, now: Millis) -> Record | None:
        name = view.round.pin.round
        if self.may_reveal(view.world, name, self.agent) is None:
            return None
        return door.reveal(view.world, self.keyring, name, now=now)

    def _has(self, view: View, kind: Kind) -> bool:
        """Tell whether the log here holds this agent's word in the open phase already."""
        one = view.round
        after = course(one.pin, one.finals).after.get(one.phase) if one.phase else None
        held = view.world.log.by_round(one.pin.round).get(kind, [])
        return any(
            record.author == self.agent and getattr(record.body, "after", None) == after
            for record in held
        )
