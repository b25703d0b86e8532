from dataclasses import replace

import pytest

from federation.certificates import (
    Certificate,
    CertificateEntry,
    CertificatePacket,
    Cosign,
    ListValue,
    MessagePacket,
    Part,
    PartKind,
    PartsPacket,
    Phase,
    RoundSlot,
    Seal,
    WantPacket,
    message_for,
    packet_bytes,
    pin,
    signing_payload,
    slot_key,
    value_bytes,
    value_digest,
)
from federation.certificates.membership import Member
from federation.certificates.proofs import Endorsement
from federation.charter import charter_hash
from federation.codec import encode
from federation.core import InstanceId
from federation.crypto import is_signed_by
from federation.protocol import effects as fx
from federation.simulation.network.community import community
from federation.simulation.network.letters import AskHello, Letter, Packet, Sent
from federation.simulation.network.monitors import Votes, quorum_of
from federation.simulation.network.monitors.votes import read
from federation.simulation.network.network import SimNetwork

THERE = community(4, agents=4)
FOUNDING = THERE.founding
SLOT = RoundSlot(round_id=bytes(32), phase=Phase.COMMIT)
PINNED = pin(
    realm=FOUNDING.realm,
    charter_hash=charter_hash(FOUNDING.charter),
    slot=SLOT,
    members=[
        Member(operator=operator, voice=voice, key=THERE.signer(voice).public)
        for operator, voice in zip(FOUNDING.operators, FOUNDING.instances, strict=True)
    ],
    home=None,
    three_available=False,
)
ONE, OTHER = ListValue(records=()), ListValue(records=(b"r" * 32,))
NODE = SimNetwork(THERE, seed="votes").node(0)


def digest_of(value: ListValue) -> bytes:
    return value_digest(SLOT, value)


def signed(voice: InstanceId, body: Cosign | Seal) -> tuple[bytes, bytes]:
    raw = message_for(PINNED, voice, 0, body)
    return raw, THERE.signer(voice).sign(signing_payload(raw))


def sealed(value: ListValue, *places: int, fence: int = 0) -> Certificate:
    body = Seal(fence=fence, digest=digest_of(value))
    seals = []
    for place in places:
        voice = FOUNDING.instances[place]
        seals.append(Endorsement(voice=voice, counter=0, signature=signed(voice, body)[1]))
    ordered = tuple(sorted(seals, key=lambda one: one.voice))
    return Certificate(slot=SLOT, value=value, fence=fence, seals=ordered)


def votes() -> Votes:
    return Votes(THERE, is_signed_by)


def show(monitor: Votes, letter: Letter) -> None:
    monitor.sent(NODE, Sent(sender=bytes(32), receiver=bytes(32), letter=letter))


def say(monitor: Votes, place: int, body: Cosign | Seal) -> None:
    raw, signature = signed(FOUNDING.instances[place], body)
    packet = MessagePacket(raw=raw, signature=signature)
    show(monitor, Packet(packet=packet_bytes(PINNED, packet)))


def test_the_quorums_are_those_of_the_design() -> None:
    assert [quorum_of(community(n, agents=n)) for n in (1, 2, 3, 4, 7, 10)] == [1, 2, 3, 3, 5, 7]
    assert quorum_of(community(3, agents=3, three_available=True)) == 2


def test_a_certificate_needs_q_seals_of_distinct_members() -> None:
    monitor = votes()

    assert not monitor.is_proven(sealed(ONE, 0, 1))
    assert not monitor.is_proven(sealed(ONE, 0, 1, 1))
    assert monitor.is_proven(sealed(ONE, 0, 1, 2))
    assert monitor.certified == {slot_key(SLOT): digest_of(ONE)}
    assert monitor.lists[digest_of(ONE)] == ()


def test_a_seal_that_was_made_for_another_value_does_not_count() -> None:
    stolen = replace(sealed(ONE, 0, 1, 2), value=OTHER)

    assert not votes().is_proven(stolen)


def test_two_values_certified_in_one_slot_are_found_at_any_fence() -> None:
    monitor = votes()
    monitor.is_proven(sealed(ONE, 0, 1, 2))
    monitor.is_proven(sealed(ONE, 1, 2, 3, fence=4))
    assert monitor.findings == []
    monitor.is_proven(sealed(OTHER, 1, 2, 3, fence=5))

    assert [rule for rule, _ in monitor.findings] == ["two values certified"]


