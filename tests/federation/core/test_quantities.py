"""Units of integers."""

from federation.core import MILLION


def test_a_million_is_an_integer_so_that_shares_stay_exact() -> None:
    assert isinstance(MILLION, int)
    assert MILLION == 1_000_000
