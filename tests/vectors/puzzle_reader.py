"""A second reading of the registration puzzle.

Imports nothing of `federation`: msgpack, hashlib, and Argon2id by OpenSSL instead of libsodium. It
writes a hash out in bits to count its zeros, and moves the bits of an epoch along a range.
"""

import hashlib
from collections.abc import Mapping, Sequence

from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from tests.vectors.agreement_reader import pack
from tests.vectors.agreement_rows import OK, Row, as_int, as_row, number, under, unhex, word
from tests.vectors.second_reader import UnacceptableError, read_canonical

FIELDS = (
    "version",
    "role",
    "realm",
    "instance",
    "key",
    "epoch",
    "beacon",
    "memory_kib",
    "passes",
    "bits",
    "gate_bits",
    "solutions",
    "gate",
)
LIMITS = {
    "memory_kib": range(8, 262_145),
    "passes": range(1, 5),
    "parts": range(1, 17),
    "bits": range(33),
    "gate_bits": range(41),
}

Proof = Mapping[str, object]
"""The fields of a proof by name, once their types are checked; `parts` is their number."""


def read(raw: bytes) -> Proof | str:
    """Read a proof, or give the code of what is wrong with its bytes."""
    if len(raw) > 1_024:
        return "TOO_LARGE"
    try:
        values = read_canonical(raw)
    except UnacceptableError:
        return "NOT_CANONICAL"
    if not isinstance(values, list) or len(values) != len(FIELDS):
        return "NOT_CANONICAL"
    proof = dict(zip(FIELDS, values, strict=True))
    solutions = proof["solutions"]
    good = (
        proof["version"] is not True
        and proof["version"] == 1
        and proof["role"] in ("agent", "operator")
        and all(_is_bytes(proof[name], 32) for name in ("realm", "instance", "key", "beacon"))
        and all(_is_number(proof[name]) for name in ("epoch", *FIELDS[7:11]))
        and isinstance(solutions, list)
        and all(_is_bytes(one, 8) for one in solutions)
        and _is_bytes(proof["gate"], 8)
    )
    return proof | {"parts": len(solutions)} if good else "NOT_CANONICAL"


def _is_bytes(value: object, size: int) -> bool:
    return isinstance(value, bytes) and len(value) == size


def _is_number(value: object) -> bool:
    return type(value) is int and value in range(2**53)


def solutions_of(proof: Proof) -> list[bytes]:
    """Give the solutions of a proof."""
    found = proof["solutions"]
    assert isinstance(found, list)
    return found


# Hashes.


def challenge(proof: Proof) -> bytes:
    """Hash what a proof is bound to."""
    names = ("realm", "role", "instance", "key", "epoch", "beacon")
    terms = ("memory_kib", "passes", "parts", "bits", "gate_bits")
    return _sha(b"folkmoot/1/puzzle_challenge", [proof[name] for name in (*names, *terms)])


def gate_hash(proof: Proof) -> bytes:
    """Hash the gate of a proof."""
    listed = [challenge(proof), solutions_of(proof), proof["gate"]]
    return _sha(b"folkmoot/1/puzzle_gate", listed)


def salt_of(bound_to: bytes, part: int) -> bytes:
    """Give the salt of a part."""
    return _sha(b"folkmoot/1/puzzle_part", [bound_to, part])[:16]


def part_hash(salt: bytes, solution: bytes, memory_kib: int, passes: int) -> bytes:
    """Hash a solution."""
    kdf = Argon2id(salt=salt, length=32, iterations=passes, lanes=1, memory_cost=memory_kib)
    return kdf.derive(solution)


def part_hashes(proof: Proof) -> list[bytes]:
    """Hash all parts of a proof."""
    memory_kib, passes = as_int(proof["memory_kib"]), as_int(proof["passes"])
    bound_to = challenge(proof)
    return [
        part_hash(salt_of(bound_to, part), solution, memory_kib, passes)
        for part, solution in enumerate(solutions_of(proof))
    ]


def _sha(domain: bytes, listed: Sequence[object]) -> bytes:
    return hashlib.sha256(domain + pack(listed)).digest()


def begins_with_zeros(hashed: bytes, bits: int) -> bool:
    """Tell whether a hash, written out in bits, begins with so many zeros."""
    return "".join(f"{byte:08b}" for byte in hashed).startswith("0" * bits)


# Judging.


def judge(raw: bytes, asked: Row) -> str:
    """Tell what is wrong with the bytes of a proof, or OK."""
    proof = read(raw)
    if isinstance(proof, str):
        return proof
    faults = {
        "PROOF_WRONG_REALM": proof["realm"] != unhex(asked, "realm"),
        "PROOF_WRONG_INSTANCE": proof["instance"] != unhex(asked, "instance"),
        "PROOF_WRONG_KEY": proof["key"] != unhex(asked, "key"),
        "PROOF_WRONG_ROLE": proof["role"] != word(asked, "role"),
        "PROOF_STALE": number(asked, "epoch") - as_int(proof["epoch"]) not in (0, 1),
    }
    for code, is_wrong in faults.items():
        if is_wrong:
            return code
    in_force = as_row(under(asked, "in_force")[str(proof["epoch"])])
    if proof["beacon"] != unhex(in_force, "beacon"):
        return "PROOF_WRONG_BEACON"
    if not _meets(proof, under(in_force, "terms")):
        return "PROOF_PARAMETERS"
    if not begins_with_zeros(gate_hash(proof), as_int(proof["gate_bits"])):
        return "PROOF_GATE"
    bits = as_int(proof["bits"])
    good = all(begins_with_zeros(one, bits) for one in part_hashes(proof))
    return OK if good else "PROOF_WORK"


def _meets(proof: Proof, terms: Row) -> bool:
    offer = {name: as_int(proof[name]) for name in LIMITS}
    allowed = all(offer[name] in limit for name, limit in LIMITS.items())
    same = all(offer[name] == terms[name] for name in ("memory_kib", "passes", "parts"))
    return allowed and same and all(offer[n] >= number(terms, n) for n in ("bits", "gate_bits"))


def next_bits(row: Row) -> int | None:
    """Give the bits of the next epoch, or None if the rule cannot be asked so."""
    base, most, target = (number(row, name) for name in ("base", "most", "target"))
    if not set(range(base, most + 1)) <= set(range(33)) or base > most or target < 1:
        return None
    admitted = number(row, "admitted")
    wanted = number(row, "bits") + (admitted / target > 2) - (admitted / target < 1 / 2)
    return sorted((base, wanted, most))[1]
