from dataclasses import replace

import pytest

from federation.certificates import (
    Certificate,
    CertificatePacket,
    Cosign,
    CutHolding,
    CutValue,
    FaultFound,
    Final,
    KeepCertificate,
    ListValue,
    MessagePacket,
    Part,
    PartKind,
    PartsPacket,
    Promise,
    Propose,
    Received,
    ReceivedCertificate,
    ReceivedParts,
    Seal,
    Send,
    Wake,
    WakeAt,
    Want,
    Wanted,
    blob_hash,
    part_address,
    value_digest,
)
from federation.certificates.proofs import endorsements, lock_hash
from federation.certificates.state import NEAR
from federation.core import PeerError
from tests.federation.certificates.hall import (
    PACE,
    CutDesk,
    ListDesk,
    Seat,
    bodies,
    cut_slot,
    index_of,
    lock_of,
    lock_part_of,
    name,
    pinned,
    promise,
    propose,
    said,
    seals_of,
    slot,
    value_part_of,
    voice,
    witness,
)

WHERE = pinned(4)
A = name("a")
VALUE = ListValue(records=(A,))
DIGEST = value_digest(slot(), VALUE)


def seat() -> Seat:
    return Seat(WHERE, 1, ListDesk(WHERE, held={A}))


def certificate(*members: int) -> Certificate:
    seals = tuple(seals_of(WHERE, 2, DIGEST, members))
    return Certificate(slot=slot(), value=VALUE, fence=2, seals=endorsements(seals, len(seals)))


def final_seat() -> Seat:
    me = seat()
    me.feed(ReceivedCertificate(certificate=certificate(0, 2, 3), sender=voice(0)))
    return me


def sends(actions: list[object]) -> list[Send]:
    return [one for one in actions if isinstance(one, Send)]


def test_a_certificate_is_accepted_at_any_time_and_only_once() -> None:
    me = seat()
    proof = certificate(0, 2, 3)
    actions = me.feed(ReceivedCertificate(certificate=proof))

    assert actions == [KeepCertificate(certificate=proof), Final(certificate=proof)]
    assert me.feed(ReceivedCertificate(certificate=certificate(1, 2, 3))) == []
    assert me.state.certificate == proof


def test_a_certificate_that_does_not_verify_changes_nothing() -> None:
    me = seat()
    before = me.state
    with pytest.raises(PeerError):
        me.feed(ReceivedCertificate(certificate=certificate(0, 2), sender=voice(0)))

    assert me.state == before


def test_after_the_end_every_message_of_another_is_answered_with_the_certificate() -> None:
    me = final_seat()
    packet = CertificatePacket(certificate=certificate(0, 2, 3))
    late = said(WHERE, 2, witness(A))

    for _ in range(2):
        assert me.hears(late) == [Send(to=voice(2), packet=packet)]
    assert me.feed(Received(heard=late, sender=voice(1))) == []
    assert me.feed(Wanted(hashes=(DIGEST,), sender=voice(3))) == [Send(to=voice(3), packet=packet)]
    assert me.ends_window() == []
    assert me.feed(Wake()) == []
    assert me.signed == []


def test_a_cut_is_final_only_with_its_positions_and_hands_them_on() -> None:
    where = pinned(4, cut_slot())
    blob = Part(kind=PartKind.BLOB, content=b"\x90")
    value = CutValue(number=5, tick=False, positions=blob_hash(b"\x90"), world=A, secrets=())
    digest = value_digest(where.slot, value)
    seals = tuple(seals_of(where, 0, digest, (0, 2, 3)))
    proof = Certificate(slot=where.slot, value=value, fence=0, seals=endorsements(seals, 3))
    holding = CutHolding(chains=b"\x90", tick=False, world=A, secret=A, next_hash=A)
    me = Seat(where, 1, CutDesk(holding))

    actions = me.feed(ReceivedCertificate(certificate=proof, sender=voice(0)))
    (want,) = [one for one in actions if isinstance(one, Want)]
    assert want.hashes == (blob_hash(b"\x90"),)
    assert not me.state.is_final
    # A second proof while the first waits changes nothing.
    assert me.feed(ReceivedCertificate(certificate=proof, sender=voice(2))) == []
    assert me.feed(ReceivedParts(parts=(blob,), sender=voice(0))) == [
        KeepCertificate(certificate=proof, parts=(blob,)),
        Final(certificate=proof, parts=(blob,)),
    ]
    assert me.feed(Wanted(hashes=(blob_hash(b"\x90"),), sender=voice(2))) == [
        Send(to=voice(2), packet=CertificatePacket(certificate=proof, parts=(blob,)))
    ]
    at_once = Seat(where, 1, CutDesk(holding))
    at_once.feed(ReceivedCertificate(certificate=proof, parts=(blob,)))
    assert at_once.state.is_final


