"""A progress bar for people: one line that is drawn over, or one line a step where it cannot be."""

from collections.abc import Callable
from typing import Final

from node.cli.output import Output

_CELLS: Final = 30


def bar(output: Output, label: str) -> Callable[[int, int], None]:
    """Give a function that draws `done` of `total`, and ends the line when all is done."""
    over = output.people.isatty()

    def draw(done: int, total: int) -> None:
        filled = _CELLS * done // max(total, 1)
        line = f"{label} [{'#' * filled}{'.' * (_CELLS - filled)}] {done}/{total}"
        if not over:
            output.people.write(f"{line}\n")
            return
        output.people.write(f"\r{line}" + ("\n" if done >= total else ""))
        output.people.flush()

    return draw
