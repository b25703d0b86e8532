"""Both readings agree with the vectors of the registration puzzle."""

from typing import Final

import pytest

from federation.admission import challenge, next_bits, read_work, work_bytes
from federation.core import Code, ParameterError
from tests.vectors import puzzle_reader as second
from tests.vectors.agreement_rows import (
    OK,
    Row,
    by_name,
    load,
    many,
    number,
    under,
    unhex,
    unhexed,
    word,
)
from tests.vectors.puzzle_vectors import code_of

PUZZLE: Final = load("puzzle.json")


@pytest.mark.parametrize("row", many(PUZZLE, "hashes"))
def test_openssl_and_libsodium_hash_a_part_alike(row: Row) -> None:
    salt = second.salt_of(unhex(row, "challenge"), number(row, "part"))
    hashed = second.part_hash(
        salt, unhex(row, "solution"), number(row, "memory_kib"), number(row, "passes")
    )

    assert (salt.hex(), hashed.hex()) == (row["salt"], row["hash"])


@pytest.mark.parametrize("row", many(PUZZLE, "proofs"), ids=by_name)
def test_both_readings_take_the_same_proof_from_its_bytes(row: Row) -> None:
    raw = unhex(row, "bytes")
    proof = second.read(raw)
    assert not isinstance(proof, str)
    terms = {name: proof[name] for name in second.LIMITS}

    assert work_bytes(read_work(raw)) == raw
    assert terms == row["terms"]
    for name in ("role", "epoch"):
        assert proof[name] == row[name]
    for name in ("realm", "instance", "key", "beacon", "gate"):
        assert proof[name] == unhex(row, name)
    assert second.solutions_of(proof) == unhexed(row, "solutions")


@pytest.mark.parametrize("row", many(PUZZLE, "proofs"), ids=by_name)
def test_both_readings_come_to_the_same_hashes(row: Row) -> None:
    proof = second.read(unhex(row, "bytes"))
    assert not isinstance(proof, str)
    terms = under(row, "terms")

    assert second.challenge(proof) == challenge(read_work(unhex(row, "bytes")))
    assert second.challenge(proof) == unhex(row, "challenge")
    assert second.gate_hash(proof) == unhex(row, "gate_hash")
    assert second.begins_with_zeros(second.gate_hash(proof), number(terms, "gate_bits"))
    assert second.part_hashes(proof) == unhexed(row, "part_hashes")
    assert all(
        second.begins_with_zeros(one, number(terms, "bits")) for one in second.part_hashes(proof)
    )


@pytest.mark.parametrize("row", many(PUZZLE, "cases"), ids=by_name)
def test_both_readings_say_the_same_to_a_proof(row: Row) -> None:
    assert second.judge(unhex(row, "bytes"), under(PUZZLE, "asked")) == row["code"]
    assert code_of(unhex(row, "bytes")) == row["code"]


@pytest.mark.parametrize("row", many(PUZZLE, "bits"))
def test_both_readings_adapt_the_bits_alike(row: Row) -> None:
    def ours() -> int:
        return next_bits(
            number(row, "bits"),
            number(row, "admitted"),
            base=number(row, "base"),
            target=number(row, "target"),
            most=number(row, "most"),
        )

    if "code" in row:
        assert second.next_bits(row) is None
        with pytest.raises(ParameterError):
            ours()
    else:
        assert second.next_bits(row) == number(row, "next") == ours()


def test_every_code_of_a_proof_stands_in_the_file() -> None:
    found = {word(row, "code") for row in many(PUZZLE, "cases")}
    proofs = {code.value for code in Code if code.startswith("PROOF_")}

    # A missing proof has no bytes; whether one has served already only a world knows.
    assert found == {OK, "TOO_LARGE", "NOT_CANONICAL"} | proofs - {
        Code.PROOF_MISSING,
        Code.PROOF_REPLAYED,
    }
