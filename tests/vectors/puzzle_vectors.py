"""puzzle.json: the hashes of the registration puzzle, proofs, what is refused, how bits adapt.

Small terms, so that all of it is made in a second; `python -m tests.vectors.make_vectors` writes
the file with the others.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from federation.admission import (
    InForce,
    Mint,
    Terms,
    Work,
    blank_work,
    challenge,
    check,
    next_bits,
    passes_gate,
    read_work,
    work_bytes,
)
from federation.admission.work import gate_hash, gate_head, part_hash, part_salt
from federation.codec import encode
from federation.core import ParameterError, PeerError
from federation.records import Role
from tests.vectors.agreement_rows import OK, Row, fixed_bytes

REALM: Final = fixed_bytes("realm")
INSTANCE: Final = fixed_bytes("instance")
KEY: Final = fixed_bytes("key")
EPOCH: Final = 41
TERMS: Final = Terms(memory_kib=8, passes=1, parts=3, bits=4, gate_bits=6)
EASIER: Final = Terms(memory_kib=8, passes=1, parts=3, bits=3, gate_bits=6)
"""Those of the epoch before."""
BEACON: Final = fixed_bytes("beacon")
EARLIER: Final = fixed_bytes("beacon of the epoch before")
IN_FORCE: Final[Mapping[int, InForce]] = {
    EPOCH: InForce(terms=TERMS, beacon=BEACON),
    EPOCH - 1: InForce(terms=EASIER, beacon=EARLIER),
}


def vectors() -> Row:
    """All of it."""
    return {
        "asked": {
            "realm": REALM.hex(),
            "role": "agent",
            "instance": INSTANCE.hex(),
            "key": KEY.hex(),
            "epoch": EPOCH,
            "in_force": {
                str(epoch): {"beacon": asked.beacon.hex(), "terms": _terms(asked.terms)}
                for epoch, asked in IN_FORCE.items()
            },
        },
        "hashes": list(_hashes()),
        "proofs": [_proof(name, work) for name, work in _proofs().items()],
        "cases": [
            {"name": name, "bytes": raw.hex(), "code": code_of(raw)} for name, raw in _cases()
        ],
        "bits": list(_bits()),
    }


def code_of(raw: bytes) -> str:
    """Tell what this library says to the bytes of a proof, under what the file asks for."""
    try:
        work = read_work(raw)
    except PeerError as error:
        return error.code.value
    code = check(
        work,
        realm=REALM,
        role=Role.AGENT,
        instance=INSTANCE,
        key=KEY,
        epoch=EPOCH,
        in_force=IN_FORCE.get,
    )
    return OK if code is None else code.value


def made(blank: Work) -> Work:
    """Search for a proof to its end."""
    mint = Mint(blank=blank)
    progress = mint.start()
    while not progress.is_over:
        progress = mint.advance(progress, 1_000)
    return mint.finish(progress)


def blank(
    terms: Terms = TERMS,
    *,
    realm: bytes = REALM,
    role: Role = Role.AGENT,
    instance: bytes = INSTANCE,
    key: bytes = KEY,
    epoch: int = EPOCH,
    beacon: bytes = BEACON,
) -> Work:
    """Give a proof to search for; every claim can be another."""
    return blank_work(
        realm=realm,
        role=role,
        instance=instance,
        key=key,
        epoch=epoch,
        beacon=beacon,
        terms=terms,
    )


def gated(work: Work, *, opens: bool = True) -> Work:
    """Give a proof another gate: one that passes, or one that does not."""
    gates = (replace(work, gate=nonce.to_bytes(8, "big")) for nonce in range(2**20))
    return next(one for one in gates if passes_gate(one) is opens)


# Hashes.


def _hashes() -> Iterator[Row]:
    for memory, passes in ((8, 1), (8, 2), (9, 1), (15, 3), (64, 1), (1_024, 4), (16_384, 1)):
        terms = Terms(memory_kib=memory, passes=passes, parts=1, bits=0, gate_bits=0)
        for solution in (bytes(8), fixed_bytes("solution")[:8]):
            salt = part_salt(fixed_bytes("challenge"), memory)
            yield {
                "memory_kib": memory,
                "passes": passes,
                "challenge": fixed_bytes("challenge").hex(),
                "part": memory,
                "solution": solution.hex(),
                "salt": salt.hex(),
                "hash": part_hash(salt, solution, terms).hex(),
            }


def _proofs() -> Mapping[str, Work]:
    one = Terms(memory_kib=8, passes=1, parts=1, bits=0, gate_bits=0)
    many = Terms(memory_kib=8, passes=1, parts=16, bits=2, gate_bits=0)
    large = Terms(memory_kib=64, passes=2, parts=4, bits=5, gate_bits=10)
    return {
        "an agent's": made(blank()),
        "an operator's": made(blank(role=Role.OPERATOR)),
        "of the first epoch": made(blank(epoch=0)),
        "of an epoch far away": made(blank(epoch=2**53 - 1)),
        "no work at all": made(blank(one)),
        "many parts": made(blank(many)),
        "more memory and passes": made(blank(large)),
    }


def _proof(name: str, work: Work) -> Row:
    bound_to = challenge(work)
    terms = Terms(
        memory_kib=work.memory_kib,
        passes=work.passes,
        parts=len(work.solutions),
        bits=work.bits,
        gate_bits=work.gate_bits,
    )
    return {
        "name": name,
        "bytes": work_bytes(work).hex(),
        "role": work.role.value,
        "realm": work.realm.hex(),
        "instance": work.instance.hex(),
        "key": work.key.hex(),
        "epoch": work.epoch,
        "beacon": work.beacon.hex(),
        "terms": _terms(terms),
        "solutions": [solution.hex() for solution in work.solutions],
        "gate": work.gate.hex(),
        "challenge": bound_to.hex(),
        "gate_hash": gate_hash(gate_head(bound_to, work.solutions), work.gate).hex(),
        "part_hashes": [
            part_hash(part_salt(bound_to, part), solution, terms).hex()
            for part, solution in enumerate(work.solutions)
        ],
    }


def _terms(terms: Terms) -> Row:
    return {
        "memory_kib": terms.memory_kib,
        "passes": terms.passes,
        "parts": terms.parts,
        "bits": terms.bits,
        "gate_bits": terms.gate_bits,
    }


# What is accepted and what is refused.


def _cases() -> Iterator[tuple[str, bytes]]:
    good = made(blank())
    yield "a good one", work_bytes(good)
    for name, raw in _spellings(good):
        yield name, raw
    for cases in (_claims(good), _offers(good), _gates(good), _works(good)):
        for name, work in cases:
            yield name, work_bytes(work)


def _spellings(good: Work) -> Iterator[tuple[str, bytes]]:
    fields = [
        1,
        "agent",
        good.realm,
        good.instance,
        good.key,
        good.epoch,
        good.beacon,
        good.memory_kib,
        good.passes,
        good.bits,
        good.gate_bits,
        list(good.solutions),
        good.gate,
    ]
    assert encode(fields) == work_bytes(good)

    def other(place: int, value: object) -> bytes:
        return encode([*fields[:place], value, *fields[place + 1 :]])

    yield "nothing", b""
    yield "another version", other(0, 2)
    yield "a version that is no number", other(0, True)
    yield "the role of an instance", other(1, "instance")
    yield "an unknown role", other(1, "Agent")
    yield "a realm of 31 bytes", other(2, good.realm[1:])
    yield "a key of 33 bytes", other(4, good.key + b"\0")
    yield "an epoch below nothing", other(5, -1)
    yield "an epoch of 2^53", other(5, 2**53)
    yield "a beacon of 31 bytes", other(6, good.beacon[1:])
    yield "a beacon that is nil", other(6, None)
    yield "memory as text", other(7, "8")
    yield "bits below nothing", other(9, -1)
    yield "bits that are nil", other(9, None)
    yield "no list of solutions", other(11, good.solutions[0])
    yield "a solution of 7 bytes", other(11, [good.solutions[0][1:], *good.solutions[1:]])
    yield "a solution that is nil", other(11, [None, *good.solutions[1:]])
    yield "a gate of 9 bytes", other(12, good.gate + b"\0")
    yield "a field too few", encode(fields[:-1])
    yield "no beacon", encode([*fields[:6], *fields[7:]])
    yield "a field too many", encode([*fields, 0])
    yield "a map", encode({"work": fields})
    yield "a byte too many", work_bytes(good) + b"\0"
    yield "a byte too few", work_bytes(good)[:-1]
    yield (
        "an epoch not in its shortest form",
        work_bytes(good).replace(b"\x29\xc4", b"\xcc\x29\xc4"),
    )
    yield "more bytes than are read", other(11, list(good.solutions) * 32)


def _claims(good: Work) -> Iterator[tuple[str, Work]]:
    yield "another realm", made(blank(realm=fixed_bytes("another realm")))
    yield "another instance", made(blank(instance=fixed_bytes("another instance")))
    yield "another key", made(blank(key=fixed_bytes("another key")))
    yield "another role", made(blank(role=Role.OPERATOR))
    yield "the epoch before", made(blank(EASIER, epoch=EPOCH - 1, beacon=EARLIER))
    yield "two epochs before", made(blank(epoch=EPOCH - 2))
    yield "the next epoch", made(blank(epoch=EPOCH + 1))
    yield "a beacon that was guessed ahead", made(blank(beacon=fixed_bytes("guess")))
    yield "the beacon of the epoch before", made(blank(beacon=EARLIER))
    yield "the epoch before under the beacon of this one", made(blank(EASIER, epoch=EPOCH - 1))
    yield "the beacon put in afterwards", replace(made(blank(beacon=EARLIER)), beacon=BEACON)
    late = replace(good, epoch=0, beacon=KEY, bits=0)
    yield (
        "all claims wrong at once",
        replace(late, realm=KEY, instance=KEY, key=REALM, role=Role.OPERATOR),
    )
    yield (
        "all but the realm wrong",
        replace(late, instance=KEY, key=REALM, role=Role.OPERATOR),
    )
    yield (
        "key, role, epoch, beacon and bits wrong",
        replace(late, key=REALM, role=Role.OPERATOR),
    )
    yield "role, epoch, beacon and bits wrong", replace(late, role=Role.OPERATOR)
    yield "epoch, beacon and bits wrong", late
    yield "beacon and bits wrong", replace(good, beacon=KEY, bits=0)


def _offers(good: Work) -> Iterator[tuple[str, Work]]:
    def offer(
        *,
        memory_kib: int = TERMS.memory_kib,
        passes: int = TERMS.passes,
        parts: int = TERMS.parts,
        bits: int = TERMS.bits,
        gate_bits: int = TERMS.gate_bits,
    ) -> Work:
        terms = Terms(
            memory_kib=memory_kib, passes=passes, parts=parts, bits=bits, gate_bits=gate_bits
        )
        return made(blank(terms))

    yield "a bit too few", offer(bits=TERMS.bits - 1)
    yield "easier bits that were those of the epoch before", made(blank(EASIER))
    yield "a bit more", offer(bits=TERMS.bits + 1)
    yield "a gate bit too few", offer(gate_bits=TERMS.gate_bits - 1)
    yield "a gate bit more", offer(gate_bits=TERMS.gate_bits + 1)
    yield "a part too few", offer(parts=TERMS.parts - 1)
    yield "a part more", offer(parts=TERMS.parts + 1)
    yield "more memory", offer(memory_kib=16)
    yield "a pass more", offer(passes=2)
    yield "no parts", replace(good, solutions=())
    yield "17 parts", replace(good, solutions=good.solutions[:1] * 17)
    yield "33 bits", replace(good, bits=33)
    yield "41 gate bits", replace(good, gate_bits=41)
    yield "more memory than any proof may ask for", replace(good, memory_kib=262_145)
    yield "as much memory as a number can say", replace(good, memory_kib=2**53 - 1)
    yield "less memory than Argon2 takes", replace(good, memory_kib=7)
    yield "no pass", replace(good, passes=0)
    yield "as many bits as a number can say", replace(good, bits=2**53 - 1)


def _gates(good: Work) -> Iterator[tuple[str, Work]]:
    yield "a gate that does not open", gated(good, opens=False)
    yield "32 bits claimed for the work of 4", replace(good, bits=32)
    yield (
        "a junk part behind the gate of another list",
        replace(good, solutions=(b"junkjunk", *good.solutions[1:])),
    )


def _works(good: Work) -> Iterator[tuple[str, Work]]:
    first, second, third = good.solutions
    other = made(blank(key=fixed_bytes("another key")))
    yield "another good gate", gated(replace(good, gate=bytes(8)))
    yield "a junk first part", gated(replace(good, solutions=(b"junkjunk", second, third)))
    yield "a junk last part", gated(replace(good, solutions=(first, second, b"junkjunk")))
    yield "parts in another order", gated(replace(good, solutions=(third, first, second)))
    yield "one part three times", gated(replace(good, solutions=(first,) * 3))
    yield "the parts of another key", gated(replace(good, solutions=other.solutions))
    yield "claims of a bit more than was done", gated(replace(good, bits=TERMS.bits + 1))


# How bits adapt.


def _bits() -> Iterator[Row]:
    for base, target, most in ((9, 8, 14), (0, 1, 32), (5, 7, 5)):
        for bits in (0, base, base + 1, most, 32):
            for admitted in (0, target // 2, -(-target // 2), 2 * target, 2 * target + 1, 10**9):
                row = {"base": base, "target": target, "most": most}
                row |= {"bits": bits, "admitted": admitted}
                yield {
                    **row,
                    "next": next_bits(bits, admitted, base=base, target=target, most=most),
                }
    refused = ((-1, 8, 14), (9, 0, 14), (9, 8, 8), (9, 8, 33))
    for base, target, most in refused:
        row = {"base": base, "target": target, "most": most, "bits": 9, "admitted": 3}
        try:
            next_bits(9, 3, base=base, target=target, most=most)
        except ParameterError as error:
            yield {**row, "code": error.code.value}
