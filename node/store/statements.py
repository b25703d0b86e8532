"""What a statement of the store is: its text for one row or for many, and the cells of a row."""

from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = bytes | int | str | None
Row: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One way of writing rows; the SQL can take several rows at once if there is a `tail`."""

    head: str
    width: int = 0
    """Cells of a row."""
    tail: str | None = None
    """What follows the rows; None: the statement takes one row and `head` is all of it."""

    def sql(self, rows: int) -> str:
        """Give the text of the statement for so many rows, which needs a `tail`."""
        row = f"({', '.join('?' * self.width)})"
        return f"{self.head} VALUES {', '.join([row] * rows)} {self.tail}"
