import pytest

from federation.certificates import (
    Cosign,
    CutHolding,
    CutValue,
    CutWitness,
    FetchRecords,
    Final,
    Fresh,
    Heard,
    KeepCertificate,
    KeepLock,
    ListValue,
    ListWitness,
    Lock,
    NoValue,
    Part,
    PartKind,
    Pinned,
    Propose,
    Reconcile,
    Reconciled,
    RecordsArrived,
    Seal,
    Send,
    Sign,
    Want,
    WindowEnded,
    blob_hash,
    chains_blob,
    member,
    value_digest,
    verify_lock,
)
from federation.certificates.member import Permit, is_shaped, promises_permit
from federation.certificates.proofs import lock_hash
from federation.certificates.state import SlotState
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


def cut_holding(world: bytes = b"w" * 32) -> CutHolding:
    return CutHolding(
        chains=chains_blob({b"a" * 32: [[A]]}, beacon=b"b" * 32),
        tick=True,
        world=world,
        secret=b"s" * 32,
        next_hash=b"n" * 32,
    )


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


def test_a_fresh_value_is_cosigned_at_fence_0_before_my_own_window_ends() -> None:
    me = seat()
    heard = three_witnesses()
    me.hears(*heard)

    assert bodies(me.hears(said(WHERE, HOME, propose(0, DIGEST, heard)))) == [
        Cosign(fence=0, digest=DIGEST)
    ]


@pytest.mark.parametrize("digest", [OTHER_DIGEST, b"x" * 32])
def test_no_other_value_is_cosigned_at_fence_0(digest: bytes) -> None:
    me = seat()
    heard = three_witnesses()
    me.hears(*heard)
    proposal = said(WHERE, HOME, propose(0, digest, heard))

    assert bodies(me.hears(proposal)) == []
    assert me.state.refused == {proposal.hash}
    assert bodies(me.hears(proposal)) == []


def test_a_member_cosigns_once_at_a_fence() -> None:
    me = seat()
    heard = three_witnesses()
    other = said(WHERE, 2, witness())
    me.hears(*heard, said(WHERE, HOME, propose(0, DIGEST, heard)))
    double = [heard[0], other, heard[2]]

    assert bodies(me.hears(other, said(WHERE, HOME, propose(0, OTHER_DIGEST, double)))) == []


@pytest.mark.parametrize("names", [(0, 2), (0, 2, 3, 1), (0, 2, 2)])
def test_a_fresh_value_needs_exactly_q_witnesses_of_distinct_members(names: tuple[int]) -> None:
    me = seat()
    heard = [said(WHERE, who, witness(A)) for who in names]
    me.hears(*heard)

    assert bodies(me.hears(said(WHERE, HOME, propose(0, DIGEST, heard)))) == []


def test_what_is_named_as_a_witness_must_be_one() -> None:
    me = seat()
    heard = [*three_witnesses()[:2], said(WHERE, 3, Cosign(fence=0, digest=DIGEST))]
    me.hears(*heard)
    proposal = said(WHERE, HOME, propose(0, DIGEST, heard))
    me.hears(proposal)

    assert me.state.refused == {proposal.hash}


def test_only_the_leader_of_a_fence_is_followed() -> None:
    me = seat()
    heard = three_witnesses()
    me.hears(*heard)

    assert bodies(me.hears(said(WHERE, 2, propose(0, DIGEST, heard)))) == []


def test_records_that_are_not_held_are_fetched_from_those_that_named_them_first() -> None:
    desk = ListDesk(WHERE)
    me = Seat(WHERE, 1, desk)
    heard = three_witnesses()
    me.hears(*heard)
    actions = me.hears(said(WHERE, HOME, propose(0, DIGEST, heard)))

    assert bodies(actions) == []
    (fetch,) = [one for one in actions if isinstance(one, FetchRecords)]
    assert fetch.ids == (A,)
    assert set(fetch.voices) == {voice(0), voice(2), voice(3)}
    desk.held.add(A)
    # The desk is asked again when records arrive, not at every event.
    assert bodies(me.hears(heard[0])) == []
    assert bodies(me.feed(RecordsArrived())) == [Cosign(fence=0, digest=DIGEST)]


def test_named_messages_that_were_not_heard_are_asked_for() -> None:
    me = seat()
    heard = three_witnesses()
    me.hears(heard[0])
    actions = me.hears(said(WHERE, HOME, propose(0, DIGEST, heard)))

    assert Want(hashes=(heard[1].hash, heard[2].hash), voice=voice(HOME)) in actions
    assert bodies(me.hears(*heard[1:])) == [Cosign(fence=0, digest=DIGEST)]


