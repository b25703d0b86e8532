"""A second reading of the agreement: slots, quorums, leader order, messages, proofs, packets.

Imports nothing of `federation`; the formats are those of the protocol reference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.vectors.agreement_reader import (
    COUNT,
    COUNTER,
    HASH,
    SIGNATURE,
    Check,
    both,
    code_of,
    in_row,
    integer,
    listed,
    maybe,
    octets,
    one_of,
    pack,
    read_blob,
    rising,
    tagged_hash,
    truth,
)
from tests.vectors.agreement_rows import OK, as_bytes, as_int, as_list
from tests.vectors.second_reader import openssl_accepts, read_canonical, sha256

RECORD: Final = 65_536
BLOB: Final = 1_048_576
LISTED: Final = 900
CHAINED: Final = 4_096
MEMBERS: Final = 256
PHASES: Final = (
    *("fast", "seal", "unseal", "deliberate", "turn2", "turn3", "turn4", "turn5"),
    *("commit", "commit2", "decide", "contest", "rule", "appeal", "admin", "assess"),
)

VOIDABLE: Final = ("commit", "rule", "assess")
"""Phases before which nothing is opened: only these can be void."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """Who agrees in one slot."""

    realm: bytes
    charter: bytes
    slot: object
    keys: Mapping[bytes, bytes]
    """Key of each voice."""
    q: int


def quorum(n: int, *, available: bool) -> tuple[int, int]:
    """Give f and q: three operators are the one exception, and the charter chooses which."""
    if n == 3:
        return 0, 2 if available else 3
    f = (n - 1) // 3
    return f, (n + f) // 2 + 1


def order(
    realm: bytes, slot: object, voices: Sequence[bytes], home: bytes | None
) -> tuple[bytes, ...]:
    """Order voices as leaders: the home of a round, then by hash; a cut has no home."""
    ranked = sorted(
        voices, key=lambda voice: sha256(pack(["folkmoot/1/order", realm, slot, voice]))
    )
    if home in voices and not is_cut(slot):
        ranked = [voice for voice in ranked if voice == home] + [
            voice for voice in ranked if voice != home
        ]
    return tuple(ranked)


def is_cut(slot: object) -> bool:
    """Tell whether a plain slot is a cut's."""
    return as_list(slot)[0] == "cut"


# What each thing holds.

IDS: Final = both(listed(HASH, LISTED), lambda value: rising(_all_bytes(value)))
HASHES: Final = listed(HASH, MEMBERS)
_ROUND: Final = in_row(HASH, one_of(*PHASES))
_CUT: Final = in_row(one_of("cut"), both(COUNT, lambda value: value != 0), HASH)
SECRETS: Final = both(
    listed(in_row(HASH, maybe(HASH), HASH), MEMBERS),
    lambda value: rising([as_bytes(as_list(one)[0]) for one in as_list(value)]),
)
_CUT_VALUE: Final = in_row(COUNT, truth, HASH, HASH, SECRETS)
_FIELDS: Final[Mapping[str, Check]] = {
    "propose": in_row(COUNT, HASH, HASHES, HASHES, maybe(HASH)),
    "cosign": in_row(COUNT, HASH),
    "seal": in_row(COUNT, HASH),
    "promise": both(
        in_row(COUNT, maybe(COUNT), maybe(HASH)),
        lambda value: (as_list(value)[1] is None) is (as_list(value)[2] is None),
    ),
}
_LIST_WITNESS: Final = in_row(IDS, truth)
_CUT_WITNESS: Final = in_row(HASH, truth, HASH, HASH, HASH)
_SIGNERS: Final = listed(in_row(HASH, COUNTER, SIGNATURE), MEMBERS)
_PARTS: Final = listed(in_row(integer(0, 2), octets(0, BLOB)), 16)


def _all_bytes(value: object) -> list[bytes]:
    return [as_bytes(one) for one in as_list(value)]


def is_slot(value: object) -> bool:
    """Tell whether a plain value names a slot."""
    return _ROUND(value) or _CUT(value)


def is_value(slot: object, value: object) -> bool:
    """Tell whether a plain value is one of a slot."""
    if is_cut(slot):
        return _CUT_VALUE(value) and as_list(value)[0] == as_list(slot)[1]
    if value is None:
        return as_list(slot)[1] in VOIDABLE
    return IDS(value)


def value_bytes(slot: object, value: object) -> bytes:
    """Give the bytes whose SHA-256 is the digest."""
    return pack(["folkmoot/1/value", slot, value])


def value_digest(slot: object, value: object) -> bytes:
    """Name a value of a slot."""
    return sha256(value_bytes(slot, value))


def judge_value(raw: bytes, slot: object) -> str:
    """Give OK or the code for the bytes of a value."""

    def is_of_slot(value: object) -> bool:
        if not isinstance(value, list) or len(value) != 3:
            return False
        return value[:2] == ["folkmoot/1/value", slot] and is_value(slot, value[2])

    return code_of(raw, is_of_slot, most=RECORD) or OK


# Messages.


def _is_message(value: object) -> bool:
    if not isinstance(value, list) or len(value) < 7:
        return False
    version, step, realm, charter, slot, voice, counter, *rest = value
    head = (integer(1, 1)(version), HASH(realm), HASH(charter), HASH(voice), COUNTER(counter))
    if not all(head) or not is_slot(slot) or not isinstance(step, str):
        return False
    if step == "witness":
        return (_CUT_WITNESS if is_cut(slot) else _LIST_WITNESS)(rest)
    return step in _FIELDS and _FIELDS[step](rest)


