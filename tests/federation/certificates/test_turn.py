from federation.certificates import (
    Fresh,
    ListValue,
    ListWitness,
    Missing,
    SlotState,
    Want,
    value_digest,
)
from federation.certificates.packets import MOST_WANTED
from federation.certificates.proofs import lock_hash
from federation.certificates.turn import Turn, lock_part, value_part
from tests.federation.certificates.hall import (
    PACE,
    ListDesk,
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

WHERE = pinned(4)
VALUE = ListValue(records=(name("a"),))
DIGEST = value_digest(slot(), VALUE)
LOCK = lock_of(WHERE, 1, DIGEST, (0, 1, 2))


def turn(state: SlotState | None = None, *, me: int | None = 1, retry: bool = False) -> Turn:
    return Turn(
        state or SlotState(),
        WHERE,
        None if me is None else voice(me),
        0,
        ListDesk(WHERE),
        pace=PACE,
        verify=verify,
        retry=retry,
    )


def test_a_look_up_takes_what_came_with_the_event() -> None:
    now = turn()
    heard = said(WHERE, 2, witness())
    now.offer((value_part_of(WHERE, VALUE), lock_part_of(LOCK)), (heard,))

    assert now.value(DIGEST, ()) == VALUE
    assert now.lock(lock_hash(LOCK), ()) == LOCK
    assert now.lock(lock_hash(LOCK), ()) == LOCK
    assert now.message(heard.hash, ()) == heard
    assert now.message(heard.hash, ()) == heard
    assert value_part(now, DIGEST) == (value_part_of(WHERE, VALUE),)
    assert value_part(now, name("other")) == ()
    assert lock_part(LOCK) == lock_part_of(LOCK)


def test_a_look_up_of_something_else_becomes_a_request() -> None:
    now = turn()

    assert now.value(DIGEST, (voice(1), voice(3))) is None
    assert now.lock(lock_hash(LOCK), (voice(3),)) is None
    assert now.message(name("m"), (voice(2),)) is None
    _, actions = now.finish([])
    assert set(actions) == {
        Want(hashes=(DIGEST, lock_hash(LOCK)), voice=voice(3)),
        Want(hashes=(name("m"),), voice=voice(2)),
    }


def test_requests_are_cut_into_packets() -> None:
    now = turn()
    for i in range(MOST_WANTED + 1):
        now.message(name(i), (voice(2),))
    _, actions = now.finish([])

    assert [len(one.hashes) for one in actions if isinstance(one, Want)] == [MOST_WANTED, 1]


def test_one_instance_alone_has_nobody_to_ask() -> None:
    now = Turn(
        SlotState(),
        pinned(1),
        voice(0),
        0,
        ListDesk(pinned(1)),
        pace=PACE,
        verify=verify,
        retry=False,
    )
    now.value(DIGEST, ())

    assert now.finish([]) == (SlotState(), ())


def test_any_lock_of_a_fence_and_digest_will_do() -> None:
    other = lock_of(WHERE, 1, DIGEST, (1, 2, 3))
    forged = lock_of(WHERE, 1, DIGEST, (0, 1))
    now = turn(SlotState(lock=LOCK))

    assert now.lock_for(1, DIGEST) == LOCK
    assert now.lock_for(2, DIGEST) is None
    held = turn(SlotState(locks={lock_hash(other): other}))
    assert held.lock_for(1, DIGEST) == other
    came = turn()
    stray = lock_of(WHERE, 2, DIGEST, (0, 1, 2))
    parts = (value_part_of(WHERE, VALUE), *map(lock_part_of, (forged, stray, other)))
    came.offer(parts)
    assert came.lock_for(1, DIGEST) == other
    assert came.state.spoiled == {lock_hash(forged)}
    assert came.lock_for(9, DIGEST) is None


def test_only_a_voice_that_lost_nothing_may_sign_while_the_slot_is_open() -> None:
    assert turn().may_sign
    assert not turn(me=None).may_sign
    assert not turn(me=9).may_sign
    assert not turn(SlotState(muted=True)).may_sign


def test_only_a_witness_by_a_member_is_usable() -> None:
    now = turn()
    good = said(WHERE, 2, witness())
    found = now.usable(good)

    assert found is not None
    assert isinstance(found.body, ListWitness)
    assert now.usable(said(WHERE, 2, promise(1))) is None
    assert now.usable(said(pinned(7), 6, witness())) is None


def test_the_desk_is_asked_about_a_waiting_set_only_when_it_may_know_more() -> None:
    heard = [said(WHERE, who, witness(name("a"))) for who in (0, 2, 3)]
    first = turn()
    assert first.fresh(heard) == Missing(records=(name("a"),))
    state, actions = first.finish([])
    assert len(actions) == 1

    quiet = turn(state)
    assert quiet.fresh(heard) == quiet.fresh(heard) == Missing(records=(name("a"),))
    assert quiet.finish([]) == (state, ())

    again = turn(state, retry=True)
    assert isinstance(again.desk, ListDesk)
    again.desk.held.add(name("a"))
    assert again.fresh(heard) == Fresh(value=VALUE)
    assert again.finish([])[0].missing == {}