def test_what_is_asked_for_and_held_is_handed_over() -> None:
    me = seat()
    heard = said(WHERE, 2, witness(A))
    votes = [said(WHERE, who, Cosign(fence=0, digest=DIGEST)) for who in (0, 2, 3)]
    me.hears(heard, *votes, parts=(value_part_of(WHERE, VALUE),))
    lock = me.state.lock
    assert lock is not None

    asked = (heard.hash, DIGEST, lock_hash(lock), b"x" * 32)
    assert me.feed(Wanted(hashes=asked, sender=voice(9))) == [
        Send(to=voice(9), packet=MessagePacket(raw=heard.raw, signature=heard.signature)),
        Send(
            to=voice(9),
            packet=PartsPacket(parts=(value_part_of(WHERE, VALUE), lock_part_of(lock))),
        ),
    ]
    me.state = replace(me.state, locks={})
    assert me.feed(Wanted(hashes=(lock_hash(lock),), sender=voice(9))) == [
        Send(to=voice(9), packet=PartsPacket(parts=(lock_part_of(lock),)))
    ]
    assert me.feed(Wanted(hashes=(b"x" * 32,), sender=voice(9))) == []


def test_the_chains_of_a_witness_are_handed_over() -> None:
    where = pinned(4, cut_slot())
    holding = CutHolding(chains=b"\x90", tick=False, world=A, secret=A, next_hash=A)
    me = Seat(where, 1, CutDesk(holding))
    me.ends_window()

    assert me.feed(Wanted(hashes=(blob_hash(b"\x90"),), sender=voice(2))) == [
        Send(
            to=voice(2),
            packet=PartsPacket(parts=(Part(kind=PartKind.BLOB, content=b"\x90"),)),
        )
    ]


def test_my_latest_messages_are_repeated_until_the_slot_is_final() -> None:
    me = seat()
    me.ends_window()
    votes = [said(WHERE, who, Cosign(fence=0, digest=DIGEST)) for who in (0, 2, 3)]
    me.hears(*votes, parts=(value_part_of(WHERE, VALUE),))
    me.hears(said(WHERE, 0, promise(1)), said(WHERE, 2, promise(1)))
    lock = me.state.lock
    assert lock is not None
    by_body = {type(one.body): one for one in me.signed}
    seen = sends(list(me.wakes_at(PACE.resend)))

    assert [one.to for one in seen] == [None] * 3
    packets = [one.packet for one in seen]
    assert packets == [
        MessagePacket(raw=one.raw, signature=one.signature, parts=parts)
        for kind, parts in (
            (type(witness()), ()),
            (Seal, ()),
            (Promise, (lock_part_of(lock), value_part_of(WHERE, VALUE))),
        )
        for one in [by_body[kind]]
    ]
    assert sends(list(me.wakes_at(PACE.resend + 1))) == []
    assert len(sends(list(me.wakes_at(2 * PACE.resend)))) == 3


def test_a_proposal_is_repeated_with_its_lock_and_value() -> None:
    leader = index_of(WHERE.leader(5))
    others = [who for who in range(4) if who != leader]
    lock = lock_of(WHERE, 3, DIGEST, others)
    me = Seat(WHERE, leader, ListDesk(WHERE, held={A}))
    parts = (lock_part_of(lock), value_part_of(WHERE, VALUE))
    me.hears(*[said(WHERE, who, promise(5, lock)) for who in others], parts=parts)
    (mine,) = [one for one in me.signed if isinstance(one.body, Propose)]
    packet = MessagePacket(raw=mine.raw, signature=mine.signature, parts=parts)

    assert Send(to=None, packet=packet) in me.wakes_at(PACE.resend)


def test_a_request_that_nobody_answers_goes_to_another() -> None:
    me = seat()
    seals = seals_of(WHERE, 0, DIGEST, (2, 3, 0))
    actions = me.hears(*seals)
    wants = [one for one in actions if isinstance(one, Want)]
    for tick in range(1, 4):
        assert not any(isinstance(one, Want) for one in me.wakes_at(tick * PACE.resend - 1))
        wants += [one for one in me.wakes_at(tick * PACE.resend) if isinstance(one, Want)]

    assert len(wants) == 4
    assert {one.voice for one in wants[:3]} == {voice(0), voice(2), voice(3)}
    me.feed(ReceivedParts(parts=(value_part_of(WHERE, VALUE),), sender=voice(2)))
    assert me.state.is_final


