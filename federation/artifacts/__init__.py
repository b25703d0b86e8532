"""Artifacts: their lifecycle as one table, its guards, and who watches which topics.

`artifact`        the frozen value, its states and flags
`verdicts`        what a round decided, as the artifact remembers it
`facts`           what a guard looks at: the facts of each action
`personal`        what is held against an acting agent, in words
`guards`          conditions of submission and review
`dispute_guards`  conditions of disputes and urgent reports
`return_guards`   conditions of withdrawal, revision, resubmission and stale flags
`transitions`     the table, and its diagram
`lifecycle`       `apply`: the only door through which a state changes
`near`            how near two texts are, for findings that one repeats the other
`notes`           what is noted while the state stays: rounds, flags, voters
`round_plan`      every move of a round, as an adversary sees it
`promela`         a model for SPIN, made from the table and from that plan
`topics`          which offers to review match which artifact
"""

from federation.artifacts.artifact import Artifact, Flag, State
from federation.artifacts.dispute_guards import (
    REPORT_PAUSE,
    may_dispute,
    may_keep,
    may_report,
    may_retract,
)
from federation.artifacts.facts import (
    Credible,
    Decreed,
    Dispute,
    Facts,
    Guard,
    Refusal,
    Report,
    Resubmission,
    StaleFlag,
    Submission,
    Supersession,
    Window,
    Withdrawal,
)
from federation.artifacts.guards import ReviewReason, may_submit, review_reasons
from federation.artifacts.lifecycle import apply
from federation.artifacts.notes import (
    flag_stale,
    flagged,
    freeze,
    hide,
    in_round,
    lapsed,
    merge_voters,
    report_over,
    show,
    withhold,
)
from federation.artifacts.personal import held_against
from federation.artifacts.return_guards import (
    may_flag_stale,
    may_resubmit,
    may_supersede,
    may_take_back,
)
from federation.artifacts.topics import covers, watches
from federation.artifacts.transitions import TRANSITIONS, Action, Row, diagram
from federation.artifacts.verdicts import DecidedBy, Narrow, OpenedBallot, RoundKind, Verdict

__all__ = [
    "REPORT_PAUSE",
    "TRANSITIONS",
    "Action",
    "Artifact",
    "Credible",
    "DecidedBy",
    "Decreed",
    "Dispute",
    "Facts",
    "Flag",
    "Guard",
    "Narrow",
    "OpenedBallot",
    "Refusal",
    "Report",
    "Resubmission",
    "ReviewReason",
    "RoundKind",
    "Row",
    "StaleFlag",
    "State",
    "Submission",
    "Supersession",
    "Verdict",
    "Window",
    "Withdrawal",
    "apply",
    "covers",
    "diagram",
    "flag_stale",
    "flagged",
    "freeze",
    "held_against",
    "hide",
    "in_round",
    "lapsed",
    "may_dispute",
    "may_flag_stale",
    "may_keep",
    "may_report",
    "may_resubmit",
    "may_retract",
    "may_submit",
    "may_supersede",
    "may_take_back",
    "merge_voters",
    "report_over",
    "review_reasons",
    "show",
    "watches",
    "withhold",
]
