"""Sanctions: what counts against an agent, what that takes, and how it ends (paper 3.4, 4.6).

`violations`  the table of rules, and one violation
`effects`     what a level takes
`ladder`      the table of levels, one step on it, and the whole way again
`quarantine`  the table for agents that are broken: no points, no weight
`classify`    broken or inverted, by what was found out after the votes

Pure functions of violations, ticks and the charter; which rounds and records make a violation
stands in `protocol.discipline`.
"""

from federation.sanctions.classify import FOR_OF_SIXTEEN, Model, Sample, bits, classify
from federation.sanctions.effects import FREE, Effects, Held, held
from federation.sanctions.ladder import (
    BANNED,
    GROUND,
    LADDER,
    LIMITED,
    NOTHING,
    ON_PROBATION,
    SUSPENDED,
    WARNED,
    Inherited,
    Leaves,
    Load,
    Standing,
    Step,
    Threshold,
    ends_at,
    load_at,
    moved,
    reached,
    replayed,
    served_at,
)
from federation.sanctions.quarantine import (
    TABLE,
    Condition,
    Event,
    Quarantine,
    after,
    condition,
    timed_out,
)
from federation.sanctions.violations import (
    RULES,
    Rule,
    RuleId,
    Violation,
    ViolationClass,
    points_of,
    violation,
)

__all__ = [
    "BANNED",
    "FOR_OF_SIXTEEN",
    "FREE",
    "GROUND",
    "LADDER",
    "LIMITED",
    "NOTHING",
    "ON_PROBATION",
    "RULES",
    "SUSPENDED",
    "TABLE",
    "WARNED",
    "Condition",
    "Effects",
    "Event",
    "Held",
    "Inherited",
    "Leaves",
    "Load",
    "Model",
    "Quarantine",
    "Rule",
    "RuleId",
    "Sample",
    "Standing",
    "Step",
    "Threshold",
    "Violation",
    "ViolationClass",
    "after",
    "bits",
    "classify",
    "condition",
    "ends_at",
    "held",
    "load_at",
    "moved",
    "points_of",
    "reached",
    "replayed",
    "served_at",
    "timed_out",
    "violation",
]
