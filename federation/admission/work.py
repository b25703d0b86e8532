"""The proof of a registration puzzle: its bytes, what it is bound to, and its three hashes.

    challenge   SHA-256 over all the proof claims: realm, role, instance, key, epoch, beacon, terms
    part i      Argon2id(password = solution i, salt of challenge and i) begins with `bits` zeros
    gate        SHA-256 over challenge, all solutions and a value begins with `gate_bits` zeros

The gate covers the solutions, so each junk proof needs a gate of its own, and junk is refused in
microseconds. The parts are salted apart, so one value never serves two of them, two keys, two
instances or two epochs. The beacon is not known before its epoch begins, so no search can begin
before it either. Argon2id is deterministic, so all of it is pure.
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta
from nacl.bindings import (
    crypto_pwhash_alg,
    crypto_pwhash_ALG_ARGON2ID13,
    crypto_pwhash_SALTBYTES,
)
from nacl.exceptions import RuntimeError as SodiumError

from federation.admission.terms import Terms
from federation.codec import decode, encode
from federation.core import Digest, InstanceId, ParameterError, PublicKey, Realm
from federation.crypto import Domain, digest
from federation.records import Role

MOST_BYTES: Final = 1_024
"""Bytes of a proof; one of 16 parts, the most that count, has about 340."""
_HASH: Final = 32
_KIB: Final = 1_024
_BYTE: Final = 8

Number = Annotated[int, Meta(ge=0, le=2**53 - 1)]
Solution: TypeAlias = Annotated[bytes, Meta(min_length=8, max_length=8)]
"""A value that was searched for: of a part, or of the gate."""


class Work(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A proof of work for one registration; array on the wire, in this order.

    It may claim anything: `checks` hold it to what a registration needs and to the limits. Raises
    ValueError for the role of an instance: instances join by other ways.
    """

    version: Literal[1]
    role: Role
    """agent or operator."""
    realm: Realm
    instance: InstanceId
    """The instance that is asked for admission."""
    key: PublicKey
    """The key that the identity was incepted with."""
    epoch: Number
    """Number of the tick that began the epoch in which the work was done."""
    beacon: Digest
    """The beacon of that tick."""
    memory_kib: Number
    passes: Number
    bits: Number
    """Leading zero bits of each part."""
    gate_bits: Number
    solutions: tuple[Solution, ...]
    """One for each part, in order."""
    gate: Solution

    def __post_init__(self) -> None:
        """Hold the role to those that register."""
        if self.role is Role.INSTANCE:
            raise ValueError("role: an instance does not register by a puzzle")


def read_work(raw: bytes) -> Work:
    """Read the bytes of a proof; raises PeerError NOT_CANONICAL, or TOO_LARGE above 1,024 bytes."""
    return decode(raw, Work, what="admission proof", most=MOST_BYTES)


def work_bytes(work: Work) -> bytes:
    """Give the canonical bytes of a proof."""
    return encode(work)


def offered(work: Work) -> Terms | None:
    """Give the terms that a proof claims to meet, or None if they are outside the hard limits."""
    try:
        return Terms(
            memory_kib=work.memory_kib,
            passes=work.passes,
            parts=len(work.solutions),
            bits=work.bits,
            gate_bits=work.gate_bits,
        )
    except ParameterError:
        return None


def challenge(work: Work) -> Digest:
    """SHA-256("folkmoot/1/puzzle_challenge" ‖ canonical list of all that the proof is bound to).

    These are realm, role, instance, key, epoch, beacon, memory, passes, number of parts, bits and
    gate bits. With the beacon inside, work cannot be done ahead for epochs to come; with the
    parameters inside, work for easy terms is worth nothing under harder ones.
    """
    return digest(
        Domain.PUZZLE_CHALLENGE,
        encode(
            [
                work.realm,
                work.role,
                work.instance,
                work.key,
                work.epoch,
                work.beacon,
                work.memory_kib,
                work.passes,
                len(work.solutions),
                work.bits,
                work.gate_bits,
            ]
        ),
    )


def gate_head(bound_to: Digest, solutions: tuple[Solution, ...]) -> bytes:
    """Give all that a gate is hashed over but its value: only its last 8 bytes are searched.

    What is hashed is canonical [challenge, solutions, gate].
    """
    return encode([bound_to, solutions, bytes(_BYTE)])[:-_BYTE]


def gate_hash(head: bytes, gate: Solution) -> Digest:
    """SHA-256("folkmoot/1/puzzle_gate" ‖ canonical [challenge, solutions, gate])."""
    return digest(Domain.PUZZLE_GATE, head, gate)


def part_salt(bound_to: Digest, part: int) -> bytes:
    """Give the salt of a part: 16 bytes of the hash of canonical [challenge, part]."""
    return digest(Domain.PUZZLE_PART, encode([bound_to, part]))[:crypto_pwhash_SALTBYTES]


def part_hash(salt: bytes, solution: Solution, terms: Terms) -> Digest:
    """Argon2id 1.3 of a solution, one lane, 32 bytes: about 10 ms at 16 MiB and one pass.

    `Terms` bound its cost. Raises MemoryError if the machine cannot give that much memory: then
    nothing is known about the proof.
    """
    try:
        return crypto_pwhash_alg(
            _HASH,
            solution,
            salt,
            terms.passes,
            terms.memory_kib * _KIB,
            crypto_pwhash_ALG_ARGON2ID13,
        )
    except SodiumError as error:
        raise MemoryError(f"Argon2id found no {terms.memory_kib} KiB of memory") from error


def zeros(hashed: Digest) -> int:
    """Count the zero bits with which a hash begins."""
    return len(hashed) * _BYTE - int.from_bytes(hashed, "big").bit_length()
