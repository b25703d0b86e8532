"""Simulated people beyond the vote: they seal arguments, assess, rule, contest, decide and file.

`Disputant` is a `SimAgent` with offices, `SimOperator` the same for an operator's own voice; what
they think of it is a `Counsel`. `engage` puts both into a network. `file` lets an agent sign through
the door as soon as the door lets it: it tries again until then, whatever happens to its instance.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias, cast

from federation.certificates import Phase
from federation.core import Millis, RefusedError
from federation.crypto import KeySigner
from federation.protocol import Round, World, authoring, operating
from federation.protocol.custody import TURNS, Keyring
from federation.records import Decree, Kind, Record, Ruled
from federation.review import drawn_arbiters
from federation.simulation.network.agents import Policy, SimAgent, View
from federation.simulation.network.network import SimNetwork

Sign: TypeAlias = Callable[[World, Keyring, Millis], Record | None]
"""Signs something through the door; None, or a RefusedError, while it cannot be said yet."""

_PATIENCE: Millis = 100
"""How long an agent waits before it tries the door again."""


class Counsel(Policy, Protocol):
    """How people with an office make up their minds; asked again until they have acted."""

    def assessment(self, view: View) -> bool | None:
        """Say as a moderator whether a report is credible, or say nothing."""
        ...

    def ruling(self, view: View) -> Ruled | None:
        """Rule as a drawn arbiter, or do not."""
        ...

    def contests(self, view: View) -> bool:
        """Contest a result, or a ruling."""
        ...

    def decree(self, operator: int, one: Round) -> Decree | None:
        """Decide as the operator of that place in the founding, or stay silent."""
        ...


class Disputant(SimAgent):
    """An agent that also seals its argument, and speaks wherever it has an office."""

    @property
    def counsel(self) -> Counsel:
        """What this agent thinks: it was made with a policy that covers all offices."""
        return cast(Counsel, self.policy)

    def _may_not(self, one: Round) -> bool:
        """Tell without asking the door that this agent has no part in the open phase."""
        match one.phase:
            case Phase.ASSESS:
                view = one.pin.agents.get(self.agent)
                return view is None or "moderator" not in view.badges
            case Phase.RULE:
                return self.agent not in drawn_arbiters(one.pin, one.finals)
            case Phase.CONTEST | Phase.APPEAL:
                return self.agent not in one.pin.sides
            case Phase.ADMIN:
                return True
            case _:
                return super()._may_not(one)

    def _act(self, view: View, now: Millis) -> Record | None:
        match view.round.phase:
            case Phase.SEAL | Phase.UNSEAL:
                return self._deliberate(view, now)
            case Phase.ASSESS | Phase.RULE | Phase.CONTEST | Phase.APPEAL:
                return self._speak(view, now)
            case phase if phase in TURNS and view.round.pin.charter.review.mode == "sealed_first":
                # What it had to say it has sealed.
                return None
            case _:
                return super()._act(view, now)

    def _deliberate(self, view: View, now: Millis) -> Record | None:
        """Seal an argument, and open it once the list of the seals is certified here."""
        world, name = view.world, view.round.pin.round
        if view.round.phase is Phase.UNSEAL:
            if self._has(view, Kind.ARGUE) or not self._may_open(world, view.round):
                return None
            return authoring.unseal(world, self.keyring, name, now=now)
        said = None if self._has(view, Kind.SEAL) else self.counsel.argument(view)
        if said is None:
            return None
        return authoring.seal_argument(
            world,
            self.keyring,
            name,
            stance=said[0],
            note=said[1],
            nonce=self.lots.bytes32(),
            salt=self.lots.bytes32()[:16],
            seal_salt=self.lots.bytes32()[:24],
            now=now,
        )

    def _may_open(self, world: World, one: Round) -> bool:
        return authoring.may_unseal(world, one.pin.round, self.agent) is not None

    def _speak(self, view: View, now: Millis) -> Record | None:
        """Say what an office, or being a side, allows in the open phase."""
        world, name, salt = view.world, view.round.pin.round, self.lots.bytes32()[:16]
        match view.round.phase:
            case Phase.ASSESS:
                credible = None if self._has(view, Kind.ASSESS) else self.counsel.assessment(view)
                if credible is None:
                    return None
                return authoring.assess(
                    world, self.keyring, name, credible=credible, note="", salt=salt, now=now
                )
            case Phase.RULE:
                ruling = None if self._has(view, Kind.RULE) else self.counsel.ruling(view)
                if ruling is None:
                    return None
                return authoring.rule(
                    world,
                    self.keyring,
                    name,
                    ruling=ruling,
                    ground="as_heard",
                    note="",
                    salt=salt,
                    now=now,
                )
            case _:
                if self._has(view, Kind.CONTEST) or not self.counsel.contests(view):
                    return None
                return authoring.contest(
                    world, self.keyring, name, ground="not_heard", note="", salt=salt, now=now
                )


class SimOperator(Disputant):
    """An operator that decides in the rounds that have come to the operators.

    Its keyring is the operator's own, its instance the operator's member.
    """

    def _may_not(self, one: Round) -> bool:
        return one.phase is not Phase.ADMIN or self.agent not in one.pin.members

    def _act(self, view: View, now: Millis) -> Record | None:
        one = view.round
        decree = None if self._has(view, Kind.ADMIN) else self.counsel.decree(self.index, one)
        if decree is None:
            return None
        return operating.decide_in_round(
            view.world,
            self.keyring,
            one.pin.round,
            decision=decree,
            reason="It has come to us.",
            now=now,
        )


def engage(network: SimNetwork, counsel: Counsel) -> None:
    """Let all agents of a network, and the operators of its members, think like `counsel`.

    To be called before the network starts. Operators come after all agents in `network.agents`.
    """
    there = network.community
    people: list[SimAgent] = [
        Disputant(
            keyring=agent.keyring,
            index=agent.index,
            instance=agent.instance,
            policy=counsel,
            seed=network.seed,
        )
        for agent in network.agents
    ]
    people += [
        SimOperator(
            keyring=Keyring(
                agent=there.founding.operators[place],
                keys=(KeySigner(there.operators[place].current),),
            ),
            index=place,
            instance=instance,
            policy=counsel,
            seed=f"{network.seed} operators",
        )
        for place, instance in enumerate(there.founding.instances)
    ]
    network.agents = people


def file(network: SimNetwork, index: int, sign: Sign) -> None:
    """Let an agent sign something now, or as soon as its instance is up and the door lets it.

    What a crash has lost before it was stored it signs again: nobody can have seen it.
    """
    agent = network.agents[index]
    node = network.nodes[agent.instance]
    record = None
    if node.world is not None:
        try:
            record = sign(node.world, agent.keyring, node.local())
        except RefusedError:
            record = None
    if record is not None:
        network.submit(agent.instance, record)
        if node.world is not None and record.id in node.world.log:
            return
    network.timeline.after(_PATIENCE, lambda: file(network, index, sign))