def test_seals_that_nobody_has_put_together_are_counted_too() -> None:
    monitor = votes()
    for place in (0, 1, 2):
        say(monitor, place, Seal(fence=0, digest=digest_of(ONE)))
    assert monitor.certified[slot_key(SLOT)] == digest_of(ONE)
    for place in (1, 2, 3):
        say(monitor, place, Seal(fence=3, digest=digest_of(OTHER)))

    assert monitor.findings[0][0] == "two values certified"


def test_two_locks_at_one_fence_are_found_and_at_two_fences_allowed() -> None:
    monitor = votes()
    for place in (0, 1, 2):
        say(monitor, place, Cosign(fence=0, digest=digest_of(ONE)))
        say(monitor, place, Cosign(fence=1, digest=digest_of(OTHER)))
    assert monitor.findings == []
    for place in (1, 2, 3):
        say(monitor, place, Cosign(fence=0, digest=digest_of(OTHER)))

    assert monitor.findings[0][0] == "two locks at one fence"


def test_a_vote_under_a_wrong_signature_does_not_count() -> None:
    monitor = votes()
    for place in (0, 1, 2):
        raw, _ = signed(FOUNDING.instances[place], Seal(fence=0, digest=digest_of(ONE)))
        packet = MessagePacket(raw=raw, signature=bytes(64))
        show(monitor, Packet(packet=packet_bytes(PINNED, packet)))

    assert monitor.certified == {}


def test_what_an_honest_instance_accepts_must_be_proven() -> None:
    monitor = votes()
    entry = CertificateEntry(slot=SLOT, certificate=sealed(ONE, 0, 1))
    monitor.stored(NODE, fx.StoreJournal(entry=entry))

    assert monitor.findings[0][0] == "certificate without a quorum"


def test_a_smaller_quorum_can_be_asked_for_to_see_what_it_breaks() -> None:
    monitor = Votes(THERE, is_signed_by, q=2)

    assert monitor.is_proven(sealed(ONE, 0, 1))


def test_values_are_learnt_from_what_travels_with_messages() -> None:
    monitor = votes()
    part = Part(kind=PartKind.VALUE, content=value_bytes(SLOT, OTHER))
    show(monitor, Packet(packet=packet_bytes(PINNED, PartsPacket(parts=(part,)))))
    certificate = CertificatePacket(certificate=sealed(ONE, 0, 1, 2))
    show(monitor, Packet(packet=packet_bytes(PINNED, certificate)))

    assert monitor.lists == {digest_of(OTHER): OTHER.records, digest_of(ONE): ()}


def test_a_message_that_is_none_and_a_value_that_is_none_are_passed_over() -> None:
    monitor = votes()
    spoilt = Part(kind=PartKind.VALUE, content=b"\xc1")
    blob = Part(kind=PartKind.BLOB, content=b"blob")
    for raw in (b"\xc1", encode([1, "seal"]), encode(_seal_without_digest())):
        packet = MessagePacket(raw=raw, signature=bytes(64), parts=(spoilt, blob))
        show(monitor, Packet(packet=packet_bytes(PINNED, packet)))

    assert read(b"\xc1") is None
    assert read(encode([1])) is None
    assert (monitor.certified, monitor.lists, monitor.findings) == ({}, {}, [])


def _seal_without_digest() -> list[object]:
    return [1, "seal", bytes(32), bytes(32), [bytes(32), "commit"], bytes(32), 0, 0]


@pytest.mark.parametrize(
    "letter",
    [
        AskHello(),
        Packet(packet=b"rubbish"),
        Packet(packet=packet_bytes(PINNED, WantPacket(hashes=()))),
    ],
)
def test_letters_that_hold_no_vote_change_nothing(letter: Letter) -> None:
    monitor = votes()
    show(monitor, letter)
    show(monitor, letter)
    monitor.stored(NODE, fx.StoreSilence(until=0))

    assert (monitor.certified, monitor.lists, monitor.findings) == ({}, {}, [])
