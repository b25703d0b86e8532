"""One shape for everything that goes wrong: {code, what, why, fix, retry_at}.

The table says which HTTP status each code has; a test holds it complete. An error that nobody
foresaw is a bug of ours: its answer is INTERNAL and tells nothing, the log tells its type.
"""

import re
from typing import Final

import msgspec
from starlette.exceptions import HTTPException

from federation.core import Code, FederationError, Millis
from node.base.errors import EXPLAINED, NodeCode, NodeError

_TOKEN: Final = re.compile(r"fmi?_[A-Za-z0-9_-]{4,}")
_LONGEST: Final = 1_000


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """The body of every answer that is not a success."""

    code: str
    """Stable; programs match on it."""
    what: str
    """What happened."""
    why: str
    """Why, with the path of the field at fault where there is one."""
    fix: str
    """What to do."""
    retry_at: Millis | None = None
    """Unix time in ms from which trying again may help; nil where waiting does not help."""


STATUS: Final[dict[Code | NodeCode, int]] = {
    # Bytes that nobody may send.
    Code.NOT_CANONICAL: 422,
    Code.TOO_LARGE: 413,
    Code.BAD_SIGNATURE: 422,
    Code.WRONG_ROLE: 403,
    Code.BAD_CHAIN: 409,
    # Two codes of the node have the same words, and so the same row.
    Code.WRONG_REALM: 409,
    Code.WRONG_CHARTER: 409,
    # What has to wait.
    Code.WAITS_FOR_PREV: 409,
    Code.WAITS_FOR_AFTER: 409,
    Code.WAITS_FOR_CLOSURE: 409,
    Code.WAITS_FOR_BLOB: 409,
    Code.WAITS_FOR_CUT: 409,
    # What the rules do not allow, or not now.
    Code.UNKNOWN_KIND: 422,
    Code.UNKNOWN_ROUND: 404,
    Code.NOT_IN_PHASE: 409,
    Code.NOT_CERTIFIED: 409,
    Code.NOT_ADMITTED: 403,
    Code.NOT_ELIGIBLE: 403,
    Code.ALREADY_COMMITTED: 409,
    Code.COMMITMENT_COPIED: 409,
    Code.COMMITMENT_MISMATCH: 409,
    Code.OVER_QUOTA: 429,
    Code.FORK: 409,
    Code.REVOKED: 403,
    Code.DUPLICATE: 409,
    Code.NOT_PROVEN: 422,
    Code.SELF_VOUCH: 422,
    Code.UNKNOWN_AGENT: 404,
    Code.NO_VOUCH: 409,
    Code.CIRCULAR_VOUCH: 409,
    # Curation.
    Code.AUTHORS_OPERATOR: 403,
    Code.SUSPENDED: 403,
    Code.AGENT_BANNED: 403,
    Code.QUARANTINED: 403,
    Code.DISPUTER_TIER: 403,
    Code.DISPUTER_REPUTATION: 403,
    Code.DISPUTES_SPENT: 409,
    Code.DISPUTE_LIMIT: 429,
    Code.NO_NEW_GROUND: 409,
    Code.NO_GROUNDS: 422,
    Code.NOT_AUTHOR: 403,
    Code.UNKNOWN_ARTIFACT: 404,
    Code.CITED: 409,
    Code.COOLDOWN: 409,
    Code.RESUBMISSIONS_SPENT: 409,
    Code.NO_NEW_EVIDENCE: 409,
    Code.FROZEN: 409,
    Code.NOT_DRAWN: 403,
    Code.NOT_MODERATOR: 403,
    Code.NOT_MEMBER: 403,
    Code.UNKNOWN_SANCTION: 404,
    Code.APPEALED: 409,
    Code.UNKNOWN_ACT: 404,
    Code.STALE_BASE: 409,
    Code.BAD_CHARTER: 422,
    Code.PROOF_MISSING: 403,
    Code.PROOF_WRONG_REALM: 422,
    Code.PROOF_WRONG_INSTANCE: 422,
    Code.PROOF_WRONG_KEY: 422,
    Code.PROOF_WRONG_ROLE: 422,
    Code.PROOF_STALE: 409,
    Code.PROOF_WRONG_BEACON: 409,
    Code.PROOF_PARAMETERS: 422,
    Code.PROOF_GATE: 422,
    Code.PROOF_WORK: 422,
    Code.PROOF_REPLAYED: 409,
    Code.INSTANCE_BARRED: 403,
    Code.GUARD_FAILED: 409,
    Code.OUT_OF_RANGE: 422,
    # The node.
    NodeCode.LOCKED: 503,
    NodeCode.NOT_INITIALISED: 503,
    NodeCode.BAD_SETTINGS: 503,
    NodeCode.ALREADY_INITIALISED: 409,
    NodeCode.GENESIS_DAMAGED: 503,
    NodeCode.GENESIS_OTHER_VERSION: 503,
    NodeCode.NOT_WRITTEN: 503,
    NodeCode.STORE_FAILED: 503,
    NodeCode.STORE_NEWER: 503,
    NodeCode.STORE_OF_ANOTHER_REALM: 503,
    NodeCode.WRONG_PASSPHRASE: 403,
    NodeCode.KEY_FILE_DAMAGED: 503,
    NodeCode.NOT_BOUND: 503,
    NodeCode.UNREACHABLE: 503,
    NodeCode.NOT_A_PEER: 403,
    NodeCode.NO_HELLO: 403,
    NodeCode.WRONG_PROTOCOL: 409,
    NodeCode.BANNED: 403,
    NodeCode.STORE_UNKNOWN: 503,
    NodeCode.STORE_DAMAGED: 503,
    NodeCode.WRITE_REFUSED: 409,
    NodeCode.KEY_COST: 503,
    NodeCode.KEY_NOT_KEPT: 409,
    NodeCode.KEY_WOULD_BE_LOST: 503,
    NodeCode.KEYS_EXPOSED: 503,
    NodeCode.KEYSTORE_MISSING: 503,
    NodeCode.KEYSTORE_EXISTS: 503,
    NodeCode.KEYSTORE_CHANGED: 503,
    NodeCode.KEYSTORE_NEWER: 503,
    NodeCode.KEYSTORE_FAILED: 503,
    NodeCode.BAD_OPENSSH_KEY: 422,
    NodeCode.BAD_PASSPHRASE: 422,
    NodeCode.NO_PASSPHRASE: 403,
    NodeCode.WRONG_PEER: 409,
    NodeCode.WRONG_LIBP2P: 503,
    NodeCode.BAD_ADDRESS: 422,
    NodeCode.TIMED_OUT: 503,
    NodeCode.TOO_MANY_STREAMS: 503,
    NodeCode.STREAM_ENDED: 503,
    NodeCode.STREAM_LOST: 503,
    NodeCode.FRAME_TOO_LARGE: 503,
    NodeCode.FRAME_TRUNCATED: 503,
    NodeCode.FRAME_SLOW: 503,
    NodeCode.NETWORK_FAILED: 503,
    NodeCode.NOT_FOUND: 404,
    NodeCode.AMBIGUOUS: 409,
    NodeCode.NOT_IN_CUSTODY: 409,
    NodeCode.HEAD_REFUSED: 422,
    NodeCode.REGISTRATION_CLOSED: 403,
    NodeCode.INVITE_REFUSED: 403,
    NodeCode.DOMAIN_NOT_PROVEN: 422,
    NodeCode.NOT_ALLOWED: 403,
    NodeCode.BAD_REQUEST: 400,
    NodeCode.TOO_MANY_REQUESTS: 429,
    NodeCode.STOPPING: 503,
    NodeCode.SETTLING: 503,
    NodeCode.BUSY: 503,
    NodeCode.BAD_FIELD: 422,
    NodeCode.NO_TOKEN: 401,
    NodeCode.TOKENS_DAMAGED: 503,
    NodeCode.WRONG_HOST: 403,
    NodeCode.NO_SUCH_METHOD: 405,
    NodeCode.BODY_TOO_LARGE: 413,
    NodeCode.WRONG_CONTENT_TYPE: 415,
    NodeCode.TOO_SLOW: 408,
    NodeCode.INTERNAL: 500,
}
"""HTTP status of every code."""


