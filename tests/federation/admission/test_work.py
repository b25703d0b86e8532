"""A proof has one spelling, and its challenge holds everything that it is bound to."""

import hashlib
import resource
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.admission import (
    MOST_BYTES,
    MOST_PARTS,
    Work,
    challenge,
    offered,
    read_work,
    work_bytes,
)
from federation.admission.work import gate_hash, gate_head, part_hash, part_salt, zeros
from federation.codec import encode
from federation.core import Code, PeerError
from federation.records import Role
from tests.builders import named
from tests.federation.admission.proofs import blank, proof, terms
from tests.strategies import binaries, damaged

WORK = proof(terms())
OTHERS = {
    "role": Role.OPERATOR,
    "realm": named("another realm"),
    "instance": named("another instance"),
    "key": named("another key"),
    "epoch": WORK.epoch + 1,
    "beacon": named("another beacon"),
    "memory_kib": WORK.memory_kib + 1,
    "passes": WORK.passes + 1,
    "bits": WORK.bits + 1,
    "gate_bits": WORK.gate_bits + 1,
    "solutions": (*WORK.solutions, WORK.solutions[0]),
}
numbers = st.integers(0, 300_000) | st.integers(0, 2**53 - 1)
solutions = binaries(8)
works = st.builds(
    Work,
    version=st.just(1),
    role=st.sampled_from([Role.AGENT, Role.OPERATOR]),
    realm=binaries(32),
    instance=binaries(32),
    key=binaries(32),
    epoch=numbers,
    beacon=binaries(32),
    memory_kib=numbers,
    passes=numbers,
    bits=numbers,
    gate_bits=numbers,
    solutions=st.lists(solutions, max_size=40).map(tuple),
    gate=solutions,
)


@given(works)
def test_a_proof_reads_back_as_it_was_written(work: Work) -> None:
    assert read_work(work_bytes(work)) == work


@given(works.flatmap(lambda work: damaged(work_bytes(work))))
def test_damaged_bytes_are_refused_or_are_the_one_spelling_of_another_proof(raw: bytes) -> None:
    try:
        work = read_work(raw)
    except PeerError:
        return

    assert work_bytes(work) == raw


@given(st.binary(max_size=2 * MOST_BYTES))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    with pytest.raises(PeerError):
        read_work(raw)


def test_the_largest_proof_that_can_be_good_is_far_below_the_limit_of_bytes() -> None:
    largest = replace(
        WORK,
        role=Role.OPERATOR,
        epoch=2**53 - 1,
        memory_kib=262_144,
        solutions=(bytes(8),) * MOST_PARTS,
    )

    assert len(work_bytes(largest)) < 350 < MOST_BYTES


def test_a_proof_above_the_limit_of_bytes_is_not_parsed() -> None:
    with pytest.raises(PeerError) as refused:
        read_work(work_bytes(replace(WORK, solutions=(bytes(8),) * 100)))

    assert refused.value.code is Code.TOO_LARGE


def test_an_instance_registers_by_no_puzzle() -> None:
    with pytest.raises(ValueError, match="an instance does not register"):
        replace(WORK, role=Role.INSTANCE)
    raw = work_bytes(WORK).replace(b"\xa5agent", b"\xa8instance")
    with pytest.raises(PeerError) as refused:
        read_work(raw)

    assert refused.value.code is Code.NOT_CANONICAL


def test_a_challenge_is_a_hash_of_what_the_proof_is_bound_to_in_order() -> None:
    claims = [WORK.realm, "agent", WORK.instance, WORK.key, WORK.epoch, WORK.beacon]
    bound = [*claims, 8, 1, 3, 3, 4]
    expected = hashlib.sha256(b"folkmoot/1/puzzle_challenge" + encode(bound)).digest()

    assert challenge(WORK) == expected


@pytest.mark.parametrize("name", OTHERS)
def test_everything_a_proof_claims_is_in_its_challenge(name: str) -> None:
    assert challenge(replace(WORK, **{name: OTHERS[name]})) != challenge(WORK)


def test_nothing_a_proof_could_be_bound_to_is_forgotten() -> None:
    fields = {field.name for field in msgspec.structs.fields(Work)}

    # The version stands in the domain; the solutions themselves answer the challenge.
    assert fields == OTHERS.keys() | {"version", "gate"}


def test_solutions_and_gate_do_not_change_the_challenge_they_answer() -> None:
    assert challenge(blank(terms())) == challenge(WORK)


def test_a_gate_is_a_hash_of_the_canonical_list_of_challenge_solutions_and_gate() -> None:
    listed = encode([challenge(WORK), WORK.solutions, WORK.gate])
    expected = hashlib.sha256(b"folkmoot/1/puzzle_gate" + listed).digest()

    assert gate_hash(gate_head(challenge(WORK), WORK.solutions), WORK.gate) == expected


def test_each_part_has_a_salt_of_its_own() -> None:
    expected = hashlib.sha256(b"folkmoot/1/puzzle_part" + encode([challenge(WORK), 2])).digest()
    salts = {part_salt(challenge(WORK), part) for part in range(MOST_PARTS)}

    assert part_salt(challenge(WORK), 2) == expected[:16]
    assert len(salts) == MOST_PARTS


def test_a_part_is_hashed_by_argon2id_under_its_terms() -> None:
    # Which bytes these are is fixed by the golden vectors, where OpenSSL reads the same.
    hashes = {
        part_hash(bytes(16), bytes(8), terms()),
        part_hash(bytes(15) + b"1", bytes(8), terms()),
        part_hash(bytes(16), bytes(7) + b"1", terms()),
        part_hash(bytes(16), bytes(8), terms(passes=2)),
        part_hash(bytes(16), bytes(8), terms(memory_kib=9)),
    }

    assert len(hashes) == 5
    assert {len(one) for one in hashes} == {32}
    assert part_hash(bytes(16), bytes(8), terms(bits=9, gate_bits=9, parts=9)) in hashes


def test_too_little_memory_says_nothing_about_a_proof() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(
        resource.RLIMIT_AS, (pages * resource.getpagesize() + 128 * 1_024 * 1_024, hard)
    )
    try:
        with pytest.raises(MemoryError, match="262144 KiB"):
            part_hash(bytes(16), bytes(8), terms(memory_kib=262_144))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

    assert part_hash(bytes(16), bytes(8), terms())


@pytest.mark.parametrize(
    ("hashed", "expected"),
    [("00" * 32, 256), ("00" * 31 + "01", 255), ("80" + "00" * 31, 0), ("001f" + "ff" * 30, 11)],
)
def test_zeros_are_counted_from_the_first_bit(hashed: str, expected: int) -> None:
    assert zeros(bytes.fromhex(hashed)) == expected


@given(works)
def test_an_offer_is_what_the_proof_says_or_outside_the_limits(work: Work) -> None:
    offer = offered(work)
    within = (
        8 <= work.memory_kib <= 262_144
        and 1 <= work.passes <= 4
        and 1 <= len(work.solutions) <= 16
        and work.bits <= 32
        and work.gate_bits <= 40
    )

    assert (offer is not None) == within
    if offer is not None:
        assert offer == terms(
            memory_kib=work.memory_kib,
            passes=work.passes,
            parts=len(work.solutions),
            bits=work.bits,
            gate_bits=work.gate_bits,
        )
