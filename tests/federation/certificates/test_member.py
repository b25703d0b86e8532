from federation.certificates import (
    CertificatePacket,
    Cosign,
    CutHolding,
    CutWitness,
    Final,
    Heard,
    KeepCertificate,
    KeepLock,
    ListValue,
    ListWitness,
    Lock,
    Part,
    PartKind,
    Pinned,
    Promise,
    Propose,
    Reconcile,
    Reconciled,
    Seal,
    Send,
    Sign,
    Want,
    WindowEnded,
    blob_hash,
    chains_blob,
    value_digest,
    verify_certificate,
    verify_lock,
)
from federation.certificates.member import (
    MOST_FENCE,
    timer_of,
)
from federation.certificates.state import SlotState
from tests.federation.certificates.hall import (
    PACE,
    CutDesk,
    ListDesk,
    Seat,
    bodies,
    cut_slot,
    index_of,
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
LEADERS = [index_of(WHERE.leader(k)) for k in range(4)]
A = name("a")
VALUE = ListValue(records=(A,))
DIGEST = value_digest(slot(), VALUE)
OTHER = ListValue(records=())
OTHER_DIGEST = value_digest(slot(), OTHER)
HOME = 0


def seat(who: int | None = 1, where: Pinned = WHERE, *, held: set[bytes] | None = None) -> Seat:
    return Seat(where, who, ListDesk(where, held={A} if held is None else held))


def three_witnesses(where: Pinned = WHERE) -> list[Heard]:
    return [said(where, who, witness(A)) for who in (0, 2, 3)]


def promises(fence: int, *locks: Lock | None) -> list[Heard]:
    return [
        said(WHERE, who, promise(fence, lock)) for who, lock in zip((0, 2, 3), locks, strict=True)
    ]


# Rule 1: the witness.


def test_a_witness_waits_for_the_window_and_for_reconciling_with_enough_others() -> None:
    me = seat()
    me.now = 1_000
    me.feed(Reconciled(voice=voice(0), began=1_000))
    me.feed(Reconciled(voice=voice(2), began=1_000))
    asked = me.feed(WindowEnded())

    assert Reconcile(voices=WHERE.others(voice(1))) in asked
    assert me.state.waits_for_quorum
    assert bodies(me.feed(Reconciled(voice=voice(0), began=999))) == []
    assert bodies(me.feed(Reconciled(voice=voice(9), began=1_000))) == []
    assert bodies(me.feed(Reconciled(voice=voice(0), began=1_000))) == []
    assert bodies(me.feed(Reconciled(voice=voice(0), began=1_000))) == []
    assert bodies(me.feed(Reconciled(voice=voice(2), began=1_001))) == [witness(A)]
    assert not me.state.waits_for_quorum


def test_a_witness_is_signed_once_and_says_if_it_is_late() -> None:
    desk = ListDesk(WHERE, held={A}, late=True)
    me = Seat(WHERE, 1, desk)

    assert bodies(me.ends_window()) == [ListWitness(ids=(A,), late=True)]
    desk.held.add(name("later"))
    assert bodies(me.ends_window()) == []


def test_the_witness_of_another_makes_me_reconcile_but_does_not_end_my_window() -> None:
    me = seat(where=pinned(2), held=set())
    actions = me.hears(said(pinned(2), 0, witness(A)))

    assert Reconcile(voices=(voice(0),)) in actions
    assert bodies(actions) == []
    assert Reconcile(voices=(voice(0),)) not in me.hears(said(pinned(2), 0, witness(A)))


def test_while_too_few_are_there_reconciling_is_tried_again() -> None:
    me = seat()
    me.feed(WindowEnded())
    me.feed(Reconciled(voice=voice(0), began=0))

    left = tuple(one for one in WHERE.others(voice(1)) if one != voice(0))
    assert Reconcile(voices=left) in me.wakes_at(PACE.resend)


def cut_holding(world: bytes = b"w" * 32) -> CutHolding:
    return CutHolding(
        chains=chains_blob({b"a" * 32: [[A]]}, beacon=b"b" * 32),
        tick=True,
        world=world,
        secret=b"s" * 32,
        next_hash=b"n" * 32,
    )


def test_the_witness_of_a_cut_carries_its_chains() -> None:
    where = pinned(4, cut_slot())
    holding = cut_holding()
    me = Seat(where, 1, CutDesk(holding))
    (signed,) = [one for one in me.ends_window() if isinstance(one, Sign)]

    assert signed.parts == (Part(kind=PartKind.BLOB, content=holding.chains),)
    assert signed.body == CutWitness(
        chains=blob_hash(holding.chains),
        tick=True,
        world=b"w" * 32,
        secret=b"s" * 32,
        next_hash=b"n" * 32,
    )


# Rule 4: the seal.


def test_a_lock_is_kept_before_the_seal_is_signed() -> None:
    me = seat()
    votes = [said(WHERE, who, Cosign(fence=0, digest=DIGEST)) for who in (0, 2, 3)]
    asked = me.hears(*votes)

    assert Want(hashes=(DIGEST,), voice=WHERE.others(voice(1))[0]) in asked
    actions = me.hears(votes[0], parts=(value_part_of(WHERE, VALUE),))
    kept, signed = [one for one in actions if isinstance(one, KeepLock | Sign)]
    assert isinstance(kept, KeepLock)
    assert isinstance(signed, Sign)
    verify_lock(kept.lock, WHERE)
    assert kept.value == VALUE
    assert signed.body == Seal(fence=0, digest=DIGEST)
    assert bodies(me.hears(said(WHERE, 1, Cosign(fence=0, digest=DIGEST)))) == []


def test_cosigns_at_another_fence_or_of_two_values_make_no_lock() -> None:
    me = seat()
    mixed = [
        said(WHERE, 0, Cosign(fence=0, digest=DIGEST)),
        said(WHERE, 2, Cosign(fence=0, digest=OTHER_DIGEST)),
        said(WHERE, 3, Cosign(fence=0, digest=DIGEST)),
    ]
    above = [said(WHERE, who, Cosign(fence=2, digest=DIGEST)) for who in (0, 2, 3)]

    actions = me.hears(*mixed, *above, parts=(value_part_of(WHERE, VALUE),))
    assert bodies(actions) == []


# Rule 5: the promise.


def test_the_timer_of_fence_0_runs_from_my_witness() -> None:
    me = seat()

    assert bodies(me.wakes_at(10_000)) == []
    me.ends_window()
    assert bodies(me.wakes_at(10_000 + PACE.leader_timer - 1)) == []
    assert bodies(me.wakes_at(10_000 + PACE.leader_timer)) == [promise(1)]


def test_timers_double_ten_times() -> None:
    assert [timer_of(k, 3) for k in (0, 1, 2, 10, 11, 2**62)] == [3, 6, 12, 3072, 3072, 3072]


def test_above_fence_0_the_timer_waits_for_q_members() -> None:
    me = seat()
    me.ends_window()
    me.wakes_at(400)
    me.hears(said(WHERE, 0, promise(1)))

    # Alone or with too few, nobody counts fences up.
    assert bodies(me.wakes_at(50_000)) == []
    me.hears(said(WHERE, 2, promise(1)))
    assert bodies(me.wakes_at(50_000 + 2 * PACE.leader_timer - 1)) == []
    assert bodies(me.wakes_at(50_000 + 2 * PACE.leader_timer)) == [promise(2)]


def test_f_plus_one_others_above_carry_me_to_the_lowest_honest_of_them() -> None:
    me = seat()

    assert bodies(me.hears(said(WHERE, 0, promise(2**31)))) == []
    assert bodies(me.hears(said(WHERE, 2, promise(7)))) == [promise(7)]
    assert bodies(me.hears(said(WHERE, 0, promise(2**40)))) == []


def test_no_fence_is_promised_beyond_the_last() -> None:
    me = seat(where=pinned(2))
    me.hears(said(pinned(2), 0, promise(MOST_FENCE)))

    assert me.state.fence == MOST_FENCE
    assert bodies(me.wakes_at(10**9)) == []


def test_a_promise_reports_my_lock_with_its_value() -> None:
    me = seat()
    me.ends_window()
    votes = [said(WHERE, who, Cosign(fence=0, digest=DIGEST)) for who in (0, 2, 3)]
    me.hears(*votes, parts=(value_part_of(WHERE, VALUE),))
    (signed,) = [one for one in me.wakes_at(400) if isinstance(one, Sign)]

    lock = me.state.lock
    assert lock is not None
    assert signed.body == Promise(fence=1, lock_fence=0, lock_digest=DIGEST)
    assert signed.parts == (lock_part_of(lock), value_part_of(WHERE, VALUE))


def test_nothing_is_signed_below_a_promised_fence() -> None:
    me = seat()
    heard = three_witnesses()
    me.hears(*heard, said(WHERE, 0, promise(1)), said(WHERE, 2, promise(1)))

    assert me.state.fence == 1
    votes = [said(WHERE, who, Cosign(fence=0, digest=DIGEST)) for who in (0, 2, 3)]
    actions = me.hears(
        said(WHERE, HOME, propose(0, DIGEST, heard)),
        *votes,
        parts=(value_part_of(WHERE, VALUE),),
    )
    assert bodies(actions) == []


# Rule 6: the certificate.


def test_q_seals_are_final_at_any_fence_and_are_told_to_everybody() -> None:
    me = seat()
    seals = seals_of(WHERE, 6, DIGEST, (0, 2, 3))
    actions = me.hears(*seals, parts=(value_part_of(WHERE, VALUE),))
    done = [one for one in actions if isinstance(one, KeepCertificate | Send | Final)]

    assert [type(one) for one in done] == [KeepCertificate, Send, Final]
    keep, send, final = done
    assert isinstance(keep, KeepCertificate)
    verify_certificate(keep.certificate, WHERE)
    assert keep.certificate.digest == DIGEST
    assert send == Send(to=None, packet=CertificatePacket(certificate=keep.certificate))
    assert final == Final(certificate=keep.certificate)
    assert me.state.is_final


def test_seals_of_different_fences_are_no_certificate() -> None:
    me = seat()
    seals = [said(WHERE, who, Seal(fence=who, digest=DIGEST)) for who in (0, 2, 3)]
    me.hears(*seals, parts=(value_part_of(WHERE, VALUE),))

    assert not me.state.is_final


def test_one_instance_alone_decides_by_the_same_rules() -> None:
    where = pinned(1)
    me = Seat(where, 0, ListDesk(where, held={A}))
    actions = me.feed(WindowEnded())

    assert [type(one) for one in bodies(actions)] == [ListWitness, Propose, Cosign, Seal]
    assert [type(one) for one in actions][-2:] == [KeepCertificate, Final]
    certificate = me.state.certificate
    assert certificate is not None
    assert certificate.value == VALUE
    assert not any(isinstance(one, Send) for one in actions)


def test_somebody_without_a_voice_follows_and_signs_nothing() -> None:
    for me in (seat(None), Seat(WHERE, 9, ListDesk(WHERE, held={A}))):
        me.feed(WindowEnded())
        heard = three_witnesses()
        me.hears(*heard, said(WHERE, HOME, propose(0, DIGEST, heard)))
        me.hears(said(WHERE, 0, promise(3)), said(WHERE, 2, promise(3)))
        me.hears(*seals_of(WHERE, 6, DIGEST, (0, 2, 3)), parts=(value_part_of(WHERE, VALUE),))

        assert me.signed == []
        assert me.state.is_final
        assert me.state.fence == SlotState().fence
