"""Every code is explained, and every error says what, why and what to do."""

import pytest

from federation.core import Code
from node.base import errors
from node.base.errors import EXPLAINED, LockedError, NodeCode, NodeError


@pytest.mark.parametrize("code", NodeCode)
def test_every_code_is_explained(code: NodeCode) -> None:
    why, fix = EXPLAINED[code]

    assert why
    assert fix
    # They are set into sentences that others begin and end.
    for text in (why, fix):
        assert not text.endswith(".")
        assert text == text.strip()


def test_a_code_says_its_own_name() -> None:
    assert {code.value for code in NodeCode} == set(NodeCode.__members__)


def test_a_code_means_one_thing_in_the_node_and_in_the_protocol() -> None:
    # These two are said by both, for the same reason.
    assert {code.value for code in NodeCode} & {code.value for code in Code} == {
        "WRONG_REALM",
        "WRONG_CHARTER",
    }


def test_an_error_tells_all_parts_in_one_line_and_keeps_them_apart() -> None:
    error = LockedError("not opened", why="it is held", fix="wait", code=NodeCode.LOCKED)

    assert (error.what, error.why, error.fix, error.code) == (
        "not opened",
        "it is held",
        "wait",
        NodeCode.LOCKED,
    )
    assert str(error) == "not opened: it is held; wait [LOCKED]"
    assert error.retry_at is None


def test_an_error_may_say_when_to_try_again() -> None:
    error = NodeError("no", why="w", fix="f", code=NodeCode.BUSY, retry_at=17)

    assert error.retry_at == 17


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    kinds = {
        name
        for name, one in vars(errors).items()
        if isinstance(one, type) and issubclass(one, NodeError)
    }

    assert errors.__doc__ is not None
    assert all(name in errors.__doc__ for name in kinds)
