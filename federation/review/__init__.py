"""Review: from a pinned world and certified lists to a verdict, by arithmetic alone.

`pin`          what a round fixes when a cut opens it, and what follows from that at once
`agent_view`   one agent in that world
`eligibility`  who may review, who casts practice ballots, what a small community relaxes
`lots`         which arbiters are drawn, and whose assessment comes first
`plans`        the plan of each kind of round as a table: its phases, and what ends it
`course`       how far a round has come: which phase is open, or how it ended
`phases`       when a phase is late, and when it may close before its time
`finals`       certified lists with their records; the box
`qualify`      which records count, and why the others do not
`quotas`       how often one author may speak in a phase
`offices`      what moderators, arbiters and operators may say, and who may contest
`tally`        Σ w·v and Σ w over opened ballots, weights capped
`verdict`      thresholds, escalation, shortfall, and how narrow the result is
`rulings`      what the words of moderators, arbiters and operators amount to
`outcome`      what the verdict does to the artifact, and what trust learns from it
`local`        the same ballots with my own weights, beside the verdict
"""

from federation.artifacts import DecidedBy, Narrow, OpenedBallot, Verdict
from federation.review.course import AwaitsLot, Course, Ended, course, expected_after, next_phase
from federation.review.eligibility import (
    Eligible,
    eligible,
    fresh_panel,
    is_delegated,
    is_reviewer,
    may_object,
    may_take_part,
    may_vote,
)
from federation.review.finals import (
    FinalList,
    Finals,
    box,
    box_digest,
    commitments,
    final_list,
    listed,
    seals,
)
from federation.review.local import LocalVerdict, Shift, local_verdict
from federation.review.lots import arbiters, drawn_arbiters, lot, moderator_lot
from federation.review.offices import (
    may_assess,
    may_decide,
    may_speak_for_process,
    rules_well,
)
from federation.review.outcome import action_of, advance, counted_of, outcome_of, window
from federation.review.phases import TURNS, is_late, may_close_early
from federation.review.pin import (
    AgentView,
    RoundKind,
    RoundPin,
    fast_window,
    has_quorum,
    is_undecidable,
    most_arguments,
    quorum_needed,
    round_id,
    watchers,
)
from federation.review.plans import PLANS, Step, length
from federation.review.qualify import look, phase_of, qualifies
from federation.review.quotas import RoundBody
from federation.review.rulings import (
    Assessed,
    Heard,
    assessed,
    decreed,
    heard,
    is_credible,
    may_decree,
    may_rule,
    ruling_of,
)
from federation.review.tally import Tally, count, tally
from federation.review.verdict import (
    Escalation,
    Ruling,
    by_sign,
    conclude,
    is_clear,
    is_escalated,
)

__all__ = [
    "PLANS",
    "TURNS",
    "AgentView",
    "Assessed",
    "AwaitsLot",
    "Course",
    "DecidedBy",
    "Eligible",
    "Ended",
    "Escalation",
    "FinalList",
    "Finals",
    "Heard",
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
    "arbiters",
    "assessed",
    "box",
    "box_digest",
    "by_sign",
    "commitments",
    "conclude",
    "count",
    "counted_of",
    "course",
    "decreed",
    "drawn_arbiters",
    "eligible",
    "expected_after",
    "fast_window",
    "final_list",
    "fresh_panel",
    "has_quorum",
    "heard",
    "is_clear",
    "is_credible",
    "is_delegated",
    "is_escalated",
    "is_late",
    "is_reviewer",
    "is_undecidable",
    "length",
    "listed",
    "local_verdict",
    "look",
    "lot",
    "may_assess",
    "may_close_early",
    "may_decide",
    "may_decree",
    "may_object",
    "may_rule",
    "may_speak_for_process",
    "may_take_part",
    "may_vote",
    "moderator_lot",
    "most_arguments",
    "next_phase",
    "outcome_of",
    "phase_of",
    "qualifies",
    "quorum_needed",
    "round_id",
    "rules_well",
    "ruling_of",
    "seals",
    "tally",
    "watchers",
    "window",
]
