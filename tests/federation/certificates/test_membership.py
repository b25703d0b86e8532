from dataclasses import replace

import pytest

from federation.certificates import Member, Quorum, leader_order, pin, quorum
from federation.codec import encode
from federation.core import ParameterError
from federation.crypto import plain_hash
from tests.federation.certificates.hall import (
    CHARTER,
    REALM,
    ROUND,
    cut_slot,
    name,
    pinned,
    slot,
    voice,
)


@pytest.mark.parametrize(
    ("n", "f", "q"),
    [(1, 0, 1), (2, 0, 2), (3, 0, 3), (4, 1, 3), (5, 1, 4), (7, 2, 5), (10, 3, 7), (256, 85, 171)],
)
def test_quorums_are_those_of_the_design(n: int, f: int, q: int) -> None:
    assert quorum(n, three_available=False) == Quorum(n=n, f=f, q=q)


def test_three_may_choose_availability_and_only_three() -> None:
    assert quorum(3, three_available=True) == Quorum(n=3, f=0, q=2)
    assert quorum(4, three_available=True) == quorum(4, three_available=False)


@pytest.mark.parametrize("n", range(1, 257))
def test_two_quorums_share_an_honest_member_and_the_honest_alone_are_one(n: int) -> None:
    of = quorum(n, three_available=False)

    assert 2 * of.q - of.n >= of.f + 1
    assert of.q <= of.n - of.f


@pytest.mark.parametrize("n", [0, 257])
def test_memberships_out_of_range_are_refused(n: int) -> None:
    with pytest.raises(ParameterError):
        quorum(n, three_available=False)


def test_the_home_leads_first_and_the_hash_orders_the_rest() -> None:
    where = pinned(7)

    def place(one: Member) -> bytes:
        words = ["folkmoot/1/order", REALM, (ROUND, "fast"), one.voice]
        return plain_hash(encode(words))

    assert where.leader(0) == voice(0)
    assert list(where.members[1:]) == sorted(where.members[1:], key=place)
    assert where.leader(7) == where.leader(0)
    assert where.leader(2**62) == where.members[2**62 % 7].voice


def test_a_cut_has_no_home_and_orders_anew_each_time() -> None:
    members = pinned(7).members

    with_home = leader_order(REALM, cut_slot(), members, voice(3))
    other = leader_order(REALM, cut_slot(6), members, None)

    assert with_home == leader_order(REALM, cut_slot(), members, None)
    assert {one.voice for one in other} == {one.voice for one in with_home}
    assert other != with_home


def test_members_are_found_by_their_voice() -> None:
    where = pinned(4)
    found = where.member(voice(2))

    assert found is not None
    assert found.operator == name("operator", 2)
    assert where.member(voice(9)) is None
    assert voice(2) not in where.others(voice(2))
    assert len(where.others(None)) == 4


def test_one_vote_per_operator_and_per_voice() -> None:
    first, second, *_ = pinned(4).members
    for twin in (replace(second, operator=first.operator), replace(second, voice=first.voice)):
        with pytest.raises(ParameterError):
            pin(
                realm=REALM,
                charter_hash=CHARTER,
                slot=slot(),
                members=[first, twin],
                home=None,
                three_available=False,
            )
