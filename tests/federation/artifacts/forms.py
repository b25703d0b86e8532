"""Artifacts and the facts of each action, smallest first; every field can be overridden."""

from dataclasses import replace

from federation.artifacts import (
    Artifact,
    Credible,
    DecidedBy,
    Decreed,
    Dispute,
    Flag,
    OpenedBallot,
    Report,
    Resubmission,
    StaleFlag,
    Submission,
    Supersession,
    Verdict,
    Window,
    Withdrawal,
    apply,
    in_round,
)
from federation.artifacts.transitions import Action
from federation.crypto import Choice
from federation.trust import Decision
from tests.builders import ballot, named

ROUND = named("round")


def submission(**changes: object) -> Submission:
    facts = Submission(
        id=named("artifact"),
        author=named("author"),
        author_operator=named("operator"),
        home=named("instance"),
        topics=("notes/cooking",),
        sensitivity="low",
        text_id=named("text"),
        cut=7,
        admitted=True,
        delegated=True,
        forked=False,
        barred=False,
        r=500_000,
        r_min=250_000,
        duplicate_of=None,
        used=0,
        quota=10,
    )
    return replace(facts, **changes)  # type: ignore[arg-type]


def quiet_window(**changes: object) -> Window:
    facts = Window(
        sensitivity="low",
        flags=frozenset(),
        held=True,
        objections=0,
        author_has_ticket=True,
        watchers=3,
        watchers_needed=3,
        verdict=consent(),
    )
    return replace(facts, **changes)  # type: ignore[arg-type]


def verdict(**changes: object) -> Verdict:
    facts = Verdict(
        round=ROUND,
        decision=Decision.ACCEPT,
        by=DecidedBy.VOTE,
        numerator=3,
        denominator=3,
        v_ppm=1_000_000,
        strong=True,
        quorum=True,
        quorum_needed=3,
        operators=3,
    )
    return replace(facts, **changes)  # type: ignore[arg-type]


def consent(**changes: object) -> Verdict:
    """Give the verdict of a fast track that nobody objected to."""
    return verdict(**{"by": DecidedBy.FAST_TRACK, "quorum": False, **changes})


def kept(**changes: object) -> Verdict:
    """Give the verdict of a dispute that was dismissed."""
    return verdict(**{"kind": "dispute", **changes})


def sustained(**changes: object) -> Verdict:
    """Give the verdict of a dispute that ends what stood."""
    return kept(**{"decision": Decision.REJECT, "numerator": -3, "v_ppm": -1_000_000, **changes})


def dispute(**changes: object) -> Dispute:
    facts = Dispute(
        disputer=named("disputer"),
        disputer_operator=named("another operator"),
        ground="inaccurate",
        evidence=(),
        refused=None,
        tier=2,
        r=700_000,
        r_dispute=700_000,
        d_max=3,
        used=0,
        d_agent=5,
        by_rules=False,
    )
    return replace(facts, **changes)  # type: ignore[arg-type]


def by_rules(**changes: object) -> Dispute:
    """Give a dispute that nobody filed: whatever is personal would refuse it."""
    facts = dispute(disputer=None, disputer_operator=None, tier=0, r=0, used=9, by_rules=True)
    return replace(facts, **changes)  # type: ignore[arg-type]


def credible(**changes: object) -> Credible:
    return replace(Credible(round=ROUND), **changes)  # type: ignore[arg-type]


def report(**changes: object) -> Report:
    facts = Report(reporter=named("reporter"), refused=None, has_text=True, used=0, quota=2, tick=9)
    return replace(facts, **changes)  # type: ignore[arg-type]


def withdrawal(**changes: object) -> Withdrawal:
    facts = Withdrawal(author=named("author"), refused=None, cited=False)
    return replace(facts, **changes)  # type: ignore[arg-type]


def decreed() -> Decreed:
    return Decreed(act=named("act"))


def supersession(**changes: object) -> Supersession:
    return replace(Supersession(by=named("revision")), **changes)  # type: ignore[arg-type]


def resubmission(**changes: object) -> Resubmission:
    facts = Resubmission(
        agent=named("another author"),
        refused=None,
        r=250_000,
        r_min=250_000,
        tick=124,
        cooldown=24,
        resub_max=3,
        evidence=(named("new source"),),
        sensitivity="low",
    )
    return replace(facts, **changes)  # type: ignore[arg-type]


def stale_flag(**changes: object) -> StaleFlag:
    facts = StaleFlag(agent=named("reader"), refused=None, used=0, quota=5)
    return replace(facts, **changes)  # type: ignore[arg-type]


def opened(voter: str, *, practice: bool = False) -> OpenedBallot:
    """Give an opened ballot for acceptance."""
    return OpenedBallot(
        voter=named(voter),
        operator=named(f"operator of {voter}"),
        ballot=ballot(Choice.FOR),
        weight=0 if practice else 1,
        practice=practice,
    )


def proposed(**changes: object) -> Artifact:
    artifact = in_round(apply(None, Action.SUBMIT, submission()), ROUND)
    return replace(artifact, **changes)  # type: ignore[arg-type]


def under_review(**changes: object) -> Artifact:
    artifact = apply(proposed(), Action.BEGIN_REVIEW, quiet_window(objections=1))
    return replace(artifact, **changes)  # type: ignore[arg-type]


def active(**changes: object) -> Artifact:
    artifact = apply(under_review(), Action.ACCEPT, verdict())
    return replace(artifact, **changes)  # type: ignore[arg-type]


def disputed(**changes: object) -> Artifact:
    artifact = in_round(apply(active(), Action.DISPUTE, dispute()), ROUND)
    return replace(artifact, **changes)  # type: ignore[arg-type]


def retracted(**changes: object) -> Artifact:
    """Give an artifact that a dispute has ended at tick 100."""
    artifact = apply(disputed(), Action.RETRACT, sustained(), tick=100)
    return replace(artifact, **changes)  # type: ignore[arg-type]


def superseded(**changes: object) -> Artifact:
    artifact = apply(active(), Action.SUPERSEDE, supersession())
    return replace(artifact, **changes)  # type: ignore[arg-type]


def frozen(artifact: Artifact) -> Artifact:
    return replace(artifact, flags=artifact.flags | {Flag.FROZEN})
