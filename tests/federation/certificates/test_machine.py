"""The whole machine: alone against scripted events, and with others on a simulated network.

Every run of the network also checks, through its auditor, that no fence has two locks, that there
is one digest over all certificates anybody could show, that signed fences never fall, that no
honest member contradicts itself, and that no proof of fault names one.
"""

import pytest

from federation.certificates import (
    Certificate,
    Cosign,
    CutValue,
    FaultFound,
    ListValue,
    Part,
    PartKind,
    Received,
    ReceivedCertificate,
    ReceivedParts,
    Seal,
    Send,
    WakeAt,
    Want,
    blob_hash,
    part_address,
    positions_from_blob,
    value_digest,
)
from federation.certificates.proofs import endorsements
from federation.certificates.state import NEAR
from federation.core import PeerError
from tests.federation.certificates.hall import (
    PACE,
    ListDesk,
    Seat,
    bodies,
    cut_slot,
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
from tests.federation.certificates.liar import Chaos
from tests.federation.certificates.network import GOOD_AT, Hall

WHERE = pinned(4)
A = name("a")
END = GOOD_AT + 30_000
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


def test_a_certificate_that_does_not_verify_changes_nothing() -> None:
    me = seat()
    before = me.state
    with pytest.raises(PeerError):
        me.feed(ReceivedCertificate(certificate=certificate(0, 2), sender=voice(0)))

    assert me.state == before


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


def block(seed: int, size: int) -> range:
    """Give each seed of the command line a block of seeds of its own."""
    return range(seed * size, (seed + 1) * size)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_everybody_ends_with_one_certificate_once_the_network_is_good(
    n: int, slot_seed: int
) -> None:
    for seed in block(slot_seed, 8):
        hall = Hall(n, seed, loss=0.35, crashes=0.02).run(END)

        assert hall.all_final, f"seed {seed}"
        assert len(set(hall.auditor.finals.values())) == 1


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_crash_at_any_single_point_contradicts_nothing_and_stops_nothing(n: int) -> None:
    calm = Hall(n, 0, loss=0, crashes=0).run(END)
    for point in range(1, calm.points + 1):
        hall = Hall(n, 0, loss=0, crashes=0, strike_at=point).run(END)

        assert hall.all_final, f"point {point}"


def test_three_operators_that_chose_availability_decide_without_one(slot_seed: int) -> None:
    for seed in block(slot_seed, 8):
        silent = seed % 3
        hall = Hall(3, seed, who_lies=silent, available=True, crashes=0.02).run(END)

        assert hall.all_final, f"seed {seed}"


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_too_few_members_decide_nothing_and_count_no_fences(n: int) -> None:
    hall = Hall(n, 1, loss=0, crashes=0)
    for who in range(hall.where.quorum.q - 1, n):
        hall.peers[who].up = False
    hall.run(50_000)

    assert not hall.auditor.finals
    assert all(fence <= 1 for fence in hall.auditor.fences.values())


@pytest.mark.parametrize("n", [4, 7])
def test_one_liar_neither_divides_nor_stops_the_others(n: int, slot_seed: int) -> None:
    for seed in block(slot_seed, 15 if n == 4 else 6):
        hall = Hall(n, seed, liar=Chaos, who_lies=seed % n, loss=(seed % 4) / 8, crashes=0.02).run(
            END
        )

        assert hall.all_final, f"seed {seed}"


@pytest.mark.parametrize("n", [2, 3])
def test_where_everybody_must_agree_a_liar_can_only_stop_the_others(n: int, slot_seed: int) -> None:
    for seed in block(slot_seed, 6):
        Hall(n, seed, liar=Chaos, who_lies=seed % n, crashes=0.02).run(GOOD_AT)


def test_what_all_honest_members_hold_in_time_is_in_the_list(slot_seed: int) -> None:
    for seed in block(slot_seed, 6):
        hall = Hall(4, seed, liar=Chaos, who_lies=seed % 4).run(END)
        for peer in hall.peers.values():
            certificate = peer.state.certificate
            assert certificate is not None
            assert isinstance(certificate.value, ListValue)
            listed = set(certificate.value.records)

            assert hall.common <= listed, f"seed {seed}"
            assert listed <= hall.common | hall.rare, f"seed {seed}"


@pytest.mark.parametrize("n", [1, 3, 4])
def test_cuts_are_decided_by_the_same_machine(n: int, slot_seed: int) -> None:
    for seed in block(slot_seed, 4):
        hall = Hall(n, seed, loss=0.3, crashes=0.02, of=cut_slot()).run(END)
        assert hall.all_final, f"seed {seed}"
        for peer in hall.peers.values():
            certificate = peer.state.certificate
            assert certificate is not None
            assert isinstance(certificate.value, CutValue)
            blob = peer.state.blobs[certificate.value.positions]

            assert positions_from_blob(blob)[name("author", 0)].seq == len(hall.common) - 1


def test_a_member_that_is_shut_out_for_long_comes_back_and_ends_alike() -> None:
    lonely = 2

    def gate(sender: int, to: int, _: object) -> bool:
        return hall.now > 20_000 or lonely not in {sender, to}

    hall = Hall(4, 5, loss=0, crashes=0, gate=gate)
    hall.run(20_000)
    assert set(hall.auditor.finals) == {0, 1, 3}
    hall.run(40_000)

    assert hall.all_final


def test_a_partition_without_quorum_on_either_side_heals() -> None:
    def gate(sender: int, to: int, _: object) -> bool:
        return hall.now > 30_000 or (sender < 2) == (to < 2)

    hall = Hall(4, 5, loss=0, crashes=0, gate=gate)
    hall.run(30_000)
    assert not hall.auditor.finals
    hall.run(60_000)

    assert hall.all_final