def test_a_second_witness_that_a_proposal_names_is_used_although_it_is_a_lie() -> None:
    me = seat()
    first = said(WHERE, 2, witness())
    heard = three_witnesses()
    me.hears(heard[0], first, heard[2], said(WHERE, HOME, propose(0, DIGEST, heard)))

    # Both are well signed; everybody who judges this proposal judges it by the same one.
    assert bodies(me.hears(heard[1])) == [Cosign(fence=0, digest=DIGEST)]
    assert voice(2) in me.state.faulty


def test_above_fence_0_a_member_promises_before_it_cosigns() -> None:
    me = seat()
    heard, behind = three_witnesses(), promises(1, None, None, None)
    me.hears(*heard)
    me.hears(*behind[:1])
    proposal = said(WHERE, LEADERS[1], propose(1, DIGEST, heard, behind))
    signed = bodies(me.hears(proposal)) + bodies(me.hears(*behind[1:]))

    assert signed == [promise(1), Cosign(fence=1, digest=DIGEST)]


def test_a_locked_value_is_cosigned_without_judging_its_content() -> None:
    me = Seat(WHERE, 1, ListDesk(WHERE))
    lock = lock_of(WHERE, 0, DIGEST, (0, 2, 3))
    fence = next(k for k in (2, 3, 1) if LEADERS[k] != 1)
    behind = promises(fence, lock, None, None)
    proposal = said(WHERE, LEADERS[fence], propose(fence, DIGEST, (), behind, lock_hash(lock)))
    me.hears(*behind)
    actions = me.hears(proposal, parts=(lock_part_of(lock),))

    assert bodies(actions) == []
    assert Want(hashes=(DIGEST,), voice=voice(LEADERS[fence])) in actions
    actions = me.hears(proposal, parts=(value_part_of(WHERE, VALUE),))
    assert bodies(actions) == [Cosign(fence=fence, digest=DIGEST)]


def test_a_lock_that_does_not_verify_permits_nothing() -> None:
    me = seat()
    forged = Lock(fence=0, digest=DIGEST, cosigns=lock_of(WHERE, 1, DIGEST, (0, 2, 3)).cosigns)
    fence = next(k for k in (2, 3, 1) if LEADERS[k] != 1)
    behind = promises(fence, forged, None, None)
    proposal = said(WHERE, LEADERS[fence], propose(fence, DIGEST, (), behind, lock_hash(forged)))
    me.hears(*behind)
    parts = (lock_part_of(forged), value_part_of(WHERE, VALUE))

    assert bodies(me.hears(proposal, parts=parts)) == []
    assert lock_hash(forged) in me.state.spoiled
    # Nobody is asked for it again.
    assert not any(isinstance(one, Want) for one in me.wakes_at(PACE.resend))


def test_a_cut_on_another_world_than_mine_is_not_cosigned() -> None:
    where = pinned(4, cut_slot())

    def judged(mine: bytes, *, window_ended: bool) -> Seat:
        positions = Part(kind=PartKind.BLOB, content=b"\x90")
        value = CutValue(
            number=5,
            tick=True,
            positions=blob_hash(b"\x90"),
            world=b"w" * 32,
            secrets=(),
        )
        holding = cut_holding()
        blob = Part(kind=PartKind.BLOB, content=holding.chains)
        who = index_of(where.leader(1))
        me = Seat(where, who, CutDesk(cut_holding(mine), Fresh(value=value, parts=(positions,))))
        if window_ended:
            me.ends_window()
        body = CutWitness(
            chains=blob_hash(holding.chains),
            tick=True,
            world=b"w" * 32,
            secret=b"s" * 32,
            next_hash=b"n" * 32,
        )
        heard = [said(where, other, body) for other in range(4) if other != who]
        me.hears(*heard, parts=(blob,))
        home = index_of(where.leader(0))
        me.hears(said(where, home, propose(0, value_digest(where.slot, value), heard)))
        return me

    same, other = judged(b"w" * 32, window_ended=False), judged(b"x" * 32, window_ended=True)

    assert isinstance(same.signed[-1].body, Cosign)
    assert not same.state.diverged
    assert [type(one.body) for one in other.signed] == [CutWitness]
    assert other.state.diverged
    assert judged(b"x" * 32, window_ended=False).state.diverged


def test_witnesses_that_amount_to_nothing_permit_nothing() -> None:
    where = pinned(4, cut_slot())
    holding = cut_holding()
    blob = Part(kind=PartKind.BLOB, content=holding.chains)
    who = index_of(where.leader(1))
    desk = CutDesk(holding, NoValue(why="no world"))
    me = Seat(where, who, desk)
    body = CutWitness(chains=blob_hash(holding.chains), tick=True, world=A, secret=A, next_hash=A)
    heard = [said(where, other, body) for other in range(4) if other != who]
    proposal = said(where, index_of(where.leader(0)), propose(0, A, heard))
    me.hears(*heard)
    me.hears(proposal)

    assert desk.asked == []
    me.hears(heard[0], parts=(blob,))
    assert me.state.refused == {proposal.hash}


