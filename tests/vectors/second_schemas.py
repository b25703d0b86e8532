"""Schemas for the second reader, written from the reference page: what each field may hold.

A check is a function of one plain value, as the msgpack package gives it. Imports nothing of
`federation`.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Final

import msgpack

Check = Callable[[object], bool]


def _is(kind: type, low: int, high: int) -> Check:
    def check(value: object) -> bool:
        return isinstance(value, kind) and low <= len(value) <= high  # type: ignore[arg-type]

    return check


def _bytes(size: int) -> Check:
    return _is(bytes, size, size)


def _within(low: int, high: int) -> Check:
    return lambda value: (
        isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    )


def _like(pattern: str) -> Check:
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value, re.ASCII))


def _one_of(*names: str) -> Check:
    return lambda value: isinstance(value, str) and value in names


def _maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _many(check: Check, most: int, least: int = 0) -> Check:
    return lambda value: (
        isinstance(value, list) and least <= len(value) <= most and all(map(check, value))
    )


def _set(check: Check, most: int, least: int = 0) -> Check:
    """List without doubles, in the order of the items' bytes."""

    def ascending(value: object) -> bool:
        items = [_raw(item) for item in value]  # type: ignore[attr-defined]
        return items == sorted(set(items))

    return _both(_many(check, most, least), ascending)


def _raw(item: object) -> bytes:
    return item.encode() if isinstance(item, str) else bytes(item)  # type: ignore[call-overload]


def _both(first: Check, second: Check) -> Check:
    return lambda value: first(value) and second(value)


def _numbered(value: object) -> bool:
    return [row[0] for row in value] == list(range(1, len(value) + 1))  # type: ignore[attr-defined, arg-type]


def _text_or_none(body: object) -> bool:
    return (body["text_hash"] is None) is (body["text_len"] == 0)  # type: ignore[index]


def _row(*checks: Check) -> Check:
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(checks)
        and all(check(item) for check, item in zip(checks, value, strict=True))
    )


def _fields(**checks: Check) -> Check:
    return lambda value: (
        isinstance(value, dict)
        and set(value) == set(checks)
        and all(check(value[name]) for name, check in checks.items())
    )


_ID = _bytes(32)
_SIGNATURE = _bytes(64)
_COUNT = _within(0, 2**53 - 1)
_KIND = _like(r"[a-z]{1,20}\.[a-z_]{1,20}")
_NAME = _is(str, 1, 128)
_WORDS = _is(str, 0, 500)
_TOPIC = _like(r"[a-z0-9_-]{1,40}(/[a-z0-9_-]{1,40}){0,5}")
_LENGTH = _within(0, 16_384)
_LINES = _many(_is(str, 0, 2_000), 16)
_REASON = _one_of(
    "accurate",
    "well_sourced",
    "novel",
    "redundant",
    "inaccurate",
    "unsourced",
    "harmful",
    "unclear",
)
_BALLOT = _row(
    _within(-1, 1),
    _REASON,
    _one_of("retrieval", "tool", "derivation", "memory"),
    _set(_ID, 4),
    _set(_ID, 4),
)
STATEMENT: Final = _row(_within(1, 1), _KIND, _ID, _COUNT, _COUNT, _maybe(_ID), _COUNT, _COUNT, _ID)
WIRE: Final = _row(
    _is(bytes, 0, 65_536), _is(bytes, 0, 65_536), _maybe(_is(bytes, 0, 65_536)), _SIGNATURE
)
SEALED: Final = _row(_BALLOT, _ID)
_PROOF = _maybe(_is(bytes, 0, 2_048))
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


_SIGNED_STATEMENT: Final = _row(_is(bytes, 0, 1_024), _SIGNATURE, _maybe(_ID))
_SIGNED_MESSAGE = _row(_is(bytes, 0, 31_500), _SIGNATURE)


def _noted(**checks: Check) -> Check:
    """Fields of a record that may have prose."""
    return _both(
        _fields(text_hash=_maybe(_ID), text_len=_LENGTH, **checks),
        _text_or_none,
    )


def _head(body: object) -> bool:
    """Hold the rows of a trust head to their order, and its root to their bytes as packed here."""
    rows: list[list[object]] = body["top"]  # type: ignore[index]
    agents = [_raw(row[1]) for row in rows]
    packed = b"folkmoot/1/trust_head" + bytes(msgpack.packb(rows))
    return agents == sorted(set(agents)) and body["root"] == hashlib.sha256(packed).digest()  # type: ignore[index]


EVERYBODY: Final = frozenset({"operator", "agent", "instance"})
_AGENT: Final = frozenset({"agent"})
_OPERATOR: Final = frozenset({"operator"})
_INSTANCE: Final = frozenset({"instance"})

