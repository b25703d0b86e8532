"""Checks of single values for the second reader, and the fields that many kinds share.

A check is a function of one plain value, as the msgpack package gives it. Imports nothing of
`federation`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

Check = Callable[[object], bool]


def sized(kind: type, low: int, high: int) -> Check:
    def check(value: object) -> bool:
        return isinstance(value, kind) and low <= len(value) <= high  # type: ignore[arg-type]

    return check


def exactly(size: int) -> Check:
    return sized(bytes, size, size)


def within(low: int, high: int) -> Check:
    return lambda value: (
        isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    )


def like(pattern: str) -> Check:
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value, re.ASCII))


def one_of(*names: str) -> Check:
    return lambda value: isinstance(value, str) and value in names


def maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


def many(check: Check, most: int, least: int = 0) -> Check:
    return lambda value: (
        isinstance(value, list) and least <= len(value) <= most and all(map(check, value))
    )


def ascending(check: Check, most: int, least: int = 0) -> Check:
    """List without doubles, in the order of the items' bytes."""

    def rising(value: object) -> bool:
        items = [raw_of(item) for item in value]  # type: ignore[attr-defined]
        return items == sorted(set(items))

    return both(many(check, most, least), rising)


def raw_of(item: object) -> bytes:
    return item.encode() if isinstance(item, str) else bytes(item)  # type: ignore[call-overload]


def both(first: Check, second: Check) -> Check:
    return lambda value: first(value) and second(value)


def _numbered(value: object) -> bool:
    return [row[0] for row in value] == list(range(1, len(value) + 1))  # type: ignore[attr-defined, arg-type]


def _text_or_none(body: object) -> bool:
    return (body["text_hash"] is None) is (body["text_len"] == 0)  # type: ignore[index]


def row(*checks: Check) -> Check:
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(checks)
        and all(check(item) for check, item in zip(checks, value, strict=True))
    )


def fields(**checks: Check) -> Check:
    return lambda value: (
        isinstance(value, dict)
        and set(value) == set(checks)
        and all(check(value[name]) for name, check in checks.items())
    )


ID = exactly(32)
SIGNATURE = exactly(64)
COUNT = within(0, 2**53 - 1)
KIND = like(r"[a-z]{1,20}\.[a-z_]{1,20}")
NAME = sized(str, 1, 128)
WORDS = sized(str, 0, 500)
TOPIC = like(r"[a-z0-9_-]{1,40}(/[a-z0-9_-]{1,40}){0,5}")
LENGTH = within(0, 16_384)
LINES = many(sized(str, 0, 2_000), 16)
REASON = one_of(
    "accurate",
    "well_sourced",
    "novel",
    "redundant",
    "inaccurate",
    "unsourced",
    "harmful",
    "unclear",
)


def noted(**checks: Check) -> Check:
    """Fields of a record that may have prose."""
    return both(
        fields(text_hash=maybe(ID), text_len=LENGTH, **checks),
        _text_or_none,
    )


PROPOSAL: Final[Mapping[str, Check]] = {
    "topics": ascending(TOPIC, 4, 1),
    "claims": both(many(row(within(1, 16), maybe(ID)), 16), _numbered),
    "cites": ascending(ID, 64),
    "sources": ascending(ID, 16),
    "text_hash": ID,
    "text_len": within(1, 16_384),
    "text_id": ID,
    "lang": like(r"[a-z]{2,3}(-[a-z0-9]{2,8})?"),
}
"""What a new artifact says, whether it stands for itself or in the place of another."""


def truth(value: object) -> bool:
    return isinstance(value, bool)


EVERYBODY: Final = frozenset({"operator", "agent", "instance"})
AGENT: Final = frozenset({"agent"})
OPERATOR: Final = frozenset({"operator"})
INSTANCE: Final = frozenset({"instance"})
