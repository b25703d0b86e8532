import pytest

from federation.certificates import (
    Cosign,
    CutHolding,
    CutValue,
    Fresh,
    Heard,
    ListValue,
    Lock,
    Part,
    PartKind,
    Propose,
    Quorum,
    RecordsArrived,
    Sign,
    WakeAt,
    Want,
    blob_hash,
    member,
    membership,
    proofs,
    value_digest,
)
from federation.certificates.leader import leads
from federation.certificates.messages import CutWitness
from federation.certificates.proofs import lock_hash
from federation.certificates.turn import Turn
from federation.certificates.values import Value
from tests.federation.certificates import hall as hall_of
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
    said,
    slot,
    value_part_of,
    verify,
    voice,
    witness,
)
from tests.federation.certificates.usurpers import STOLEN_DIGEST, divided, usurped

WHERE = pinned(4)
A = name("a")
VALUE = ListValue(records=(A,))
DIGEST = value_digest(slot(), VALUE)
NEXT = index_of(WHERE.leader(1))
OTHERS = [who for who in range(4) if who != NEXT]


def home(*, held: bool = True) -> Seat:
    return Seat(WHERE, 0, ListDesk(WHERE, held={A} if held else set()))


def proposals(actions: list[object]) -> list[Propose]:
    return [one.body for one in actions if isinstance(one, Sign) and isinstance(one.body, Propose)]


def at_fence_1(*promised: Heard, parts: tuple[Part, ...] = ()) -> tuple[Seat, list[object]]:
    """Seat the leader of fence 1, and let it hear promises until it stands there."""
    me = Seat(WHERE, NEXT, ListDesk(WHERE, held={A}))
    actions: list[object] = []
    actions += me.hears(*promised, parts=parts)
    return me, actions


def test_the_leader_of_fence_0_proposes_at_once_when_all_have_witnessed() -> None:
    me = home()
    me.ends_window()
    heard = [said(WHERE, who, witness(A)) for who in (1, 2, 3)]

    assert proposals(me.hears(*heard[:2])) == []
    (body,) = proposals(me.hears(heard[2]))
    assert body.fence == 0
    assert body.digest == DIGEST
    assert me.signed[0].hash in body.witnesses
    assert len(body.witnesses) == 3
    assert (body.promises, body.lock) == ((), None)


def test_with_q_witnesses_it_waits_for_the_grace() -> None:
    me = home()
    me.ends_window()
    me.now = 10
    actions = me.hears(*[said(WHERE, who, witness(A)) for who in (1, 2)])

    assert WakeAt(at=10 + PACE.grace) in actions
    assert proposals(me.wakes_at(9 + PACE.grace)) == []
    assert len(proposals(me.wakes_at(10 + PACE.grace))) == 1
    assert proposals(me.wakes_at(11 + PACE.grace)) == []


def test_a_known_liar_is_asked_last() -> None:
    me = home()
    me.ends_window()
    liar, *honest = list(map(index_of, WHERE.others(voice(0))))
    me.hears(said(WHERE, liar, Cosign(fence=9, digest=DIGEST)))
    me.hears(said(WHERE, liar, Cosign(fence=9, digest=A)))
    heard = {who: said(WHERE, who, witness(A)) for who in (liar, *honest)}
    actions: list[object] = []
    for one in heard.values():
        actions += me.hears(one)
    (body,) = proposals(actions)

    assert heard[liar].hash not in body.witnesses


def test_it_fetches_what_it_needs_and_then_proposes() -> None:
    desk = ListDesk(WHERE)
    me = Seat(WHERE, 0, desk)
    me.ends_window()
    me.hears(*[said(WHERE, who, witness(A)) for who in (1, 2, 3)])

    assert not any(isinstance(one.body, Propose) for one in me.signed)
    desk.held.add(A)
    assert len(proposals(list(me.feed(RecordsArrived())))) == 1


def test_nobody_else_proposes() -> None:
    me = Seat(WHERE, NEXT, ListDesk(WHERE, held={A}))
    me.ends_window()

    actions = me.hears(*[said(WHERE, who, witness(A)) for who in OTHERS])
    assert proposals(list(actions)) == []


def test_without_locks_the_next_leader_proposes_a_fresh_value() -> None:
    promised = [said(WHERE, who, promise(1)) for who in OTHERS]
    witnesses = [said(WHERE, who, witness(A)) for who in OTHERS]
    me, actions = at_fence_1(*promised)

    assert proposals(actions) == []
    (body,) = proposals(list(me.hears(*witnesses)))
    assert body.fence == 1
    assert body.digest == DIGEST
    assert body.lock is None
    assert len(body.promises) == len(body.witnesses) == 3
    assert me.signed[0].hash in body.promises


def test_the_value_of_the_highest_lock_is_proposed_again() -> None:
    where_fence = 5 if index_of(WHERE.leader(5)) == NEXT else 1
    low = lock_of(WHERE, 0, DIGEST, OTHERS)
    high = lock_of(WHERE, 3, DIGEST, OTHERS)
    promised = [
        said(WHERE, OTHERS[0], promise(where_fence, low)),
        said(WHERE, OTHERS[1], promise(where_fence, high)),
        said(WHERE, OTHERS[2], promise(where_fence)),
    ]
    parts = (lock_part_of(low), lock_part_of(high), value_part_of(WHERE, VALUE))
    me, actions = at_fence_1(*promised, parts=parts)
    signed = [one for one in actions if isinstance(one, Sign) and isinstance(one.body, Propose)]

    assert where_fence == 5
    (one,) = signed
    assert isinstance(one.body, Propose)
    assert one.body.digest == DIGEST
    assert one.body.lock == lock_hash(high)
    assert one.body.witnesses == ()
    assert one.parts == (lock_part_of(high), value_part_of(WHERE, VALUE))
    assert bodies(list(actions))[-1] == Cosign(fence=5, digest=DIGEST)
    assert me.state.proposed == 5