SCHEMAS: Final[Mapping[str, tuple[frozenset[str], Check]]] = {
    "identity.incept": (
        EVERYBODY,
        _fields(role=_one_of(*EVERYBODY), key=_ID, next=_ID, recovery=_ID, name=_NAME),
    ),
    "identity.rotate": (
        EVERYBODY,
        _fields(
            key=_ID,
            next=_ID,
            recovery=_ID,
            by=_one_of("next", "recovery"),
            reason=_WORDS,
            disown_after=_maybe(_COUNT),
            picks=_maybe(_ID),
        ),
    ),
    "identity.revoke": (
        EVERYBODY,
        _fields(by=_one_of("current", "recovery"), key=_maybe(_ID), reason=_WORDS),
    ),
    "identity.delegate": (
        _OPERATOR,
        _fields(agent=_ID, scope=_set(_KIND, 64), until=_maybe(_COUNT)),
    ),
    "operator.admit": (
        _INSTANCE,
        _fields(operator=_ID, proof=_PROOF, domain=_maybe(_domain)),
    ),
    "agent.admit": (
        _INSTANCE,
        _fields(
            agent=_ID, operator=_ID, delegate=_ID, custody=_one_of("self", "node"), proof=_PROOF
        ),
    ),
    "agent.declare": (
        _AGENT,
        _fields(
            family=_NAME,
            provider=_NAME,
            model=_NAME,
            weights=_maybe(_ID),
            cutoff=_maybe(_like(r"[0-9]{4}-[0-9]{2}")),
            prompt_family=_maybe(_NAME),
        ),
    ),
    "agent.subscribe": (
        _AGENT,
        _fields(
            topics=_set(_TOPIC, 32),
            keywords=_set(_NAME, 32),
            on=lambda value: isinstance(value, bool),
        ),
    ),
    "agent.vouch": (_AGENT, _fields(agent=_ID, weight=_within(1, 255), reason=_WORDS)),
    "agent.unvouch": (_AGENT, _fields(agent=_ID, reason=_WORDS)),
    "artifact.propose": (
        _AGENT,
        _fields(
            topics=_set(_TOPIC, 4, 1),
            claims=_both(_many(_row(_within(1, 16), _maybe(_ID)), 16), _numbered),
            cites=_set(_ID, 64),
            sources=_set(_ID, 16),
            text_hash=_ID,
            text_len=_within(1, 16_384),
            text_id=_ID,
            lang=_like(r"[a-z]{2,3}(-[a-z0-9]{2,8})?"),
        ),
    ),
    "review.object": (_AGENT, _noted(round=_ID, after=_ID, reason=_REASON)),
    "review.argue": (
        _AGENT,
        _noted(
            round=_ID,
            after=_ID,
            stance=_one_of("for", "against", "neutral"),
            level=_one_of("content", "procedural", "technical"),
            claim=_maybe(_within(1, 16)),
            evidence=_set(_ID, 16),
            replies_to=_maybe(_ID),
        ),
    ),
    "review.commit": (
        _AGENT,
        _fields(round=_ID, after=_ID, commitment=_ID, sealed=_bytes(552)),
    ),
    "review.reveal": (_AGENT, _fields(round=_ID, after=_ID, ballot=_BALLOT, nonce=_ID)),
    "review.contest": (
        _AGENT,
        _noted(round=_ID, after=_ID, ground=_like(r"[a-z][a-z0-9_]{0,39}")),
    ),
    "certificate.final": (
        _INSTANCE,
        _fields(
            slot=_is(bytes, 0, 128),
            value=_is(bytes, 0, 48_000),
            fence=_within(0, 2**63 - 1),
            seals=_many(_row(_ID, _COUNT, _SIGNATURE), 256),
        ),
    ),
    "instance.trust_head": (
        _INSTANCE,
        _both(
            _fields(
                cut=_COUNT,
                root=_ID,
                top=_many(_row(_ID, _ID, _within(1, 255)), 256),
                digest=_ID,
            ),
            _head,
        ),
    ),
    "log.fork": (EVERYBODY, _fields(author=_ID, a=_SIGNED_STATEMENT, b=_SIGNED_STATEMENT)),
    "log.fault": (EVERYBODY, _fields(a=_SIGNED_MESSAGE, b=_SIGNED_MESSAGE)),
}

TEXTS: Final[Mapping[str, Check]] = {
    "artifact": _row(
        _bytes(16),
        _fields(
            title=_is(str, 0, 300),
            prose=_is(str, 0, 12_000),
            claims=_LINES,
            falsification=_LINES,
            sources=_LINES,
        ),
    ),
    "note": _row(_bytes(16), _fields(note=_is(str, 0, 12_000))),
}
