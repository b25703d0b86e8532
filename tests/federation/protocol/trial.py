"""A town under observation: what went over the wire is kept, and an instance can stop anywhere.

`fragile` counts the effects that an instance still carries out before the power fails; `revive`
brings it back from what its store effects had written by then, the way a node does: restore,
reconcile, meet the others.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from federation.artifacts import State, Verdict
from federation.certificates import CertificatePacket, packet_from_bytes, slot_key
from federation.core import InstanceId, RoundId
from federation.crypto import KeySigner
from federation.protocol import Durable, Founding, World, begin, inputs, restore, start, step
from federation.protocol import effects as fx
from federation.protocol.invariants import broken, disagreements
from federation.records import Record
from tests.federation.protocol.town import Town, keys, verify

OBSERVER = b"observer".ljust(32, b".")


@dataclass
class Trial(Town):
    """A town whose wires are tapped and whose instances can lose power."""

    packets: list[tuple[InstanceId, bytes]] = field(default_factory=list)
    """Every packet that an instance sent, with its sender."""
    fragile: dict[InstanceId, int] = field(default_factory=dict)
    """Effects that an instance still carries out before it stops."""

    def _perform(self, me: InstanceId, effects: Iterable[fx.Effect]) -> None:
        done = list(effects)
        if me in self.fragile:
            left = self.fragile[me]
            self.fragile[me] = left - len(done)
            if left < len(done):
                done = done[: max(left, 0)]
                self.down.add(me)
        for effect in done:
            if isinstance(effect, fx.SendPacket):
                self.packets.append((me, effect.packet))
        Town._perform(self, me, done)

    def durable(self, index: int, *, drop: int = 0) -> Durable:
        """Give what an instance's store effects wrote, without the last `drop` of them."""
        stored = self.stored.get(self.founding.instances[index], [])
        return durable_of(stored[: len(stored) - drop])

    def revive(self, index: int, *, drop: int = 0) -> World:
        """Bring an instance back after it stopped: restored, reconciled, and met by the others."""
        name = self.founding.instances[index]
        durable = self.durable(index, drop=drop)
        self.stored[name] = self.stored.get(name, [])[: len(self.stored.get(name, [])) - drop]
        self.fragile.pop(name, None)
        world, effects = restore(
            self.founding.charter,
            self.founding.records,
            durable,
            instance=name,
            signer=KeySigner(keys(self.seed, "instance", index).current),
            now=self.now,
            verify=verify,
        )
        self.worlds[name] = world
        self.down.discard(name)
        self._perform(name, effects)
        for peer in self.worlds:
            if peer != name and peer not in self.down:
                # A node catches up before it says hello; hello carries what a peer saw of us.
                self._fetch(name, peer)
                self._fetch(peer, name)
                heard = self.worlds[peer].heard.get(name)
                seen = (heard.raw, heard.signature) if heard else None
                cut = self.worlds[peer].state.cut
                self._send(name, inputs.Met(voice=peer, cut=cut, seen=seen))
        return world


def durable_of(stored: Iterable[fx.Effect]) -> Durable:
    """Collect store effects into what a node finds again."""
    durable = Durable()
    for effect in stored:
        match effect:
            case fx.StoreRecord():
                durable.records.append(effect.record)
            case fx.StoreBlob():
                durable.blobs.append(effect.content)
            case fx.StoreJournal():
                durable.journal.append(effect.entry)
            case fx.StoreStart():
                durable.starts[effect.slot] = effect.at
            case fx.StoreSilence():
                durable.silent_until = effect.until
            case _:
                raise AssertionError(effect)
    return durable


def records_of(world: World) -> list[Record]:
    """List everything that a world's log holds, authors by id, each in its chain's order."""
    return [record for one in world.log.missing_from({}, most=100_000) for record in [one]]


def certificates_of(town: Trial) -> list[bytes]:
    """List the certificates that went over the wire, one packet for each slot."""
    found: dict[bytes, bytes] = {}
    for _, raw in town.packets:
        routed = packet_from_bytes(raw)
        if isinstance(routed.packet, CertificatePacket):
            found.setdefault(slot_key(routed.slot), raw)
    return list(found.values())


def observed(
    founding: Founding,
    items: Iterable[Record | bytes],
    library: World,
    *,
    seed: int,
    most: int = 12,
) -> World:
    """Let an observer hear records and packets in an order, in batches of up to `most` records.

    What it asks for by packet `library` answers, some steps later; `seed` draws the batches, the
    delays and which records come twice.
    """
    draw = random.Random(seed)
    world = begin(founding.charter, founding.records, verify=verify)
    peer = founding.instances[0]
    answers: list[inputs.Input] = []
    now = 0

    def hear(effects: list[fx.Effect]) -> None:
        for effect in effects:
            if isinstance(effect, fx.SendPacket):
                asked = step(library, inputs.Packet(packet=effect.packet, peer=OBSERVER), 0)
                answers.extend(
                    inputs.Packet(packet=one.packet, peer=peer)
                    for one in asked
                    if isinstance(one, fx.SendPacket)
                )
            elif isinstance(effect, fx.FetchBlob):
                blob = library.blobs.get(effect.blob)
                if blob is not None:
                    answers.append(inputs.BlobArrived(content=blob, peer=peer))

    def tell(event: inputs.Input) -> None:
        nonlocal now
        now += draw.randrange(3)
        hear(step(world, event, now))
        while answers and draw.random() < 0.5:
            hear(step(world, answers.pop(draw.randrange(len(answers))), now))

    hear(start(world, 0))
    batch: list[Record] = []
    size = draw.randint(1, most)
    for item in items:
        if isinstance(item, bytes):
            tell(inputs.Packet(packet=item, peer=peer))
            continue
        batch += [item] * draw.choice([1, 1, 1, 2])
        if len(batch) >= size:
            tell(inputs.Arrived(records=tuple(batch), peer=peer))
            batch, size = [], draw.randint(1, most)
    tell(inputs.Arrived(records=tuple(batch), peer=peer))
    for _ in range(30):
        now += 1_000
        tell(inputs.Wake())
        while answers:
            hear(step(world, answers.pop(), now))
    return world


def verdict_of(town: Trial, round_id: RoundId) -> Verdict:
    """Give the verdict, the same on every instance that is up."""
    verdicts = [world.rounds[round_id].verdict for world in town.live()]
    assert verdicts[0] is not None
    assert all(one == verdicts[0] for one in verdicts)
    return verdicts[0]


def ended(town: Trial, record: Record, votes: Mapping[int, int]) -> Verdict:
    """Hold a whole round, let a cut contain it, and check that the worlds are sound and equal."""
    round_id = town.vote(record, dict(votes))
    return checked(town, round_id)


def checked(town: Trial, round_id: RoundId) -> Verdict:
    town.settled()
    assert len({world.digest for world in town.live()}) == 1
    assert [broken(world) for world in town.live()] == [[] for _ in town.live()]
    assert disagreements(town.worlds.values()) == []
    return verdict_of(town, round_id)


def state_of(town: Trial, record: Record) -> State:
    states = {world.state.artifacts[record.id].state for world in town.live()}
    assert len(states) == 1
    return states.pop()
