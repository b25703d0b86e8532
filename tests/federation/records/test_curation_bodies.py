"""Bodies of curation: bounded fields, one spelling of every set, and pairs that stand together."""

import re

import msgspec
import pytest

from federation.codec import LIMITS, decode, encode
from federation.core import Code, PeerError
from federation.records import (
    KINDS,
    SEALED_ARGUMENT_MOST,
    CharterAdopt,
    Kind,
    Propose,
    Revise,
    Role,
    SealArgument,
    kind_of_body,
    wire,
)
from tests.builders import Chain, named, person, propose
from tests.smallest_bodies import smallest

MANY = [bytes([number]) * 32 for number in range(65)]
"""Digests in ascending order."""
NUMBERED = [[n, None] for n in range(1, 18)]
BOUNDS: list[tuple[Kind, str, object, object]] = [
    (Kind.HEALTH, "agent", bytes(32), bytes(31)),
    (Kind.HEALTH, "state", "repaired", "ill"),
    (Kind.HEALTH, "note", "水" * 500, "n" * 501),
    (Kind.REVISE, "revises", bytes(32), None),
    (Kind.REVISE, "topics", ["a", "b", "c", "d"], []),
    (Kind.REVISE, "topics", ["a"], ["a", "b", "c", "d", "e"]),
    (Kind.REVISE, "claims", NUMBERED[:16], NUMBERED),
    (Kind.REVISE, "cites", MANY[:64], MANY[:65]),
    (Kind.REVISE, "sources", MANY[:16], MANY[:17]),
    (Kind.REVISE, "text_len", 16_384, 16_385),
    (Kind.REVISE, "text_len", 1, 0),
    (Kind.REVISE, "text_hash", bytes(32), None),
    (Kind.REVISE, "lang", "zh-hant", "EN"),
    (Kind.WITHDRAW, "artifact", bytes(32), bytes(33)),
    (Kind.WITHDRAW, "reason", "", "r" * 501),
    (Kind.RESUBMIT, "evidence", MANY[:16], MANY[:17]),
    (Kind.RESUBMIT, "evidence", MANY[:1], []),
    (Kind.FLAG_STALE, "evidence", MANY[:16], MANY[:17]),
    (Kind.FLAG_STALE, "evidence", MANY[:1], []),
    (Kind.NEAR, "artifact", bytes(32), bytes(31)),
    (Kind.NEAR, "of", bytes(32), None),
    (Kind.NEAR, "likeness", 1_000_000, 1_000_001),
    (Kind.NEAR, "likeness", 0, -1),
    (Kind.SEAL, "commitment", bytes(32), None),
    (Kind.SEAL, "sealed", bytes(40), bytes(39)),
    (Kind.SEAL, "sealed", bytes(24_576), bytes(24_577)),
    (Kind.RULE, "ruling", "reclassify", "keep"),
    (Kind.RULE, "ground", "a" * 40, "a" * 41),
    (Kind.RULE, "ground", "late_list", "late list"),
    (Kind.DISPUTE, "claim", 16, 17),
    (Kind.DISPUTE, "claim", 1, 0),
    (Kind.DISPUTE, "claim", None, True),
    (Kind.DISPUTE, "ground", "process", "boring"),
    (Kind.DISPUTE, "evidence", MANY[:16], MANY[:17]),
    (Kind.DISPUTE, "evidence", [], None),
    (Kind.REPORT, "category", "malicious", "spam"),
    (Kind.ASSESS, "report", bytes(32), bytes(31)),
    (Kind.ASSESS, "credible", True, 1),
    (Kind.APPEAL, "sanction", bytes(32), None),
    (Kind.ADMIN, "subject", bytes(32), bytes(31)),
    (Kind.ADMIN, "decision", "reclassify", "rerun"),
    (Kind.ADMIN, "reason", "水" * 500, "r" * 501),
    (Kind.ADMIN, "reason", "r", ""),
    (Kind.ADOPT, "number", 1, 0),
    (Kind.ADOPT, "number", 1_000_000, 1_000_001),
    (Kind.ADOPT, "base", bytes(32), None),
    (Kind.ADOPT, "rules", bytes(32_768), bytes(32_769)),
    (Kind.ADOPT, "from_tick", 2**62, 2**62 + 1),
    (Kind.ADOPT, "from_tick", 0, -1),
    (Kind.ADOPT, "reason", "r" * 500, "r" * 501),
    (Kind.COSIGN, "act", bytes(32), bytes(33)),
]
CURATION = sorted({kind for kind, *_ in BOUNDS})
NOTED = [
    Kind.RESUBMIT,
    Kind.FLAG_STALE,
    Kind.RULE,
    Kind.DISPUTE,
    Kind.REPORT,
    Kind.ASSESS,
    Kind.APPEAL,
]
SETS = [
    (Kind.REVISE, "topics"),
    (Kind.REVISE, "cites"),
    (Kind.REVISE, "sources"),
    (Kind.RESUBMIT, "evidence"),
    (Kind.FLAG_STALE, "evidence"),
    (Kind.DISPUTE, "evidence"),
]
PHASED = [Kind.SEAL, Kind.RULE, Kind.ASSESS]


