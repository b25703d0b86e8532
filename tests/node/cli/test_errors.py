import pytest

from federation.core import Code as ProtocolCode
from federation.core import ParameterError, RefusedError
from node.base.errors import NodeCode, NodeError, StoreError
from node.cli.errors import AnswerError, Code, CommandError, Exit, UsageError, exit_of


def node_error(code: NodeCode) -> NodeError:
    return StoreError("what", why="why", fix="fix", code=code)


def answer(status: int) -> AnswerError:
    return AnswerError("what", why="why", fix="fix", code="ANY", status=status)


@pytest.mark.parametrize(
    ("error", "leaves"),
    [
        (UsageError("what", why="why", fix="fix"), Exit.USAGE),
        (ParameterError("what", why="why", fix="fix"), Exit.USAGE),
        (RefusedError("what", why="why", fix="fix", code=ProtocolCode.REVOKED), Exit.REFUSED),
        (node_error(NodeCode.STORE_FAILED), Exit.FAILED),
        (node_error(NodeCode.NOT_INITIALISED), Exit.FAILED),
        (node_error(NodeCode.LOCKED), Exit.REFUSED),
        (node_error(NodeCode.WRONG_PASSPHRASE), Exit.REFUSED),
        (answer(400), Exit.REFUSED),
        (answer(403), Exit.REFUSED),
        (answer(404), Exit.FAILED),
        (answer(409), Exit.REFUSED),
        (answer(500), Exit.FAILED),
        (answer(503), Exit.FAILED),
    ],
)
def test_an_error_leaves_the_exit_code_of_its_class(
    error: CommandError | NodeError | RefusedError, leaves: Exit
) -> None:
    assert exit_of(error) is leaves


def test_codes_of_the_command_line_are_not_those_of_the_node_with_another_meaning() -> None:
    assert {code.value for code in Code} & {code.value for code in NodeCode} == set()
