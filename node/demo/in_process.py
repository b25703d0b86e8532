"""Hold a moot in this process: three real cores over the simulated network, under one clock.

Nothing is decided here. The cores agree on cuts and lists by certificates, the agents act through
the door that signs for agents, and what is reported is read from the certified state once a cut
contains every verdict. Time is virtual: only computing takes real time.

Six proposals are made right after a tick, so that all of them are decided before the next one;
then reputation moves before the next six.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from federation.certificates import Phase
from federation.core import ArtifactId, Digest, InstanceId, Lots, Millis, RoundId
from federation.crypto import is_signed_by
from federation.protocol import World
from federation.protocol import effects as fx
from federation.protocol import inputs as ins
from federation.protocol.custody import cast, propose, reveal
from federation.records import Record
from federation.simulation.network.letters import Letter
from federation.simulation.network.links import Line, Links, Weather
from federation.simulation.network.node import SimNode
from federation.simulation.network.timeline import Timeline
from node.demo.metrics import Judged
from node.demo.realm import EPOCH, Realm
from node.demo.scenario import TOPIC, Question, Scenario

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the verdicts so far and the proposals to decide."""

_DELAY: Final = Line(shortest=2, longest=20)
"""Of a message between instances, in ms: a good network, nothing is lost."""
_HASTE: Final = (1, 40)
"""How soon an agent acts, in ms."""
_SETTLE: Final = 1_000
"""After the last verdict is contained: time for the last cut's certificate to be filed."""
_PATIENCE: Final = 10
"""Ticks beyond the planned ones after which a run that still lacks verdicts has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a moot came to, as all instances know it."""

    scenario: Scenario
    realm: Realm
    judged: tuple[Judged, ...]
    """By the order of the questions; read from the first instance."""
    agents: int
    records: int
    digests: tuple[Digest, ...]
    """World digest of each instance."""
    verdicts_equal: bool
    """Every instance holds the same artifacts with the same verdicts."""
    cuts: int
    ticks: int
    virtual_ms: Millis

    @property
    def agrees(self) -> bool:
        """Tell whether the instances agree on everything."""
        return self.verdicts_equal and len(set(self.digests)) == 1


class MootError(Exception):
    """The instances did not finish: a bug, for nothing is lost in this network."""


