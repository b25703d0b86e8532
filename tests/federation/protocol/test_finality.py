from dataclasses import dataclass, field, replace

import msgspec
import pytest

from federation.artifacts import State
from federation.certificates import (
    Certificate,
    CutSlot,
    MessagePacket,
    Pinned,
    RoundSlot,
    Seal,
    Slot,
    message_for,
    packet_bytes,
    signing_payload,
    slot_key,
)
from federation.core import Code, IdentityId, InstanceId, PeerError
from federation.crypto import KeySigner
from federation.protocol import (
    FounderSpec,
    FoundingSpec,
    World,
    begin,
    finality,
    found,
    inputs,
    step,
)
from federation.protocol import effects as fx
from federation.protocol.agreement import offer
from federation.protocol.shelf import certificate_in
from federation.protocol.turn import Turn
from federation.protocol.world import Filing
from federation.records import CertificateFinal, Kind, OperatorAdmit, Record, Role, sign_record
from tests.builders import named
from tests.federation.protocol.town import Town, keys, verify
from tests.federation.protocol.trial import Trial


def decided(instances: int = 3, *, down: tuple[int, ...] = ()) -> Trial:
    town = Trial.of(instances, 3 * instances, operators=3 * instances)
    record = town.propose(0)
    town.open_round(record)
    for index in down:
        town.take_down(index)
    voters = [i for i in range(1, 3 * instances) if i % instances not in down][:4]
    town.vote(record, dict.fromkeys(voters, 1))
    return town.settled()  # type: ignore[return-value]


def pinned_in(world: World, slot: Slot) -> Pinned:
    pinned = world.pinned(slot)
    assert pinned is not None
    return pinned


def filed(world: World) -> list[tuple[Record, Certificate]]:
    found = []
    for record in world.log.by_kind(Kind.CERTIFICATE):
        assert isinstance(record.body, CertificateFinal)
        found.append((record, certificate_in(record.body)))
    return found


def test_a_certificate_survives_the_way_into_a_record_and_back() -> None:
    world = decided().world()

    assert world.certificates
    for certificate in world.certificates.values():
        assert certificate_in(finality.body_of(certificate)) == certificate


def test_each_certificate_is_filed_once_by_the_first_voice_of_its_slot() -> None:
    town = decided()
    town.rest(2_000)
    world = town.world()
    slots = [certificate.slot for _, certificate in filed(world)]

    assert len(slots) == len(set(slots))
    assert {slot_key(slot) for slot in slots} >= {
        key
        for key, one in world.certificates.items()
        if not isinstance(one.slot, CutSlot) or one.slot.number < world.state.cut
    }
    for record, certificate in filed(world):
        assert record.author == pinned_in(world, certificate.slot).members[0].voice
        assert finality.proven(world, record) == certificate
    # What is left to file is the newest cut's, which only the next cut can contain.
    newest = {key for key, one in world.certificates.items() if _number(one) == world.state.cut}
    assert all(set(one.to_file) <= newest for one in town.live())


def _number(certificate: Certificate) -> int | None:
    return certificate.slot.number if isinstance(certificate.slot, CutSlot) else None


def test_another_voice_files_what_the_first_one_cannot() -> None:
    # The home of a round is the first voice in its slots.
    again = decided(4, down=(0,))
    world = again.live()[0]
    late = [
        record
        for record, certificate in filed(world)
        if record.author != pinned_in(world, certificate.slot).members[0].voice
    ]
    rounds = [one for _, one in filed(world) if isinstance(one.slot, RoundSlot)]

    assert late
    assert len({slot_key(one.slot) for one in rounds}) == len(rounds) == 3


