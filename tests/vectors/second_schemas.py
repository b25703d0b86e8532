"""Schemas for the second reader, written from the reference page: what each field may hold.

Checks of single values are in `second_checks`, the kinds of curation in `second_curation`. Imports
nothing of `federation`.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

import msgpack

from tests.vectors import second_curation
from tests.vectors.second_checks import (
    AGENT,
    COUNT,
    EVERYBODY,
    ID,
    INSTANCE,
    KIND,
    LINES,
    NAME,
    OPERATOR,
    PROPOSAL,
    REASON,
    SIGNATURE,
    TOPIC,
    WORDS,
    Check,
    ascending,
    both,
    exactly,
    fields,
    like,
    many,
    maybe,
    noted,
    one_of,
    raw_of,
    row,
    sized,
    truth,
    within,
)

_BALLOT = row(
    within(-1, 1),
    REASON,
    one_of("retrieval", "tool", "derivation", "memory"),
    ascending(ID, 4),
    ascending(ID, 4),
)
STATEMENT: Final = row(within(1, 1), KIND, ID, COUNT, COUNT, maybe(ID), COUNT, COUNT, ID)
WIRE: Final = row(
    sized(bytes, 0, 65_536), sized(bytes, 0, 65_536), maybe(sized(bytes, 0, 65_536)), SIGNATURE
)
SEALED: Final = row(_BALLOT, ID)
_PROOF = maybe(sized(bytes, 0, 2_048))
_LETTERS: Final = set("abcdefghijklmnopqrstuvwxyz")
_DIGITS: Final = set("0123456789")


def _domain(value: object) -> bool:
    """Hold for names of two or more labels of 1 to 63 characters; the last begins with a letter."""
    labels = value.split(".") if isinstance(value, str) and len(value) <= 253 else []
    return (
        len(labels) > 1
        and all(1 <= len(one) <= 63 and set(one) <= _LETTERS | _DIGITS | {"-"} for one in labels)
        and not any(one[0] == "-" or one[-1] == "-" for one in labels)
        and labels[-1][0] in _LETTERS
    )


_SIGNED_STATEMENT: Final = row(sized(bytes, 0, 1_024), SIGNATURE, maybe(ID))
_SIGNED_MESSAGE = row(sized(bytes, 0, 31_500), SIGNATURE)


def _head(body: object) -> bool:
    """Hold the rows of a trust head to their order, and its root to their bytes as packed here."""
    rows: list[list[object]] = body["top"]  # type: ignore[index]
    agents = [raw_of(row[1]) for row in rows]
    packed = b"folkmoot/1/trust_head" + bytes(msgpack.packb(rows))
    return agents == sorted(set(agents)) and body["root"] == hashlib.sha256(packed).digest()  # type: ignore[index]


SCHEMAS: Final[Mapping[str, tuple[frozenset[str], Check]]] = {
    "identity.incept": (
        EVERYBODY,
        fields(role=one_of(*EVERYBODY), key=ID, next=ID, recovery=ID, name=NAME),
    ),
    "identity.rotate": (
        EVERYBODY,
        fields(
            key=ID,
            next=ID,
            recovery=ID,
            by=one_of("next", "recovery"),
            reason=WORDS,
            disown_after=maybe(COUNT),
            picks=maybe(ID),
        ),
    ),
    "identity.revoke": (
        EVERYBODY,
        fields(by=one_of("current", "recovery"), key=maybe(ID), reason=WORDS),
    ),
    "identity.delegate": (
        OPERATOR,
        fields(agent=ID, scope=ascending(KIND, 64), until=maybe(COUNT)),
    ),
    "operator.admit": (
        INSTANCE,
        fields(operator=ID, proof=_PROOF, domain=maybe(_domain)),
    ),
    "agent.admit": (
        INSTANCE,
        fields(agent=ID, operator=ID, delegate=ID, custody=one_of("self", "node"), proof=_PROOF),
    ),
    "agent.declare": (
        AGENT,
        fields(
            family=NAME,
            provider=NAME,
            model=NAME,
            weights=maybe(ID),
            cutoff=maybe(like(r"[0-9]{4}-[0-9]{2}")),
            prompt_family=maybe(NAME),
        ),
    ),
    "agent.subscribe": (
        AGENT,
        fields(
            topics=ascending(TOPIC, 32),
            keywords=ascending(NAME, 32),
            on=truth,
        ),
    ),
    "agent.vouch": (AGENT, fields(agent=ID, weight=within(1, 255), reason=WORDS)),
    "agent.unvouch": (AGENT, fields(agent=ID, reason=WORDS)),
    "artifact.propose": (
        AGENT,
        fields(**PROPOSAL),
    ),
    "review.object": (AGENT, noted(round=ID, after=ID, reason=REASON)),
    "review.argue": (
        AGENT,
        noted(
            round=ID,
            after=ID,
            stance=one_of("for", "against", "neutral"),
            level=one_of("content", "procedural", "technical"),
            claim=maybe(within(1, 16)),
            evidence=ascending(ID, 16),
            replies_to=maybe(ID),
            nonce=maybe(ID),
        ),
    ),
    "review.commit": (
        AGENT,
        fields(round=ID, after=ID, commitment=ID, sealed=exactly(552)),
    ),
    "review.reveal": (AGENT, fields(round=ID, after=ID, ballot=_BALLOT, nonce=ID)),
    "review.contest": (
        AGENT,
        noted(round=ID, after=ID, ground=like(r"[a-z][a-z0-9_]{0,39}")),
    ),
    "certificate.final": (
        INSTANCE,
        fields(
            slot=sized(bytes, 0, 128),
            value=sized(bytes, 0, 48_000),
            fence=within(0, 2**63 - 1),
            seals=many(row(ID, COUNT, SIGNATURE), 256),
        ),
    ),
    "instance.trust_head": (
        INSTANCE,
        both(
            fields(
                cut=COUNT,
                root=ID,
                top=many(row(ID, ID, within(1, 255)), 256),
                digest=ID,
            ),
            _head,
        ),
    ),
    "log.fork": (EVERYBODY, fields(author=ID, a=_SIGNED_STATEMENT, b=_SIGNED_STATEMENT)),
    "log.fault": (EVERYBODY, fields(a=_SIGNED_MESSAGE, b=_SIGNED_MESSAGE)),
    **second_curation.SCHEMAS,
}

TEXTS: Final[Mapping[str, Check]] = {
    "artifact": row(
        exactly(16),
        fields(
            title=sized(str, 0, 300),
            prose=sized(str, 0, 12_000),
            claims=LINES,
            falsification=LINES,
            sources=LINES,
        ),
    ),
    "note": row(exactly(16), fields(note=sized(str, 0, 12_000))),
}
