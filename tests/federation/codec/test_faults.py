"""The walk over msgpack bytes agrees with a second encoder and names the first fault."""

import dataclasses
import time
import unicodedata

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from federation.codec import LIMITS, encode, find_fault
from tests import strategies
from tests.vectors.spellings import NON_CANONICAL


def repacked(raw: bytes) -> bytes | None:
    """Read and write `raw` with the msgpack package; None if it holds what is not allowed."""
    try:
        value = msgpack.unpackb(raw, raw=False, strict_map_key=False, ext_hook=_refuse)
    except (ValueError, TypeError, msgpack.exceptions.UnpackException):
        return None
    return bytes(msgpack.packb(_tidied(value), use_bin_type=True)) if _is_allowed(value) else None


def _refuse(code: int, _: bytes) -> object:
    raise ValueError(code)


def _tidied(value: object) -> object:
    match value:
        case dict():
            return {key: _tidied(value[key]) for key in sorted(value, key=str.encode)}
        case list():
            return [_tidied(item) for item in value]
        case _:
            return value


def _is_allowed(value: object, depth: int = 1) -> bool:
    match value:
        case None | bool() | int() | bytes():
            return True
        case str():
            unknown = any(unicodedata.category(one) == "Cn" for one in value)
            return "\0" not in value and not unknown and unicodedata.is_normalized("NFC", value)
        case list():
            inside = all(_is_allowed(item, depth + 1) for item in value)
            return inside and len(value) <= LIMITS.list_items and depth <= LIMITS.depth
        case dict():
            keys = all(isinstance(key, str) for key in value)
            inside = all(_is_allowed(one, depth + 1) for item in value.items() for one in item)
            return keys and inside and len(value) <= LIMITS.map_keys and depth <= LIMITS.depth
        case _:
            return False


@settings(max_examples=300)
@given(st.binary(max_size=60))
@example(b"\xd6\xff\x00\x00\x00\x00")
@example(b"\xc1")
def test_random_bytes_are_canonical_exactly_if_a_second_encoder_gives_them_back(raw: bytes) -> None:
    assert (find_fault(raw) is None) == (repacked(raw) == raw)


@settings(max_examples=200)
@given(strategies.spellings())
def test_a_spelling_is_canonical_exactly_if_a_second_encoder_gives_it_back(raw: bytes) -> None:
    assert (find_fault(raw) is None) == (repacked(raw) == raw)


@settings(max_examples=200)
@given(strategies.spellings(tidy=True).flatmap(strategies.damaged))
def test_a_damaged_value_is_canonical_exactly_if_a_second_encoder_gives_it_back(
    raw: bytes,
) -> None:
    assert (find_fault(raw) is None) == (repacked(raw) == raw)


@given(strategies.spellings(tidy=True))
def test_a_tidy_spelling_is_canonical(raw: bytes) -> None:
    assert find_fault(raw) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("no bytes at all", "$: the bytes end inside this value"),
        ("bytes after the value", "$: 1 bytes after the value"),
        ("the byte c1", "$: the byte c1 is never used"),
        ("a 64-bit float in a map", "$.x: floats are not allowed"),
        ("a timestamp", "$: extension types are not allowed"),
        ("200 as a signed integer", "$: not the shortest form"),
        ("-40 in three bytes", "$: not the shortest form"),
        ("a key in a long header", "$.key: not the shortest form"),
        ("a key that is bytes", "$: a map key is not text"),
        ("keys out of order", "$: key 'a' stands out of order"),
        ("a key twice", "$: key 'a' stands twice"),
        ("text that is not UTF-8", "$: text is not valid UTF-8"),
        ("a NUL character in a key", "$.key: text holds a NUL character"),
        ("text in form NFD", "$: text is not in Unicode form NFC"),
        ("an unassigned character", "$: U+0378 is not assigned in Unicode 14.0"),
        ("a list that ends early", "$[1]: the bytes end inside this value"),
        ("a map that ends early", "$.a: the bytes end inside this value"),
        ("a list of 1,025", "$: 1025 items, the limit is 1024"),
        ("a map of 65", "$: 65 keys, the limit is 64"),
        ("nine lists", "$[0][0][0][0][0][0][0][0]: nested deeper than 8"),
        ("a fault far inside", "$.a[2].b[1]: floats are not allowed"),
    ],
)
def test_a_fault_is_named_by_its_path_and_reason(name: str, fault: str) -> None:
    assert find_fault(NON_CANONICAL[name]) == fault


def test_the_limits_are_those_of_the_design() -> None:
    assert dataclasses.asdict(LIMITS) == {
        "record": 65_536,
        "text": 16_384,
        "blob": 1_048_576,
        "frame": 262_144,
        "depth": 8,
        "map_keys": 64,
        "list_items": 1_024,
    }


def test_limits_are_inclusive() -> None:
    assert find_fault(encode([0] * LIMITS.list_items)) is None
    assert find_fault(encode({f"{number:02}": 0 for number in range(LIMITS.map_keys)})) is None
    assert find_fault(b"\x91" * LIMITS.depth + b"\x00") is None


@pytest.mark.parametrize("head", [0xDB, 0xC6])
def test_65535_bytes_need_no_header_of_four(head: int) -> None:
    body = b"a" * 65_535

    assert find_fault(bytes([head, 0, 0, 0xFF, 0xFF]) + body) == "$: not the shortest form"
    assert find_fault(bytes([head, 0, 1, 0, 0]) + body + b"a") is None
    assert find_fault(bytes([head - 1, 0xFF, 0xFF]) + body) is None


@pytest.mark.parametrize("head", [b"\x91", b"\x81\xa1a", b"\xdd\x00\x01\x00\x00", b"\xdc\x04\x00"])
def test_deep_nesting_ends_the_walk_and_not_the_interpreter(head: bytes) -> None:
    assert find_fault(head * 100_000) is not None


def test_a_long_key_does_not_make_paths_long_or_the_walk_slow() -> None:
    key = b"k" * 20_000
    rows = b"\xdc\x04\x00" + b"\x01" * 1_024
    raw = b"\x81\xda" + len(key).to_bytes(2, "big") + key + b"\xdc\x00\x28" + rows * 40
    started = time.process_time()
    fault = find_fault(raw + b"\x00")
    spent = time.process_time() - started
    inside = find_fault(raw[:-1])

    assert fault == "$: 1 bytes after the value"
    assert inside == f"$.{'k' * 40}[39][1023]: the bytes end inside this value"
    assert spent < 2