def thin(world: World) -> tuple[Record, CertificateFinal]:
    record, _ = filed(world)[0]
    assert isinstance(record.body, CertificateFinal)
    return record, record.body


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: msgspec.structs.replace(body, seals=body.seals[:-1]),
        lambda body: msgspec.structs.replace(body, seals=(body.seals[0],) * len(body.seals)),
        lambda body: msgspec.structs.replace(body, fence=body.fence + 1),
        lambda body: msgspec.structs.replace(body, value=body.value + b"\x00"),
        lambda body: msgspec.structs.replace(body, slot=b"\x00"),
    ],
    ids=["too few seals", "one seal thrice", "another fence", "no value", "no slot"],
)
def test_what_does_not_verify_proves_nothing(spoil: object) -> None:
    town = decided()
    world = town.world()
    record, body = thin(world)
    changed = town.say(1, spoil(body))  # type: ignore[operator]

    assert finality.proven(world, record) is not None
    assert finality.proven(world, changed) is None


def test_only_a_certificate_record_of_a_known_slot_can_prove_one() -> None:
    town = decided()
    world = town.world()
    record, _ = thin(world)
    fresh = begin(town.founding.charter, town.founding.records, verify=verify)
    unknown = next(
        one for one, certificate in filed(world) if isinstance(certificate.slot, RoundSlot)
    )

    assert finality.proven(world, town.founding.records[0]) is None
    assert finality.proven(fresh, unknown) is None
    assert record.body is not None


def test_a_body_without_a_slot_is_refused_when_it_is_read() -> None:
    _, body = thin(decided().world())
    with pytest.raises(PeerError) as caught:
        certificate_in(msgspec.structs.replace(body, slot=b"\xc1"))

    assert caught.value.code == Code.NOT_CANONICAL


# Whose turn it is ---------------------------------------------------------------------------------


def lone(town: Trial, index: int | None, now: int = 0) -> Turn:
    """Give a turn on a fresh world of the founding, of an instance or of an observer."""
    name = None if index is None else town.founding.instances[index]
    signer = None if index is None else KeySigner(keys(town.seed, "instance", index).current)
    world = begin(
        town.founding.charter, town.founding.records, instance=name, signer=signer, verify=verify
    )
    return Turn(world=world, now=now)


def first_cut(town: Trial) -> tuple[CutSlot, Certificate]:
    certificate = next(
        one
        for one in town.world().certificates.values()
        if isinstance(one.slot, CutSlot) and one.slot.number == 1
    )
    assert isinstance(certificate.slot, CutSlot)
    return certificate.slot, certificate


def test_voices_wait_for_those_before_them_twice_the_leaders_timer_each() -> None:
    town = decided()
    slot, _ = first_cut(town)
    due = {}
    for index, name in enumerate(town.founding.instances):
        turn = lone(town, index, now=1_000)
        finality.schedule(turn, slot)
        due[name] = turn.world.to_file[slot_key(slot)].due
        assert turn.effects == [fx.WakeAt(at=due[name])]
    pinned = pinned_in(town.world(), slot)
    timer = town.founding.charter.timing.leader_timer

    assert [due[member.voice] for member in pinned.members] == [
        1_000 + 2 * rank * timer for rank in range(3)
    ]


def test_nothing_is_planned_by_an_observer_or_twice_or_for_what_a_cut_contains() -> None:
    town = decided()
    slot, _ = first_cut(town)
    watching = lone(town, None)
    finality.schedule(watching, slot)
    assert (watching.world.to_file, watching.effects) == ({}, [])

    turn = lone(town, 0)
    turn.world.certificates.contained[slot_key(slot)] = named("a record")
    finality.schedule(turn, slot)
    assert turn.world.to_file == {}

    turn = lone(town, 0)
    finality.schedule(turn, slot)
    planned = dict(turn.world.to_file)
    turn.now = 99_999
    finality.schedule(turn, slot)
    assert turn.world.to_file == planned


