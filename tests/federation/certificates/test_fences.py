from dataclasses import replace

import pytest

from federation.certificates import (
    Cosign,
    Heard,
    ListValue,
    Lock,
    MessagePacket,
    Packet,
    Pinned,
    Promise,
    Sign,
    fences,
    value_digest,
)
from federation.certificates.fences import MOST_FENCE, timer_of
from federation.certificates.turn import Turn
from tests.federation.certificates.hall import (
    PACE,
    ListDesk,
    Seat,
    bodies,
    index_of,
    lock_part_of,
    name,
    pinned,
    promise,
    propose,
    said,
    slot,
    value_part_of,
    witness,
)
from tests.federation.certificates.network import Hall

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


def chased(seed: int) -> Hall:
    """Let three of four count fences apart for long, with timers that soon stop growing."""

    def gate(_: int, __: int, packet: Packet) -> bool:
        return hall.now > 20_000 or not isinstance(packet, MessagePacket)

    hall = Hall(4, seed, who_lies=3, loss=0, crashes=0, spread=6_000, gate=gate)
    return hall.run(80_000)


def from_my_promise(turn: Turn) -> None:
    """Start the timer of a fence with my own promise, whoever else has come there."""
    if turn.state.fence_since is None and (turn.state.witnessed or turn.state.fence):
        turn.state = replace(turn.state, fence_since=turn.now)


def test_members_do_not_chase_each_other_from_fence_to_fence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fences, "DOUBLINGS", 2)

    assert all(chased(seed).all_final for seed in range(8))


def test_timers_from_my_own_promise_would_let_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fences, "DOUBLINGS", 2)
    monkeypatch.setattr(fences, "start_timer", from_my_promise)

    assert not all(chased(seed).all_final for seed in range(8))
