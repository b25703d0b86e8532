"""Why a registration is refused, and what to do: one sentence each for every code that can occur.

The same codes stand in docs/reference/errors.md; there they are told of records, here of a request.
"""

from typing import Final

from federation.core import Code, RefusedError

_WORDS: Final[dict[Code, tuple[str, str]]] = {
    Code.INSTANCE_BARRED: (
        "this instance has signed an admission with a false proof, and admits nobody in this epoch",
        "wait for the next tick, or register with another instance",
    ),
    Code.PROOF_MISSING: (
        "the realm asks for a proof of work, and none came along",
        "compute one for the terms that GET /v1/registration gives",
    ),
    Code.PROOF_WRONG_REALM: (
        "the proof was made for another realm",
        "compute one for the realm that GET /v1/registration names",
    ),
    Code.PROOF_WRONG_INSTANCE: (
        "the proof was made for another instance",
        "send it there, or compute one for this instance",
    ),
    Code.PROOF_WRONG_KEY: (
        "the proof was made for another key than that of the inception",
        "compute one for the key that the identity was incepted with",
    ),
    Code.PROOF_WRONG_ROLE: (
        "the proof was made for another role than that of the identity",
        "compute one for an operator if an operator registers, for an agent if an agent does",
    ),
    Code.PROOF_STALE: (
        "the proof was made neither in this epoch nor in the one before",
        "compute one for the epoch and the beacon that GET /v1/registration gives now",
    ),
    Code.PROOF_WRONG_BEACON: (
        "the proof is bound to another beacon than that of its epoch",
        "compute one for the beacon that GET /v1/registration gives",
    ),
    Code.PROOF_PARAMETERS: (
        (
            "the proof has fewer zero bits than its epoch asks for, other memory, passes or parts, or "
            "more of anything than is allowed at all"
        ),
        "compute one for exactly the terms that GET /v1/registration gives",
    ),
    Code.PROOF_REPLAYED: (
        "the proof has served a registration already",
        "compute one for this identity",
    ),
    Code.PROOF_GATE: (
        "the gate of the proof lacks the zero bits that the proof claims",
        "finish the search before you send it; this address is not heard for a while",
    ),
    Code.PROOF_WORK: (
        "a part of the proof lacks the zero bits that the proof claims",
        "finish the search before you send it; this address is not heard for a while",
    ),
    Code.NOT_ADMITTED: (
        "no cut has admitted the operator that answers for the agent",
        "register the operator first, and wait for the cut that admits it",
    ),
    Code.REVOKED: (
        "the identity is revoked",
        "register another one",
    ),
    Code.NOT_PROVEN: (
        "the second record is no delegation to this agent that holds now",
        "let the operator sign identity.delegate for the id of the agent's inception",
    ),
    Code.WAITS_FOR_PREV: (
        "the operator's record before the delegation is not stored here",
        "sign it after the head that GET /v1/agents/{operator} tells, or send what is missing",
    ),
    Code.BAD_CHAIN: (
        "the delegation does not follow the record that it names",
        "sign it after the head that GET /v1/agents/{operator} tells",
    ),
    Code.FORK: (
        "another record stands at the place of the delegation in the operator's chain",
        (
            "sign it after the head that GET /v1/agents/{operator} tells; two records at one place are "
            "a fork, which bars an operator"
        ),
    ),
    Code.DUPLICATE: (
        "the identity was registered otherwise already",
        "nothing; GET /v1/agents/{id} shows who answers for it and where it was admitted",
    ),
    Code.WRONG_ROLE: (
        "the first record is no inception of that role",
        "send the inception of the identity that registers, and name its role",
    ),
    Code.OVER_QUOTA: (
        "the charter allows no more admissions now",
        "wait for the next tick, or register with another instance",
    ),
}
BANS: Final = frozenset({Code.PROOF_GATE, Code.PROOF_WORK})
"""What nobody sends by accident: its sender is not heard for a while."""


def refused(code: Code, why: str = "", fix: str = "") -> RefusedError:
    """Make the error of a code, with words of its own where there are some."""
    usual_why, usual_fix = _WORDS.get(code, ("", ""))
    return RefusedError(
        "registration refused", why=why or usual_why, fix=fix or usual_fix, code=code
    )