def test_who_has_no_voice_in_a_slot_comes_last() -> None:
    # Two instances of one operator share its voice: the other one files after all voices.
    founding = found(
        FoundingSpec(
            name="shared",
            salt=named("salt"),
            preset="test",
            operators=[("operator", keys("shared", "operator", 0))],
            instances=[(f"{i}", keys("shared", "instance", i), 0) for i in range(2)],
            founders=[
                FounderSpec(name="a", keys=keys("shared", "agent", 0), operator=0, instance=0)
            ],
        )
    )
    due = {}
    for index, name in enumerate(founding.instances):
        world = begin(
            founding.charter,
            founding.records,
            instance=name,
            signer=KeySigner(keys("shared", "instance", index).current),
            verify=verify,
        )
        slot = CutSlot(number=1, previous=world.state.digest)
        finality.schedule(Turn(world=world, now=0), slot)
        due[name] = world.to_file[slot_key(slot)].due
    voice, other = sorted(founding.instances)

    assert due == {voice: 0, other: 2 * founding.charter.timing.leader_timer}


def ready(town: Trial, *, filing: Filing) -> tuple[Turn, bytes]:
    """Give a turn of instance 1 on a fresh world that has the first cut's certificate to file."""
    slot, certificate = first_cut(town)
    turn = lone(town, 1)
    key = slot_key(slot)
    turn.world.certificates[key] = certificate
    turn.world.to_file[key] = filing
    return turn, key


def test_a_certificate_is_filed_when_it_is_due_and_not_before() -> None:
    turn, key = ready(decided(), filing=Filing(due=500, cut=0))
    world = turn.world
    turn.now = 499
    finality.file_due(turn)
    assert (turn.effects, list(world.to_file)) == ([], [key])
    turn.now = 500
    finality.file_due(turn)
    (stored, _) = turn.effects
    assert isinstance(stored, fx.StoreRecord)
    assert (world.filed[key], world.to_file) == (stored.record.id, {})
    assert stored.record.body == finality.body_of(world.certificates[key])


def test_a_copy_of_somebody_else_is_given_two_cuts_to_be_contained() -> None:
    turn, key = ready(decided(), filing=Filing(due=0, cut=0))
    world = turn.world
    world.filed[key] = named("a copy")
    for cut in range(finality.PATIENCE):
        world.state.cut = cut
        finality.file_due(turn)
        assert (turn.effects, list(world.to_file)) == ([], [key])
    world.state.cut = finality.PATIENCE
    finality.file_due(turn)
    assert isinstance(turn.effects[0], fx.StoreRecord)
    assert world.to_file == {}


def test_a_record_is_verified_once_while_it_waits_for_a_cut() -> None:
    town = decided()
    turn = lone(town, 1)
    world = turn.world
    slot, certificate = first_cut(town)
    record = next(one for one, found in filed(town.world()) if found.slot == slot)
    asked = []

    def counting(key: bytes, payload: bytes, signature: bytes) -> bool:
        asked.append(key)
        return verify(key, payload, signature)

    world.verify = counting
    assert finality.proven_once(world, record) == finality.proven_once(world, record)
    assert len(asked) == len(certificate.seals)
    # What proves nothing is looked at again: its slot may become known.
    stranger = next(one for one, found in filed(town.world()) if isinstance(found.slot, RoundSlot))
    assert finality.proven_once(world, stranger) is None
    assert list(world.proofs) == [record.id]
    # Nothing is remembered of what cuts contain.
    contained = set(town.world().certificates.contained.values())
    assert contained.isdisjoint(town.world().proofs)


def test_what_a_cut_contains_is_filed_by_nobody_else() -> None:
    turn, key = ready(decided(), filing=Filing(due=0, cut=0))
    turn.world.certificates.contained[key] = named("a record")
    finality.file_due(turn)

    assert (turn.effects, turn.world.to_file) == ([], {})


def test_who_may_not_sign_keeps_its_plan() -> None:
    turn, key = ready(decided(), filing=Filing(due=0, cut=0))
    assert turn.world.me is not None
    turn.world.me.settled = False
    finality.file_due(turn)

    assert (turn.effects, list(turn.world.to_file)) == ([], [key])


# Hostile members ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Hidden(Town):
    """A town in which nobody sees what one author writes, except through the test."""

    author: IdentityId = b""
    shown: set[bytes] = field(default_factory=set)

    def _send(self, to: InstanceId, event: inputs.Input) -> None:
        if isinstance(event, inputs.Arrived):
            seen = [
                one for one in event.records if one.author != self.author or one.id in self.shown
            ]
            event = inputs.Arrived(records=tuple(seen), peer=event.peer)
        Town._send(self, to, event)


