"""Hypothesis strategies for the fields of bodies: names, digests, sets, and a text by hash and length.

`sets` and `several` draw the longest that is allowed beside the short ones; the bodies themselves
are put together in `strategies` and `curation_strategies`.
"""

import unicodedata
from typing import Final, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from federation.codec import as_set
from federation.records import Body, Claim, Kind
from federation.records.statement import INTEGER_LIMIT

Item = TypeVar("Item", bytes, str)


def binaries(size: int) -> SearchStrategy[bytes]:
    """Byte strings of one size."""
    return st.binary(min_size=size, max_size=size)


def texts(most: int, *, least: int = 0) -> SearchStrategy[str]:
    """Text in NFC without NUL, of `least` to `most` code points."""
    alphabet = st.characters(
        codec="utf-8", exclude_characters="\0", exclude_categories=["Cs", "Cn"]
    )
    return (
        st.text(alphabet, min_size=least, max_size=min(most, 40))
        .map(lambda text: unicodedata.normalize("NFC", text))
        .filter(lambda text: least <= len(text) <= most)
    )


def several(
    each: SearchStrategy[object], most: int, *, least: int = 0
) -> SearchStrategy[tuple[object, ...]]:
    """Tuples of a few; the longest allowed stand beside the short ones."""
    few = st.lists(each, min_size=least, max_size=min(most, 3))
    return (few | st.lists(each, min_size=most, max_size=most)).map(tuple)


def sets(
    each: SearchStrategy[Item], most: int, *, least: int = 0
) -> SearchStrategy[tuple[Item, ...]]:
    """Ascending tuples without doubles; the longest allowed stand beside the short ones."""
    few = st.lists(each, min_size=least, max_size=min(most, 3))
    return (few | st.lists(each, min_size=most, max_size=most, unique=True)).map(as_set)


digests: Final = binaries(32)
signatures: Final = binaries(64)
counts: Final = st.integers(0, INTEGER_LIMIT) | st.integers(0, 300)
names: Final = texts(128, least=1)
words: Final = texts(500)
proofs: Final = st.none() | st.binary(max_size=40)
_label: Final = st.from_regex(r"\A[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")
domains: Final = st.builds(
    lambda labels, last: ".".join([*labels, last])[-253:].lstrip("-."),
    st.lists(_label, min_size=1, max_size=5),
    st.from_regex(r"\A[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?\Z"),
)
tags: Final = st.from_regex(r"\A[a-z][a-z0-9_]{0,39}\Z")
kind_names: Final = st.sampled_from([kind.value for kind in Kind]) | st.from_regex(
    r"\A[a-z]{1,20}\.[a-z_]{1,20}\Z"
)
topics: Final = st.from_regex(r"\A[a-z0-9_-]{1,40}(/[a-z0-9_-]{1,40}){0,5}\Z")
months: Final = st.from_regex(r"\A[0-9]{4}-[0-9]{2}\Z")
languages: Final = st.from_regex(r"\A[a-z]{2,3}(-[a-z0-9]{2,8})?\Z")
evidence: Final = sets(digests, 16)
lengths: Final = st.integers(1, 16 * 1024)
vouch_weights: Final = st.integers(1, 255)

claims: Final = several(st.none() | digests, 16).map(
    lambda checks: tuple(Claim(n, check) for n, check in enumerate(checks, start=1))  # type: ignore[arg-type]
)
REVIEW: Final = {"round": digests, "after": digests}
"""What every record of a phase names."""
_TEXT: Final = st.just((None, 0)) | st.tuples(digests, lengths)


def noted(kind: type[Body], **fields: SearchStrategy[object]) -> SearchStrategy[Body]:
    """Build bodies of a kind that may name a text: hash and length come together."""
    return st.builds(
        lambda text, **rest: kind(text_hash=text[0], text_len=text[1], **rest),
        text=_TEXT,
        **fields,
    )
