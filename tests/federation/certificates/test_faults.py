import pytest

from federation.certificates import Body, Cosign, CutWitness, Promise, Propose, Seal, contradiction
from tests.federation.certificates.hall import (
    cut_slot,
    lock_of,
    name,
    pinned,
    promise,
    propose,
    said,
    witness,
)

D, E = b"d" * 32, b"e" * 32


def cut_witness(secret: bytes) -> CutWitness:
    return CutWitness(chains=D, tick=False, world=D, secret=secret, next_hash=D)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (witness(name(1)), witness(name(2))),
        (witness(name(1)), witness(name(1), late=True)),
        (propose(4, D), propose(4, E)),
        (Cosign(fence=4, digest=D), Cosign(fence=4, digest=E)),
        (Seal(fence=4, digest=D), Seal(fence=4, digest=E)),
    ],
)
def test_saying_two_things_at_one_place_is_a_fault(a: Body, b: Body) -> None:
    where = pinned(4)
    first, second = said(where, 1, a, 1), said(where, 1, b, 2)

    assert contradiction(first, second) is not None
    assert contradiction(second, first) is not None
    assert contradiction(first, said(where, 2, b, 2)) is None
    assert contradiction(first, said(where, 1, a, 3)) is None


def test_two_witnesses_of_a_cut_are_a_fault() -> None:
    where = pinned(4, cut_slot())

    assert contradiction(said(where, 1, cut_witness(D)), said(where, 1, cut_witness(E))) is not None


@pytest.mark.parametrize(
    "low",
    [Cosign(fence=1, digest=D), Seal(fence=1, digest=D), propose(1, D), promise(1)],
)
def test_signing_below_a_promised_fence_is_a_fault_only_afterwards(low: Body) -> None:
    where = pinned(4)
    high = said(where, 1, promise(2), 10)

    assert contradiction(high, said(where, 1, low, 11)) is not None
    assert contradiction(said(where, 1, low, 11), high) is not None
    assert contradiction(high, said(where, 1, low, 9)) is None
    assert contradiction(high, said(where, 1, low, 10)) is None
    assert contradiction(high, said(where, 2, low, 11)) is None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Cosign(fence=1, digest=D), Cosign(fence=2, digest=E)),
        (Cosign(fence=1, digest=D), Seal(fence=1, digest=E)),
        (promise(2), Cosign(fence=2, digest=D)),
        (promise(2), Cosign(fence=3, digest=D)),
        (promise(2), witness(name(1))),
        (propose(1, D), propose(5, E)),
    ],
)
def test_what_an_honest_member_may_sign_is_no_fault(a: Body, b: Body) -> None:
    where = pinned(4)

    assert contradiction(said(where, 1, a, 1), said(where, 1, b, 2)) is None


def test_messages_of_two_slots_never_contradict() -> None:
    other = pinned(4, cut_slot())

    assert (
        contradiction(
            said(pinned(4), 1, Seal(fence=0, digest=D)), said(other, 1, Seal(fence=0, digest=E))
        )
        is None
    )


def test_reporting_another_lock_is_left_to_the_proofs() -> None:
    where = pinned(4)
    lock = lock_of(where, 0, D, (0, 1, 2))

    # Rule 7 does not list it, and the proposal is judged by locks and not by words.
    assert contradiction(said(where, 1, promise(2), 1), said(where, 1, promise(2, lock), 2)) is None
    assert isinstance(promise(2), Promise)
    assert isinstance(propose(1, D), Propose)
