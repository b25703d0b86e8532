"""How a command fails: its exit code, and an error that says what, why and fix.

    CommandError      the command line could not be carried out
    ├── UsageError    it could not be understood: exit code 2
    └── AnswerError   a running node refused; the code is the node's

Errors of `federation` and of the node's own parts are printed in the same three lines; `exit_of`
tells their exit code. Everything else is our own bug and shows its traceback.
"""

from enum import IntEnum, StrEnum
from typing import TypeAlias

from federation.core import FederationError, ParameterError
from node.base.errors import NodeCode, NodeError


class Exit(IntEnum):
    """What a command returns to the shell."""

    OK = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    INTERRUPTED = 130
    CLOSED = 141


MEANING: dict[Exit, str] = {
    Exit.OK: "done",
    Exit.FAILED: "carried out, and the answer is no; or it could not be carried out",
    Exit.USAGE: "the command line was not understood; nothing was done",
    Exit.REFUSED: "understood, but the rules or this version do not allow it; nothing was done",
    Exit.INTERRUPTED: "stopped by Ctrl-C",
    Exit.CLOSED: "the reader of the output went away",
}
"""What each exit code means, for every command."""


class Code(StrEnum):
    """Stable names of the errors of the command line itself."""

    USAGE = "USAGE"
    DEMO_FAILED = "DEMO_FAILED"
    NOT_READABLE = "NOT_READABLE"
    INTERRUPTED = "INTERRUPTED"
    NO_NODE = "NO_NODE"
    NO_ANSWER = "NO_ANSWER"
    TERMS_REFUSED = "TERMS_REFUSED"
    MINT_FAILED = "MINT_FAILED"
    STILL_WAITING = "STILL_WAITING"


EXPLAINED: dict[Code, tuple[str, str]] = {
    Code.USAGE: ("a command, option or value is not one of those it knows", "read its `--help`"),
    Code.DEMO_FAILED: (
        "an instance of the demo failed, or its verdicts did not come",
        "run it again with --keep and read the logs of the instances",
    ),
    Code.NOT_READABLE: ("a file could not be read", "check its name and your rights"),
    Code.INTERRUPTED: ("you stopped the command", "run it again; nothing is left half done"),
    Code.NO_NODE: ("no node runs there", "start it with `folkmoot run`"),
    Code.NO_ANSWER: (
        "what runs there did not answer, or not as a node does",
        "look at `folkmoot status` and at the node's own output",
    ),
    Code.TERMS_REFUSED: (
        "an instance asks for more work than any realm may, or than you are ready to do",
        "ask another instance, or wait for a quieter epoch; --most-hours says what you are ready to do",
    ),
    Code.MINT_FAILED: (
        "the search for a proof of work cannot go on",
        "make room in memory, or search with fewer processes: --cores",
    ),
    Code.STILL_WAITING: (
        "it is registered, and no cut has admitted it for long",
        "run the same command again later; look at the status page of that instance",
    ),
}
"""What each code means, and what to do."""


class CommandError(Exception):
    """What happened, why, what to do; and the exit code."""

    def __init__(self, what: str, *, why: str, fix: str, code: str, leaves: Exit) -> None:
        """Keep the parts; `str()` joins them into one line."""
        super().__init__(f"{what}: {why}; {fix} [{code}]")
        self.what = what
        self.why = why
        self.fix = fix
        self.code = code
        self.leaves = leaves


class UsageError(CommandError):
    """The command line was not understood."""

    def __init__(self, what: str, *, why: str, fix: str) -> None:
        """All usage errors share the code USAGE."""
        super().__init__(what, why=why, fix=fix, code=Code.USAGE, leaves=Exit.USAGE)


class AnswerError(CommandError):
    """A running node answered with an error; `code` is one of the node's or the protocol's."""

    def __init__(self, what: str, *, why: str, fix: str, code: str, status: int) -> None:
        """Choose the exit code by the class of the HTTP status."""
        super().__init__(what, why=why, fix=fix, code=code, leaves=_leaves(status))
        self.status = status


AnyError: TypeAlias = CommandError | FederationError | NodeError
"""Whatever is printed in three lines."""

_REFUSALS: frozenset[NodeCode] = frozenset(
    {
        NodeCode.ALREADY_INITIALISED,
        NodeCode.BAD_FIELD,
        NodeCode.BAD_SETTINGS,
        NodeCode.HEAD_REFUSED,
        NodeCode.KEY_WOULD_BE_LOST,
        NodeCode.LOCKED,
        NodeCode.NOT_ALLOWED,
        NodeCode.NOT_IN_CUSTODY,
        NodeCode.WRONG_CHARTER,
        NodeCode.WRONG_PASSPHRASE,
        NodeCode.WRONG_PROTOCOL,
        NodeCode.WRONG_REALM,
    }
)
"""Codes of a node that say: understood, and not allowed as things are."""


def exit_of(error: AnyError) -> Exit:
    """Give the exit code that an error leaves behind."""
    match error:
        case CommandError():
            return error.leaves
        case ParameterError():
            return Exit.USAGE
        case NodeError():
            return Exit.REFUSED if error.code in _REFUSALS else Exit.FAILED
        case _:
            return Exit.REFUSED


def _leaves(status: int) -> Exit:
    """Tell what is missing, and a node that cannot just now, from a refusal."""
    missing, ours = 404, 500
    return Exit.FAILED if status == missing or status >= ours else Exit.REFUSED
