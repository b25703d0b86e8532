"""certificates.json: slots, quorums, messages, values, proofs, blobs and packets of an agreement."""

from collections.abc import Iterator

import msgspec

from federation.certificates import (
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
from federation.crypto import public_key
from tests.vectors import certificates_bad
from tests.vectors.agreement_rows import Row, shown
from tests.vectors.certificates_samples import (
    BOX,
    CHARTER,
    MOST,
    SLOTS,
    N,
    bodies,
    certificates,
    lock,
    operator,
    packets,
    parts,
    pinned,
    said,
    seed,
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
                "slot": shown(slot_plain(slot)),
                "value": shown(msgspec.to_builtins(value_plain(value), builtin_types=(bytes,))),
                "bytes": value_bytes(slot, value).hex(),
                "digest": value_digest(slot, value).hex(),
            }
            for name, (slot, value) in values().items()
        ],
        "lock": {
            "slot": shown(slot_plain(BOX)),
            "bytes": lock_bytes(lock()).hex(),
            "hash": lock_hash(lock()).hex(),
        },
        "certificates": [
            {
                "name": name,
                "slot": shown(slot_plain(one.slot)),
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
        "packets": [
            {"name": name, "slot": shown(slot_plain(slot)), "bytes": raw.hex()}
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
    for slot in SLOTS:
        homes = {"voice 2": voice(2), "nobody's voice": fixed("observer")}
        yield {
            "slot": shown(slot_plain(slot)),
            "bytes": slot_key(slot).hex(),
            "leaders": [
                {
                    "name": name,
                    "home": home.hex(),
                    "order": [member.voice.hex() for member in pinned(slot, home=home).members],
                    "fences": [
                        {"fence": fence, "leader": pinned(slot, home=home).leader(fence).hex()}
                        for fence in (0, 1, 6, 2**31, MOST)
                    ],
                }
                for name, home in homes.items()
            ],
        }


def _messages() -> Iterator[Row]:
    for index, (name, slot, body) in enumerate(bodies()):
        raw, signature = said(index % N, slot, 2**index, body)
        yield {
            "name": name,
            "slot": shown(slot_plain(slot)),
            "voice": voice(index % N).hex(),
            "counter": 2**index,
            "fields": shown(list(msgspec.structs.astuple(body))),
            "bytes": raw.hex(),
            "hash": message_hash(raw).hex(),
            "signature": signature.hex(),
        }