def test_a_claim_without_a_lock_that_verifies_is_left_out() -> None:
    true = lock_of(WHERE, 0, DIGEST, OTHERS)
    forged = Lock(fence=0, digest=A, cosigns=true.cosigns)
    itself = Lock(fence=1, digest=DIGEST, cosigns=lock_of(WHERE, 1, DIGEST, OTHERS).cosigns)
    witnesses = [said(WHERE, who, witness(A)) for who in OTHERS]
    for bad in (forged, itself):
        promised = [
            said(WHERE, OTHERS[0], promise(1)),
            said(WHERE, OTHERS[1], promise(1, bad)),
        ]
        me, _ = at_fence_1(*promised, parts=(lock_part_of(bad), value_part_of(WHERE, VALUE)))
        me.hears(*witnesses)

        assert not any(isinstance(one.body, Propose) for one in me.signed)
        (body,) = proposals(list(me.hears(said(WHERE, OTHERS[2], promise(1)))))
        assert promised[1].hash not in body.promises


def test_a_claim_whose_lock_was_not_sent_is_left_out() -> None:
    lock = lock_of(WHERE, 0, DIGEST, OTHERS)
    promised = [
        said(WHERE, OTHERS[0], promise(1)),
        said(WHERE, OTHERS[1], promise(1, lock)),
    ]
    me, _ = at_fence_1(*promised)
    me.hears(*[said(WHERE, who, witness(A)) for who in OTHERS])

    assert not any(isinstance(one.body, Propose) for one in me.signed)
    # It is repeated with its lock, and counts.
    actions = me.hears(promised[1], parts=(lock_part_of(lock),))
    assert Want(hashes=(DIGEST,), voice=voice(OTHERS[1])) in actions
    (body,) = proposals(list(me.hears(promised[1], parts=(value_part_of(WHERE, VALUE),))))
    assert body.lock == lock_hash(lock)


def cut_scene() -> tuple[CutHolding, Value, Part, Part]:
    positions = Part(kind=PartKind.BLOB, content=b"\x90")
    chains = Part(kind=PartKind.BLOB, content=b"\x90")
    holding = CutHolding(chains=b"\x90", tick=False, world=A, secret=A, next_hash=A)
    value = CutValue(number=5, tick=False, positions=blob_hash(b"\x90"), world=A, secrets=())
    return holding, value, positions, chains


def test_a_witness_whose_chains_are_not_held_or_not_sound_is_not_used() -> None:
    where = pinned(4, cut_slot())
    holding, value, positions, chains = cut_scene()
    leader = index_of(where.leader(0))
    me = Seat(where, leader, CutDesk(holding, Fresh(value=value, parts=(positions,))))
    me.ends_window()
    rest = [who for who in range(4) if who != leader]

    def cut_witness(blob: bytes) -> CutWitness:
        return CutWitness(chains=blob_hash(blob), tick=False, world=A, secret=A, next_hash=A)

    junk = Part(kind=PartKind.BLOB, content=b"junk")
    me.hears(said(where, rest[0], cut_witness(b"junk")), parts=(junk,))
    me.hears(said(where, rest[1], cut_witness(b"\x90")), parts=(chains,))
    elsewhere = said(where, rest[2], cut_witness(b"elsewhere"))
    actions = me.hears(elsewhere)

    assert Want(hashes=(blob_hash(b"elsewhere"),), voice=voice(rest[2])) in actions
    assert proposals(list(me.wakes_at(1_000_000))) == []
    assert me.state.sound[blob_hash(b"junk")] is False


def test_leading_goes_round() -> None:
    me = home()

    def turn() -> Turn:
        return Turn(me.state, WHERE, me.me, 0, me.desk, pace=PACE, verify=verify, retry=False)

    assert leads(turn())
    me.hears(said(WHERE, 1, promise(3)), said(WHERE, 2, promise(3)))
    assert me.state.fence == 3
    assert not leads(turn())


# Leaders that lie. Each attack is harmless, and succeeds once the rule against it is taken away:
# the second half shows that these tests can fail.


@pytest.mark.parametrize("forge", [False, True])
def test_a_later_leader_cannot_undo_what_an_earlier_fence_decided(*, forge: bool) -> None:
    hall = usurped(forge=forge)
    proposed = [
        heard
        for heard in hall.liar.heard.values()  # type: ignore[union-attr]
        if isinstance(heard.body, Propose) and heard.body.digest == STOLEN_DIGEST
    ]

    assert len(proposed) == 1
    assert hall.all_final
    assert set(hall.auditor.finals.values()) != {STOLEN_DIGEST}
    sealed = {key for key, voices in hall.auditor.sealed.items() if len(voices) >= 3}
    assert 0 in {fence for fence, _ in sealed}


def test_unchecked_promises_would_let_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member, "promises_permit", lambda *_: member.Permit.LOCKED)

    with pytest.raises(AssertionError, match="two"):
        usurped(forge=False)


def test_locks_without_proof_would_let_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "verify_lock", lambda *_, **__: None)

    with pytest.raises(AssertionError, match="two"):
        usurped(forge=True)


def test_a_home_that_shows_two_lists_divides_nobody() -> None:
    hall = divided(lambda: Quorum(n=4, f=1, q=3))

    assert hall.all_final


def test_a_smaller_quorum_would_be_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Quorum(n=4, f=1, q=2)
    monkeypatch.setattr(membership, "quorum", lambda *_, **__: small)
    hall_of.pinned.cache_clear()
    try:
        with pytest.raises(AssertionError, match="two"):
            divided(lambda: small)
    finally:
        hall_of.pinned.cache_clear()
