"""Bodies of artifacts and reviews: bounded fields, and what a phase may leave open."""

import msgspec
import pytest

from federation.codec import decode, encode
from federation.core import PeerError
from federation.records import KINDS, Kind
from federation.records.review_bodies import __all__ as exported
from tests.builders import smallest

BALLOT = [1, "accurate", "tool", [], []]
BOUNDS: list[tuple[Kind, str, object, object]] = [
    (Kind.PROPOSE, "topics", ["a", "b", "c", "d"], []),
    (Kind.PROPOSE, "topics", ["a"], ["a", "b", "c", "d", "e"]),
    (Kind.PROPOSE, "claims", [[16, None]] * 16, [[1, None]] * 17),
    (Kind.PROPOSE, "claims", [], [[0, None]]),
    (Kind.PROPOSE, "claims", [[1, bytes(32)]], [[1]]),
    (Kind.PROPOSE, "cites", [bytes(32)] * 64, [bytes(32)] * 65),
    (Kind.PROPOSE, "sources", [bytes(32)] * 16, [bytes(32)] * 17),
    (Kind.PROPOSE, "text_len", 16_384, 16_385),
    (Kind.PROPOSE, "text_hash", bytes(32), None),
    (Kind.PROPOSE, "lang", "zh-hant", "EN"),
    (Kind.OBJECT, "reason", "unclear", "boring"),
    (Kind.OBJECT, "text_hash", None, b""),
    (Kind.ARGUE, "stance", "neutral", "unsure"),
    (Kind.ARGUE, "level", "procedural", "personal"),
    (Kind.ARGUE, "claim", 16, 17),
    (Kind.ARGUE, "evidence", [bytes(32)] * 16, [bytes(32)] * 17),
    (Kind.COMMIT, "sealed", bytes(552), bytes(551)),
    (Kind.COMMIT, "commitment", bytes(32), None),
    (Kind.REVEAL, "nonce", bytes(32), bytes(16)),
    (Kind.REVEAL, "ballot", [-1, *BALLOT[1:]], [2, *BALLOT[1:]]),
    (Kind.REVEAL, "ballot", [0, *BALLOT[1:]], [True, *BALLOT[1:]]),
    (Kind.REVEAL, "ballot", [*BALLOT[:4], [bytes(32)] * 4], [*BALLOT[:4], [bytes(32)] * 5]),
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


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind.startswith("review.")])
def test_every_record_of_a_review_names_its_round_and_what_it_follows(kind: Kind) -> None:
    fields = KINDS[kind].body.__struct_fields__

    assert fields[:2] == ("round", "after")


def test_the_map_of_the_module_names_what_it_defines() -> None:
    assert list(exported) == sorted(exported)
