"""What a fault costs: a table of codes that exist, against the limit of the book."""

import pytest

from federation.core import Code
from node.base.errors import NodeCode
from node.network.book import LIMIT
from node.network.costs import COSTS, OTHER, cost_of

KNOWN = {code.value for code in Code} | {code.value for code in NodeCode}


@pytest.mark.parametrize("code", COSTS)
def test_every_row_names_a_code_that_exists(code: str) -> None:
    assert str(code) in KNOWN


@pytest.mark.parametrize("code", COSTS)
def test_no_single_fault_bans_and_none_is_free(code: str) -> None:
    assert 0 < cost_of(code) < LIMIT


@pytest.mark.parametrize("code", [Code.NOT_CANONICAL, Code.BAD_CHAIN, NodeCode.FRAME_TOO_LARGE])
def test_four_times_what_no_honest_instance_sends_bans(code: str) -> None:
    assert 4 * cost_of(code) >= LIMIT > 3 * cost_of(code)


def test_a_plain_string_of_the_code_costs_the_same() -> None:
    assert cost_of("BAD_SIGNATURE") == cost_of(Code.BAD_SIGNATURE)


def test_every_other_code_costs_a_little() -> None:
    assert cost_of("SOMETHING_NEW") == OTHER
    assert 0 < OTHER < min(COSTS.values())
