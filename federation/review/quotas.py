"""How often one author may speak in one phase of a round, on one branch of its chain.

Only the author's own earlier records of the round are looked at, so no other author and no other
branch can change the answer; what two branches mean together is told by the list (`fresh_lists`).
"""

from collections.abc import Iterable

from federation.core import Code
from federation.records import (
    AdminReview,
    Argue,
    Assess,
    Commit,
    Contest,
    ObjectTo,
    Record,
    Reveal,
    Rule,
    SealArgument,
)

RoundBody = (
    ObjectTo | SealArgument | Argue | Commit | Reveal | Contest | Rule | Assess | AdminReview
)
"""Bodies of the records that belong to a round; `admin.review` only where it names one."""


def written(earlier: Iterable[Record], body: RoundBody) -> int:
    """Count the earlier records of the same kind that follow the same digest."""
    return sum(isinstance(one.body, type(body)) and one.body.after == body.after for one in earlier)


def over_quota(earlier: Iterable[Record], body: RoundBody, most: int) -> Code | None:
    """Refuse the record after the `most`-th of its kind and phase on one branch."""
    return Code.OVER_QUOTA if written(earlier, body) >= most else None
