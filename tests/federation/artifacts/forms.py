"""Artifacts and the facts of each action, smallest first; every field can be overridden."""

from dataclasses import replace

from federation.artifacts import Artifact, DecidedBy, Submission, Verdict, Window, apply
from federation.artifacts.transitions import Action
from federation.trust import Decision
from tests.builders import named

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


def proposed(**changes: object) -> Artifact:
    artifact = apply(None, Action.SUBMIT, submission())
    return replace(artifact, round=ROUND, **changes)  # type: ignore[arg-type]
