"""One artifact that is reviewed, disputed and reported, so that every phase is held once.

Ten agents of ten operators on four instances. The review finds no clear result in a widened box and
an arbiter lets it stand; a dispute finds too few voices, the arbiter freezes the artifact, and the
operators keep it; a report is credible, and a fresh panel retracts it. Agents of liars and of
instances that are down are replaced by nobody: then the artifact may come to another end, and all
honest instances must agree on which.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from federation.artifacts import State
from federation.certificates import Phase
from federation.charter.presets import preset
from federation.core import ArtifactId, Millis
from federation.crypto import Ballot, Basis, Choice, Reason, plain_hash
from federation.protocol import Round, World, authoring, custody
from federation.protocol import effects as fx
from federation.protocol.custody import Keyring
from federation.records import ArtifactText, Category, Decree, Ground, Record, Ruled, Stance
from federation.simulation.network.agents import View
from federation.simulation.network.community import Community, community
from federation.simulation.network.conduct import Conduct
from federation.simulation.network.disputants import engage, file
from federation.simulation.network.letters import Sent
from federation.simulation.network.links import Weather
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.node import SimNode
from federation.simulation.network.watch import REST, REVIEW, TIMING, watched

AUTHOR: Final = 0
ARBITER: Final = 7
MODERATOR: Final = 8
ACCUSER: Final = 9
"""Disputes, and reports later."""
ROUNDS: Final = 3
"""Rounds of the artifact: a review, a dispute, a report."""
LONG: Final[Millis] = 60_000
"""Virtual time after which a run that should have come to rest has failed."""

_BALLOTS: Final[Mapping[str, Mapping[int, int]]] = {
    "review": {1: 1, 2: 1, 3: -1},
    "dispute": {4: -1},
    "report": {5: -1, 6: -1},
}
"""Who votes how, by the kind of the round."""
_SALT: Final = bytes(16)
_MODES: Final = {"open": 0, "sealed_first": 300}


def quarrelsome(mode: str = "open", *, members: int = 4, appeal: Millis = 0) -> Community:
    """Found the realm of a quarrel; `mode` is that of its debates, `open` or `sealed_first`."""
    review = replace(
        REVIEW,
        k=3,
        q_min=3,
        tau_accept=500_000,
        mode=mode,
        seal=_MODES[mode],
        rule=1_500,
        appeal=appeal,
        admin=1_500,
        arguments_each=2,
    )
    disputes = replace(
        preset("test").disputes, q_dispute=2, r_dispute=REVIEW.r_min, assess=1_200, cooldown=1
    )
    return community(
        members,
        agents=10,
        operators=10,
        badges=((ARBITER, "arbiter"), (MODERATOR, "moderator")),
        name=f"quarrel {mode}",
        timing=TIMING,
        review=review,
        disputes=disputes,
    )


class Quarrel:
    """What everybody thinks in a quarrel."""

    def objection(self, view: View) -> Reason | None:
        """Object to nothing."""
        del view
        return None

    def argument(self, view: View) -> tuple[Stance, str] | None:
        """Let the first agents argue, each in words of its own."""
        return (Stance.FOR, f"Agent {view.index} has read it.") if view.index < ARBITER else None

    def ballot(self, view: View) -> Ballot | None:
        """Vote by the table; the third reviewer wakes up only when the box is widened."""
        choice = _BALLOTS[view.round.pin.kind].get(view.index)
        late = view.round.pin.kind == "review" and view.index == len(_BALLOTS["review"])
        if choice is None or (late and view.round.phase is not Phase.COMMIT2):
            return None
        return Ballot(Choice(choice), Reason.ACCURATE, Basis.TOOL)

    def assessment(self, view: View) -> bool | None:
        """Believe the report."""
        del view
        return True

    def ruling(self, view: View) -> Ruled | None:
        """Let the sign of a review decide, and freeze what is disputed."""
        return Ruled.BY_SIGN if view.round.pin.kind == "review" else Ruled.FREEZE

    def contests(self, view: View) -> bool:
        """Contest nothing."""
        del view
        return False

    def decree(self, operator: int, one: Round) -> Decree | None:
        """Keep what has come to the operators."""
        del operator
        return Decree.UPHOLD if one.pin.kind == "appeal" else Decree.KEEP


def quarrel(
    there: Community,
    *,
    seed: str,
    weather: Weather | None = None,
    conducts: Mapping[int, Conduct] | None = None,
    counsel: Quarrel | None = None,
    censor: Callable[[Sent], bool] | None = None,
    demands_progress: bool = True,
) -> SimNetwork:
    """Set the network of a quarrel up and start it, with everything planned that is filed."""
    network = watched(
        there,
        seed=seed,
        weather=weather,
        conducts=conducts,
        censor=censor,
        demands_progress=demands_progress,
    )
    engage(network, counsel or Quarrel())
    network.start()
    network.at(20, lambda: file(network, AUTHOR, _propose))
    network.at(40, lambda: file(network, ACCUSER, _dispute))
    network.at(60, lambda: file(network, ACCUSER, _report))
    return network


def is_settled(network: SimNetwork) -> bool:
    """Tell whether all honest instances agree that nothing is left to decide about the artifact."""
    worlds = network.worlds
    if len(worlds) < len(network.honest):
        return False
    if len({(world.state.cut, world.digest) for world in worlds}) > 1:
        return False
    return all(_has_rested(world) for world in worlds)


def _has_rested(world: World) -> bool:
    """Tell whether the artifact was reported, or does not stand long enough for that."""
    artifacts = list(world.state.artifacts.values())
    if not artifacts or any(not one.closed for one in world.rounds.values()):
        return False
    (artifact,) = artifacts
    rounds = world.state.rounds_of[artifact.id]
    fell = artifact.state in REST and artifact.state is not State.ACTIVE
    return artifact.state in REST and (fell or len(rounds) >= ROUNDS)


def crash_in(
    network: SimNetwork, phase: Phase, place: int, *, down_for: Millis = 400, delay: Millis = 1
) -> None:
    """Kill an instance once, `delay` ms after it has told that a round has come to a phase."""
    left = [True]

    def listen(node: SimNode, tell: fx.Tell) -> None:
        if left[0] and tell.phase is phase and node is network.node(place):
            left[0] = False
            network.timeline.after(delay, lambda: node.crash(down_for=down_for))

    network.listeners.append(listen)


def _propose(world: World, keyring: Keyring, now: Millis) -> Record:
    content = ArtifactText(
        title="A bone of contention",
        prose="",
        claims=("It is so.",),
        falsification=("It is not so.",),
        sources=(),
    )
    return custody.propose(world, keyring, content, topics=("code",), salt=_SALT, now=now)


def _dispute(world: World, keyring: Keyring, now: Millis) -> Record | None:
    artifact = _standing(world, rounds=1)
    if artifact is None:
        return None
    return authoring.dispute(
        world,
        keyring,
        artifact,
        ground=Ground.INACCURATE,
        note="It is not so.",
        salt=_SALT,
        now=now,
        evidence=(plain_hash(b"a photograph"),),
    )


def _report(world: World, keyring: Keyring, now: Millis) -> Record | None:
    artifact = _standing(world, rounds=2)
    if artifact is None:
        return None
    return authoring.report(
        world,
        keyring,
        artifact,
        category=Category.HARMFUL,
        note="It does harm.",
        salt=_SALT,
        now=now,
    )


def _standing(world: World, *, rounds: int) -> ArtifactId | None:
    """Give the artifact if it stands after so many rounds."""
    for name, one in world.state.artifacts.items():
        if one.state is State.ACTIVE and len(world.state.rounds_of[name]) == rounds:
            return name
    return None
