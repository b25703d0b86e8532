"""Errors carry what, why, fix and a stable code."""

import pytest

from federation.core import (
    CallerError,
    Code,
    FederationError,
    ParameterError,
    PeerError,
    RefusedError,
)


def test_an_error_joins_its_parts_into_one_line() -> None:
    error = PeerError("record refused", why="it is odd", fix="send another", code=Code.BAD_CHAIN)

    assert str(error) == "record refused: it is odd; send another [BAD_CHAIN]"
    assert (error.what, error.why, error.fix) == ("record refused", "it is odd", "send another")
    assert error.code is Code.BAD_CHAIN


def test_a_parameter_error_is_always_out_of_range() -> None:
    error = ParameterError("charter refused", why="q is 0", fix="set q to 1")

    assert error.code is Code.OUT_OF_RANGE
    assert str(error) == "charter refused: q is 0; set q to 1 [OUT_OF_RANGE]"


@pytest.mark.parametrize(
    ("error", "parent"),
    [
        (PeerError, FederationError),
        (CallerError, FederationError),
        (RefusedError, CallerError),
        (ParameterError, FederationError),
    ],
)
def test_the_tree_of_errors_is_the_one_drawn(error: type, parent: type) -> None:
    assert error.__bases__ == (parent,)


def test_every_code_is_spelled_as_its_name() -> None:
    assert all(code.value == code.name for code in Code)
