"""Trust: from what a decided round says about people to how much their ballots weigh.

`evidence`    a decided round as rows: for and against whom, from which source
`decay`       how evidence fades with its age
`beta`        the fold of rows into reputation, with farming caps
`competence`  how often a vote met the decision taken without it
`tiers`       what an agent may do, by what it has shown
`weights`     voting weight before caps
`caps`        no operator or instance above its share

Everything is integer arithmetic and a pure function of the rows and the charter.
"""

from federation.trust.beta import Ledger, Reputation, Undecayed
from federation.trust.caps import cap, capped, effective_share, water_level
from federation.trust.competence import Agreement, Counted, decide
from federation.trust.decay import Decay, one_epoch
from federation.trust.evidence import (
    Answered,
    Decision,
    Evidence,
    EvidenceKind,
    RoundOutcome,
    Unrevealed,
    Vote,
    evidence_of,
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
from federation.trust.weights import ticketed, weight, weights

__all__ = [
    "ESTABLISHED",
    "NEWCOMER",
    "TRUSTED",
    "Agreement",
    "Answered",
    "Counted",
    "Decay",
    "Decision",
    "Evidence",
    "EvidenceKind",
    "Ledger",
    "Reputation",
    "Requirement",
    "RoundOutcome",
    "Shown",
    "Undecayed",
    "Unrevealed",
    "Vote",
    "cap",
    "capped",
    "decide",
    "effective_share",
    "evidence_of",
    "one_epoch",
    "requirements",
    "ticketed",
    "tier_of",
    "water_level",
    "weight",
    "weights",
]
