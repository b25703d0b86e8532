"""One slot on a simulated network: what the design promises, whatever happens.

Every run also checks, through its auditor, that no fence has two locks, that there is one digest
over all certificates anybody could show, that signed fences never fall, and that no proof of
fault names an honest member.
"""

import pytest

from federation.certificates import CutValue, ListValue, positions_from_blob
from tests.federation.certificates.hall import cut_slot, name
from tests.federation.certificates.liar import Chaos
from tests.federation.certificates.network import GOOD_AT, Hall

END = GOOD_AT + 30_000


def block(seed: int, size: int) -> range:
    """Give each seed of the command line a block of seeds of its own."""
    return range(seed * size, (seed + 1) * size)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_everybody_ends_with_one_certificate_once_the_network_is_good(
    n: int, simnet_seed: int
) -> None:
    for seed in block(simnet_seed, 8):
        hall = Hall(n, seed, loss=0.35, crashes=0.02).run(END)

        assert hall.all_final, f"seed {seed}"
        assert len(set(hall.auditor.finals.values())) == 1


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_crash_at_any_single_point_contradicts_nothing_and_stops_nothing(n: int) -> None:
    calm = Hall(n, 0, loss=0, crashes=0).run(END)
    for point in range(1, calm.points + 1):
        hall = Hall(n, 0, loss=0, crashes=0, strike_at=point).run(END)

        assert hall.all_final, f"point {point}"


def test_three_operators_that_chose_availability_decide_without_one(simnet_seed: int) -> None:
    for seed in block(simnet_seed, 8):
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
def test_one_liar_neither_divides_nor_stops_the_others(n: int, simnet_seed: int) -> None:
    for seed in block(simnet_seed, 15 if n == 4 else 6):
        hall = Hall(n, seed, liar=Chaos, who_lies=seed % n, loss=(seed % 4) / 8, crashes=0.02).run(
            END
        )

        assert hall.all_final, f"seed {seed}"


@pytest.mark.parametrize("n", [2, 3])
def test_where_everybody_must_agree_a_liar_can_only_stop_the_others(
    n: int, simnet_seed: int
) -> None:
    for seed in block(simnet_seed, 6):
        Hall(n, seed, liar=Chaos, who_lies=seed % n, crashes=0.02).run(GOOD_AT)


def test_what_all_honest_members_hold_in_time_is_in_the_list(simnet_seed: int) -> None:
    for seed in block(simnet_seed, 6):
        hall = Hall(4, seed, liar=Chaos, who_lies=seed % 4).run(END)
        for peer in hall.peers.values():
            certificate = peer.state.certificate
            assert certificate is not None
            assert isinstance(certificate.value, ListValue)
            listed = set(certificate.value.records)

            assert hall.common <= listed, f"seed {seed}"
            assert listed <= hall.common | hall.rare, f"seed {seed}"


@pytest.mark.parametrize("n", [1, 3, 4])
def test_cuts_are_decided_by_the_same_machine(n: int, simnet_seed: int) -> None:
    for seed in block(simnet_seed, 4):
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
