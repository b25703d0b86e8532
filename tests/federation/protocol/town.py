"""A small federation in one process for tests: real worlds, perfect links, one virtual clock.

No loss, no reordering and no adversaries: those live in the simulated network. A town is for tests
that need a round opened, a vote held or a record judged, with as little around it as possible.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from federation.certificates import Phase
from federation.charter import (
    Admission,
    Disputes,
    Quotas,
    Review,
    Sanctions,
    Timing,
    Trust,
    preset,
)
from federation.charter.units import Badge
from federation.core import AgentId, InstanceId, Millis, RoundId
from federation.crypto import Ballot, Basis, Choice, KeySigner, Reason, is_signed_by, plain_hash
from federation.protocol import (
    FounderSpec,
    Founding,
    FoundingSpec,
    Keys,
    World,
    begin,
    custody,
    found,
    inputs,
    start,
    step,
)
from federation.protocol import effects as fx
from federation.protocol.custody import Keyring
from federation.protocol.turn import Turn
from federation.records import (
    AgentAdmit,
    ArtifactText,
    Body,
    Custody,
    Delegate,
    Record,
    Role,
    sign_record,
)
from tests.builders import Chain, Identity, person

LATENCY = 5
_VERIFIED: dict[tuple[bytes, bytes, bytes], bool] = {}


def verify(key: bytes, payload: bytes, signature: bytes) -> bool:
    """Verify a signature once for all worlds of all tests."""
    name = (key, payload, signature)
    if name not in _VERIFIED:
        _VERIFIED[name] = is_signed_by(key, payload, signature)
    return _VERIFIED[name]


def founding(
    instances: int,
    agents: int,
    *,
    operators: int | None = None,
    seed: str = "town",
    timing: Timing | None = None,
    review: Review | None = None,
    trust: Trust | None = None,
    admission: Admission | None = None,
    quotas: Quotas | None = None,
    disputes: Disputes | None = None,
    sanctions: Sanctions | None = None,
    badges: Mapping[int, tuple[Badge, ...]] | None = None,
    tiers: Mapping[int, int] | None = None,
    custody_: Custody = Custody.NODE,
) -> Founding:
    """Found a realm: agent i lives on instance i mod n; its operator is i mod `operators`."""
    count = instances if operators is None else operators
    return found(
        FoundingSpec(
            name=seed,
            salt=plain_hash(seed.encode()),
            preset="test",
            operators=[
                (f"operator {i}", keys(seed, "operator", i)) for i in range(max(count, instances))
            ],
            instances=[(f"instance {i}", keys(seed, "instance", i), i) for i in range(instances)],
            founders=[
                FounderSpec(
                    name=f"agent {i}",
                    keys=keys(seed, "agent", i),
                    operator=i % count,
                    instance=i % instances,
                    custody=custody_,
                    badges=(badges or {}).get(i, ()),
                    tier=(tiers or {}).get(i, 2),
                )
                for i in range(agents)
            ],
            timing=timing,
            review=review,
            trust=trust,
            admission=admission,
            quotas=quotas,
            disputes=disputes,
            sanctions=sanctions,
        )
    )


def keys(seed: str, role: str, index: int) -> Keys:
    """Derive the keys of a test identity."""
    return Keys.derived(f"{seed}/{role}/{index}".encode())


def rules(**fields: object) -> Review:
    """Give the test preset's rules of review with some fields changed."""
    return replace(preset("test").review, **fields)


