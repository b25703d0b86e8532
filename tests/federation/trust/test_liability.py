from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from federation.charter import preset
from federation.core import MILLION
from federation.trust import Evidence, EvidenceKind, Liability, liability_evidence

TABLE = preset("community").trust.evidence
OPERATOR = b"O" * 32


def _name(n: int) -> bytes:
    return bytes([n]) * 32


def _liability(*vouches: tuple[int, int], negative: int = 4 * MILLION) -> Liability:
    return Liability(
        cause=b"c" * 32,
        tick=6,
        agent=_name(0),
        operator=OPERATOR,
        negative=negative,
        vouches=tuple((_name(by), _name(agent)) for by, agent in vouches),
    )


def _paid(liability: Liability, table: object = TABLE) -> dict[int, int]:
    rows = liability_evidence(liability, table)  # type: ignore[arg-type]
    return {row.subject[0]: row.negative for row in rows}


def test_a_voucher_bears_a_quarter_of_what_its_vouchee_did() -> None:
    assert liability_evidence(_liability((1, 0)), TABLE) == (
        Evidence(
            tick=6,
            cause=b"c" * 32,
            kind=EvidenceKind.LIABILITY,
            subject=_name(1),
            source=OPERATOR,
            positive=0,
            negative=MILLION,
            practice=False,
        ),
    )


def test_the_second_hop_bears_half_and_the_third_nothing() -> None:
    assert _paid(_liability((3, 2), (2, 1), (1, 0))) == {1: MILLION, 2: 500_000}


def test_everybody_pays_once_for_the_shortest_way() -> None:
    # 2 vouched for the bad agent itself and for one who did.
    assert _paid(_liability((1, 0), (2, 0), (2, 1), (2, 0))) == {1: MILLION, 2: MILLION}


def test_circles_end_and_the_bad_agent_does_not_pay_for_itself() -> None:
    assert _paid(_liability((1, 0), (0, 1), (2, 1), (1, 2), (0, 0))) == {1: MILLION, 2: 500_000}


def test_vouches_for_others_and_by_the_bad_agent_cost_nothing() -> None:
    assert _paid(_liability((0, 5), (6, 7))) == {}
    assert _paid(_liability()) == {}


@pytest.mark.parametrize(
    ("hops", "paid"),
    [(0, {}), (1, {1: MILLION}), (3, {1: MILLION, 2: 500_000, 3: 250_000})],
)
def test_the_charter_says_how_far_it_goes(hops: int, paid: dict[int, int]) -> None:
    chain = _liability((3, 2), (2, 1), (1, 0))

    assert _paid(chain, changed(TABLE, liability_hops=hops)) == paid


def test_a_share_too_small_to_halve_ends_and_a_million_hops_cost_nothing() -> None:
    chain = _liability(*((n + 1, n) for n in range(9)), negative=20)

    # 5, 2, 1, and then nothing is left to halve.
    assert _paid(chain, changed(TABLE, liability_hops=1_000_000)) == {1: 5, 2: 2, 3: 1}
    assert _paid(replace(chain, negative=0)) == {}


VOUCHES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20)


@given(vouches=VOUCHES, data=st.data())
def test_the_order_of_vouches_does_not_matter_and_nobody_pays_twice(
    vouches: list[tuple[int, int]], data: st.DataObject
) -> None:
    rows = liability_evidence(_liability(*vouches), TABLE)
    shuffled = data.draw(st.permutations(vouches))

    assert liability_evidence(_liability(*shuffled), TABLE) == rows
    assert len({row.subject for row in rows}) == len(rows)
    assert list(rows) == sorted(rows)
    assert _name(0) not in {row.subject for row in rows}
    # A direct voucher pays in full, whatever else there is.
    assert {by for by, agent in vouches if agent == 0} - {0} == {
        row.subject[0] for row in rows if row.negative == MILLION
    }


@given(vouches=VOUCHES, negative=st.integers(0, 10**12), share=st.integers(0, MILLION))
def test_who_vouched_bears_no_more_than_its_share_and_the_second_hop_half_of_it(
    vouches: list[tuple[int, int]], negative: int, share: int
) -> None:
    table = changed(TABLE, liability=share)
    paid = _paid(_liability(*vouches, negative=negative), table)
    direct = {by for by, agent in vouches if agent == 0} - {0}

    assert all(amount * MILLION <= share * negative for amount in paid.values())
    hops = [amount for by, amount in paid.items() if by not in direct]
    assert all(2 * amount * MILLION <= share * negative for amount in hops)
    ways = 2 * len(direct) + len(hops)
    assert 2 * sum(paid.values()) * MILLION <= share * negative * ways
