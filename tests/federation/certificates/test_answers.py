from dataclasses import replace

from federation.certificates import (
    Certificate,
    CertificatePacket,
    Cosign,
    CutHolding,
    ListValue,
    MessagePacket,
    Part,
    PartKind,
    PartsPacket,
    Promise,
    Propose,
    Received,
    ReceivedCertificate,
    Seal,
    Send,
    Wake,
    Wanted,
    blob_hash,
    value_digest,
)
from federation.certificates.proofs import endorsements, lock_hash
from tests.federation.certificates.hall import (
    PACE,
    CutDesk,
    ListDesk,
    Seat,
    cut_slot,
    index_of,
    lock_of,
    lock_part_of,
    name,
    pinned,
    promise,
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
        Send(to=voice(9), packet=PartsPacket(parts=(value_part_of(WHERE, VALUE),))),
        Send(to=voice(9), packet=PartsPacket(parts=(lock_part_of(lock),))),
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


def test_somebody_without_a_voice_repeats_nothing() -> None:
    me = Seat(WHERE, None)
    me.hears(said(WHERE, 0, witness(A)))

    assert sends(list(me.wakes_at(PACE.resend))) == []
