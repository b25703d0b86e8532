"""What a check of a charter says: one finding per fact, with what, why and what to do."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    """True, and worth knowing before adopting."""
    WARNING = "warning"
    """A safeguard is weaker than usual."""
    ERROR = "error"
    """The realm would not work; do not adopt."""


class FindingCode(StrEnum):
    """Stable names of findings."""

    RANGE = "RANGE"
    ORDER = "ORDER"
    GENESIS = "GENESIS"
    TEST_ONLY = "TEST_ONLY"
    WORST_CASE_TIME = "WORST_CASE_TIME"
    DEADLINE = "DEADLINE"
    MODE = "MODE"
    MEMBERSHIP = "MEMBERSHIP"
    THREE = "THREE"
    NO_REVIEWER = "NO_REVIEWER"
    QUORUM_LOWERED = "QUORUM_LOWERED"
    EXCLUSION_RELAXED = "EXCLUSION_RELAXED"
    FEW_OPERATORS = "FEW_OPERATORS"
    CAP_RAISED = "CAP_RAISED"
    SEATS = "SEATS"
    TICKET = "TICKET"
    SEEDS = "SEEDS"
    SYBILS = "SYBILS"
    NO_AUDITS = "NO_AUDITS"
    NO_ARBITRATION = "NO_ARBITRATION"
    FEW_ARBITERS = "FEW_ARBITERS"
    FEW_MODERATORS = "FEW_MODERATORS"
    DISPUTE_PANEL = "DISPUTE_PANEL"
    DISPUTE_TIMEOUT = "DISPUTE_TIMEOUT"
    BY_HAND = "BY_HAND"
    SWITCHED_OFF = "SWITCHED_OFF"
    HELD_OPEN = "HELD_OPEN"
    LADDER = "LADDER"
    NO_FAST_TRACK = "NO_FAST_TRACK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fact that a charter implies."""

    code: FindingCode
    severity: Severity
    what: str
    """The fact, with its numbers."""
    why: str
    """Which rule makes it so, or what it costs."""
    fix: str
    """What to change, or that nothing needs to."""


def warning(code: FindingCode, what: str, *, why: str, fix: str) -> Finding:
    """Make a warning."""
    return Finding(code=code, severity=Severity.WARNING, what=what, why=why, fix=fix)


def info(code: FindingCode, what: str, *, why: str, fix: str) -> Finding:
    """Make an info."""
    return Finding(code=code, severity=Severity.INFO, what=what, why=why, fix=fix)


def error(code: FindingCode, what: str, *, why: str, fix: str) -> Finding:
    """Make an error."""
    return Finding(code=code, severity=Severity.ERROR, what=what, why=why, fix=fix)
