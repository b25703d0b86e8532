"""Errors that say what happened, why, and what to do.

    FederationError
    ├── PeerError       a stranger's bytes or signatures are at fault; the sending peer pays
    ├── CallerError     the local caller asked for something the rules refuse
    │   └── RefusedError    the local door: refused before anything is signed
    └── ParameterError  a charter or a function argument is out of range

Each carries a stable `code`. Our own bugs are assertions, never one of these.
"""

from enum import StrEnum


class Code(StrEnum):
    """Stable names of every refusal: three fates, and messages (design: records, the log)."""

    # Refused: never stored, the sending peer pays.
    NOT_CANONICAL = "NOT_CANONICAL"
    TOO_LARGE = "TOO_LARGE"
    BAD_SIGNATURE = "BAD_SIGNATURE"
    WRONG_ROLE = "WRONG_ROLE"
    BAD_CHAIN = "BAD_CHAIN"
    # Hello and messages.
    WRONG_REALM = "WRONG_REALM"
    WRONG_CHARTER = "WRONG_CHARTER"
    # Waits, bounded.
    WAITS_FOR_PREV = "WAITS_FOR_PREV"
    WAITS_FOR_AFTER = "WAITS_FOR_AFTER"
    WAITS_FOR_CLOSURE = "WAITS_FOR_CLOSURE"
    WAITS_FOR_BLOB = "WAITS_FOR_BLOB"
    WAITS_FOR_CUT = "WAITS_FOR_CUT"
    # Stored, does not count.
    UNKNOWN_KIND = "UNKNOWN_KIND"
    UNKNOWN_ROUND = "UNKNOWN_ROUND"
    NOT_IN_PHASE = "NOT_IN_PHASE"
    NOT_CERTIFIED = "NOT_CERTIFIED"
    NOT_ADMITTED = "NOT_ADMITTED"
    NOT_ELIGIBLE = "NOT_ELIGIBLE"
    ALREADY_COMMITTED = "ALREADY_COMMITTED"
    COMMITMENT_COPIED = "COMMITMENT_COPIED"
    COMMITMENT_MISMATCH = "COMMITMENT_MISMATCH"
    OVER_QUOTA = "OVER_QUOTA"
    FORK = "FORK"
    REVOKED = "REVOKED"
    DUPLICATE = "DUPLICATE"
    NOT_PROVEN = "NOT_PROVEN"
    SELF_VOUCH = "SELF_VOUCH"
    UNKNOWN_AGENT = "UNKNOWN_AGENT"
    NO_VOUCH = "NO_VOUCH"
    CIRCULAR_VOUCH = "CIRCULAR_VOUCH"
    # Curation.
    AUTHORS_OPERATOR = "AUTHORS_OPERATOR"
    SUSPENDED = "SUSPENDED"
    AGENT_BANNED = "AGENT_BANNED"
    QUARANTINED = "QUARANTINED"
    DISPUTER_TIER = "DISPUTER_TIER"
    DISPUTER_REPUTATION = "DISPUTER_REPUTATION"
    DISPUTES_SPENT = "DISPUTES_SPENT"
    DISPUTE_LIMIT = "DISPUTE_LIMIT"
    NO_NEW_GROUND = "NO_NEW_GROUND"
    NO_GROUNDS = "NO_GROUNDS"
    NOT_AUTHOR = "NOT_AUTHOR"
    UNKNOWN_ARTIFACT = "UNKNOWN_ARTIFACT"
    CITED = "CITED"
    COOLDOWN = "COOLDOWN"
    RESUBMISSIONS_SPENT = "RESUBMISSIONS_SPENT"
    NO_NEW_EVIDENCE = "NO_NEW_EVIDENCE"
    FROZEN = "FROZEN"
    NOT_DRAWN = "NOT_DRAWN"
    NOT_MODERATOR = "NOT_MODERATOR"
    NOT_MEMBER = "NOT_MEMBER"
    UNKNOWN_SANCTION = "UNKNOWN_SANCTION"
    APPEALED = "APPEALED"
    UNKNOWN_ACT = "UNKNOWN_ACT"
    STALE_BASE = "STALE_BASE"
    BAD_CHARTER = "BAD_CHARTER"
    # Admission proofs.
    PROOF_MISSING = "PROOF_MISSING"
    PROOF_WRONG_REALM = "PROOF_WRONG_REALM"
    PROOF_WRONG_INSTANCE = "PROOF_WRONG_INSTANCE"
    PROOF_WRONG_KEY = "PROOF_WRONG_KEY"
    PROOF_WRONG_ROLE = "PROOF_WRONG_ROLE"
    PROOF_STALE = "PROOF_STALE"
    PROOF_WRONG_BEACON = "PROOF_WRONG_BEACON"
    PROOF_PARAMETERS = "PROOF_PARAMETERS"
    PROOF_GATE = "PROOF_GATE"
    PROOF_WORK = "PROOF_WORK"
    PROOF_REPLAYED = "PROOF_REPLAYED"
    INSTANCE_BARRED = "INSTANCE_BARRED"
    # Callers and charters.
    GUARD_FAILED = "GUARD_FAILED"
    OUT_OF_RANGE = "OUT_OF_RANGE"


class FederationError(Exception):
    """What, why, fix and a stable code; the root of every error of this package."""

    def __init__(self, what: str, *, why: str, fix: str, code: Code) -> None:
        """Keep the three parts; `str()` joins them into one line."""
        super().__init__(f"{what}: {why}; {fix} [{code}]")
        self.what = what
        self.why = why
        self.fix = fix
        self.code = code


class PeerError(FederationError):
    """Bytes or signatures from outside are wrong; nothing was stored, the sender pays."""


class CallerError(FederationError):
    """The local caller asked for something the rules do not allow."""


class RefusedError(CallerError):
    """The local door refused before anything was signed."""


class ParameterError(FederationError):
    """A charter or an argument is out of its legal range."""

    def __init__(self, what: str, *, why: str, fix: str) -> None:
        """All parameter errors share the code OUT_OF_RANGE."""
        super().__init__(what, why=why, fix=fix, code=Code.OUT_OF_RANGE)
