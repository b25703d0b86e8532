"""Why a record counts, waits or does not: its fate at this node, its code, and what to do.

Artifacts and rounds have answers of their own (`why`); this one is for any record of the log, and
says most of admissions: what their proof claims, beside the code that the cut found.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from federation.admission import Work, read_work
from federation.core import Code, PeerError, RecordId, short
from federation.protocol import Fate, World, judge
from federation.protocol.progress import is_contained
from federation.protocol.remedies import remedy
from federation.records import (
    AgentAdmit,
    Appeal,
    Assess,
    Body,
    Contest,
    DisputeFile,
    DisputeReport,
    FlagStale,
    OperatorAdmit,
    Record,
    Resubmit,
    Revise,
    Role,
    Rule,
    Withdraw,
)
from node.base.errors import NodeCode, RequestError
from node.queries.answerable import named_by
from node.queries.names import Who, cid_of, who
from node.queries.trust_terms import called

_MAKE_ANEW: Final = (
    "make a proof for the terms, the epoch and the instance that GET /v1/registration of that "
    "instance tells, and register again"
)
_SEARCH_ON: Final = (
    "finish the search before registering; an instance that signs such an admission admits nobody "
    "more in its epoch, so ask its operator how it came to sign"
)
FIXES: Final[Mapping[Code, str]] = {
    Code.PROOF_MISSING: _MAKE_ANEW,
    Code.PROOF_WRONG_REALM: _MAKE_ANEW,
    Code.PROOF_WRONG_INSTANCE: _MAKE_ANEW,
    Code.PROOF_WRONG_KEY: _MAKE_ANEW,
    Code.PROOF_WRONG_ROLE: _MAKE_ANEW,
    Code.PROOF_STALE: _MAKE_ANEW,
    Code.PROOF_WRONG_BEACON: _MAKE_ANEW,
    Code.PROOF_PARAMETERS: _MAKE_ANEW,
    Code.PROOF_REPLAYED: "make a proof of its own for each identity, and register again",
    Code.PROOF_GATE: _SEARCH_ON,
    Code.PROOF_WORK: _SEARCH_ON,
    Code.INSTANCE_BARRED: "register again after the next tick, or with another instance",
    Code.NOT_PROVEN: "let the operator delegate to the agent, and register again",
    Code.CIRCULAR_VOUCH: "let somebody vouch whom the vouchee does not vouch for, through others "
    "neither",
}
"""What to do about an admission or a vouch that does not count."""
_QUOTA_FIXES: Final[Mapping[bool, str]] = {
    True: "register again after the next tick or with another instance; of an operator that answers "
    "for all that it may, `folkmoot operator show` tells what makes room",
    False: "try again after the next tick",
}
"""The same of OVER_QUOTA, by whether it is an admission."""


_FILED: Final = (
    Revise,
    Withdraw,
    Resubmit,
    FlagStale,
    DisputeFile,
    DisputeReport,
    Assess,
    Rule,
    Contest,
    Appeal,
)
"""What has the remedies of the local door, which knows these kinds best."""


class ProofClaims(msgspec.Struct, frozen=True, kw_only=True):
    """What the proof in an admission says of itself; whether it is true is another matter."""

    role: Role
    """For which role it was made."""
    instance: Who
    """For which instance."""
    realm: str
    """For which realm, in hex."""
    key: str
    """For which key, in hex."""
    epoch: int
    """In which epoch: the number of the tick that began it."""
    memory_kib: int
    """Memory of one hash, in KiB."""
    passes: int
    """Passes over it."""
    parts: int
    """Sub-puzzles."""
    bits: int
    """Zero bits of each."""
    gate_bits: int
    """Zero bits of the gate."""


class AdmissionWhy(msgspec.Struct, frozen=True, kw_only=True):
    """What an admission admits, and by which proof."""

    role: Role
    """Agent or operator."""
    newcomer: Who
    """Whom it admits."""
    operator: Who
    """Who answers for the agent; of an operator itself."""
    proof: ProofClaims | None
    """Its proof; nil if it holds none, or one that cannot be read."""


class RecordWhy(msgspec.Struct, frozen=True, kw_only=True):
    """One record, and what becomes of it."""

    id: str
    """Its id, in hex."""
    cid: str
    """The same as a CIDv1."""
    kind: str
    """Its kind."""
    author: Who
    """Who signed it."""
    contained: bool
    """A cut contains it: its fate is the same on every node, and final."""
    fate: Fate
    """`counts`, `waits` or `void`."""
    code: Code | None
    """Why it waits or does not count, as a stable word; nil if it counts."""
    sentence: str
    """The same in words."""
    fix: str
    """What to do; empty where nothing need be done."""
    admission: AdmissionWhy | None
    """Of an admission, whom it admits; nil for other kinds."""


def why_record(world: World, name: RecordId) -> RecordWhy:
    """Explain the fate of a record; raises RequestError NOT_FOUND if it is not held here."""
    record = world.log.get(name)
    if record is None:
        raise RequestError(
            f"record {short(name)}… not found",
            why="no record here has this id",
            fix="check the id; something new may not have reached this instance yet",
            code=NodeCode.NOT_FOUND,
        )
    found, body = judge(world, record), record.body
    admits = body if isinstance(body, AgentAdmit | OperatorAdmit) else None
    return RecordWhy(
        id=name.hex(),
        cid=cid_of(name),
        kind=record.kind,
        author=who(world, record.author),
        contained=is_contained(world, record),
        fate=found.fate,
        code=found.code,
        sentence=_sentence(world, record, found.fate, found.why),
        fix=_fix(body, found.code, is_admission=admits is not None),
        admission=_admission(world, admits) if admits else None,
    )


def _sentence(world: World, record: Record, fate: Fate, why: str) -> str:
    what = f"This {record.kind} by {called(who(world, record.author))}"
    match fate:
        case Fate.COUNTS:
            return f"{what} counts."
        case Fate.WAITS:
            return f"{what} waits: {why}."
        case Fate.VOID:
            return f"{what} does not count: {why}."


def _fix(body: Body | None, code: Code | None, *, is_admission: bool) -> str:
    if code is None or code is Code.WAITS_FOR_CUT:
        return ""
    if isinstance(body, _FILED):
        return remedy(body, code)
    if code is Code.OVER_QUOTA:
        return _QUOTA_FIXES[is_admission]
    return FIXES.get(code, "")


def _admission(world: World, body: AgentAdmit | OperatorAdmit) -> AdmissionWhy:
    role, newcomer, operator = named_by(body)
    return AdmissionWhy(
        role=role,
        newcomer=who(world, newcomer),
        operator=who(world, operator),
        proof=_claims(world, body.proof),
    )


def _claims(world: World, raw: bytes | None) -> ProofClaims | None:
    try:
        work: Work | None = None if raw is None else read_work(raw)
    except PeerError:
        return None
    if work is None:
        return None
    return ProofClaims(
        role=work.role,
        instance=who(world, work.instance),
        realm=work.realm.hex(),
        key=work.key.hex(),
        epoch=work.epoch,
        memory_kib=work.memory_kib,
        passes=work.passes,
        parts=len(work.solutions),
        bits=work.bits,
        gate_bits=work.gate_bits,
    )