class Moot:
    """The network around the three instances, and the agents that they host."""

    def __init__(self, scenario: Scenario, realm: Realm, progress: Progress | None = None) -> None:
        """Prepare a moot; `hold` lets it run."""
        self.timeline = Timeline()
        self.scenario = scenario
        self.realm = realm
        self._progress = progress
        self._links = Links(scenario.seed, Weather(line=_DELAY))
        self._verified: dict[tuple[bytes, bytes, bytes], bool] = {}
        self._haste = Lots("demo", scenario.seed, "haste")
        self._played: dict[ArtifactId, Question] = {}
        self._proposed: set[tuple[InstanceId, int]] = set()
        self._reported = -1
        self.nodes = {
            instance: SimNode(
                name=f"instance {place}",
                founding=realm.founding,
                instance=instance,
                signer=signer,
                host=self,
                verify=self._verify,
                lots=Lots("demo", scenario.seed, "node", place),
            )
            for place, (instance, signer) in enumerate(
                zip(realm.founding.instances, realm.instance_keys, strict=True)
            )
        }

    # What an instance asks of its network --------------------------------------------------------

    def post(self, sender: SimNode, receiver: InstanceId, letter: Letter) -> None:
        """Put a letter on its link."""
        node = self.nodes[receiver]
        for at in self._links.arrivals(sender.instance, receiver, self.timeline.now):
            self.timeline.at(at, lambda: node.hear(sender.instance, letter))

    def stored(self, node: SimNode, effect: fx.Effect) -> None:
        """Take no note: memory is durable enough for a demo."""

    def told(self, node: SimNode, tell: fx.Tell) -> None:
        """Let the agents of an instance act on its news."""
        match tell.event:
            case "cut":
                self._propose(node)
                self._report(node)
            case "phase.commit":
                self._for_reviewers(node, tell.subject, self._cast)
            case "phase.decide":
                self._for_reviewers(node, tell.subject, self._reveal)
            case _:
                pass

    def refused(self, node: SimNode, refusal: fx.Refused) -> None:
        """Fail: there are only honest members here."""
        raise MootError(f"{node.name} refused a peer: {refusal.why}")

    def stepped(self, node: SimNode) -> None:
        """Take no note."""

    def crashed(self, node: SimNode, down_for: Millis) -> None:
        """Take no note: nobody crashes here."""

    # What the agents do ---------------------------------------------------------------------------

    def _propose(self, node: SimNode) -> None:
        """Let the authors of the next batch propose, right after the tick before it."""
        tick = _world(node).state.tick
        if (node.instance, tick) in self._proposed or tick >= len(self.scenario.batches):
            return
        self._proposed.add((node.instance, tick))
        for question in self.scenario.batches[tick]:
            if self.realm.home(question.proposer) == node.instance:
                self._soon(node, lambda now, question=question: self._submit(node, question, now))

    def _submit(self, node: SimNode, question: Question, now: Millis) -> Record:
        record = propose(
            _world(node),
            self.realm.rings[question.proposer],
            question.text(),
            topics=(TOPIC,),
            salt=self._fresh("text", question.item.id)[:16],
            now=now,
        )
        self._played[record.id] = question
        return record

    def _for_reviewers(
        self,
        node: SimNode,
        name: RoundId,
        act: Callable[[SimNode, RoundId, Question, int, Millis], Record],
    ) -> None:
        question = self._played[_world(node).rounds[name].pin.artifact]
        for model in question.reviewers:
            if self.realm.home(model) == node.instance:
                self._soon(
                    node, lambda now, model=model: act(node, name, question, model, now)
                )

    def _cast(
        self, node: SimNode, name: RoundId, question: Question, model: int, now: Millis
    ) -> Record:
        """Seal a ballot. Its nonce comes from the seed, which only a demo may do."""
        return cast(
            _world(node),
            self.realm.rings[model],
            name,
            question.ballot(model),
            nonce=self._fresh("nonce", name.hex(), model),
            salt=self._fresh("salt", name.hex(), model)[:24],
            now=now,
        )

    def _reveal(
        self, node: SimNode, name: RoundId, question: Question, model: int, now: Millis
    ) -> Record:
        """Open the sealed copy in the log: nobody remembers a nonce."""
        del question
        return reveal(_world(node), self.realm.rings[model], name, now=now)

    def _soon(self, node: SimNode, sign: Callable[[Millis], Record]) -> None:
        """Let an agent act a moment later, at its own instance."""
        self.timeline.after(
            self._haste.between(*_HASTE),
            lambda: node.take(ins.Arrived(records=(sign(node.local()),), peer=None)),
        )

    def _fresh(self, *names: object) -> bytes:
        return Lots("demo", self.scenario.seed, *names).bytes32()

    def _verify(self, key: bytes, payload: bytes, signature: bytes) -> bool:
        """Check a signature once for all three instances: they would all find the same."""
        asked = (key, payload, signature)
        if asked not in self._verified:
            self._verified[asked] = is_signed_by(key, payload, signature)
        return self._verified[asked]

    # From beginning to end ------------------------------------------------------------------------

    def hold(self) -> Outcome:
        """Run until a cut that every instance has reached contains every verdict."""
        for node in self.nodes.values():
            self._propose_at_birth(node)
        latest = (len(self.scenario.batches) + _PATIENCE) * EPOCH
        while not self._is_over():
            if self.timeline.now > latest or not self.timeline.advance():
                raise MootError("some verdicts are missing")
        settled = self.timeline.now + _SETTLE
        while (upcoming := self.timeline.upcoming) is not None and upcoming <= settled:
            self.timeline.advance()
        return self._outcome()

    def _propose_at_birth(self, node: SimNode) -> None:
        node.start()
        self._propose(node)

    def _is_over(self) -> bool:
        worlds = [_world(node) for node in self.nodes.values()]
        if len({world.state.cut for world in worlds}) > 1:
            return False
        return worlds[0].state.tick >= len(self.scenario.batches) and all(
            _decided(world) == len(self.scenario.questions) for world in worlds
        )

    def _report(self, node: SimNode) -> None:
        done = _decided(_world(node))
        if self._progress is not None and done > self._reported:
            self._reported = done
            self._progress(done, len(self.scenario.questions))

    def _outcome(self) -> Outcome:
        worlds = [_world(node) for node in self.nodes.values()]
        first = worlds[0].state
        verdicts = {
            question.item.id: verdict
            for name, question in self._played.items()
            if (verdict := first.artifacts[name].verdict) is not None
        }
        return Outcome(
            scenario=self.scenario,
            realm=self.realm,
            judged=tuple(
                Judged(question=question, verdict=verdicts[question.item.id])
                for question in self.scenario.questions
            ),
            agents=len(first.agents),
            records=max(len(world.log) for world in worlds),
            digests=tuple(world.digest for world in worlds),
            verdicts_equal=all(world.state.artifacts == first.artifacts for world in worlds),
            cuts=first.cut,
            ticks=first.tick,
            virtual_ms=self.timeline.now,
        )


def hold(scenario: Scenario, realm: Realm, progress: Progress | None = None) -> Outcome:
    """Hold a moot; the same scenario and realm give the same outcome to the last byte.

    Raises MootError if the instances do not finish, which would be a bug.
    """
    return Moot(scenario, realm, progress).hold()


def _world(node: SimNode) -> World:
    assert node.world is not None, "nobody crashes here"  # noqa: S101 # our own invariant
    return node.world


def _decided(world: World) -> int:
    return sum(artifact.verdict is not None for artifact in world.state.artifacts.values())
