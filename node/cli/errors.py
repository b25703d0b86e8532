"""How a command fails: its exit code, and an error that says what, why and fix.

    CommandError    the command line could not be carried out
    └── UsageError  it could not be understood: exit code 2

Errors of `federation` are printed in the same three lines; `exit_of` tells their exit code.
Everything else is our own bug and shows its traceback.
"""

from enum import IntEnum, StrEnum

from federation.core import FederationError, ParameterError


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
    NOT_AVAILABLE = "NOT_AVAILABLE"
    NOT_READABLE = "NOT_READABLE"
    INTERRUPTED = "INTERRUPTED"


EXPLAINED: dict[Code, tuple[str, str]] = {
    Code.USAGE: ("a command, option or value is not one of those it knows", "read its `--help`"),
    Code.NOT_AVAILABLE: (
        "this version cannot do it yet",
        "do what the error names, or wait for a later version",
    ),
    Code.NOT_READABLE: ("a file could not be read", "check its name and your rights"),
    Code.INTERRUPTED: ("you stopped the command", "run it again; nothing is left half done"),
}
"""What each code means, and what to do."""


class CommandError(Exception):
    """What happened, why, what to do; and the exit code."""

    def __init__(self, what: str, *, why: str, fix: str, code: Code, leaves: Exit) -> None:
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


def exit_of(error: CommandError | FederationError) -> Exit:
    """Give the exit code that an error leaves behind."""
    match error:
        case CommandError():
            return error.leaves
        case ParameterError():
            return Exit.USAGE
        case _:
            return Exit.REFUSED
