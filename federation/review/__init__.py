"""Review: from a pinned world and certified lists to a verdict, by arithmetic alone.

`pin`          what a round fixes when a cut opens it, and what follows from that at once
`agent_view`   one agent in that world
`eligibility`  who may review, who casts practice ballots, what a small community relaxes
`phases`       the plan of a round as a table: which phase is open, what ends it
`finals`       certified lists with their records; the box
`qualify`      which records count, and why the others do not
`tally`        Σ w·v and Σ w over opened ballots, weights capped
`verdict`      thresholds, escalation, shortfall, and how narrow the result is
`outcome`      what the verdict does to the artifact, and what trust learns from it
`local`        the same ballots with my own weights, beside the verdict
"""

from federation.artifacts import DecidedBy, Narrow, OpenedBallot, Verdict
from federation.review.eligibility import Eligible, eligible, may_object, may_take_part, may_vote
from federation.review.finals import (
    FinalList,
    Finals,
    box,
    box_digest,
    commitments,
    final_list,
    listed,
)
from federation.review.local import LocalVerdict, Shift, local_verdict
from federation.review.outcome import action_of, advance, counted_of, outcome_of, window
from federation.review.phases import (
    PLAN,
    Course,
    Ended,
    Step,
    count,
    course,
    expected_after,
    is_late,
    length,
    may_close_early,
    next_phase,
)
from federation.review.pin import (
    AgentView,
    RoundKind,
    RoundPin,
    fast_window,
    has_quorum,
    is_undecidable,
    quorum_needed,
    round_id,
    watchers,
)
from federation.review.qualify import RoundBody, is_delegated, look, phase_of, qualifies
from federation.review.tally import Tally, tally
from federation.review.verdict import Escalation, Ruling, by_sign, conclude, is_clear

__all__ = [
    "PLAN",
    "AgentView",
    "Course",
    "DecidedBy",
    "Eligible",
    "Ended",
    "Escalation",
    "FinalList",
    "Finals",
    "LocalVerdict",
    "Narrow",
    "OpenedBallot",
    "RoundBody",
    "RoundKind",
    "RoundPin",
    "Ruling",
    "Shift",
    "Step",
    "Tally",
    "Verdict",
    "action_of",
    "advance",
    "box",
    "box_digest",
    "by_sign",
    "commitments",
    "conclude",
    "count",
    "counted_of",
    "course",
    "eligible",
    "expected_after",
    "fast_window",
    "final_list",
    "has_quorum",
    "is_clear",
    "is_delegated",
    "is_late",
    "is_undecidable",
    "length",
    "listed",
    "local_verdict",
    "look",
    "may_close_early",
    "may_object",
    "may_take_part",
    "may_vote",
    "next_phase",
    "outcome_of",
    "phase_of",
    "qualifies",
    "quorum_needed",
    "round_id",
    "tally",
    "watchers",
    "window",
]
