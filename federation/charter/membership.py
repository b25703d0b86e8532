"""What n operators survive: faults f, quorum q, liars and absences (design: membership).

Members are operators, not instances. `f = ⌊(n-1)/3⌋` and `q = ⌊(n+f)/2⌋ + 1`, except three
operators, where the charter chooses between surviving a liar and surviving an absence.
"""

from dataclasses import dataclass
from typing import Final

from federation.charter.units import Three
from federation.core import ParameterError

_THREE: Final = 3

SAFE_MEMBERS: Final = 4
"""Operators of instances from which one liar changes nothing and one absence stops nothing."""
SAFE_VOTERS: Final = 5
"""Operators in a count below which a verdict is narrow (design: small communities)."""
DOUBLINGS: Final = 10
"""How often the timer of a fence doubles at most (design: certificates, rule 5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """The arithmetic of one membership."""

    n: int
    """Operators of member instances."""
    f: int
    """Faulty operators that the inclusion and progress rules allow for."""
    q: int
    """Signatures that make a list final."""
    liars: int
    """Lying operators under which two final lists of one slot stay impossible: 2q-n-1."""
    down: int
    """Operators that may be gone while certificates still come: n-q."""


def quorum_of(n: int, *, three: Three = "strict") -> Quorum:
    """Compute f, q and what they survive for n >= 1 operators; else raise ParameterError."""
    if n < 1:
        raise ParameterError(
            "no quorum", why=f"a realm of {n} operators cannot decide", fix="name a member"
        )
    f = (n - 1) // 3
    q = (n + f) // 2 + 1
    if n == _THREE and three == "strict":
        q = _THREE
    return Quorum(n=n, f=f, q=q, liars=2 * q - n - 1, down=n - q)
