"""Trust: from what a decided round says about people to how much their ballots weigh.

`evidence`    a decided round as rows: for and against whom, from which source
`outcomes`    what becomes known later as rows: disputes, reversals, reports, audits, dissents
`liability`   a bad agent's rows for who vouched for it
`circles`     whether a vouch would close a circle
`decay`       how evidence fades with its age
`beta`        the fold of rows into reputation, with farming caps
`explain`     what each row brings to a reputation
`competence`  how often a vote met the decision taken without it
`audited`     how often a vote was right when somebody checked
`logarithm`   natural logarithms in integers
`graph`       who judged whose own work well, and how strongly
`eigentrust`  trust along that graph, in plain Python: the reference
`sparse`      the same bits for large graphs, by scipy; imported only by who wants it
`paths`       which ways trust came to an agent
`tiers`       what an agent may do, by what it has shown
`badges`      which offices it may be drawn for, and why
`weights`     voting weight before caps
`clones`      which agents are one voice
`caps`        clones count as one; operators and instances are cut to their share
`foreign`     another realm as one node: links, heads, half-life
`capture`     what capturing a decision takes at the least; with the next three
`capture_share`  what share a weight comes to under the caps
`capture_pace`   how long joining takes, and what work
`capture_community`  whom an attacker meets, imagined
`local`       trust by my own seeds and policy, beside the canonical one

Everything is integer arithmetic and a pure function of the rows and the charter.
"""

from federation.trust.audited import Audited, Checked
from federation.trust.badges import Held, Reason, badges_of
from federation.trust.beta import Ledger, Reputation, Undecayed
from federation.trust.caps import (
    Capped,
    as_heaviest,
    cap,
    capped,
    effective_share,
    half_level,
    level_of,
    stops_at_half,
    water_level,
)
from federation.trust.capture import (
    CAPTURE_SHARES,
    Aim,
    CapturePlan,
    capture_plan,
    capture_reach,
    edge_worth,
    edges_worth,
)
from federation.trust.capture_community import (
    MOST_TRUSTED,
    Community,
    electorate_of,
    firm_weight,
    first_day_community,
    grown_community,
)
from federation.trust.capture_pace import (
    Door,
    Pace,
    fastest,
    standing,
)
from federation.trust.capture_share import Cell
from federation.trust.circles import closes_circle
from federation.trust.clones import keeper_of, model_of
from federation.trust.competence import Agreement, Counted, decide
from federation.trust.decay import Decay, one_epoch
from federation.trust.eigentrust import (
    M,
    Problem,
    Solve,
    edge_cap,
    in_seats,
    reckon,
    ticket_price,
    trust_ref,
    unpack,
)
from federation.trust.evidence import (
    Answered,
    Decision,
    Evidence,
    EvidenceKind,
    RoundOutcome,
    Unrevealed,
    Vote,
    Withdrawal,
    evidence_of,
    top_topic,
)
from federation.trust.explain import Bound, Entry
from federation.trust.foreign import EXPIRY, HALF_LIFE, Link
from federation.trust.graph import Edge, Graph
from federation.trust.liability import Liability, liability_evidence
from federation.trust.local import LocalTrust
from federation.trust.outcomes import (
    AuditOutcome,
    DisputeOutcome,
    DissentOutcome,
    Reversal,
    UnfoundedReport,
    audit_evidence,
    dispute_evidence,
    dissent_evidence,
    report_evidence,
    reversal_evidence,
    rows_of,
    withdrawals_of,
)
from federation.trust.tiers import (
    ESTABLISHED,
    NEWCOMER,
    TRUSTED,
    Requirement,
    Shown,
    requirements,
    tier_of,
)
from federation.trust.weights import blended, has_ticket, ticketed, weight

__all__ = [
    "CAPTURE_SHARES",
    "ESTABLISHED",
    "EXPIRY",
    "HALF_LIFE",
    "MOST_TRUSTED",
    "NEWCOMER",
    "TRUSTED",
    "Agreement",
    "Aim",
    "Answered",
    "AuditOutcome",
    "Audited",
    "Bound",
    "Capped",
    "CapturePlan",
    "Cell",
    "Checked",
    "Community",
    "Counted",
    "Decay",
    "Decision",
    "DisputeOutcome",
    "DissentOutcome",
    "Door",
    "Edge",
    "Entry",
    "Evidence",
    "EvidenceKind",
    "Graph",
    "Held",
    "Ledger",
    "Liability",
    "Link",
    "LocalTrust",
    "M",
    "Pace",
    "Problem",
    "Reason",
    "Reputation",
    "Requirement",
    "Reversal",
    "RoundOutcome",
    "Shown",
    "Solve",
    "Undecayed",
    "UnfoundedReport",
    "Unrevealed",
    "Vote",
    "Withdrawal",
    "as_heaviest",
    "audit_evidence",
    "badges_of",
    "blended",
    "cap",
    "capped",
    "capture_plan",
    "capture_reach",
    "closes_circle",
    "decide",
    "dispute_evidence",
    "dissent_evidence",
    "edge_cap",
    "edge_worth",
    "edges_worth",
    "effective_share",
    "electorate_of",
    "evidence_of",
    "fastest",
    "firm_weight",
    "first_day_community",
    "grown_community",
    "half_level",
    "has_ticket",
    "in_seats",
    "keeper_of",
    "level_of",
    "liability_evidence",
    "model_of",
    "one_epoch",
    "reckon",
    "report_evidence",
    "requirements",
    "reversal_evidence",
    "rows_of",
    "standing",
    "stops_at_half",
    "ticket_price",
    "ticketed",
    "tier_of",
    "top_topic",
    "trust_ref",
    "unpack",
    "water_level",
    "weight",
    "withdrawals_of",
]
