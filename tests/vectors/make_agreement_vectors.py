"""The vectors of the agreement, by file; `make_vectors` writes them with the others.

Everything comes from fixed names, so a second run writes the same bytes; a test compares. What is
written here is this library's reading; the second readers must agree with every line of it.
"""

from collections.abc import Callable, Mapping
from typing import Final

from tests.vectors import (
    certificates_vectors,
    charter_vectors,
    cuts_vectors,
    fresh_vectors,
    puzzle_vectors,
    rounds_vectors,
    trust_graph_vectors,
    trust_vectors,
)
from tests.vectors.agreement_rows import Row

FILES: Final[Mapping[str, Callable[[], Row]]] = {
    "certificates.json": certificates_vectors.vectors,
    "charter.json": charter_vectors.vectors,
    "cuts.json": cuts_vectors.vectors,
    "fresh.json": fresh_vectors.vectors,
    "puzzle.json": puzzle_vectors.vectors,
    "rounds.json": rounds_vectors.vectors,
    "trust.json": trust_vectors.vectors,
    "trust_graph.json": trust_graph_vectors.vectors,
}
