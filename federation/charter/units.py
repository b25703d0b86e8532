"""Types of charter fields: each carries its unit and its legal range.

The range is stated once, here or at the field, and read from the type by the wire decoder, by
`check_ranges` and by the generated reference page: three readers cannot disagree about it.
Alternatives are closed sets of words.
"""

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta

SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR

Span: TypeAlias = Annotated[int, Meta(ge=0, le=31 * DAY, extra={"unit": "ms"})]
"""A duration that may be left out by 0."""
Period: TypeAlias = Annotated[int, Meta(ge=10, le=31 * DAY, extra={"unit": "ms"})]
"""A duration that may not be left out."""
Share: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000, extra={"unit": "ppm"})]
Part: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000, extra={"unit": "ppm"})]
"""A share that may not be nothing."""
Score: TypeAlias = Annotated[int, Meta(ge=-1_000_000, le=1_000_000, extra={"unit": "ppm"})]
"""A normalised tally, between -1 and 1."""
Amount: TypeAlias = Annotated[int, Meta(ge=0, le=100_000_000, extra={"unit": "micro"})]
"""Evidence, in millionths of one outcome."""
Count: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000, extra={"unit": "count"})]
Number: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000, extra={"unit": "count"})]
"""A count of at least one."""
Ticks: TypeAlias = Annotated[int, Meta(ge=0, le=100_000, extra={"unit": "ticks"})]
Window: TypeAlias = Annotated[int, Meta(ge=1, le=100_000, extra={"unit": "ticks"})]
MOST_BITS: Final = 32
"""Zero bits that no puzzle exceeds: four parts of them would take a core five thousand years."""
Bits: TypeAlias = Annotated[int, Meta(ge=0, le=MOST_BITS, extra={"unit": "bits"})]
"""Leading zero bits of a puzzle: one more doubles the work."""
TierNumber: TypeAlias = Annotated[int, Meta(ge=0, le=2, extra={"unit": "tier"})]

Mode: TypeAlias = Literal["open", "rounds", "sealed_first"]
"""How reviewers discuss before they vote."""
Badge: TypeAlias = Literal["arbiter", "moderator"]
Sensitivity: TypeAlias = Literal["low", "high"]
Three: TypeAlias = Literal["strict", "available"]
Shortfall: TypeAlias = Literal["fast_track", "arbitrate", "reject"]
Outcome: TypeAlias = Literal["keep", "retract"]
Competence: TypeAlias = Literal["agreement", "audited"]
Voting: TypeAlias = Literal["ticketed", "blend"]
