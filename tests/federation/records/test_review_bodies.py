"""Bodies of artifacts and reviews: bounded fields, and what a phase may leave open."""

import re

import msgspec
import pytest

from federation.codec import decode, encode
from federation.core import Code, PeerError
from federation.records import KINDS, Claim, Kind
from federation.records.review_bodies import __all__ as exported
from tests.builders import ballot, propose
from tests.smallest_bodies import smallest

MANY = [bytes([number]) * 32 for number in range(65)]
"""Digests in ascending order."""
BALLOT = [1, "accurate", "tool", [], []]
BOUNDS: list[tuple[Kind, str, object, object]] = [
    (Kind.PROPOSE, "topics", ["a", "b", "c", "d"], []),
    (Kind.PROPOSE, "topics", ["a"], ["a", "b", "c", "d", "e"]),
    (
        Kind.PROPOSE,
        "claims",
        [[n, None] for n in range(1, 17)],
        [[n, None] for n in range(1, 18)],
    ),
    (Kind.PROPOSE, "claims", [], [[0, None]]),
    (Kind.PROPOSE, "claims", [[1, bytes(32)]], [[1]]),
    (Kind.PROPOSE, "cites", MANY[:64], MANY[:65]),
    (Kind.PROPOSE, "sources", MANY[:16], MANY[:17]),
    (Kind.PROPOSE, "text_len", 16_384, 16_385),
    (Kind.PROPOSE, "text_len", 1, 0),
    (Kind.PROPOSE, "text_hash", bytes(32), None),
    (Kind.PROPOSE, "lang", "zh-hant", "EN"),
    (Kind.OBJECT, "reason", "unclear", "boring"),
    (Kind.OBJECT, "text_hash", None, b""),
    (Kind.ARGUE, "stance", "neutral", "unsure"),
    (Kind.ARGUE, "level", "procedural", "personal"),
    (Kind.ARGUE, "claim", 16, 17),
    (Kind.ARGUE, "evidence", MANY[:16], MANY[:17]),
    (Kind.ARGUE, "nonce", bytes(32), bytes(31)),
    (Kind.ARGUE, "nonce", None, b""),
    (Kind.COMMIT, "sealed", bytes(552), bytes(551)),
    (Kind.COMMIT, "commitment", bytes(32), None),
    (Kind.REVEAL, "nonce", bytes(32), bytes(16)),
    (Kind.REVEAL, "ballot", [-1, *BALLOT[1:]], [2, *BALLOT[1:]]),
    (Kind.REVEAL, "ballot", [0, *BALLOT[1:]], [True, *BALLOT[1:]]),
    (Kind.REVEAL, "ballot", [*BALLOT[:4], MANY[:4]], [*BALLOT[:4], MANY[:5]]),
    (Kind.REVEAL, "ballot", BALLOT, BALLOT[:3]),
    (Kind.CONTEST, "ground", "a" * 40, "a" * 41),
    (Kind.CONTEST, "ground", "late_list", "late list"),
]


@pytest.mark.parametrize(("kind", "field", "last", "beyond"), BOUNDS)
def test_a_field_reaches_its_bound_and_not_beyond(
    kind: Kind, field: str, last: object, beyond: object
) -> None:
    fields = msgspec.msgpack.decode(encode(smallest(kind)[0]))

    decode(encode(fields | {field: last}), KINDS[kind].body, what="body")
    with pytest.raises(PeerError):
        decode(encode(fields | {field: beyond}), KINDS[kind].body, what="body")


@pytest.mark.parametrize(
    "kind", [*(kind for kind in Kind if kind.startswith("review.")), Kind.ASSESS]
)
def test_every_record_of_a_review_names_its_round_and_what_it_follows(kind: Kind) -> None:
    fields = KINDS[kind].body.__struct_fields__

    assert fields[:2] == ("round", "after")


def test_the_map_of_the_module_names_what_it_defines() -> None:
    assert list(exported) == sorted(exported)


def refused(kind: Kind, **fields: object) -> str:
    """Tell why a body with these fields is refused; its code must be NOT_CANONICAL."""
    plain = msgspec.msgpack.decode(encode(smallest(kind)[0])) | fields
    with pytest.raises(PeerError) as error:
        decode(encode(plain), KINDS[kind].body, what="body")
    assert error.value.code is Code.NOT_CANONICAL
    return error.value.why.removeprefix("its bytes are not canonical: ")


@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ([2], "claims[0]: its number is 2, not 1"),
        ([1, 3], "claims[1]: its number is 3, not 2"),
        ([1, 1], "claims[1]: its number is 1, not 2"),
        ([2, 1], "claims[0]: its number is 2, not 1"),
    ],
)
def test_claims_are_numbered_from_one_without_gaps(numbers: list[int], why: str) -> None:
    assert refused(Kind.PROPOSE, claims=[[n, None] for n in numbers]) == why
    with pytest.raises(ValueError, match=re.escape(why)):
        propose(claims=tuple(Claim(n) for n in numbers))


@pytest.mark.parametrize("kind", [Kind.OBJECT, Kind.ARGUE, Kind.CONTEST])
def test_a_text_has_a_hash_exactly_if_it_has_a_length(kind: Kind) -> None:
    why = "text_len: it is 0 exactly if text_hash is nil"
    body, _ = smallest(kind)

    for text_hash, text_len in ((None, 1), (bytes(32), 0)):
        assert refused(kind, text_hash=text_hash, text_len=text_len) == why
        with pytest.raises(ValueError, match=why):
            msgspec.structs.replace(body, text_hash=text_hash, text_len=text_len)


@pytest.mark.parametrize("at", [3, 4], ids=["evidence", "arguments"])
def test_a_revealed_ballot_has_one_spelling(at: int) -> None:
    field = ("evidence", "arguments")[at - 3]
    for wrong, why in (([MANY[1], MANY[0]], "out of order"), ([MANY[0]] * 2, "twice")):
        reason = f"{field}[1]: this item of a set stands {why}"
        vote = [*BALLOT[:at], wrong, *BALLOT[at + 1 :]]

        assert refused(Kind.REVEAL, ballot=vote) == f"{reason} - at `$.ballot`"
        with pytest.raises(ValueError, match=re.escape(reason)):
            msgspec.structs.replace(ballot(), **{field: tuple(wrong)})
