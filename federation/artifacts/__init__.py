"""Artifacts: their lifecycle as one table, its guards, and who watches which topics.

`artifact`     the frozen value, its states and flags
`verdicts`     what a round decided, as the artifact remembers it
`transitions`  the table, and its diagram
`guards`       the named condition beside each row, and the facts that it looks at
`lifecycle`    `apply`: the only door through which a state changes
`topics`       which offers to review match which artifact
"""

from federation.artifacts.artifact import Artifact, Flag, State
from federation.artifacts.guards import (
    Facts,
    Refusal,
    ReviewReason,
    Submission,
    Window,
    may_submit,
    review_reasons,
)
from federation.artifacts.lifecycle import apply, in_round
from federation.artifacts.topics import covers, watches
from federation.artifacts.transitions import TRANSITIONS, Action, Row, diagram
from federation.artifacts.verdicts import DecidedBy, Narrow, OpenedBallot, Verdict

__all__ = [
    "TRANSITIONS",
    "Action",
    "Artifact",
    "DecidedBy",
    "Facts",
    "Flag",
    "Narrow",
    "OpenedBallot",
    "Refusal",
    "ReviewReason",
    "Row",
    "State",
    "Submission",
    "Verdict",
    "Window",
    "apply",
    "covers",
    "diagram",
    "in_round",
    "may_submit",
    "review_reasons",
    "watches",
]
