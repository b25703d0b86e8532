"""One simulated instance: a real world, a store that survives crashes, and a shell around both.

The shell does what a real one must: it carries out effects strictly in order, and what follows a
store effect happens only once that is durable. It can die between any two effects, as kill -9
does: then everything but the store is gone (design: a member stores durably).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, assert_never

from federation.admission import prove
from federation.core import InstanceId, Lots, Millis
from federation.crypto import KeySigner, Verify
from federation.protocol import Founding, World, begin, snapshot, start, step
from federation.protocol import effects as fx
from federation.protocol import inputs as ins
from federation.protocol.rebuild import restore
from federation.simulation.network import sync
from federation.simulation.network.clock import LocalClock
from federation.simulation.network.disk import Disk, Recall
from federation.simulation.network.letters import (
    AskBlob,
    AskHello,
    AskMissing,
    AskRecords,
    GiveBlob,
    GiveMissing,
    Gossip,
    Hello,
    Letter,
    Packet,
)
from federation.simulation.network.timeline import Timeline
from federation.trust import Problem, reckon

_RECKONING: Final[Millis] = 300
"""How long it takes at most to reckon trust."""
_PROVING: Final[Millis] = 100
"""How long it takes at most to verify some proofs."""


def beside_the_core(asked: Problem | bytes) -> None:
    """Reckon and prove nothing at once: the answer comes as an input, as it does in a node."""
    del asked


class Host(Protocol):
    """What an instance needs from the network around it."""

    timeline: Timeline

    def post(self, sender: "SimNode", receiver: InstanceId, letter: Letter) -> None:
        """Put a letter on its link."""
        ...

    def stored(self, node: "SimNode", effect: fx.Effect) -> None:
        """Take note that an effect was made durable."""
        ...

    def told(self, node: "SimNode", tell: fx.Tell) -> None:
        """Take note of news."""
        ...

    def pulsed(self, node: "SimNode") -> None:
        """Take note that the instance has just done what it does every now and then."""
        ...

    def refused(self, node: "SimNode", refusal: fx.Refused) -> None:
        """Take note that the protocol refused something."""
        ...

    def stepped(self, node: "SimNode") -> None:
        """Take note that a step and all its effects are done."""
        ...

    def crashed(self, node: "SimNode", down_for: Millis) -> None:
        """Bring the instance back in `down_for` ms."""
        ...


class Behaviour(Protocol):
    """What stands between a core and the network; `conduct` has the honest one, liars their own."""

    is_honest: bool

    def begin(self, node: "SimNode") -> None:
        """Look around once, when the instance starts for the first time."""
        ...

    def outgoing(self, node: "SimNode", to: InstanceId, letter: Letter) -> Letter | None:
        """Give what really goes to one receiver, or None to hold it back."""
        ...

    def incoming(self, node: "SimNode", sender: InstanceId, letter: Letter) -> Letter | None:
        """Give what the core gets to hear of a letter, or None to keep it from it."""
        ...

    def pulse(self, node: "SimNode") -> None:
        """Act by itself, every now and then."""
        ...


BEFORE_HELLO: Final = b"before hello"
"""Stands in a request for records in place of a slot, when it opens a hello."""


_CUT: Final = fx.Happening.CUT


@dataclass(frozen=True, slots=True, kw_only=True)
class Trap:
    """Kill the instance right after the first effect that matches."""

    after: Callable[[fx.Effect], bool]
    down_for: Millis = 300


class SimNode:
    """One instance in virtual time."""

    def __init__(
        self,
        *,
        name: str,
        founding: Founding,
        instance: InstanceId,
        signer: KeySigner,
        host: Host,
        verify: Verify,
        lots: Lots,
        conduct: Behaviour,
        clock: LocalClock | None = None,
        sync_every: Millis = 1_000,
    ) -> None:
        """Make an instance of a founding; `start` brings it to life."""
        self.name = name
        self.founding = founding
        self.instance = instance
        self.signer = signer
        self.host = host
        self.verify = verify
        self.lots = lots
        self.conduct = conduct
        self.clock = clock or LocalClock()
        self.sync_every = sync_every
        self.disk = Disk()
        self.recall: Recall | None = None
        """Which snapshot it starts from after a crash; None: it takes none and folds its log."""
        self.world: World | None = None
        """None while it is down."""
        self.trap: Trap | None = None
        self.life = 0
        """Counts starts: what was planned in an earlier life does not happen."""
        self._wakes: set[Millis] = set()

    @property
    def peers(self) -> tuple[InstanceId, ...]:
        """All other instances."""
        return tuple(one for one in self.founding.instances if one != self.instance)

    def local(self) -> Millis:
        """Give the time on this instance's own clock."""
        return self.clock.read(self.host.timeline.now)

    # Life and death -----------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to live at genesis."""
        self._live(
            begin(
                self.founding.charter,
                self.founding.records,
                instance=self.instance,
                signer=self.signer,
                verify=self.verify,
            )
        )
        self.conduct.begin(self)
        assert self.world is not None, "it was just begun"  # noqa: S101 # our own invariant
        self._perform(start(self.world, self.local()))

    def crash(self, *, down_for: Millis) -> None:
        """Lose everything but the store, and come back in `down_for` ms."""
        if self.world is not None:
            self.world = None
            self.host.crashed(self, down_for)

    def restart(self, disk: Disk | None = None) -> None:
        """Come back from the store, or from an older copy of it."""
        if disk is not None:
            self.disk = disk
        world, effects = restore(
            self.founding.charter,
            self.founding.records,
            self.disk,
            instance=self.instance,
            signer=self.signer,
            now=self.local(),
            verify=self.verify,
            snapshot=None if self.recall is None else self.recall(self.disk.snapshots),
            trusted=self.recall is not None,
        )
        self._live(world)
        self._perform(effects)
        self._ask_around()

    def _live(self, world: World) -> None:
        self.world = world
        # What it was restored from is folded; from here on the shell reckons, as in a node.
        world.solve = world.prove = beside_the_core
        self.life += 1
        self._wakes.clear()
        self._plan_pulse(self.lots.between(0, self.sync_every))

    def _plan_pulse(self, delay: Millis) -> None:
        life = self.life
        self.host.timeline.after(delay, lambda: self._pulse(life))

    def _pulse(self, life: int) -> None:
        """Reconcile with somebody in the background, as every node does all the time."""
        if self.world is None or life != self.life:
            return
        if self.peers:
            peer = self.lots.pick(self.peers)
            self.post(peer, sync.ask_missing(self.world, None, self.local()))
        self._ask_around()
        self.conduct.pulse(self)
        self.host.pulsed(self)
        self._plan_pulse(self.lots.between(self.sync_every // 2, 3 * self.sync_every // 2))

    def _ask_around(self) -> None:
        """After a restart get everybody's records, then ask what they have seen of this instance.

        In this order: an instance that settles before it holds the end of its chain would fork it.
        """
        if self.world is not None and self.world.me is not None and not self.world.me.settled:
            for peer in self.peers:
                self.post(peer, sync.ask_missing(self.world, BEFORE_HELLO, self.local()))

    def jump_clock(self, by: Millis) -> None:
        """Let the own clock jump; what is due by it happens now."""
        self.clock.jump(by)
        for at in sorted(self._wakes):
            self._wake_later(at)

    # Hearing ------------------------------------------------------------------------------------

    def take(self, event: ins.Input) -> None:
        """Give the core an input, and carry out what it asks for."""
        if self.world is not None:
            self._perform(step(self.world, event, self.local()))

    def hear(self, sender: InstanceId, letter: Letter) -> None:
        """Take a letter from the network."""
        heard = self.conduct.incoming(self, sender, letter) if self.world is not None else None
        if heard is not None and self.world is not None:
            self._hear(self.world, sender, heard)

    def _hear(self, world: World, sender: InstanceId, letter: Letter) -> None:
        match letter:
            case Gossip(records=records):
                self.take(ins.Arrived(records=records, peer=sender))
            case Packet(packet=packet):
                self.take(ins.Packet(packet=packet, peer=sender))
            case AskMissing():
                self.post(sender, sync.give_missing(world, letter))
            case GiveMissing():
                self._reconcile(world, sender, letter)
            case AskRecords():
                found = sync.with_ancestors(world, letter)
                if found.records:
                    self.post(sender, found)
            case AskBlob(blob=name):
                content = world.blobs.get(name)
                if content is not None:
                    self.post(sender, GiveBlob(content=content))
            case GiveBlob(content=content):
                self.take(ins.BlobArrived(content=content, peer=sender))
            case AskHello():
                self.post(sender, sync.hello(world, sender))
            case Hello(cut=cut, seen=seen):
                self.take(ins.Met(voice=sender, cut=cut, seen=seen))
            case _:
                assert_never(letter)

    def _reconcile(self, world: World, peer: InstanceId, given: GiveMissing) -> None:
        """Store what a peer sent, give it what it lacks, ask on or report that it is done."""
        asked, known = given.asked, len(world.log)
        if given.records:
            self.take(ins.Arrived(records=given.records, peer=peer))
        if self.world is not world:
            # Storing has ended in a crash.
            return
        lacking = sync.lacking(world, given.pages)
        if lacking:
            self.post(peer, Gossip(records=lacking))
        if given.more and len(world.log) > known:
            self.post(peer, sync.ask_missing(world, asked.slot, asked.began, asked.batch + 1))
        elif asked.slot == BEFORE_HELLO:
            self.post(peer, AskHello())
        elif asked.slot is not None:
            self.take(ins.Reconciled(slot=asked.slot, voice=peer, began=asked.began))

    # Carrying out -------------------------------------------------------------------------------

    def post(self, to: InstanceId, letter: Letter) -> None:
        """Send a letter, unless this instance's conduct changes it or holds it back."""
        sent = self.conduct.outgoing(self, to, letter)
        if sent is not None:
            self.host.post(self, to, sent)

    def _perform(self, effects: list[fx.Effect]) -> None:
        for effect in effects:
            self._carry_out(effect)
            if self.trap is not None and self.trap.after(effect):
                down_for, self.trap = self.trap.down_for, None
                self.crash(down_for=down_for)
                return
        folded = any(isinstance(one, fx.Tell) and one.event is _CUT for one in effects)
        if folded and self.recall is not None and self.world is not None:
            self.disk.snapshots.append(snapshot.take(self.world))
        self.host.stepped(self)

    def _carry_out(self, effect: fx.Effect) -> None:
        match effect:
            case fx.StoreRecord(record=record):
                self.disk.records.append(record)
                self.host.stored(self, effect)
            case fx.StoreBlob(content=content):
                self.disk.blobs.append(content)
            case fx.StoreJournal(entry=entry):
                self.disk.journal.append(entry)
                self.host.stored(self, effect)
            case fx.StoreStart(slot=slot, at=at):
                self.disk.starts[slot] = at
            case fx.StoreSilence(until=until):
                self.disk.silent_until = until
            case fx.Relay(records=records):
                self._post_all(Gossip(records=records))
            case fx.SendPacket(to=to, packet=packet):
                if to is None:
                    self._post_all(Packet(packet=packet))
                elif to != self.instance:
                    self.post(to, Packet(packet=packet))
            case fx.Reconcile(slot=slot, voices=voices):
                assert self.world is not None, "effects come from a world"  # noqa: S101 # ours
                for voice in voices:
                    self.post(voice, sync.ask_missing(self.world, slot, self.local()))
            case fx.FetchRecords(records=records, voices=voices):
                for voice in voices:
                    if voice != self.instance:
                        self.post(voice, AskRecords(records=records))
            case fx.FetchBlob(blob=name, voices=voices):
                for voice in voices:
                    if voice != self.instance:
                        self.post(voice, AskBlob(blob=name))
            case fx.WakeAt(at=at):
                self._plan_wake(at)
            case fx.Reckon():
                self._reckon(effect)
            case fx.Prove():
                self._prove(effect)
            case fx.Refused():
                self.host.refused(self, effect)
            case fx.Tell():
                self.host.told(self, effect)
            case _:
                assert_never(effect)

    def _post_all(self, letter: Letter) -> None:
        for peer in self.peers:
            self.post(peer, letter)

    def _reckon(self, asked: fx.Reckon) -> None:
        life = self.life

        def answer() -> None:
            if life == self.life:
                self.take(ins.Reckoned(cut=asked.cut, trust=reckon(asked.problem)))

        self.host.timeline.after(self.lots.between(1, _RECKONING), answer)

    def _prove(self, asked: fx.Prove) -> None:
        life = self.life

        def answer() -> None:
            if life == self.life:
                verdicts = tuple(map(prove, asked.proofs))
                self.take(ins.Proven(cut=asked.cut, verdicts=verdicts))

        self.host.timeline.after(self.lots.between(1, _PROVING), answer)

    def _plan_wake(self, at: Millis) -> None:
        if at not in self._wakes:
            self._wakes.add(at)
            self._wake_later(at)

    def _wake_later(self, at: Millis) -> None:
        life, timeline = self.life, self.host.timeline
        # At least one instant later: what is due already must not hold up the time.
        when = max(self.clock.when(at), timeline.now + 1)
        timeline.at(when, lambda: self._wake(life, at))

    def _wake(self, life: int, at: Millis) -> None:
        if life != self.life or at not in self._wakes:
            return
        self._wakes.discard(at)
        if self.local() < at:
            # The clock stood still meanwhile.
            self._plan_wake(at)
        else:
            self.take(ins.Wake())
