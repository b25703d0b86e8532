"""SHA-256 under a domain: a hash of one thing can never be mistaken for a hash of another."""

import hashlib
from enum import Enum, unique

from federation.core import Digest


@unique
class Domain(bytes, Enum):
    """The prefix of each hash; all of them stand here, so that none is used twice."""

    REALM = b"folkmoot/1/realm"
    CHARTER = b"folkmoot/1/charter"
    RECORD = b"folkmoot/1/record"
    TEXT = b"folkmoot/1/text"
    BLOB = b"folkmoot/1/blob"
    KEY = b"folkmoot/1/key"
    ROUND = b"folkmoot/1/round"
    CUT0 = b"folkmoot/1/cut0"
    BEACON = b"folkmoot/1/beacon"
    VALUE = b"folkmoot/1/value"
    ORDER = b"folkmoot/1/order"
    MESSAGE = b"folkmoot/1/message"
    VOTE = b"folkmoot/1/vote"
    ARGUMENT = b"folkmoot/1/argument"
    VIOLATION = b"folkmoot/1/violation"
    LOCK = b"folkmoot/1/lock"
    WORLD = b"folkmoot/1/world"
    TRUST_HEAD = b"folkmoot/1/trust_head"
    PUZZLE_CHALLENGE = b"folkmoot/1/puzzle_challenge"
    PUZZLE_GATE = b"folkmoot/1/puzzle_gate"
    PUZZLE_PART = b"folkmoot/1/puzzle_part"


def digest(domain: Domain, *parts: bytes) -> Digest:
    """SHA-256 of the domain and the parts, joined without separators.

    Callers join only fixed-length parts and at most one part of free length, at the end.
    """
    return hashlib.sha256(b"".join((domain, *parts))).digest()


def plain_hash(content: bytes) -> Digest:
    """SHA-256 of the content alone: where the design fixes a bare hash (bodies, rows)."""
    return hashlib.sha256(content).digest()
