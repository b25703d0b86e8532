"""Guards of disputes and urgent reports: who may question what stands, and how it ends (paper 3.3).

A dispute costs everybody a panel, so it asks for standing, for a limit on both sides, and for
something that was not already answered. A report asks for almost nothing, because a moderator looks
at it first. What the rules open themselves asks for nothing personal: nobody stands behind it.
"""

from typing import Final

from federation.artifacts.artifact import Artifact, Flag
from federation.artifacts.facts import (
    Credible,
    Dispute,
    Facts,
    Refusal,
    Report,
    frozen,
    wrong_facts,
)
from federation.artifacts.guards import JUDGED, verdict_guard
from federation.artifacts.personal import held_against
from federation.artifacts.verdicts import DecidedBy, RoundKind
from federation.core import Code
from federation.trust import TRUSTED

REPORT_PAUSE: Final = 2
"""Ticks after an assessment before the next report: at least one whole epoch (Folkmoot).

While a report is assessed there is no dispute. Without a pause one report after the other, which
costs nothing where no moderator looks, would keep every dispute away.
"""
_DISPUTED: Final[frozenset[RoundKind]] = frozenset({"dispute", "report"})
_ENDED: Final = JUDGED | frozenset({DecidedBy.TIMEOUT})


def may_dispute(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`dispute`: by a trusted agent on a new ground, by the rules, or by a credible report.

    A credible report has its own gate, the moderator, and no limit: what must disappear at once
    must not stand because it was disputed before.
    """
    if artifact is None or not isinstance(facts, Dispute | Credible):
        return wrong_facts("the dispute, or the report that was found credible")
    if isinstance(facts, Credible):
        return frozen(artifact)
    personal = None if facts.by_rules else _personal(artifact, facts)
    return personal or frozen(artifact) or _assessed(artifact)


def may_keep(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`keep`: the dispute is dismissed by vote, sign, ruling or operators, or it timed out."""
    return verdict_guard(artifact, facts, kinds=_DISPUTED, accepted=True, by=_ENDED)


def may_retract(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`retract` by verdict: the dispute is sustained, or it timed out and the charter retracts."""
    return verdict_guard(artifact, facts, kinds=_DISPUTED, accepted=False, by=_ENDED)


def may_report(artifact: Artifact | None, facts: Report) -> Refusal | None:
    """Tell why an urgent report does not count, in whatever state its artifact is."""
    if artifact is None:
        return held_against(Code.UNKNOWN_ARTIFACT)
    if facts.refused is not None:
        return held_against(facts.refused)
    if not facts.has_text:
        return Refusal(
            Code.NO_GROUNDS,
            "the report does not say what is wrong",
            "say in words what a moderator should look at",
        )
    if facts.used >= facts.quota:
        return Refusal(
            Code.OVER_QUOTA,
            f"the agent has made {facts.used} of {facts.quota} reports in this epoch",
            "wait for the next tick",
        )
    if artifact.reports > 0:
        return Refusal(
            Code.GUARD_FAILED,
            "another report about it is being assessed",
            "wait until that one is assessed",
        )
    if Flag.HIDDEN in artifact.flags:
        return Refusal(
            Code.GUARD_FAILED,
            "it is hidden already",
            "argue in the round that decides about it",
        )
    if artifact.reported_at is not None and facts.tick < artifact.reported_at + REPORT_PAUSE:
        return Refusal(
            Code.COOLDOWN,
            "another report about it has just been assessed, or nobody looked at it in time",
            f"wait until tick {artifact.reported_at + REPORT_PAUSE}, or dispute it now",
        )
    return None


def _assessed(artifact: Artifact) -> Refusal | None:
    if artifact.reports == 0:
        return None
    return Refusal(
        Code.GUARD_FAILED,
        "a moderator is looking at an urgent report about it",
        "wait until the report is assessed",
    )


def _personal(artifact: Artifact, facts: Dispute) -> Refusal | None:
    if facts.refused is not None:
        return held_against(facts.refused)
    return _standing(facts) or _limits(artifact, facts)


def _standing(facts: Dispute) -> Refusal | None:
    if facts.tier < TRUSTED:
        return Refusal(
            Code.DISPUTER_TIER,
            f"the disputer is of tier {facts.tier}, and disputes are for tier {TRUSTED}",
            "report it if it must disappear at once, or earn trust first",
        )
    if facts.r < facts.r_dispute:
        return Refusal(
            Code.DISPUTER_REPUTATION,
            f"the disputer's reputation is {facts.r} ppm, the charter asks for {facts.r_dispute}",
            "earn evidence with ballots and arguments",
        )
    return None


def _limits(artifact: Artifact, facts: Dispute) -> Refusal | None:
    if artifact.disputes >= facts.d_max:
        return Refusal(
            Code.DISPUTES_SPENT,
            f"it has borne {artifact.disputes} of {facts.d_max} disputes and is final",
            "propose a revision, or ask the operators",
        )
    if facts.used >= facts.d_agent:
        return Refusal(
            Code.DISPUTE_LIMIT,
            f"the disputer has filed {facts.used} of {facts.d_agent} disputes in the window",
            "wait until the oldest leaves the window",
        )
    if facts.ground in artifact.grounds and set(facts.evidence) <= set(artifact.evidence):
        return Refusal(
            Code.NO_NEW_GROUND,
            f"it was disputed as {facts.ground} before, and no source is new",
            "name another ground, or bring evidence that it has not seen",
        )
    if facts.disputer == artifact.author:
        return Refusal(Code.NOT_ELIGIBLE, "its own author disputes it", "withdraw it, or revise it")
    return None
