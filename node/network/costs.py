"""What a peer's faults cost it: a table, against the limit of the book.

Bytes that no honest instance sends cost much: four of them ban. What an honest instance may send
by bad luck, because it relays others or because two messages crossed, costs little, and decays.
"""

from collections.abc import Mapping
from typing import Final

from federation.core import Code
from node.base.errors import NodeCode

COSTS: Final[Mapping[str, int]] = {
    Code.NOT_CANONICAL: 25,
    Code.TOO_LARGE: 25,
    Code.WRONG_ROLE: 25,
    Code.BAD_CHAIN: 25,
    # A copy of a record whose signature was damaged on the way here, by whom we cannot tell.
    Code.BAD_SIGNATURE: 20,
    Code.WRONG_REALM: 10,
    Code.WRONG_CHARTER: 10,
    NodeCode.FRAME_TOO_LARGE: 25,
    NodeCode.FRAME_TRUNCATED: 5,
    NodeCode.FRAME_SLOW: 10,
    NodeCode.NO_HELLO: 10,
}
"""By code; LIMIT is 100."""
OTHER: Final = 1
"""For every other code."""


def cost_of(code: str) -> int:
    """Give what a fault costs."""
    return COSTS.get(code, OTHER)