# The promises behind a proposal.


LOW, HIGH = lock_of(WHERE, 1, DIGEST, (0, 2, 3)), lock_of(WHERE, 3, DIGEST, (0, 2, 3))
STRAY = Lock(fence=3, digest=OTHER_DIGEST, cosigns=HIGH.cosigns)
TOP = Lock(fence=5, digest=DIGEST, cosigns=HIGH.cosigns)


@pytest.mark.parametrize(
    ("digest", "locks", "lock", "permit"),
    [
        (OTHER_DIGEST, (None, None, None), None, Permit.FRESH),
        (DIGEST, (None, LOW, None), LOW, Permit.LOCKED),
        (DIGEST, (HIGH, LOW, None), HIGH, Permit.LOCKED),
        (DIGEST, (None, None, None), LOW, Permit.REFUSED),
        (DIGEST, (None, LOW, None), None, Permit.REFUSED),
        (DIGEST, (HIGH, LOW, None), LOW, Permit.REFUSED),
        (OTHER_DIGEST, (HIGH, LOW, None), HIGH, Permit.REFUSED),
        (DIGEST, (HIGH, STRAY, None), HIGH, Permit.REFUSED),
        (DIGEST, (TOP, LOW, None), TOP, Permit.REFUSED),
        (DIGEST, (TOP, LOW, None), LOW, Permit.REFUSED),
    ],
)
def test_only_the_value_of_the_highest_claimed_lock_may_be_proposed(
    digest: bytes, locks: tuple[Lock | None, ...], lock: Lock | None, permit: Permit
) -> None:
    behind = promises(5, *locks)
    name_of = None if lock is None else lock_hash(lock)

    assert promises_permit(WHERE, propose(5, digest, (), behind, name_of), behind, lock) is permit


def test_promises_must_be_q_by_distinct_members_for_exactly_this_fence() -> None:
    good = promises(5, None, None, None)

    def permit(*behind: Heard) -> Permit:
        return promises_permit(WHERE, propose(5, DIGEST, (), behind), behind, None)

    assert permit(*good) is Permit.FRESH
    assert permit(*good[:2]) is Permit.REFUSED
    assert permit(*good, said(WHERE, 1, promise(5))) is Permit.REFUSED
    assert permit(*good[:2], good[0]) is Permit.REFUSED
    assert permit(*good[:2], said(WHERE, 3, promise(4))) is Permit.REFUSED
    assert permit(*good[:2], said(WHERE, 3, promise(6))) is Permit.REFUSED
    assert permit(*good[:2], said(WHERE, 3, Seal(fence=5, digest=DIGEST))) is Permit.REFUSED
    assert permit(*good[:2], said(pinned(7), 6, promise(5))) is Permit.REFUSED


def test_the_form_of_a_proposal_bounds_what_it_can_make_me_fetch() -> None:
    w, p = three_witnesses(), promises(1, None, None, None)
    lock = b"l" * 32

    def shaped(body: Propose) -> bool:
        return is_shaped(WHERE, WHERE.leader(body.fence), body)

    assert shaped(propose(0, DIGEST, w))
    assert shaped(propose(1, DIGEST, w, p))
    assert shaped(propose(1, DIGEST, (), p, lock))
    for bad in (
        propose(0, DIGEST),
        propose(0, DIGEST, w, p),
        propose(0, DIGEST, w, (), lock),
        propose(1, DIGEST, w),
        propose(1, DIGEST, (), p),
        propose(1, DIGEST, w, p, lock),
        propose(1, DIGEST, (), [*p, *p], lock),
    ):
        assert not shaped(bad)
    assert not is_shaped(WHERE, WHERE.leader(1), propose(0, DIGEST, w))


def test_a_member_that_waits_for_records_goes_on_when_the_desk_knows_more() -> None:
    desk = ListDesk(WHERE)
    me = Seat(WHERE, 1, desk)
    heard = three_witnesses()
    me.hears(*heard)
    me.hears(said(WHERE, HOME, propose(0, DIGEST, heard)))

    again = [one for one in me.wakes_at(PACE.resend) if isinstance(one, FetchRecords)]
    assert len(again) == 1


def test_a_proposal_above_my_fence_makes_me_promise_it_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # True promises of q members would have carried me there already (rule 5).
    monkeypatch.setattr(member, "promises_permit", lambda *_: Permit.FRESH)
    me = seat()
    heard = three_witnesses()
    one = said(WHERE, 0, promise(2))
    proposal = said(WHERE, LEADERS[2], propose(2, DIGEST, heard, [one] * 3))
    me.hears(*heard, one)

    assert bodies(me.hears(proposal)) == [promise(2), Cosign(fence=2, digest=DIGEST)]
