"""certificates.json: slots, quorums, messages, values, proofs, blobs and packets of an agreement."""

from collections.abc import Iterator

import msgspec

from federation.certificates import (
    VOIDABLE,
    RoundSlot,
    certificate_bytes,
    message_hash,
    part_address,
    quorum,
    slot_key,
    slot_plain,
    value_bytes,
    value_digest,
    value_plain,
)
from federation.certificates.proofs import lock_bytes, lock_hash
from federation.codec import encode
from federation.crypto import public_key
from tests.vectors import certificates_bad
from tests.vectors.agreement_rows import Row, counted_ids, in_pieces, shown
from tests.vectors.certificates_samples import (
    BOX,
    CHARTER,
    MOST,
    MOST_COUNTER,
    SLOTS,
    N,
    bodies,
    certificates,
    chains,
    lock,
    operator,
    packets,
    parts,
    pinned,
    positions,
    said,
    seed,
    slot_name,
    values,
    voice,
)
from tests.vectors.vector_bodies import REALM, fixed


def vectors() -> Row:
    """All of it."""
    return {
        "realm": REALM.hex(),
        "charter_hash": CHARTER.hex(),
        "members": [
            {
                "operator": operator(index).hex(),
                "voice": voice(index).hex(),
                "seed": seed(index).hex(),
                "key": public_key(seed(index)).hex(),
            }
            for index in range(N)
        ],
        "quorum": {"f": pinned(BOX).quorum.f, "q": pinned(BOX).quorum.q},
        "quorums": list(_quorums()),
        "slots": list(_slots()),
        "messages": list(_messages()),
        "values": [
            {
                "name": name,
                "slot": slot_name(slot),
                "value": shown(msgspec.to_builtins(value_plain(value), builtin_types=(bytes,))),
                "bytes": value_bytes(slot, value).hex(),
                "digest": value_digest(slot, value).hex(),
            }
            for name, (slot, value) in values().items()
        ],
        "locks": [
            {
                "name": "three cosigns",
                "slot": slot_name(BOX),
                "bytes": lock_bytes(lock()).hex(),
                "hash": lock_hash(lock()).hex(),
            }
        ],
        "certificates": [
            {
                "name": name,
                "slot": slot_name(one.slot),
                "bytes": certificate_bytes(one).hex(),
                "digest": one.digest.hex(),
            }
            for name, one in certificates().items()
        ],
        "parts": [
            {
                "name": name,
                "kind": part.kind.value,
                "content": part.content.hex(),
                "address": part_address(part).hex(),
            }
            for name, part in parts().items()
        ],
        "chains": [
            {"name": "two authors", "slot": "cut", "bytes": chains().hex()},
            {"name": "nothing", "slot": "cut", "bytes": encode([]).hex()},
            {
                "name": "4,096 ids",
                "slot": "cut",
                "bytes": in_pieces(encode([[fixed("author 0"), [counted_ids(4_096)]]]), 4_096),
            },
        ],
        "positions": [
            {"name": "three authors", "slot": "cut", "bytes": positions().hex()},
            {"name": "nothing", "slot": "cut", "bytes": encode([]).hex()},
        ],
        "packets": [
            {"name": name, "slot": slot_name(slot), "bytes": raw.hex()}
            for name, (slot, raw) in packets().items()
        ],
        "invalid": certificates_bad.vectors(),
    }


def _quorums() -> Iterator[Row]:
    for n in range(1, 11):
        strict = quorum(n, three_available=False)
        available = quorum(n, three_available=True)
        yield {"n": n, "f": strict.f, "q_strict": strict.q, "q_available": available.q}


def _slots() -> Iterator[Row]:
    """Give every slot with its leaders, which are members by their index in this file."""
    for slot in SLOTS:
        yield {
            "name": slot_name(slot),
            "slot": shown(slot_plain(slot)),
            "bytes": slot_key(slot).hex(),
            "may_be_void": isinstance(slot, RoundSlot) and slot.phase in VOIDABLE,
            "leaders": [
                {
                    "home": home.hex(),
                    "order": [_index(member.voice) for member in pinned(slot, home=home).members],
                    "at_fences": {
                        str(fence): _index(pinned(slot, home=home).leader(fence))
                        for fence in (0, 1, 6, 2**31, MOST)
                    },
                }
                for home in (voice(2), fixed("observer"))
            ],
        }


def _index(name: bytes) -> int:
    return [voice(index) for index in range(N)].index(name)


def _messages() -> Iterator[Row]:
    for index, (name, slot, body) in enumerate(bodies()):
        counter = min(8**index, MOST_COUNTER)
        raw, signature = said(index % N, slot, counter, body)
        yield {
            "name": name,
            "slot": slot_name(slot),
            "voice": voice(index % N).hex(),
            "counter": counter,
            "fields": shown(list(msgspec.structs.astuple(body))),
            "bytes": raw.hex(),
            "hash": message_hash(raw).hex(),
            "signature": signature.hex(),
        }
