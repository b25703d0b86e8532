"""Write the vectors of the agreement: `python -m tests.vectors.make_agreement_vectors`.

Everything comes from fixed names, so a second run writes the same bytes; a test compares. What is
written here is this library's reading; the second readers must agree with every line of it.
"""

import json
from collections.abc import Callable, Mapping
from typing import Final

from tests.vectors import (
    certificates_vectors,
    charter_vectors,
    cuts_vectors,
    fresh_vectors,
    rounds_vectors,
    trust_vectors,
)
from tests.vectors.agreement_rows import HERE, Row

FILES: Final[Mapping[str, Callable[[], Row]]] = {
    "certificates.json": certificates_vectors.vectors,
    "charter.json": charter_vectors.vectors,
    "cuts.json": cuts_vectors.vectors,
    "fresh.json": fresh_vectors.vectors,
    "rounds.json": rounds_vectors.vectors,
    "trust.json": trust_vectors.vectors,
}


def render(name: str) -> str:
    """Give the text of one vector file."""
    return json.dumps(FILES[name](), indent=1, ensure_ascii=True) + "\n"


def main() -> None:
    """Write all files beside this one."""
    for name in FILES:
        (HERE / name).write_text(render(name), encoding="ascii")


if __name__ == "__main__":
    main()