def test_a_home_that_files_only_above_a_fork_of_its_chain_keeps_no_round_open() -> None:
    town = Hidden.of(4, 8)
    home, others = town.founding.instances[0], [town.world(index) for index in (1, 2, 3)]
    town.author = home
    record = town.propose(0)
    opened = town.open_round(record)
    pen = keys(town.seed, "instance", 0)
    ((seq, head),) = others[0].log.heads_of(home)

    def write(body: object, after: Record | None, at: int) -> Record:
        written = sign_record(
            body,  # type: ignore[arg-type]
            realm=town.founding.realm,
            signer=KeySigner(pen.current),
            author=home,
            key_index=0,
            seq=(seq if after is None else after.seq) + 1,
            prev=head if after is None else after.id,
            at=at,
        )
        town.shown.add(written.id)
        for world in others:
            town.arrive(world, written)
        return written

    # A fork that no cut passes; every certificate of the round is filed on one of its branches.
    _, last = (write(OperatorAdmit(operator=named("twin")), None, at) for at in (1, 2))
    votes = dict.fromkeys((1, 2, 3, 5), 1)
    town.vote(record, votes)
    for certificate in others[0].certificates.values():
        if isinstance(certificate.slot, RoundSlot):
            last = write(finality.body_of(certificate), last, 3)
    assert len([one for one, _ in filed(others[0]) if one.author == home]) == 3
    town.in_cut(max(world.state.cut for world in town.live()) + 2 + finality.PATIENCE)

    for world in others:
        assert len(world.state.decided[opened]) == 3
        assert world.state.artifacts[record.id].state is State.ACTIVE
        assert world.positions[home].head == head


def sealed_by(town: Trial, index: int, counter: int) -> tuple[World, inputs.Packet]:
    """Let an instance seal something in the open cut slot of instance 0, under any counter."""
    world, liar = town.world(), town.founding.instances[index]
    live = next(one for one in world.slots.values() if not one.state.is_final)
    raw = message_for(live.pinned, liar, counter, Seal(fence=0, digest=named("value")))
    signer = KeySigner(keys(town.seed, "instance", index).current)
    packet = MessagePacket(raw=raw, signature=signer.sign(signing_payload(raw)))
    return world, inputs.Packet(packet=packet_bytes(live.pinned, packet), peer=liar)


@pytest.mark.parametrize("counter", [2**53, 2**60, 2**63 - 1])
def test_a_seal_whose_counter_no_record_holds_is_refused(counter: int) -> None:
    town = Trial.of(4, 4)
    world, packet = sealed_by(town, 3, counter)
    (refusal,) = step(world, packet, town.now)

    assert isinstance(refusal, fx.Refused)
    assert refusal.code == Code.NOT_CANONICAL


def test_the_highest_counter_and_fence_fit_the_record_of_a_certificate() -> None:
    town = decided()
    turn, key = ready(town, filing=Filing(due=0, cut=0))
    certificate = turn.world.certificates[key]
    seals = tuple(msgspec.structs.replace(one, counter=2**53 - 1) for one in certificate.seals)
    turn.world.certificates[key] = replace(certificate, seals=seals, fence=2**63 - 1)
    finality.file_due(turn)

    assert isinstance(turn.effects[0], fx.StoreRecord)


def test_a_copy_that_a_stranger_files_spares_nobody_its_turn() -> None:
    town = decided()
    turn, key = ready(town, filing=Filing(due=0, cut=0))
    stranger = town.stranger(Role.INSTANCE)
    copy = stranger.say(finality.body_of(turn.world.certificates[key]))
    for record in stranger.records:
        turn.world.log.add(record)
    assert finality.proven(turn.world, copy) is not None
    offer(turn, copy)
    finality.file_due(turn)

    assert isinstance(turn.effects[0], fx.StoreRecord)
    assert turn.effects[0].record.author == town.founding.instances[1]
