"""Why a record counts, waits or does not: every code that joining has, in words."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from federation.admission import read_work, work_bytes
from federation.core import Code
from federation.protocol import Fate
from federation.records import AgentVouch, Record, Role
from node.base.errors import NodeCode, RequestError
from node.queries.why_record import FIXES, RecordWhy, why_record
from tests.builders import Chain, person
from tests.federation.protocol.town import Town
from tests.node.queries import joiners
from tests.node.queries.scenes import plain

Forged = Callable[[Town, Chain], bytes | None]


def ask(here: Town, record: Record) -> RecordWhy:
    return why_record(here.world(), record.id)


def but(**changes: object) -> Forged:
    """Make a good proof, and let it claim something else."""
    return lambda here, one: work_bytes(
        replace(read_work(joiners.good(here, one)), **changes)  # type: ignore[arg-type]
    )


PROOFS: dict[Code, Forged] = {
    Code.PROOF_MISSING: lambda _, __: None,
    Code.NOT_CANONICAL: lambda _, __: b"\xff",
    Code.TOO_LARGE: lambda _, __: bytes(2_000),
    Code.PROOF_WRONG_REALM: but(realm=bytes(32)),
    Code.PROOF_WRONG_INSTANCE: but(instance=bytes(32)),
    Code.PROOF_WRONG_KEY: but(key=bytes(32)),
    Code.PROOF_WRONG_ROLE: but(role=Role.OPERATOR),
    Code.PROOF_STALE: but(epoch=7),
    Code.PROOF_WRONG_BEACON: but(beacon=bytes(32)),
    Code.PROOF_PARAMETERS: but(memory_kib=16),
    Code.PROOF_GATE: but(gate_bits=40),
    Code.PROOF_WORK: joiners.false,
}


@pytest.mark.parametrize("code", PROOFS)
def test_each_fault_of_a_proof_is_explained_with_what_it_claims(code: Code) -> None:
    here = joiners.town()
    one = here.stranger(Role.AGENT)
    record = joiners.admit(here, one, proof=PROOFS[code](here, one))
    joiners.decided(here, record)
    found = ask(here, record)

    assert (found.fate, found.code, found.contained) == (Fate.VOID, code, True)
    assert found.sentence.startswith("This agent.admit by instance 0 (")
    assert "does not count: the cut that contains it found that" in found.sentence
    assert "its guard" not in found.sentence
    assert found.admission is not None
    assert (found.admission.role, found.admission.newcomer.id) == (Role.AGENT, one.id.hex())
    assert found.admission.operator.name == "operator 0"
    unread = code in {Code.PROOF_MISSING, Code.NOT_CANONICAL, Code.TOO_LARGE}
    assert (found.admission.proof is None) is unread
    assert bool(found.fix) is (code in FIXES)
    assert isinstance(plain(found), dict)


def test_the_claims_of_a_proof_are_shown() -> None:
    here = joiners.town()
    one = here.stranger(Role.OPERATOR)
    record = joiners.admit(here, one, proof=joiners.good(here, one))
    joiners.decided(here, record)
    found = ask(here, record)

    assert (found.fate, found.code, found.fix) == (Fate.COUNTS, None, "")
    assert found.admission is not None
    proof = found.admission.proof
    assert proof is not None
    assert (proof.role, proof.instance.name, proof.key) == (
        Role.OPERATOR,
        "instance 0",
        one.signer.public.hex(),
    )
    assert (proof.epoch, proof.memory_kib, proof.passes) == (0, 8, 1)
    assert (proof.parts, proof.bits, proof.gate_bits) == (1, 1, 4)
    assert found.admission.operator == found.admission.newcomer


def test_a_barred_instance_a_full_one_and_a_second_admission_are_explained() -> None:
    here = joiners.town()
    crowd = [here.stranger(Role.AGENT, number) for number in range(1, 8)]
    full = [
        joiners.admit(here, one, proof=joiners.good(here, one, instance=1), instance=1)
        for one in crowd[:4]
    ]
    twice = [joiners.admit(here, crowd[6], proof=joiners.good(here, crowd[6])) for _ in range(2)]
    liar = [
        joiners.admit(here, crowd[4], proof=joiners.false(here, crowd[4], instance=2), instance=2),
        joiners.admit(here, crowd[5], proof=joiners.good(here, crowd[5], instance=2), instance=2),
    ]
    joiners.decided(here, *full, *twice, *liar)

    assert ask(here, full[3]).code is Code.OVER_QUOTA
    assert "next tick" in ask(here, full[3]).fix
    assert (ask(here, twice[0]).code, ask(here, twice[1]).code) == (None, Code.DUPLICATE)
    assert ask(here, liar[1]).code is Code.INSTANCE_BARRED
    assert "another instance" in ask(here, liar[1]).fix


def test_a_proof_that_serves_twice_is_explained() -> None:
    here = joiners.town()
    one = here.stranger(Role.AGENT)
    # The proof is bound to a key, and nothing stops two inceptions of one key.
    twin = Chain(person(Role.AGENT, 1, realm=here.founding.realm, name="twin"))
    proof = joiners.good(here, one)
    first, second = (joiners.admit(here, each, proof=proof) for each in (one, twin))
    joiners.decided(here, first, second)
    found = ask(here, second)

    assert (ask(here, first).code, found.code) == (None, Code.PROOF_REPLAYED)
    assert "served another admission" in found.sentence
    assert "of its own" in found.fix


def test_what_no_cut_contains_waits() -> None:
    here = joiners.town()
    one = here.stranger(Role.AGENT)
    record = joiners.admit(here, one, proof=joiners.good(here, one))
    found = ask(here, record)

    assert (found.fate, found.code, found.contained) == (Fate.WAITS, Code.WAITS_FOR_CUT, False)
    assert found.sentence.endswith("waits: the next cut that contains it decides.")


def test_a_waiting_admission_that_is_hopeless_says_so_at_once() -> None:
    here = joiners.town()
    one = here.stranger(Role.AGENT)
    record = joiners.admit(here, one, proof=None)
    found = ask(here, record)

    assert (found.fate, found.code, found.contained) == (Fate.VOID, Code.PROOF_MISSING, False)


def test_a_circular_vouch_is_explained() -> None:
    here = Town.of(1, 4)
    first = here.sign(0, AgentVouch(agent=here.agent(1), weight=9, reason=""))
    here.arrive(here.world(), first)
    joiners.decided(here, first)
    back = here.sign(1, AgentVouch(agent=here.agent(0), weight=9, reason=""))
    here.arrive(here.world(), back)
    joiners.decided(here, back)
    found = ask(here, back)

    assert (found.fate, found.code) == (Fate.VOID, Code.CIRCULAR_VOUCH)
    assert "vouches for its author" in found.sentence
    assert found.fix == FIXES[Code.CIRCULAR_VOUCH]
    assert found.admission is None


def test_a_vouch_over_its_quota_is_told_when_there_is_room() -> None:
    here = Town.of(1, 2)
    record = here.sign(0, AgentVouch(agent=here.agent(1), weight=9, reason=""))
    here.arrive(here.world(), record)
    joiners.decided(here, record)
    here.world().state.refused[record.id] = Code.OVER_QUOTA

    assert ask(here, record).fix == "try again after the next tick"


def test_any_other_record_has_an_answer_too() -> None:
    here = Town.of(1, 2)
    found = why_record(here.world(), here.agent(0))

    assert (found.kind, found.fate, found.admission) == ("identity.incept", Fate.COUNTS, None)


def test_a_record_that_is_not_held_is_not_found() -> None:
    with pytest.raises(RequestError) as caught:
        why_record(Town.of(1, 1).world(), bytes(32))
    assert caught.value.code is NodeCode.NOT_FOUND