def test_what_nobody_needs_is_not_kept() -> None:
    me = seat()
    junk = tuple(value_part_of(WHERE, ListValue(records=(name(i),))) for i in range(10))
    me.feed(ReceivedParts(parts=junk, sender=voice(0)))
    me.hears(said(WHERE, 0, witness(A)), parts=junk)

    assert me.state.values == {}
    assert me.state.cited == {}


def test_bytes_that_are_no_value_are_refused_and_not_asked_for_again() -> None:
    me = seat()
    other = value_part_of(pinned(4, cut_slot()), VALUE)
    seals = seals_of(WHERE, 0, part_address(other), (0, 2, 3))
    me.hears(*seals, parts=(other,))

    assert not me.state.is_final
    assert me.state.spoiled == {part_address(other)}
    assert not any(isinstance(one, Want) for one in me.wakes_at(PACE.resend))


def test_a_part_of_another_kind_is_not_taken_for_a_value() -> None:
    me = seat()
    seals = seals_of(WHERE, 0, blob_hash(b"x"), (0, 2, 3))
    me.hears(*seals, parts=(Part(kind=PartKind.BLOB, content=b"x"),))

    assert me.state.values == {}


def test_a_liar_fills_only_its_own_places() -> None:
    me = seat()
    me.ends_window()
    for fence in [*range(1, 60), 2**31, 2**62]:
        liar = [
            said(WHERE, 2, promise(fence)),
            said(WHERE, 2, Cosign(fence=fence, digest=name(fence))),
            said(WHERE, 2, Seal(fence=fence, digest=name(fence))),
        ]
        me.hears(*liar)
        if WHERE.leader(fence) == voice(2):
            lock = name("lock", fence)
            behind = [liar[0]] * 3
            me.hears(said(WHERE, 2, propose(fence, name(fence), (), behind, lock)))

    assert me.state.fence == 0
    assert all(len(kept) <= NEAR for kept in me.state.said.values())
    assert len(me.state.asked) <= 4 * NEAR


def test_a_fault_is_reported_once_with_both_messages() -> None:
    me = seat()
    a, b = said(WHERE, 2, witness(A)), said(WHERE, 2, witness())
    me.hears(a)
    (found,) = [one for one in me.hears(b) if isinstance(one, FaultFound)]

    assert (found.a, found.b) == (a, b)
    assert found.why
    assert not any(isinstance(one, FaultFound) for one in me.hears(b))
    assert me.state.faulty == {voice(2)}


def test_a_later_signature_of_mine_that_i_do_not_know_silences_me() -> None:
    me = seat()
    me.ends_window()
    known = me.signed[0]

    me.feed(Received(heard=known, sender=voice(0)))
    assert not me.state.muted
    later = said(WHERE, 1, Cosign(fence=0, digest=DIGEST), 9)
    me.feed(Received(heard=later, sender=voice(0)))
    assert me.state.muted
    assert me.state.faulty == frozenset()
    assert bodies(me.hears(said(WHERE, 0, promise(1)), said(WHERE, 2, promise(1)))) == []


def test_the_alarm_is_set_to_the_next_thing_to_do() -> None:
    me = seat()
    (first,) = [one for one in me.hears(said(WHERE, 0, promise(1))) if isinstance(one, WakeAt)]
    assert first.at == PACE.resend
    me.now = 1
    assert not any(isinstance(one, WakeAt) for one in me.hears(said(WHERE, 3, witness(A))))
    # An early call used the alarm up, so it is set again.
    assert WakeAt(at=PACE.resend) in me.wakes_at(2)


def test_members_that_count_fences_apart_meet_again() -> None:
    """Timers that no longer grow must not let members chase each other for ever."""
    me = seat()
    me.ends_window()
    me.now = 10**7
    me.hears(said(WHERE, 0, promise(40)), said(WHERE, 2, promise(40)))
    me.hears(said(WHERE, 0, promise(41)))
    start = me.now
    assert me.state.fence == 40

    # One member is a fence ahead; its timer waits there until q members have come.
    assert bodies(me.wakes_at(start + (PACE.leader_timer << 10))) == [promise(41)]
    assert me.state.fence_since is None
    me.hears(said(WHERE, 2, promise(41)))
    assert me.state.fence_since is not None


def test_somebody_without_a_voice_repeats_nothing() -> None:
    me = Seat(WHERE, None)
    me.hears(said(WHERE, 0, witness(A)))

    assert sends(list(me.wakes_at(PACE.resend))) == []