def explain(error: Exception) -> tuple[int, Problem]:
    """Give the status and the answer of an error; one that nobody foresaw is INTERNAL."""
    match error:
        case NodeError():
            return STATUS[error.code], Problem(
                code=error.code.value,
                what=_clean(error.what),
                why=_clean(error.why),
                fix=_clean(error.fix),
                retry_at=error.retry_at,
            )
        case FederationError():
            return STATUS[error.code], Problem(
                code=error.code.value,
                what=_clean(error.what),
                why=_clean(error.why),
                fix=_clean(error.fix),
            )
        case HTTPException(status_code=404):
            return known(NodeCode.NOT_FOUND, "address not found")
        case HTTPException(status_code=405):
            return known(NodeCode.NO_SUCH_METHOD, "method refused")
        case _:
            return known(NodeCode.INTERNAL, "the request failed")


def known(code: NodeCode, what: str, *, retry_at: Millis | None = None) -> tuple[int, Problem]:
    """Give the status and the answer of a code with the words of its table."""
    why, fix = EXPLAINED[code]
    return STATUS[code], Problem(code=code.value, what=what, why=why, fix=fix, retry_at=retry_at)


def error_of(
    code: NodeCode, what: str, *, why: str | None = None, retry_at: Millis | None = None
) -> NodeError:
    """Make an error with the words of its table, or with a `why` of its own."""
    means, fix = EXPLAINED[code]
    return NodeError(what, why=why or means, fix=fix, code=code, retry_at=retry_at)


def _clean(text: str) -> str:
    """Cut a text to a length, and take out anything that looks like a token."""
    return _TOKEN.sub("fm_…", text[:_LONGEST])
