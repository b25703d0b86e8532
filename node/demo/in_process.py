"""Hold a moot in this process: three real cores over the simulated network, under one clock.

Nothing is decided here. The cores agree on cuts and lists by certificates, the agents act through
the door that signs for agents, and what is reported is read from the certified state once a cut
contains every verdict. Time is virtual: only computing takes real time.

Six answers are proposed right after a tick, so that all of them are decided before the next one;
then reputation moves, and the next six follow. Nonces and salts come from the seed, which only
a simulation may do; a reveal opens the sealed copy in the log, for nobody remembers a nonce.
"""

from typing import Final

from federation.core import ArtifactId, InstanceId
from federation.crypto import Ballot
from federation.protocol import World
from federation.protocol import effects as fx
from federation.simulation.network import Agreeable, Community, SimNetwork, SimNode, View
from node.demo.metrics import Judged
from node.demo.outcome import Outcome, Progress, UnfinishedError
from node.demo.realm import EPOCH
from node.demo.scenario import TOPIC, Question, Scenario

_SOON: Final = 20
"""How long after a tick the next answers are proposed, in ms."""
_SETTLE: Final = 1_000
"""After the last verdict is contained: time for the last cut's certificate to be filed."""
_PATIENCE: Final = 10
"""Ticks beyond the planned ones after which a run that still lacks verdicts has failed."""


class _Models(Agreeable):
    """The policy of all agents: nobody argues, and the drawn reviewers vote by their answers."""

    def __init__(self, played: dict[ArtifactId, Question]) -> None:
        """Look questions up in `played`; the data holds answers, no arguments."""
        super().__init__()
        self._played = played

    def ballot(self, view: View) -> Ballot | None:
        """Vote by the model's own answer, if it was drawn for this question."""
        question = self._played[view.round.pin.artifact]
        return question.ballot(view.index) if view.index in question.reviewers else None


class _Moot:
    """One run in progress."""

    def __init__(self, scenario: Scenario, realm: Community, progress: Progress | None) -> None:
        """Prepare a run."""
        self.scenario = scenario
        self.realm = realm
        self.progress = progress
        self.played: dict[ArtifactId, Question] = {}
        self.network = SimNetwork(realm, seed=f"demo/{scenario.seed}", policy=_Models(self.played))
        self.network.listeners.append(self._hear)
        self._begun: set[tuple[InstanceId, int]] = set()
        self._reported = -1

    def run(self) -> Outcome:
        """Run until all instances stand at a cut that contains every verdict."""
        network = self.network
        network.start()
        for node in network.nodes.values():
            self._begin_batch(node)
        latest = (len(self.scenario.batches) + _PATIENCE) * EPOCH
        if not network.run_until(self._is_over, most=latest):
            raise UnfinishedError(f"some verdicts are missing at {network.now} ms")
        network.run_until(network.now + _SETTLE)
        return self._outcome()

    def _hear(self, node: SimNode, tell: fx.Tell) -> None:
        if tell.event is fx.Happening.CUT:
            self._begin_batch(node)
            self._report(node)

    def _begin_batch(self, node: SimNode) -> None:
        """Right after a tick, let the authors of the next answers propose at their instance."""
        tick = _world(node).state.tick
        if (node.instance, tick) in self._begun or tick >= len(self.scenario.batches):
            return
        self._begun.add((node.instance, tick))
        for question in self.scenario.batches[tick]:
            if self.network.agents[question.proposer].instance == node.instance:
                self.network.at(
                    self.network.now + _SOON,
                    lambda question=question: self._propose(question),  # type: ignore[misc]
                )

    def _propose(self, question: Question) -> None:
        record = self.network.propose(question.proposer, content=question.text(), topics=(TOPIC,))
        assert record is not None, "no instance is down here"  # noqa: S101 # our own invariant
        self.played[record.id] = question

    def _is_over(self) -> bool:
        worlds = self.network.worlds
        return (
            worlds[0].state.tick >= len(self.scenario.batches)
            and self.network.is_level()
            and all(_decided(world) == len(self.scenario.questions) for world in worlds)
        )

    def _report(self, node: SimNode) -> None:
        done = _decided(_world(node))
        if self.progress is not None and done > self._reported:
            self._reported = done
            self.progress(done, len(self.scenario.questions))

    def _outcome(self) -> Outcome:
        worlds = self.network.worlds
        first = worlds[0].state
        verdicts = {
            question.item.id: verdict
            for name, question in self.played.items()
            if (verdict := first.artifacts[name].verdict) is not None
        }
        return Outcome(
            scenario=self.scenario,
            agents_in_order=self.realm.founding.agents,
            judged=tuple(
                Judged(question=question, verdict=verdicts[question.item.id])
                for question in self.scenario.questions
            ),
            agents=len(first.agents),
            records=min(len(world.log) for world in worlds),
            digests=tuple(world.digest for world in worlds),
            verdicts_equal=all(world.state.artifacts == first.artifacts for world in worlds),
            cuts=first.cut,
            ticks=first.tick,
            network_ms=self.network.now,
        )


def hold(scenario: Scenario, realm: Community, progress: Progress | None = None) -> Outcome:
    """Hold a moot; the same scenario and realm give the same outcome to the last byte.

    Raises UnfinishedError if verdicts are missing in the end, which would be a bug.
    """
    return _Moot(scenario, realm, progress).run()


def _world(node: SimNode) -> World:
    assert node.world is not None, "no instance is down here"  # noqa: S101 # our own invariant
    return node.world


def _decided(world: World) -> int:
    return sum(artifact.verdict is not None for artifact in world.state.artifacts.values())
