"""The simulated network: many real worlds, one virtual time, one seed.

`SimNetwork` puts instances on links, lets agents act through their instances, and shows every
letter, store and step to the monitors. The same seed and scenario give the same run, letter for
letter; `transcript_hash` is the proof.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from federation.core import InstanceId, Lots, Millis, PublicKey, Signature, short
from federation.crypto import KeySigner, Verify, is_signed_by
from federation.protocol import World, custody
from federation.protocol import effects as fx
from federation.protocol import inputs as ins
from federation.protocol.custody import Keyring
from federation.records import AgentVouch, ArtifactText, Record
from federation.simulation.network.agents import Agreeable, Policy, SimAgent
from federation.simulation.network.clock import LocalClock
from federation.simulation.network.community import Community
from federation.simulation.network.conduct import HONEST, Conduct
from federation.simulation.network.letters import Gossip, Letter, Packet, Sent
from federation.simulation.network.links import Links, Weather
from federation.simulation.network.monitors import Monitor, Violation
from federation.simulation.network.node import SimNode
from federation.simulation.network.timeline import Timeline

Listener: TypeAlias = Callable[[SimNode, fx.Tell], None]


class SignatureCache:
    """A cache of signature checks that all instances of a process share.

    The same question has the same answer everywhere, and asking libsodium once is what makes
    runs short.
    """

    def __init__(self) -> None:
        """Start with no answer."""
        self._known: dict[tuple[PublicKey, bytes, Signature], bool] = {}

    def __call__(self, key: PublicKey, payload: bytes, signature: Signature) -> bool:
        """Tell whether a signature is right."""
        asked = (key, payload, signature)
        answer = self._known.get(asked)
        if answer is None:
            answer = self._known[asked] = is_signed_by(key, payload, signature)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """How long agents take to act once they can."""

    shortest: Millis = 5
    longest: Millis = 60


@dataclass(slots=True, kw_only=True)
class Transcript:
    """What happened, as lines for people and as one hash; lines are kept only if asked for."""

    keeps_lines: bool = False
    lines: list[str] = field(default_factory=list)
    _hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def add(self, line: str) -> None:
        """Write a line."""
        self._hash.update(line.encode())
        if self.keeps_lines:
            self.lines.append(line)

    @property
    def hash(self) -> str:
        """Hash of all lines so far."""
        return self._hash.hexdigest()


class SimNetwork:
    """Instances, links and agents in virtual time."""

    def __init__(
        self,
        community: Community,
        *,
        seed: str,
        weather: Weather | None = None,
        conducts: Mapping[int, Conduct] | None = None,
        clocks: Mapping[int, Millis] | None = None,
        policy: Policy | None = None,
        policies: Mapping[int, Policy] | None = None,
        thinking: Thinking | None = None,
        monitors: Iterable[Monitor] = (),
        verify: Verify | None = None,
        censor: Callable[[Sent], bool] | None = None,
        keeps_lines: bool = False,
        sync_every: Millis = 1_000,
    ) -> None:
        """Set a network up; nothing lives before `start`.

        `conducts` and `clocks` go by the index of the instance (liars; offsets in ms), `policies`
        by the index of the agent; `policy` is everybody else's. Until links are good, `censor`
        drops the letters that it says yes to: the worst network that there is.
        """
        self.community = community
        self.seed = seed
        self.timeline = Timeline()
        self.weather = weather or Weather()
        self.links = Links(seed, self.weather)
        self.thinking = thinking or Thinking()
        self.monitors = tuple(monitors)
        self.verify = verify or SignatureCache()
        self.censor = censor
        self.transcript = Transcript(keeps_lines=keeps_lines)
        self.counters: Counter[str] = Counter()
        self.listeners: list[Listener] = []
        self.lots = Lots(seed, "network")
        founding = community.founding
        conducts, clocks, policies = conducts or {}, clocks or {}, policies or {}
        self.nodes: dict[InstanceId, SimNode] = {}
        for index, instance in enumerate(founding.instances):
            self.nodes[instance] = SimNode(
                name=f"i{index}",
                founding=founding,
                instance=instance,
                signer=KeySigner(community.instances[index].current),
                host=self,
                verify=self.verify,
                lots=Lots(seed, "node", index),
                conduct=conducts.get(index, HONEST),
                clock=LocalClock(clocks.get(index, 0)),
                sync_every=sync_every,
            )
        self.agents = [
            SimAgent(
                keyring=Keyring(agent=agent, keys=(KeySigner(community.agents[index].current),)),
                index=index,
                instance=founding.instances[community.homes[index]],
                policy=policies.get(index, policy or Agreeable()),
                seed=seed,
            )
            for index, agent in enumerate(founding.agents)
        ]
        self._drafts = 0

    # Looking ------------------------------------------------------------------------------------

    @property
    def now(self) -> Millis:
        """Virtual time."""
        return self.timeline.now

    def node(self, index: int) -> SimNode:
        """Give an instance by its place in the founding."""
        return self.nodes[self.community.founding.instances[index]]

    @property
    def honest(self) -> list[SimNode]:
        """List the instances that do not lie."""
        return [node for node in self.nodes.values() if node.conduct.is_honest]

    @property
    def worlds(self) -> list[World]:
        """List the worlds of all honest instances that are up."""
        return [node.world for node in self.honest if node.world is not None]

    def is_level(self) -> bool:
        """Tell whether all honest instances are up, stand at one cut, and no round is open."""
        worlds = self.worlds
        return (
            len(worlds) == len(self.honest)
            and len({world.state.cut for world in worlds}) == 1
            and all(one.phase is None for world in worlds for one in world.rounds.values())
        )

    # Driving ------------------------------------------------------------------------------------

    def start(self) -> None:
        """Bring all instances to life."""
        for monitor in self.monitors:
            monitor.begun(list(self.nodes.values()))
        for node in self.nodes.values():
            node.start()
        self._judge()

    def run_until(self, until: Callable[[], bool] | Millis, *, most: Millis = 120_000) -> bool:
        """Run until a condition holds or a time has come; give up at virtual time `most`.

        Tells whether it came to that. Raises Violation as soon as a monitor reports one.
        """
        if isinstance(until, int):
            end = until
            while self.timeline.upcoming is not None and self.timeline.upcoming <= end:
                self._advance()
            return True
        while not until():
            if self.timeline.upcoming is None or self.timeline.upcoming > most:
                return False
            self._advance()
        return True

    def finish(self) -> None:
        """Let the monitors judge the whole run."""
        for monitor in self.monitors:
            monitor.finish()
        self._judge()

    def at(self, when: Millis, action: Callable[[], object]) -> None:
        """Plan something for a virtual time."""
        self.timeline.at(when, action)

    def submit(self, instance: InstanceId, record: Record) -> None:
        """Hand a signed record to an instance, as its own agents do."""
        self.nodes[instance].take(ins.Arrived(records=(record,), peer=None))

    def propose(
        self,
        index: int,
        title: str = "",
        *,
        content: ArtifactText | None = None,
        topics: tuple[str, ...] = ("code",),
    ) -> Record | None:
        """Let an agent propose an artifact now; None if its instance is down.

        `content` wins over `title`. Raises RefusedError if the door refuses.
        """
        agent = self.agents[index]
        node = self.nodes[agent.instance]
        if node.world is None:
            return None
        self._drafts += 1
        name = title or f"artifact {self._drafts}"
        text = content or ArtifactText(
            title=name,
            prose=f"What is known about {name}.",
            claims=(f"{name} is so.",),
            falsification=(f"A case where {name} is not so.",),
            sources=(),
        )
        record = custody.propose(
            node.world,
            agent.keyring,
            text,
            topics=topics,
            salt=agent.lots.bytes32()[:16],
            now=node.local(),
        )
        self.submit(agent.instance, record)
        return record

    def vouch(self, index: int, other: int, weight: int) -> Record | None:
        """Let an agent vouch for another now; None if its instance is down.

        Raises RefusedError if the door refuses.
        """
        agent = self.agents[index]
        node = self.nodes[agent.instance]
        if node.world is None:
            return None
        body = AgentVouch(agent=self.agents[other].agent, weight=weight, reason="knows its work")
        record = custody.author(node.world, agent.keyring, body, now=node.local())
        self.submit(agent.instance, record)
        return record

    def attend(self, agent: SimAgent) -> None:
        """Let an agent say what it wants to say now."""
        node = self.nodes[agent.instance]
        for _ in range(len(node.world.rounds) if node.world else 0):
            # Storing what was said may end in a crash of the instance.
            record = agent.act(node.world, node.local()) if node.world else None
            if record is None:
                return
            self.submit(agent.instance, record)

    def _advance(self) -> None:
        self.timeline.advance()
        self.counters["events"] += 1
        self._judge()

    def _judge(self) -> None:
        for monitor in self.monitors:
            if monitor.findings:
                rule, detail = monitor.findings[0]
                raise Violation(rule, detail, seed=self.seed, at=self.now)

    # What instances ask of the network ----------------------------------------------------------

    def post(self, sender: SimNode, receiver: InstanceId, letter: Letter) -> None:
        """Put a letter on its link."""
        sent = Sent(sender=sender.instance, receiver=receiver, letter=letter)
        for monitor in self.monitors:
            monitor.sent(sender, sent)
        kind = type(letter).__name__
        self.counters[kind] += 1
        arrivals = self.links.arrivals(sender.instance, receiver, self.now)
        if self.censor is not None and self.now < self.weather.good_from and self.censor(sent):
            arrivals = ()
        if not arrivals:
            self.counters["lost"] += 1
        target = self.nodes[receiver]
        self.transcript.add(
            f"{self.now} {sender.name} to {target.name}: {kind} {_detail(letter)} {arrivals}"
        )
        for at in arrivals:
            self.timeline.at(at, lambda: target.hear(sender.instance, letter))

    def stored(self, node: SimNode, effect: fx.Effect) -> None:
        """Show the monitors what is durable."""
        for monitor in self.monitors:
            monitor.stored(node, effect)

    def told(self, node: SimNode, tell: fx.Tell) -> None:
        """Let agents of this instance act on news of a phase, and tell listeners all news."""
        what = tell.event if tell.phase is None else f"{tell.event} {tell.phase}"
        self.transcript.add(f"{self.now} {node.name} {what} {short(tell.subject)}")
        if tell.event is fx.Happening.PHASE:
            self._wake_agents(node)
        for listener in self.listeners:
            listener(node, tell)

    def pulsed(self, node: SimNode) -> None:
        """Let agents of this instance look again: what they waited for may have come silently."""
        self._wake_agents(node)

    def _wake_agents(self, node: SimNode) -> None:
        """Let every agent of an instance act, after some thinking."""
        for agent in self.agents:
            if agent.instance == node.instance:
                delay = agent.lots.between(self.thinking.shortest, self.thinking.longest)
                self.timeline.after(delay, lambda agent=agent: self.attend(agent))  # type: ignore[misc]

    def refused(self, node: SimNode, refusal: fx.Refused) -> None:
        """Count a refusal."""
        self.counters[f"refused.{refusal.code}"] += 1
        self.transcript.add(f"{self.now} {node.name} refused {refusal.code}: {refusal.why}")

    def stepped(self, node: SimNode) -> None:
        """Show the monitors a world after a step."""
        for monitor in self.monitors:
            monitor.stepped(node)

    def crashed(self, node: SimNode, down_for: Millis) -> None:
        """Bring a dead instance back after a while."""
        self.counters["crashes"] += 1
        self.transcript.add(f"{self.now} {node.name} crashed")
        self.timeline.after(down_for, lambda: node.restart() if node.world is None else None)


def _detail(letter: Letter) -> str:
    match letter:
        case Packet(packet=packet):
            return hashlib.sha256(packet).hexdigest()[:12]
        case Gossip(records=records):
            return " ".join(short(record.id) for record in records)
        case _:
            return ""