@dataclass(slots=True)
class Town:
    """Worlds of all instances of a founding, and what happens between them."""

    founding: Founding
    seed: str = "town"
    now: Millis = 0
    worlds: dict[InstanceId, World] = field(default_factory=dict)
    told: list[tuple[Millis, InstanceId, str, bytes]] = field(default_factory=list)
    refused: list[tuple[InstanceId, str]] = field(default_factory=list)
    down: set[InstanceId] = field(default_factory=set)
    ahead: dict[InstanceId, Millis] = field(default_factory=dict)
    """How far the clock of an instance is ahead of the town's."""
    stored: dict[InstanceId, list[fx.Effect]] = field(default_factory=dict)
    _queue: list[tuple[Millis, int, Callable[[], None]]] = field(default_factory=list)
    _count: int = 0

    @classmethod
    def of(cls, instances: int, agents: int, *, seed: str = "town", **rest: object) -> "Town":
        """Found a realm and start all its instances at time 0."""
        town = cls(founding(instances, agents, seed=seed, **rest), seed)  # type: ignore[arg-type]
        for index, name in enumerate(town.founding.instances):
            town.worlds[name] = begin(
                town.founding.charter,
                town.founding.records,
                instance=name,
                signer=KeySigner(keys(seed, "instance", index).current),
                verify=verify,
            )
        for name, world in town.worlds.items():
            town._perform(name, start(world, 0))
        return town

    # People ---------------------------------------------------------------------------------

    def agent(self, index: int) -> AgentId:
        """Give the id of founder `index`."""
        return self.founding.agents[index]

    def home(self, index: int) -> World:
        """Give the world of the instance where founder `index` lives."""
        count = len(self.founding.instances)
        return self.worlds[self.founding.instances[index % count]]

    def world(self, index: int = 0) -> World:
        """Give the world of instance `index`."""
        return self.worlds[self.founding.instances[index]]

    def keyring(self, index: int) -> Keyring:
        """Give the keys of founder `index`."""
        signer = KeySigner(keys(self.seed, "agent", index).current)
        return Keyring(agent=self.agent(index), keys=(signer,))

    # Acts -----------------------------------------------------------------------------------

    def arrive(self, world: World, *records: Record, peer: InstanceId | None = None) -> None:
        """Let records arrive at one instance now."""
        self._run(world, inputs.Arrived(records=records, peer=peer))

    def propose(self, index: int, title: str = "A claim", **rest: object) -> Record:
        """Let founder `index` propose an artifact at its home."""
        content = ArtifactText(
            title=title, prose="", claims=("It holds.",), falsification=("It fails.",), sources=()
        )
        topics = rest.pop("topics", ("code",))
        record = custody.propose(
            self.home(index),
            self.keyring(index),
            content,
            topics=topics,  # type: ignore[arg-type]
            salt=plain_hash(title.encode())[:16],
            now=self.now,
            **rest,  # type: ignore[arg-type]
        )
        self.arrive(self.home(index), record)
        return record

    def ballot(self, choice: int) -> Ballot:
        """Make a ballot."""
        return Ballot(Choice(choice), Reason.ACCURATE, Basis.TOOL)

    def cast(self, index: int, round_id: RoundId, choice: int) -> Record:
        """Let founder `index` commit to a vote at its home."""
        nonce = plain_hash(b"nonce" + self.agent(index) + round_id)
        record = custody.cast(
            self.home(index),
            self.keyring(index),
            round_id,
            self.ballot(choice),
            nonce=nonce,
            salt=nonce[:24],
            now=self.now,
        )
        self.arrive(self.home(index), record)
        return record

    def reveal(self, index: int, round_id: RoundId) -> Record:
        """Let founder `index` open its vote at its home."""
        record = custody.reveal(self.home(index), self.keyring(index), round_id, now=self.now)
        self.arrive(self.home(index), record)
        return record

    def sign(self, index: int, body: Body, text: bytes | None = None) -> Record:
        """Sign the next record of founder `index` past the door, as a hostile agent would."""
        world = self.home(index)
        ((seq, head),) = world.log.heads_of(self.agent(index))
        return sign_record(
            body,
            realm=world.realm,
            signer=self.keyring(index).current,
            author=self.agent(index),
            key_index=0,
            seq=seq + 1,
            prev=head,
            at=self.now,
            text=text,
        )

    def pen(self, role: Role, index: int) -> Chain:
        """Give a second pen for a founding identity: its keys, at the head of its chain.

        What it writes is nobody's record before it `arrive`s somewhere. Not for instances, which
        write their own chains (`say`).
        """
        names = {Role.AGENT: self.founding.agents, Role.OPERATOR: self.founding.operators}[role]
        log = self.home(index).log if role is Role.AGENT else self.world().log
        ((_, head),) = log.heads_of(names[index])
        records = log.path(head, -1)
        owner = Identity(
            role=role, number=1_000 + index, inception=records[0], realm=self.founding.realm
        )
        three = keys(self.seed, role.value, index)
        return Chain(owner, records, 0, three.current, three.next, three.recovery)

    def stranger(self, role: Role, number: int = 1) -> Chain:
        """Give the chain of an identity of this realm that nobody has admitted."""
        return Chain(person(role, number, realm=self.founding.realm))

    def say(self, index: int, body: Body) -> Record:
        """Let instance `index` append a record to its own chain."""
        world = self.world(index)
        turn = Turn(world=world, now=self.now)
        record = turn.say(body)
        assert record is not None, "the instance may not sign"
        self._perform(self.founding.instances[index], turn.effects)
        return record

    def admit(
        self,
        agent: Chain,
        *,
        operator: int = 0,
        instance: int = 0,
        scope: tuple[str, ...] = (),
        proof: bytes | None = None,
    ) -> Record:
        """Let a founding operator answer for a newcomer and an instance admit it, past the door."""
        world = self.world(instance)
        self.arrive(world, *agent.records)
        grant = self.pen(Role.OPERATOR, operator).say(Delegate(agent=agent.id, scope=scope))
        self.arrive(world, grant)
        return self.say(
            instance,
            AgentAdmit(
                agent=agent.id,
                operator=self.founding.operators[operator],
                delegate=grant.id,
                custody=Custody.SELF,
                proof=proof,
            ),
        )

    def take_down(self, index: int) -> None:
        """Cut instance `index` off: it hears nothing and its clock does not call it."""
        self.down.add(self.founding.instances[index])

    def bring_up(self, index: int) -> None:
        """Connect instance `index` again: it wakes, and reconciles with everybody who is up."""
        name = self.founding.instances[index]
        self.down.discard(name)
        self._run(self.worlds[name], inputs.Wake())
        for peer in self.worlds:
            if peer != name:
                self._fetch(name, peer)
                if peer not in self.down:
                    self._fetch(peer, name)

    # Time -----------------------------------------------------------------------------------

    def until(self, done: Callable[["Town"], bool], *, most: Millis = 60_000) -> "Town":
        """Let time pass until `done`; fails the test after `most` ms of virtual time."""
        end = self.now + most
        while not done(self):
            arrived = bool(self._queue) and self._queue[0][0] <= end
            assert arrived, "the town never got there"
            self.now, _, act = heapq.heappop(self._queue)
            act()
        return self

    def rest(self, span: Millis) -> "Town":
        """Let a span of time pass."""
        end = self.now + span
        while self._queue and self._queue[0][0] <= end:
            self.now, _, act = heapq.heappop(self._queue)
            act()
        self.now = end
        return self

    def open_round(self, record: Record) -> RoundId:
        """Let time pass until every running instance has opened the round of a proposal."""
        self.until(lambda town: all(town._round(world, record) for world in town.live()))
        found = self._round(self.live()[0], record)
        assert found is not None
        return found

    def in_phase(self, round_id: RoundId, phase: Phase | None) -> "Town":
        """Let time pass until every running instance has the round in a phase (None: ended)."""
        return self.until(
            lambda town: all(world.rounds[round_id].phase is phase for world in town.live())
        )

    def in_cut(self, number: int) -> "Town":
        """Let time pass until every running instance has reached a cut."""
        return self.until(lambda town: all(one.state.cut >= number for one in town.live()))

    def vote(self, record: Record, votes: dict[int, int]) -> RoundId:
        """Hold a whole round: founders vote as told and reveal; until every instance ended it."""
        round_id = self.open_round(record)
        self.in_phase(round_id, Phase.COMMIT)
        for index, choice in votes.items():
            self.cast(index, round_id, choice)
        self.in_phase(round_id, Phase.DECIDE)
        for index in votes:
            self.reveal(index, round_id)
        self.in_phase(round_id, None)
        return round_id

    def settled(self) -> "Town":
        """Let time pass until a cut contains everything and all instances agree on its world."""
        number = max(world.state.cut for world in self.live()) + 2
        return self.in_cut(number)

    def live(self) -> list[World]:
        """List the worlds of the instances that are up."""
        return [world for name, world in self.worlds.items() if name not in self.down]

    # Between instances ------------------------------------------------------------------------

    def _round(self, world: World, record: Record) -> RoundId | None:
        artifact = world.state.artifacts.get(record.id)
        return artifact.round if artifact else None

    def _later(self, span: Millis, act: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._queue, (self.now + span, self._count, act))

    def _run(self, world: World, event: inputs.Input) -> None:
        assert world.me is not None
        if world.me.instance not in self.down:
            now = self.now + self.ahead.get(world.me.instance, 0)
            self._perform(world.me.instance, step(world, event, now))

    def _send(self, to: InstanceId, event: inputs.Input) -> None:
        self._later(LATENCY, lambda: self._run(self.worlds[to], event))

    def _perform(self, me: InstanceId, effects: Iterable[fx.Effect]) -> None:
        peers = [name for name in self.worlds if name != me]
        for effect in effects:
            match effect:
                case fx.WakeAt():
                    span = max(effect.at - self.now - self.ahead.get(me, 0), 1)
                    self._later(span, lambda: self._run(self.worlds[me], inputs.Wake()))
                case fx.Relay():
                    for peer in peers:
                        self._send(peer, inputs.Arrived(records=effect.records, peer=me))
                case fx.SendPacket():
                    for peer in peers if effect.to is None else [effect.to]:
                        self._send(peer, inputs.Packet(packet=effect.packet, peer=me))
                case fx.Reconcile():
                    for voice in effect.voices:
                        self._reconcile(me, voice, effect.slot)
                case fx.FetchRecords():
                    for voice in effect.voices:
                        self._fetch(me, voice)
                case fx.FetchBlob():
                    for voice in effect.voices:
                        blob = self.worlds[voice].blobs.get(effect.blob)
                        if blob is not None:
                            self._send(me, inputs.BlobArrived(content=blob, peer=voice))
                case fx.Refused():
                    self.refused.append((me, effect.code))
                case fx.Reckon() | fx.Prove():
                    # Whoever lets a town reckon or prove outside answers it too.
                    pass
                case fx.Tell():
                    name = (
                        effect.event if effect.phase is None else f"{effect.event}.{effect.phase}"
                    )
                    self.told.append((self.now, me, name, effect.subject))
                case _:
                    self.stored.setdefault(me, []).append(effect)

    def _reconcile(self, me: InstanceId, voice: InstanceId, slot: bytes) -> None:
        if voice in self.down or me in self.down or voice == me:
            return
        began = self.now + self.ahead.get(me, 0)
        self._fetch(me, voice)
        self._fetch(voice, me)
        self._send(me, inputs.Reconciled(slot=slot, voice=voice, began=began))

    def _fetch(self, me: InstanceId, voice: InstanceId) -> None:
        if voice in self.down or voice == me:
            return
        missing = self.worlds[voice].log.missing_from(self.worlds[me].log.author_heads())
        if missing:
            self._send(me, inputs.Arrived(records=tuple(missing), peer=voice))
