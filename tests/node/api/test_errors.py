"""Every code has a status, every error the one shape, and none tells what it must not."""

import pytest
from starlette.exceptions import HTTPException

from federation.core import Code, PeerError, RefusedError
from node.api.errors import STATUS, error_of, explain
from node.base.errors import EXPLAINED, NodeCode, NodeError


def test_every_code_has_a_status_and_words() -> None:
    assert {code.value for code in STATUS} == {code.value for code in (*Code, *NodeCode)}
    assert set(EXPLAINED) == set(NodeCode)
    assert set(STATUS.values()) <= {400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 503}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RefusedError("w", why="y", fix="f", code=Code.NOT_ELIGIBLE), 403, "NOT_ELIGIBLE"),
        (PeerError("w", why="y", fix="f", code=Code.NOT_CANONICAL), 422, "NOT_CANONICAL"),
        (error_of(NodeCode.STOPPING, "w"), 503, "STOPPING"),
        (HTTPException(404), 404, "NOT_FOUND"),
        (HTTPException(405), 405, "NO_SUCH_METHOD"),
        (HTTPException(418), 500, "INTERNAL"),
    ],
)
def test_each_kind_of_error_has_its_answer(error: Exception, status: int, code: str) -> None:
    found, problem = explain(error)

    assert (found, problem.code) == (status, code)
    assert problem.what
    assert problem.why
    assert problem.fix


def test_an_unforeseen_error_tells_nothing() -> None:
    status, problem = explain(ValueError("the seed is 1234"))

    assert status == 500
    assert "1234" not in f"{problem}"


def test_a_token_never_stands_in_an_answer() -> None:
    error = NodeError(
        "fm_abcdefgh", why="fm_secret-secret_x", fix="fm_0123", code=NodeCode.BAD_FIELD
    )
    _, problem = explain(error)

    assert "secret" not in problem.why
    assert "abcdefgh" not in problem.what
    assert "0123" not in problem.fix


def test_a_long_text_is_cut() -> None:
    _, problem = explain(error_of(NodeCode.BAD_FIELD, "w", why="x" * 5_000))

    assert len(problem.why) == 1_000


def test_an_error_may_say_when_to_try_again() -> None:
    assert explain(error_of(NodeCode.BUSY, "w", retry_at=7))[1].retry_at == 7
