"""Badges: offices an agent may be drawn for, each with why it holds it (§3.2.3, §3.3.2).

In this version only the charter gives badges. A founder holds them on credit until it has
`founder_interactions` of its own, and afterwards as long as it has earned tier 2: a badge is a
heavier power than a vote, so it does not outlive the trust it was given in.
"""

from dataclasses import dataclass
from enum import StrEnum

from federation.charter import Badge, Founder, Trust
from federation.trust.tiers import TRUSTED


class Reason(StrEnum):
    """Why somebody holds a badge."""

    FOUNDER = "founder"
    """The charter names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One badge that an agent holds."""

    badge: Badge
    reason: Reason


def badges_of(
    founder: Founder | None, *, interactions: int, tier: int, trust: Trust
) -> tuple[Held, ...]:
    """List an agent's badges at a tick, by name; `founder` is its entry in the charter, if any."""
    if founder is None:
        return ()
    if interactions >= trust.founder_interactions and tier < TRUSTED:
        return ()
    return tuple(
        Held(badge=badge, reason=Reason.FOUNDER) for badge in sorted(frozenset(founder.badges))
    )
