"""The charter: every protocol parameter of a realm, its founders and its founding members.

`units`       types of fields: unit and legal range, stated once
`schema`      the charter and its sections, one documented field per parameter
`ranges`      every field within its legal range
`presets`     `solo`, `community`, `test`; `build` makes a charter
`realm`       realm id, charter hash, digest of cut 0, first beacon
`membership`  what n operators survive
`topics`      which topics are sensitive
"""

from federation.charter.membership import Quorum, quorum_of
from federation.charter.presets import PRESETS, PROTOCOL, TEST, Rules, build, preset
from federation.charter.ranges import RangeFault, check_ranges, range_faults
from federation.charter.realm import beacon0, charter_hash, cut0_digest, realm_id, realm_of
from federation.charter.schema import (
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
    "HOUR",
    "MINUTE",
    "PRESETS",
    "PROTOCOL",
    "SECOND",
    "TEST",
    "Badge",
    "Charter",
    "EvidenceTable",
    "Founder",
    "Genesis",
    "GenesisInstance",
    "Quorum",
    "Quotas",
    "RangeFault",
    "Review",
    "Rules",
    "Sensitivity",
    "Shortfall",
    "Three",
    "Timing",
    "TopicClass",
    "Trust",
    "beacon0",
    "build",
    "charter_hash",
    "check_ranges",
    "cut0_digest",
    "preset",
    "quorum_of",
    "range_faults",
    "realm_id",
    "realm_of",
    "sensitivity_of",
    "topic_sensitivity",
]