def payload(message: bytes) -> bytes:
    """Give what a voice signs."""
    return b"folkmoot/1/message" + sha256(message)


def judge_message(raw: bytes, signature: bytes, seats: Seats) -> str:
    """Give OK or the code for a message of the slot."""
    refused = code_of(raw, _is_message, most=RECORD)
    if refused is not None:
        return refused
    _, _, realm, charter, slot, voice, *_ = as_list(read_canonical(raw))
    if realm != seats.realm:
        return "WRONG_REALM"
    if charter != seats.charter:
        return "WRONG_CHARTER"
    if slot != seats.slot:
        return "UNKNOWN_ROUND"
    key = seats.keys.get(as_bytes(voice))
    if key is None:
        return "NOT_ELIGIBLE"
    return OK if openssl_accepts(key, payload(raw), signature) else "BAD_SIGNATURE"


# Proofs.


def judge_lock(raw: bytes, seats: Seats) -> str:
    """Give OK or the code for the bytes of a lock."""
    refused = code_of(raw, in_row(COUNT, HASH, _SIGNERS), most=RECORD)
    if refused is not None:
        return refused
    fence, digest, cosigns = as_list(read_canonical(raw))
    return _judge_votes("cosign", fence, digest, as_list(cosigns), seats)


def _is_certificate(value: object) -> bool:
    if not in_row(is_slot, lambda _: True, COUNT, _SIGNERS)(value):
        return False
    slot, agreed, _, _ = as_list(value)
    return is_value(slot, agreed)


def judge_certificate(raw: bytes, seats: Seats) -> str:
    """Give OK or the code for the bytes of a certificate."""
    refused = code_of(raw, _is_certificate, most=RECORD)
    if refused is not None:
        return refused
    slot, value, fence, seals = as_list(read_canonical(raw))
    if slot != seats.slot:
        return "UNKNOWN_ROUND"
    return _judge_votes("seal", fence, value_digest(slot, value), as_list(seals), seats)


def _judge_votes(
    step: str, fence: object, digest: object, votes: Sequence[object], seats: Seats
) -> str:
    signers = [as_bytes(as_list(one)[0]) for one in votes]
    if len(votes) < seats.q or not rising(signers):
        return "NOT_PROVEN"
    for vote in votes:
        voice, counter, signature = as_list(vote)
        key = seats.keys.get(as_bytes(voice))
        if key is None:
            return "NOT_ELIGIBLE"
        head = [1, step, seats.realm, seats.charter, seats.slot, voice, as_int(counter)]
        if not openssl_accepts(key, payload(pack([*head, fence, digest])), as_bytes(signature)):
            return "BAD_SIGNATURE"
    return OK


# Parts, blobs, packets.


def address(kind: int, content: bytes) -> bytes:
    """Give the hash under which a part is named: 0 is a value, 1 a lock, 2 a blob."""
    return sha256(content) if kind == 0 else tagged_hash(("", "lock", "blob")[kind], content)


def is_packet(value: object) -> bool:
    """Tell whether a plain value is a packet; what is inside is not verified."""
    if not in_row(HASH, HASH, is_slot, lambda one: isinstance(one, list) and one != [])(value):
        return False
    kind, *rest = as_list(as_list(value)[3])
    match kind:
        case "message":
            return in_row(octets(0, RECORD), SIGNATURE, _PARTS)(rest)
        case "parts":
            return in_row(_PARTS)(rest)
        case "want":
            return in_row(listed(HASH, 2 * MEMBERS + 16))(rest)
        case "final":
            return in_row(_is_certificate, _PARTS)(rest)
        case _:
            return False


def judge_packet(raw: bytes) -> str:
    """Give OK or the code for the bytes of a packet."""
    return code_of(raw, is_packet, most=2 * BLOB) or OK


def _are_chains(value: object) -> bool:
    """Hold for [[author, [[ids at p+1], …]]…], authors and ids of one place ascending."""
    place = both(listed(HASH, BLOB, 1), lambda ids: rising(_all_bytes(ids)))
    rows = listed(in_row(HASH, listed(place, BLOB, 1)), BLOB)
    return rows(value) and rising([as_bytes(as_list(one)[0]) for one in as_list(value)])


def _are_positions(value: object) -> bool:
    """Hold for [[author, seq, head]…], authors ascending."""
    rows = listed(in_row(HASH, COUNT, HASH), BLOB)
    return rows(value) and rising([as_bytes(as_list(one)[0]) for one in as_list(value)])


def judge_chains(raw: bytes) -> str:
    """Give OK or the code for the bytes of a chains blob."""
    value = read_blob(raw)
    if len(raw) > BLOB or not _are_chains(value):
        return "TOO_LARGE" if len(raw) > BLOB else "NOT_CANONICAL"
    named = sum(len(as_list(ids)) for row in as_list(value) for ids in as_list(as_list(row)[1]))
    return "TOO_LARGE" if named > CHAINED else OK


def judge_positions(raw: bytes) -> str:
    """Give OK or the code for the bytes of a positions blob."""
    if len(raw) > BLOB:
        return "TOO_LARGE"
    return OK if _are_positions(read_blob(raw)) else "NOT_CANONICAL"
