"""The charter: every protocol parameter of a realm, its founders and its founding members.

`units`       types of fields: unit and legal range, stated once
`schema`      the charter and its sections, one documented field per parameter
`ranges`      every field within its legal range
`conduct`     two of its sections: disputes, sanctions
`amendment`   other rules for the same realm: what may change, and what never does
`community`   the rules of the default preset
`presets`     named sets of rules to start from; `build` makes a charter
`realm`       realm id, charter hash, digest of cut 0, first beacon
`membership`  what n operators survive
`topics`      which topics are sensitive
`duration`    worst-case time to a terminal state
`tickets`     trust counted in seats and tickets, to explain a charter
`rules`       relations between parameters, a genesis that fits together
`findings`    one fact that a charter implies: what, why, fix
`trust_findings`  what it implies about seats, tickets, seeds and Sybils
`curation_findings`  what it implies about arbiters, disputes, reports and sanctions
`check`       everything a charter implies, as findings
`describe`    the reference page of all parameters, made from the schema
"""

from federation.charter.amendment import Rules, amended, read_rules, rules_bytes, rules_of
from federation.charter.check import check
from federation.charter.conduct import Disputes, Sanctions
from federation.charter.duration import (
    MATTERS,
    Matter,
    Step,
    WorstCase,
    spell,
    worst_case_of,
    worst_case_time,
)
from federation.charter.findings import Finding, FindingCode, Severity
from federation.charter.membership import (
    DOUBLINGS,
    SAFE_MEMBERS,
    SAFE_VOTERS,
    Quorum,
    quorum_of,
)
from federation.charter.presets import PRESETS, PROTOCOL, TEST, build, preset
from federation.charter.ranges import RangeFault, check_ranges, range_faults
from federation.charter.realm import beacon0, charter_hash, cut0_digest, realm_id, realm_of
from federation.charter.rules import faults_of
from federation.charter.schema import (
    Admission,
    Charter,
    EvidenceTable,
    Founder,
    Genesis,
    GenesisInstance,
    Quotas,
    Review,
    Timing,
    TopicClass,
    Trust,
)
from federation.charter.topics import sensitivity_of, topic_sensitivity
from federation.charter.units import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Badge,
    Sensitivity,
    Shortfall,
    Three,
)

__all__ = [
    "DAY",
    "DOUBLINGS",
    "HOUR",
    "MATTERS",
    "MINUTE",
    "PRESETS",
    "PROTOCOL",
    "SAFE_MEMBERS",
    "SAFE_VOTERS",
    "SECOND",
    "TEST",
    "Admission",
    "Badge",
    "Charter",
    "Disputes",
    "EvidenceTable",
    "Finding",
    "FindingCode",
    "Founder",
    "Genesis",
    "GenesisInstance",
    "Matter",
    "Quorum",
    "Quotas",
    "RangeFault",
    "Review",
    "Rules",
    "Sanctions",
    "Sensitivity",
    "Severity",
    "Shortfall",
    "Step",
    "Three",
    "Timing",
    "TopicClass",
    "Trust",
    "WorstCase",
    "amended",
    "beacon0",
    "build",
    "charter_hash",
    "check",
    "check_ranges",
    "cut0_digest",
    "faults_of",
    "preset",
    "quorum_of",
    "range_faults",
    "read_rules",
    "realm_id",
    "realm_of",
    "rules_bytes",
    "rules_of",
    "sensitivity_of",
    "spell",
    "topic_sensitivity",
    "worst_case_of",
    "worst_case_time",
]
