import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.charter import Three, quorum_of
from federation.core import ParameterError


@pytest.mark.parametrize(
    ("n", "three", "q", "f", "liars", "down"),
    [
        (1, "strict", 1, 0, 0, 0),
        (2, "strict", 2, 0, 1, 0),
        (3, "strict", 3, 0, 2, 0),
        (3, "available", 2, 0, 0, 1),
        (4, "strict", 3, 1, 1, 1),
        (4, "available", 3, 1, 1, 1),
        (7, "strict", 5, 2, 2, 2),
        (10, "strict", 7, 3, 3, 3),
    ],
)
def test_each_membership_survives_what_the_design_says(
    *, n: int, three: Three, q: int, f: int, liars: int, down: int
) -> None:
    quorum = quorum_of(n, three=three)

    assert (quorum.n, quorum.q, quorum.f, quorum.liars, quorum.down) == (n, q, f, liars, down)


def test_a_realm_without_operators_cannot_decide() -> None:
    with pytest.raises(ParameterError):
        quorum_of(0)


@settings(max_examples=100, deadline=None)
@given(n=st.integers(1, 1_000))
def test_two_quorums_share_an_honest_operator_and_f_may_be_down(n: int) -> None:
    quorum = quorum_of(n)

    assert 2 * quorum.q - n >= quorum.f + 1
    assert n == 3 or quorum.f <= quorum.down
