"""The fate of a record: what it does here, or the code that says why it does nothing.

Of the three fates of the log, *refused* never gets this far. A stored record *counts*, *waits* or
is *void*. The answer is a pure function of the records, certificates and the cut that a node
holds, so nodes that hold the same give the same answer whatever order things arrived in. The local
door asks the same function before anything is signed.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from federation.artifacts import may_submit
from federation.certificates import RoundSlot, slot_from_plain, slot_key
from federation.codec import decode_plain
from federation.core import AgentId, Code, PeerError
from federation.protocol import finality
from federation.protocol.fold import is_barred, submission
from federation.protocol.progress import is_contained
from federation.protocol.rounds import Round, earlier
from federation.protocol.world import World
from federation.records import (
    AgentAdmit,
    AgentDeclare,
    AgentSubscribe,
    Argue,
    CertificateFinal,
    Commit,
    Contest,
    ObjectTo,
    OperatorAdmit,
    Propose,
    Record,
    Reveal,
)
from federation.review import RoundBody, phase_of, qualifies


class Fate(StrEnum):
    """What becomes of a stored record."""

    COUNTS = "counts"
    WAITS = "waits"
    VOID = "void"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A record's fate, with the code and the reason unless it counts."""

    fate: Fate
    code: Code | None = None
    why: str = ""


COUNTS: Final = Judgement(fate=Fate.COUNTS)


def judge(world: World, record: Record) -> Judgement:
    """Tell the fate of a record at this node's cut and certificates."""
    code = world.state.refused.get(record.id)
    if code is not None:
        return _void(code, "the cut that contains it found that its guard does not hold")
    match record.body:
        case None:
            return _void(Code.UNKNOWN_KIND, "this version does not interpret its kind")
        case ObjectTo() | Argue() | Commit() | Reveal() | Contest():
            return _of_round(world, record, record.body)
        case CertificateFinal():
            return _certificate(world, record, record.body)
        case _ if is_contained(world, record):
            return COUNTS
        case _:
            return _trigger(world, record)


def _trigger(world: World, record: Record) -> Judgement:
    """Judge a record that no cut contains yet, by the world as it is now."""
    state = world.state
    match record.body:
        case Propose() as body:
            refusal = may_submit(None, submission(state, record, body))
            if refusal is not None and is_barred_by_fork(world, record.author):
                return _void(Code.FORK, "its author's chain is forked")
            if refusal is not None:
                return _void(refusal.code, refusal.why)
        case AgentDeclare() | AgentSubscribe() if record.author not in state.agents:
            return _void(Code.NOT_ADMITTED, "no cut has admitted its author")
        case OperatorAdmit() | AgentAdmit() if record.author not in state.instances:
            return _void(Code.NOT_ELIGIBLE, "its author is no member instance")
        case _:
            pass
    if world.log.is_forked(record.author):
        return _void(Code.FORK, "its author's chain is forked")
    return _waits(Code.WAITS_FOR_CUT, "the next cut that contains it decides")


def _of_round(world: World, record: Record, body: RoundBody) -> Judgement:
    one = world.rounds.get(body.round)
    if one is None:
        return _void(Code.UNKNOWN_ROUND, "no cut has opened such a round")
    phase = phase_of(one.pin, one.finals, record)
    if phase is None:
        if _is_certified(one, body.after) or one.phase is None:
            return _void(Code.NOT_IN_PHASE, "it follows another phase than its kind belongs to")
        return _waits(Code.WAITS_FOR_AFTER, "no certificate here has the digest that it follows")
    final = one.finals.get(phase)
    if final is not None and any(listed.id == record.id for listed in final.records):
        return COUNTS
    code = qualifies(one.pin, one.finals, record, earlier(world.log, record))
    if code is None and isinstance(body, Commit) and _is_copy(world, one, record, body):
        code = Code.COMMITMENT_COPIED
    if code is not None:
        return _void(code, _REASONS.get(code, "the pinned world of its round says so"))
    if final is not None or phase is not one.phase:
        return _void(Code.NOT_IN_PHASE, "the certified list of its phase does not name it")
    return _waits(Code.WAITS_FOR_CLOSURE, "the certificate of its phase decides")


def _certificate(world: World, record: Record, body: CertificateFinal) -> Judgement:
    try:
        slot = slot_from_plain(decode_plain(body.slot, what="slot"))
    except PeerError:
        return _void(Code.NOT_PROVEN, "it names no slot")
    if world.pinned(slot) is None:
        return _waits(Code.WAITS_FOR_CUT, "the cut that its slot belongs to is not held here")
    if finality.proven(world, record) is None:
        return _void(Code.NOT_PROVEN, "its seals do not prove its value")
    held = slot_key(slot) in world.certificates
    if isinstance(slot, RoundSlot):
        held = slot.phase in world.rounds[slot.round_id].finals
    if not held:
        return _waits(Code.WAITS_FOR_CLOSURE, "records or lists that it rests on are missing here")
    return COUNTS


def _is_certified(one: Round, after: bytes) -> bool:
    return after == one.pin.round or any(final.digest == after for final in one.finals.values())


def _is_copy(world: World, one: Round, record: Record, body: Commit) -> bool:
    """Tell whether another voter's record holds the same commitment.

    Which of the two is the copy is not known before the reveal, and need not be: a commitment
    binds its voter, so only the original can ever be opened.
    """
    return any(
        isinstance(other.body, Commit)
        and other.body.commitment == body.commitment
        and other.author != record.author
        for records in world.log.by_round(one.pin.round).values()
        for other in records
    )


def is_barred_by_fork(world: World, author: AgentId) -> bool:
    """Tell whether an identity may not act because its chain is forked."""
    known = world.state.identities.get(author)
    forked = known is not None and known.forked_in is not None
    return forked and is_barred(world.state, author)


def _void(code: Code, why: str) -> Judgement:
    return Judgement(fate=Fate.VOID, code=code, why=why)


def _waits(code: Code, why: str) -> Judgement:
    return Judgement(fate=Fate.WAITS, code=code, why=why)


_REASONS: Final = {
    Code.NOT_ADMITTED: "the world of its round does not know its author",
    Code.NOT_ELIGIBLE: "its author may not take part in this round in this way",
    Code.FORK: "its author's chain was forked when the round opened",
    Code.ALREADY_COMMITTED: "its author has committed in this round before",
    Code.COMMITMENT_COPIED: "another voter's record holds the same commitment",
    Code.COMMITMENT_MISMATCH: "ballot and nonce do not open the listed commitment",
    Code.NOT_CERTIFIED: "no certified list holds a commitment of its author",
    Code.OVER_QUOTA: "its author has used up what the charter allows it in this phase",
}