def plain(kind: Kind) -> dict[str, object]:
    fields: dict[str, object] = msgspec.msgpack.decode(encode(smallest(kind)[0]))
    return fields


def refused(kind: Kind, **fields: object) -> str:
    """Tell why a body with these fields is refused; its code must be NOT_CANONICAL."""
    with pytest.raises(PeerError) as error:
        decode(encode(plain(kind) | fields), KINDS[kind].body, what="body")
    assert error.value.code is Code.NOT_CANONICAL
    return error.value.why.removeprefix("its bytes are not canonical: ")


@pytest.mark.parametrize(("kind", "field", "last", "beyond"), BOUNDS)
def test_a_field_reaches_its_bound_and_not_beyond(
    kind: Kind, field: str, last: object, beyond: object
) -> None:
    decode(encode(plain(kind) | {field: last}), KINDS[kind].body, what="body")
    refused(kind, **{field: beyond})


def test_every_kind_of_this_module_has_a_bound_in_the_table() -> None:
    own = "federation.records.curation_bodies"

    assert sorted(kind for kind, row in KINDS.items() if row.body.__module__ == own) == CURATION


@pytest.mark.parametrize("kind", [kind for kind in CURATION if kind not in {*PHASED, Kind.ADMIN}])
def test_an_act_that_a_cut_takes_up_names_no_round(kind: Kind) -> None:
    assert not {"round", "after"} & set(KINDS[kind].body.__struct_fields__)


@pytest.mark.parametrize("kind", PHASED)
def test_a_word_of_a_phase_needs_its_round_and_what_it_follows(kind: Kind) -> None:
    for field in ("round", "after"):
        refused(kind, **{field: None})


@pytest.mark.parametrize("kind", NOTED)
def test_a_text_has_a_hash_exactly_if_it_has_a_length(kind: Kind) -> None:
    why = "text_len: it is 0 exactly if text_hash is nil"
    body, _ = smallest(kind)

    for text_hash, text_len in ((None, 1), (bytes(32), 0)):
        assert refused(kind, text_hash=text_hash, text_len=text_len) == why
        with pytest.raises(ValueError, match=why):
            msgspec.structs.replace(body, text_hash=text_hash, text_len=text_len)


@pytest.mark.parametrize(("kind", "field"), SETS)
def test_a_set_has_one_spelling_in_bytes_and_in_our_own_code(kind: Kind, field: str) -> None:
    body, _ = smallest(kind)
    low, high = ("a", "b") if field == "topics" else (MANY[0], MANY[1])

    decode(encode(plain(kind) | {field: [low, high]}), KINDS[kind].body, what="body")
    for other, why in (([high, low], "out of order"), ([low, low], "twice")):
        reason = f"{field}[1]: this item of a set stands {why}"
        assert refused(kind, **{field: other}) == reason
        with pytest.raises(ValueError, match=re.escape(reason)):
            msgspec.structs.replace(body, **{field: tuple(other)})


def test_an_operator_names_round_and_phase_together_or_neither() -> None:
    why = "after: it is nil exactly if round is nil"
    body, _ = smallest(Kind.ADMIN)
    both = {"round": bytes(32), "after": MANY[1]}

    decode(encode(plain(Kind.ADMIN) | both), KINDS[Kind.ADMIN].body, what="body")
    for field, value in both.items():
        assert refused(Kind.ADMIN, **{field: value}) == why
        with pytest.raises(ValueError, match=why):
            msgspec.structs.replace(body, **{field: value})


def test_a_revision_is_a_proposal_and_what_it_revises_but_another_kind() -> None:
    revision, _ = smallest(Kind.REVISE)
    proposal, _ = propose()

    assert isinstance(revision, Revise)
    assert Revise.__struct_fields__ == (*Propose.__struct_fields__, "revises")
    assert (kind_of_body(revision), kind_of_body(proposal)) == (Kind.REVISE, Kind.PROPOSE)
    refused(Kind.REVISE, claims=[[2, None]])
    with pytest.raises(PeerError):
        decode(encode(revision), Propose, what="body")
    with pytest.raises(PeerError):
        decode(encode(proposal), Revise, what="body")


def test_the_longest_sealed_argument_and_the_longest_rules_fit_into_a_record() -> None:
    sealed = SealArgument(
        round=named("round"),
        after=named("round"),
        commitment=named("commitment"),
        sealed=bytes(SEALED_ARGUMENT_MOST),
    )
    rules = CharterAdopt(
        number=1, base=named("base"), rules=bytes(32 * 1024), from_tick=0, reason="水" * 500
    )

    assert len(wire(Chain(person(Role.AGENT)).say(sealed))) <= LIMITS.record
    assert len(wire(Chain(person(Role.OPERATOR)).say(rules))) <= LIMITS.record
