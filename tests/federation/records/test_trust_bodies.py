"""Bodies about trust: rows in one order, and a root that is theirs."""

import hashlib
import re

import msgpack
import msgspec
import pytest
from hypothesis import given

from federation.codec import LIMITS, decode, encode
from federation.core import Code, PeerError
from federation.records import HEAD_ROWS, Role, TrustHead, TrustRow, trust_head_root, wire
from tests import strategies
from tests.builders import Chain, named, person


def head_of(*rows: TrustRow) -> TrustHead:
    return TrustHead(cut=1, root=trust_head_root(rows), top=rows, digest=named("world"))


def row(number: int, weight: int = 255) -> TrustRow:
    return TrustRow(named("key", number), number.to_bytes(32, "big"), weight)


def refusal(top: list[TrustRow], root: bytes) -> PeerError:
    """Give how the bytes of a head with these rows are refused."""
    fields = msgspec.msgpack.decode(encode(head_of())) | {"top": top, "root": root}
    with pytest.raises(PeerError) as refused:
        decode(encode(fields), TrustHead, what="body")
    assert refused.value.code is Code.NOT_CANONICAL
    return refused.value


@given(strategies.trust_heads())
def test_the_root_is_the_documented_hash_of_the_rows(head: TrustHead) -> None:
    packed = msgpack.packb([[one.key, one.agent, one.weight] for one in head.top])

    assert head.root == hashlib.sha256(b"folkmoot/1/trust_head" + packed).digest()


def test_a_head_may_be_empty() -> None:
    assert decode(encode(head_of()), TrustHead, what="body").top == ()


def test_a_head_with_the_root_of_other_rows_is_refused_in_bytes_and_in_our_own_code() -> None:
    shorter = trust_head_root([row(1)])

    assert "root: it is not the hash of the rows" in refusal([row(1), row(2)], shorter).why
    with pytest.raises(ValueError, match="root: it is not the hash of the rows"):
        msgspec.structs.replace(head_of(row(1), row(2)), root=shorter)


@pytest.mark.parametrize(
    ("top", "why"),
    [
        ([row(2), row(1)], "top[1]: this item of a set stands out of order"),
        ([row(1), row(1, weight=3)], "top[1]: this item of a set stands twice"),
    ],
    ids=["out of order", "twice"],
)
def test_rows_ascend_by_agent_each_once(top: list[TrustRow], why: str) -> None:
    root = trust_head_root(top)

    assert why in refusal(top, root).why
    with pytest.raises(ValueError, match=re.escape(why)):
        head_of(*top)


@pytest.mark.parametrize("weight", [0, 256, -1])
def test_a_row_weighs_1_to_255(weight: int) -> None:
    top = [row(1, weight=weight)]

    assert "at `$.top[0][2]`" in refusal(top, trust_head_root(top)).why


def test_one_row_more_than_the_most_is_refused() -> None:
    top = [row(number) for number in range(HEAD_ROWS + 1)]

    decode(encode(head_of(*top[1:])), TrustHead, what="body")
    refusal(top, trust_head_root(top))


def test_the_longest_head_fits_into_one_record() -> None:
    rows = tuple(row(number) for number in range(HEAD_ROWS))
    head = TrustHead(cut=2**53 - 1, root=trust_head_root(rows), top=rows, digest=named("world"))
    record = Chain(person(Role.INSTANCE)).say(head)

    assert len(wire(record)) <= LIMITS.record
