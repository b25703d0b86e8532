"""Live slots: when a node signs, in which order, and what it does with the packets of others."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import msgspec
import pytest

from federation.certificates import (
    MOST_LISTED,
    CertificatePacket,
    CutSlot,
    ListWitness,
    MessagePacket,
    Phase,
    Pinned,
    RoundSlot,
    SignedEntry,
    Slot,
    WantPacket,
    message_for,
    packet_bytes,
    packet_from_bytes,
    peek_slot,
    signing_payload,
    slot_key,
)
from federation.certificates.messages import Step, _parsed
from federation.charter import preset
from federation.core import InstanceId, Millis
from federation.crypto import KeySigner
from federation.protocol import World, begin, inputs, start, step
from federation.protocol import effects as fx
from federation.protocol.agreement import windows
from federation.protocol.world import LiveSlot
from federation.records import Kind, LogFault
from federation.review import length
from tests.builders import named
from tests.federation.protocol.acts import EPOCH, next_cut, next_tick
from tests.federation.protocol.town import Town, keys, rules, verify

TIMING = preset("test").timing


@dataclass(slots=True)
class Watched(Town):
    """A town that notes every effect, with the local time at which it was asked for."""

    seen: list[tuple[Millis, InstanceId, fx.Effect]] = field(default_factory=list)

    def _perform(self, me: InstanceId, effects: Iterable[fx.Effect]) -> None:
        batch = list(effects)
        now = self.now + self.ahead.get(me, 0)
        self.seen += [(now, me, effect) for effect in batch]
        Town._perform(self, me, batch)

    def signed(self) -> Iterator[tuple[Millis, InstanceId, Step, SignedEntry]]:
        """Go through everything that was signed."""
        for now, me, effect in self.seen:
            if isinstance(effect, fx.StoreJournal) and isinstance(effect.entry, SignedEntry):
                header, _ = _parsed(effect.entry.raw)
                yield now, me, header.step, effect.entry

    def witnessed(self, phase: Phase) -> dict[InstanceId, Millis]:
        """Give when each instance witnessed a phase, on its own clock."""
        return {
            me: now
            for now, me, said, entry in self.signed()
            if said is Step.WITNESS
            and isinstance(entry.slot, RoundSlot)
            and entry.slot.phase is phase
        }


def live(world: World, slot: Slot) -> LiveSlot:
    return world.slots[slot_key(slot)]


def in_phase(town: Town, phase: Phase) -> bytes:
    opened = town.open_round(town.propose(0))
    town.in_phase(opened, phase)
    return opened


def said_by(town: Town, index: int, pinned: Pinned, body: object, counter: int = 90) -> bytes:
    """Let an instance sign anything, as a liar would; give the packet."""
    voice = town.founding.instances[index]
    raw = message_for(pinned, voice, counter, body)  # type: ignore[arg-type]
    signer = KeySigner(keys("town", "instance", index).current)
    packet = MessagePacket(raw=raw, signature=signer.sign(signing_payload(raw)))
    return packet_bytes(pinned, packet)


def hear(town: Town, packet: bytes, *, index: int = 0, peer: int = 1) -> list[fx.Effect]:
    sender = town.founding.instances[peer]
    return step(town.world(index), inputs.Packet(packet=packet, peer=sender), town.now)


# What a node signs ----------------------------------------------------------------------------------


def test_counters_of_an_instance_rise_over_all_its_slots() -> None:
    town = Watched.of(4, 8)
    town.vote(town.propose(0), {1: 1, 2: 1, 3: -1, 5: 1})
    next_tick(town)
    counters: dict[InstanceId, list[int]] = {}
    for _, me, _, entry in town.signed():
        counters.setdefault(me, []).append(peek_slot(entry.raw)[4])

    assert len(counters) == 4
    for counts in counters.values():
        assert counts == list(range(len(counts)))
        assert len(counts) > 10


def test_an_instance_says_each_thing_once_a_fence() -> None:
    town = Watched.of(4, 8)
    town.vote(town.propose(0), {1: 1, 2: 1, 3: -1, 5: 1})
    said = [(me, kind, slot_key(entry.slot)) for _, me, kind, entry in town.signed()]

    # Nothing went wrong, so everything happened at fence 0.
    assert len(said) == len(set(said))


def test_a_silent_instance_signs_nothing_and_follows() -> None:
    town = Watched.of(4, 8)
    silent = town.founding.instances[3]
    me = town.world(3).me
    assert me is not None
    me.silent_until = 10**6
    opened = town.vote(town.propose(0), {1: 1, 2: 1, 3: -1, 5: 1})
    next_cut(town)

    assert silent not in {signer for _, signer, _, _ in town.signed()}
    assert town.world(3).rounds[opened].verdict == town.world().rounds[opened].verdict
    assert town.world(3).digest == town.world().digest


def test_nobody_witnesses_before_its_own_window_has_ended() -> None:
    town = Watched.of(4, 8)
    town.vote(town.propose(0), {1: 1, 2: 1, 3: -1, 5: 1})
    next_tick(town)
    checked = 0
    for now, me, said, entry in town.signed():
        world, slot = town.worlds[me], entry.slot
        if said is not Step.WITNESS:
            continue
        started = world.starts[slot_key(slot)]
        match slot:
            case CutSlot():
                shortest = TIMING.cut_min
            case RoundSlot(phase=Phase.DELIBERATE):
                shortest = world.charter.review.deliberate
            case RoundSlot(phase=Phase.COMMIT):
                shortest = world.charter.review.commit_min
            case _:
                shortest = 0
        assert now - started >= shortest
        checked += 1
    assert checked >= 4 * 5


def test_a_clock_that_jumps_ends_no_window_but_its_own() -> None:
    town = Watched.of(4, 8)
    opened = in_phase(town, Phase.DELIBERATE)
    began = town.now
    liar = town.founding.instances[1]
    town.ahead[liar] = 1_000_000
    town.in_phase(opened, Phase.COMMIT)
    times = town.witnessed(Phase.DELIBERATE)

    # It said so as soon as it was called, but alone; what it said only made the others reconcile.
    assert times[liar] < began + 1_000_000 + 400
    for me, at in times.items():
        if me != liar:
            assert at - town.worlds[me].starts[slot_key(deliberation(opened))] >= 1_000
    assert town.now - began >= 900


def deliberation(opened: bytes) -> RoundSlot:
    return RoundSlot(round_id=opened, phase=Phase.DELIBERATE)


def test_a_witness_of_somebody_else_only_makes_me_reconcile() -> None:
    town = Town.of(3, 6)
    opened = in_phase(town, Phase.DELIBERATE)
    slot = live(town.world(), deliberation(opened))
    effects = hear(town, said_by(town, 1, slot.pinned, ListWitness(ids=(), late=False)))

    assert {type(effect) for effect in effects} <= {fx.Reconcile, fx.WakeAt}
    assert fx.Reconcile(slot=slot_key(slot.slot), voices=(town.founding.instances[1],)) in effects
    assert not slot.ended
    assert not live(town.world(), slot.slot).state.witnessed


def test_a_vote_closes_early_at_the_kth_reviewer_but_not_before_its_least_time() -> None:
    town = Watched.of(1, 6, review=rules(k=3, commit_min=400))
    opened = in_phase(town, Phase.COMMIT)
    began = town.now
    for index in (1, 2, 3):
        town.cast(index, opened, 1)
    town.in_phase(opened, Phase.DECIDE)

    assert town.now == began + 400
    assert len(town.world().rounds[opened].finals[Phase.COMMIT].records) == 3


def test_a_vote_stays_open_while_reviewers_are_missing() -> None:
    town = Town.of(1, 6, review=rules(k=4))
    opened = in_phase(town, Phase.COMMIT)
    for index in (1, 2, 3):
        town.cast(index, opened, 1)
    town.rest(4_900)
    assert town.world().rounds[opened].phase is Phase.COMMIT
    town.rest(200)

    assert town.world().rounds[opened].phase is Phase.DECIDE


def test_a_late_kth_commitment_closes_the_vote_at_once() -> None:
    town = Town.of(1, 6, review=rules(k=3))
    opened = in_phase(town, Phase.COMMIT)
    for index in (1, 2):
        town.cast(index, opened, 1)
    town.rest(2_000)
    town.cast(3, opened, 1)

    assert town.world().rounds[opened].phase is Phase.DECIDE


def test_the_opening_ends_when_all_are_open_and_else_at_its_time() -> None:
    for opening, wait in (((1, 2, 3), 0), ((1, 2), 5_000)):
        town = Town.of(1, 6, review=rules(k=3))
        opened = in_phase(town, Phase.COMMIT)
        for index in (1, 2, 3):
            town.cast(index, opened, 1)
        town.in_phase(opened, Phase.DECIDE)
        began = town.now
        for index in opening:
            town.reveal(index, opened)
        town.in_phase(opened, None)

        assert town.now == began + wait


def test_a_window_has_an_earliest_and_a_latest_end() -> None:
    town = Town.of(1, 5)
    opened = in_phase(town, Phase.COMMIT)
    world = town.world()
    vote = live(world, RoundSlot(round_id=opened, phase=Phase.COMMIT))
    cut = live(world, CutSlot(number=world.state.cut + 1, previous=world.state.digest))
    pin = world.rounds[opened].pin

    assert windows(world, vote) == (
        vote.started + 200,
        vote.started + length(Phase.COMMIT, pin),
    )
    assert windows(world, cut) == (cut.started + TIMING.cut_min, world.ticked_at + EPOCH)


# Packets ------------------------------------------------------------------------------------------


def rewrite(packet: bytes, *, realm: bytes | None = None, charter: bytes | None = None) -> bytes:
    routed = packet_from_bytes(packet)
    pinned = {"realm": realm or routed.realm, "charter_hash": charter or routed.charter_hash}
    shown = _Shown(**pinned, slot=routed.slot)
    return packet_bytes(shown, routed.packet)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    realm: bytes
    charter_hash: bytes
    slot: Slot


def refusal(effects: list[fx.Effect]) -> str:
    (effect,) = effects
    assert isinstance(effect, fx.Refused)
    return effect.code


def test_packets_that_cannot_belong_here_cost_their_sender() -> None:
    town = Town.of(3, 6)
    opened = in_phase(town, Phase.DELIBERATE)
    pinned = live(town.world(), deliberation(opened)).pinned
    body = ListWitness(ids=(), late=False)
    good = said_by(town, 1, pinned, body)
    stranger = replace_voice(pinned, named("stranger"), body)
    forged = packet_bytes(
        pinned,
        MessagePacket(
            raw=message_for(pinned, town.founding.instances[1], 90, body), signature=bytes(64)
        ),
    )

    assert refusal(hear(town, rewrite(good, realm=named("x")))) == "WRONG_REALM"
    assert refusal(hear(town, rewrite(good, charter=named("x")))) == "WRONG_CHARTER"
    assert refusal(hear(town, stranger)) == "NOT_ELIGIBLE"
    assert refusal(hear(town, forged)) == "BAD_SIGNATURE"
    assert refusal(hear(town, good[:-1])) == "NOT_CANONICAL"
    assert refusal(hear(town, b"")) == "NOT_CANONICAL"
    assert refusal(hear(town, bytes(3 * 1024 * 1024))) == "TOO_LARGE"
    assert {type(effect) for effect in hear(town, good)} <= {fx.Reconcile, fx.WakeAt}


def replace_voice(pinned: Pinned, voice: InstanceId, body: ListWitness) -> bytes:
    raw = message_for(pinned, voice, 1, body)
    return packet_bytes(pinned, MessagePacket(raw=raw, signature=bytes(64)))


@pytest.mark.parametrize(
    "slot",
    [
        {1: 2},
        {b"a": 1},
        [1, {2: 3}],
        1.5,
        None,
        "cut",
        [],
        ["cut", 1],
        ["cut", -1, b""],
        [b"", "x"],
    ],
    ids=str,
)
def test_a_slot_that_is_none_costs_its_sender(slot: object) -> None:
    town = Town.of(3, 6)
    world = town.world()
    raw = msgspec.msgpack.encode([world.realm, world.state.charter_hash, slot, ["want", []]])

    assert refusal(hear(town, raw)) == "NOT_CANONICAL"


def test_a_certificate_that_proves_nothing_costs_its_sender() -> None:
    town = Town.of(3, 6)
    opened = in_phase(town, Phase.COMMIT)
    sound = town.world().certificates[slot_key(deliberation(opened))]
    other = RoundSlot(round_id=opened, phase=Phase.COMMIT)
    pinned = live(town.world(), other).pinned
    forged = packet_bytes(
        pinned, CertificatePacket(certificate=replace(sound, slot=other, seals=sound.seals[:1]))
    )

    assert refusal(hear(town, forged)) != ""
    assert town.world().rounds[opened].phase is Phase.COMMIT


def test_whoever_asks_for_a_slot_that_is_long_final_gets_its_certificate() -> None:
    town = Town.of(3, 6)
    first = CutSlot(number=1, previous=town.world().state.digest)
    pinned = live(town.world(), first).pinned
    town.in_cut(4)
    (answer,) = hear(town, packet_bytes(pinned, WantPacket(hashes=())))

    assert isinstance(answer, fx.SendPacket)
    assert answer.to == town.founding.instances[1]
    packet = packet_from_bytes(answer.packet).packet
    assert isinstance(packet, CertificatePacket)
    assert packet.certificate == town.world().certificates[slot_key(first)]
    assert len(packet.parts) == 1
    # A certificate asks for nothing, so two nodes never answer each other for ever.
    assert hear(town, answer.packet) == []


def test_packets_that_come_before_their_slot_opens_are_heard_then() -> None:
    town = Town.of(3, 6)
    world = town.world()
    opened = in_phase(town, Phase.DELIBERATE)
    slot = RoundSlot(round_id=opened, phase=Phase.COMMIT)
    pinned = world.pinned(slot)
    assert pinned is not None
    packet = said_by(town, 1, pinned, ListWitness(ids=(), late=False))
    assert hear(town, packet) == []
    assert len(world.early) == 1
    town.in_phase(opened, Phase.COMMIT)

    assert len(world.early) == 0
    assert (Step.WITNESS, town.founding.instances[1]) in live(world, slot).state.said


def contradict(town: Town, opened: bytes, ids: Iterable[int] = (1,)) -> list[fx.Effect]:
    """Let instance 1 witness two different lists to instance 0."""
    pinned = live(town.world(), deliberation(opened)).pinned
    found: list[fx.Effect] = []
    for name in ("one", "two"):
        listed = tuple(sorted(named(name, one) for one in ids))
        found += hear(town, said_by(town, 1, pinned, ListWitness(ids=listed, late=False)))
    return found


def test_a_contradiction_is_filed_as_a_proof_of_fault_once() -> None:
    town = Town.of(3, 6)
    opened = in_phase(town, Phase.DELIBERATE)
    effects = contradict(town, opened)
    contradict(town, opened)
    proofs = town.world().log.by_kind(Kind.LOG_FAULT)

    assert fx.Tell(event=fx.Happening.FAULT, subject=town.founding.instances[1]) in effects
    assert len(proofs) == 1
    assert isinstance(proofs[0].body, LogFault)
    assert proofs[0].author == town.founding.instances[0]
    assert peek_slot(proofs[0].body.a.message)[3] == town.founding.instances[1]


def test_even_the_longest_contradiction_fits_a_record() -> None:
    town = Town.of(3, 6)
    opened = in_phase(town, Phase.DELIBERATE)
    effects = contradict(town, opened, range(MOST_LISTED))

    assert fx.Tell(event=fx.Happening.FAULT, subject=town.founding.instances[1]) in effects
    assert len(town.world().log.by_kind(Kind.LOG_FAULT)) == 1


def test_an_instance_never_denounces_itself() -> None:
    town = Town.of(3, 6)
    opened = in_phase(town, Phase.DELIBERATE)
    pinned = live(town.world(), deliberation(opened)).pinned
    found: list[fx.Effect] = []
    for name in ("one", "two"):
        body = ListWitness(ids=(named(name),), late=False)
        found += hear(town, said_by(town, 0, pinned, body))

    assert town.world().log.by_kind(Kind.LOG_FAULT) == []
    assert not [one for one in found if isinstance(one, fx.Tell) and one.event == "fault"]
    # It never said any of this, as far as it remembers.
    assert fx.Tell(event=fx.Happening.AMNESIA, subject=town.founding.instances[0]) in found


def test_a_member_whose_world_is_another_says_so_and_cosigns_no_cut() -> None:
    town = Watched.of(4, 8)
    odd = town.founding.instances[3]
    town.world(3).digest = named("another world")
    next_cut(town)

    assert ("diverged", odd) in {(event, me) for _, me, event, _ in town.told}
    assert Step.COSIGN not in {said for _, me, said, _ in town.signed() if me == odd}


def test_a_damaged_journal_silences_its_slot_only() -> None:
    town = Town.of(3, 6)
    me = town.founding.instances[0]
    world = begin(
        town.founding.charter,
        town.founding.records,
        instance=me,
        signer=KeySigner(keys("town", "instance", 0).current),
        verify=verify,
    )
    slot = CutSlot(number=1, previous=world.state.digest)
    junk = SignedEntry(slot=slot, raw=b"junk", signature=bytes(64), parts=())
    world.journal[slot_key(slot)] = [junk]
    effects = start(world, 0)

    assert fx.Tell(event=fx.Happening.JOURNAL_DAMAGED, subject=me) in effects
    assert live(world, slot).state.muted


def test_an_observer_follows_a_vote_and_signs_nothing() -> None:
    town = Watched.of(4, 8)
    opened = town.vote(town.propose(0), {1: 1, 2: 1, 5: 1})
    world = begin(town.founding.charter, town.founding.records, verify=verify)
    start(world, 0)
    for now, me, effect in list(town.seen):
        match effect:
            case fx.Relay(records=records):
                watch(town, world, inputs.Arrived(records=records, peer=me), now)
            case fx.SendPacket(packet=packet, to=None):
                watch(town, world, inputs.Packet(packet=packet, peer=me), now)
            case _:
                pass

    assert world.rounds[opened].verdict == town.world().rounds[opened].verdict
    assert world.rounds[opened].verdict is not None


def watch(town: Town, world: World, event: inputs.Input, now: Millis) -> None:
    """Let an observer take an input, and get the answers to what it asks for."""
    for effect in step(world, event, now):
        assert not (isinstance(effect, fx.StoreJournal) and isinstance(effect.entry, SignedEntry))
        if isinstance(effect, fx.SendPacket):
            assert effect.to is not None
            question = inputs.Packet(packet=effect.packet, peer=named("observer"))
            for answer in step(town.worlds[effect.to], question, town.now):
                if isinstance(answer, fx.SendPacket) and answer.to == named("observer"):
                    watch(town, world, inputs.Packet(packet=answer.packet, peer=effect.to), now)
