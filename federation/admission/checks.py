"""What is wrong with a proof, in the order of what it costs to find out.

Claims first: some comparisons. Then the gate: two hashes, microseconds. Then the parts, about
10 ms each, and none after the first wrong one. A node asks in this order, forms one short queue
for the last step, and lets the peer pay for a proof that fails there: that is no accident.
"""

from collections.abc import Callable
from typing import TypeAlias

from federation.admission.terms import InForce
from federation.admission.work import (
    Work,
    challenge,
    gate_hash,
    gate_head,
    offered,
    part_hash,
    part_salt,
    read_work,
    zeros,
)
from federation.core import Code, InstanceId, PeerError, PublicKey, Realm
from federation.records import Role

Prove: TypeAlias = Callable[[bytes], bool | None]
"""Tells whether the bytes of a proof do the work that they claim; None if it cannot tell yet."""


def check_claims(
    work: Work | None,
    *,
    realm: Realm,
    role: Role,
    instance: InstanceId,
    key: PublicKey,
    epoch: int,
    in_force: Callable[[int], InForce | None],
) -> Code | None:
    """Tell what a proof claims wrongly, without hashing anything; None if nothing.

    `epoch` is the current one; the one before counts as well, for a search may outlast a tick.
    `in_force` gives what either asks for, None where there was no such epoch: then the proof is
    stale. A proof of the epoch before is held to the terms and the beacon of that epoch.
    None for `work` is a missing proof: ask only where the realm wants one.
    """
    if work is None:
        return Code.PROOF_MISSING
    if work.realm != realm:
        return Code.PROOF_WRONG_REALM
    if work.instance != instance:
        return Code.PROOF_WRONG_INSTANCE
    if work.key != key:
        return Code.PROOF_WRONG_KEY
    if work.role is not role:
        return Code.PROOF_WRONG_ROLE
    asked = in_force(work.epoch) if work.epoch in (epoch, epoch - 1) else None
    if asked is None:
        return Code.PROOF_STALE
    if work.beacon != asked.beacon:
        return Code.PROOF_WRONG_BEACON
    offer = offered(work)
    if offer is None or not asked.terms.are_met_by(offer):
        return Code.PROOF_PARAMETERS
    return None


def passes_gate(work: Work) -> bool:
    """Tell whether the gate has the zero bits that the proof claims: three SHA-256, no Argon2."""
    head = gate_head(challenge(work), work.solutions)
    return zeros(gate_hash(head, work.gate)) >= work.gate_bits


def does_work(work: Work) -> bool:
    """Tell whether every part has the zero bits that the proof claims; stops at the first wrong one.

    A proof outside the hard limits is refused before anything is computed, so one call takes at
    most 16 hashes of 256 MiB, whoever calls it. Raises MemoryError if there is too little memory.
    """
    terms = offered(work)
    if terms is None:
        return False
    bound_to = challenge(work)
    return all(
        zeros(part_hash(part_salt(bound_to, part), solution, terms)) >= terms.bits
        for part, solution in enumerate(work.solutions)
    )


def prove(raw: bytes) -> bool:
    """Tell whether the bytes of a proof do the work that they claim; what is no proof does none.

    Its gate is not looked at. Raises MemoryError as `does_work` does.
    """
    try:
        return does_work(read_work(raw))
    except PeerError:
        return False


def check(
    work: Work | None,
    *,
    realm: Realm,
    role: Role,
    instance: InstanceId,
    key: PublicKey,
    epoch: int,
    in_force: Callable[[int], InForce | None],
) -> Code | None:
    """Check a proof wholly, cheapest first: its claims, its gate, its work; None if it is good.

    The arguments are those of `check_claims`. For the fold and for tools; a node that must not be
    kept busy calls the three steps itself.
    """
    fault = check_claims(
        work,
        realm=realm,
        role=role,
        instance=instance,
        key=key,
        epoch=epoch,
        in_force=in_force,
    )
    if fault is not None or work is None:
        return fault
    if not passes_gate(work):
        return Code.PROOF_GATE
    return None if does_work(work) else Code.PROOF_WORK
