"""The fate of a record: what it does here, or the code that says why it does nothing.

Of the three fates of the log, *refused* never gets this far. A stored record *counts*, *waits* or
is *void*. The answer is a pure function of the records, certificates and the cut that a node
holds, so nodes that hold the same give the same answer whatever order things arrived in. The local
door asks the same function before anything is signed.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from federation.certificates import Phase, RoundSlot
from federation.certificates.values import value_blobs
from federation.core import AgentId, Code, PeerError
from federation.protocol import admittance, discipline, filing, finality, findings, judgements
from federation.protocol.fold import has_picked
from federation.protocol.progress import is_contained
from federation.protocol.rounds import Round, earlier
from federation.protocol.world import World
from federation.records import (
    ActCosign,
    AdminReview,
    AgentAdmit,
    AgentDeclare,
    AgentHealth,
    AgentSubscribe,
    AgentUnvouch,
    AgentVouch,
    Appeal,
    CertificateFinal,
    CharterAdopt,
    Commit,
    DisputeFile,
    DisputeReport,
    FlagStale,
    NearDuplicate,
    OperatorAdmit,
    Propose,
    Record,
    Resubmit,
    Rotate,
    Withdraw,
)
from federation.review import RoundBody, box, listed, phase_of, qualifies
from federation.trust import closes_circle


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
        return _void(code, _found_by_its_cut(record, code))
    if isinstance(record.body, RoundBody) and record.body.round is not None:
        return _of_round(world, record, record.body)
    match record.body:
        case None:
            return _void(Code.UNKNOWN_KIND, "this version does not interpret its kind")
        case CertificateFinal():
            return _certificate(world, record, record.body)
        case AgentAdmit() | OperatorAdmit() if record.id in world.state.joining.waiting:
            return _waits(
                Code.WAITS_FOR_CUT, "no cut contains yet whom it admits, or who answers for them"
            )
        case _ if is_contained(world, record):
            return COUNTS
        case _:
            return _trigger(world, record)


def _trigger(world: World, record: Record) -> Judgement:
    """Judge a record that no cut contains yet, by the world as it is now."""
    state = world.state
    match record.body:
        case (
            Propose() | Withdraw() | Resubmit() | FlagStale() | DisputeFile() | DisputeReport()
        ) as body:
            refusal = filing.refusal(state, record, body)
            if refusal is not None:
                return _void(refusal.code, refusal.why)
        case NearDuplicate() as body:
            refusal = findings.foreseen(state, record, body)
            if refusal is not None:
                return _void(refusal.code, refusal.why)
        case Appeal() as body:
            code = discipline.appeal_refusal(state, record, body)
            if code is not None:
                return _void(code, _APPEAL_REASONS.get(code, _PERSONAL.get(code, _FOUND)))
        case CharterAdopt() | AdminReview() | ActCosign() as body:
            code = state.acts.refusal(state, record, body)
            if code is not None:
                return _void(code, _ACT_REASONS.get(code, _FOUND))
        case AgentHealth() as body:
            code = discipline.health_refusal(state, record, body)
            if code is not None:
                return _void(code, _HEALTH_REASONS.get(code, _FOUND))
        case AgentVouch() | AgentUnvouch() as body:
            code = judgements.refusal(state, record, body)
            if code is not None:
                return _void(code, _VOUCH_REASONS[code])
            if isinstance(body, AgentVouch) and record.id not in world.log:
                refused = _at_the_door(world, record, body)
                if refused is not None:
                    return refused
        case AgentDeclare() | AgentSubscribe() if record.author not in state.agents:
            return _void(Code.NOT_ADMITTED, "no cut has admitted its author")
        case OperatorAdmit() | AgentAdmit() as body:
            foreseen = admittance.forecast(world, record, body)
            if foreseen is not None:
                return _void(*foreseen)
        case _:
            pass
    if _is_cut_off(world, record):
        return _void(Code.FORK, "its author's chain is forked")
    return _waits(Code.WAITS_FOR_CUT, "the next cut that contains it decides")


def _at_the_door(world: World, draft: Record, body: AgentVouch) -> Judgement | None:
    """Refuse a vouch that does not go with those that stand and those that wait for a cut.

    Only the door asks: what is stored waits, and the cut decides, which may begin an epoch.
    """
    state, author = world.state, draft.author
    agent = state.agents[author]
    here = world.positions[author]
    own = sum(
        isinstance(one.body, AgentVouch)
        for names in world.log.above(author, here.seq, head=here.head)
        for name in names
        if (one := world.log.get(name)) is not None
    )
    if judgements.used(state, agent) + own >= world.charter.quotas.vouches_epoch:
        return _void(Code.OVER_QUOTA, _VOUCH_REASONS[Code.OVER_QUOTA])
    waiting = _waiting_vouches(world)
    why = judgements.given_by(state, [by for by, _ in waiting]).used_up(state, agent)
    if why:
        return _void(Code.OVER_QUOTA, why)
    if (body.agent, author) in waiting or closes_circle(state.graph, author, body.agent):
        return _void(Code.CIRCULAR_VOUCH, _VOUCH_REASONS[Code.CIRCULAR_VOUCH])
    return None


def _waiting_vouches(world: World) -> list[tuple[AgentId, AgentId]]:
    """List who vouches for whom from the next cut on, as far as this node knows."""
    waiting = (world.log.get(name) for name in world.triggers)
    return [
        (one.author, one.body.agent)
        for one in waiting
        if one is not None and isinstance(one.body, AgentVouch) and one.author in world.state.agents
    ]


def _of_round(world: World, record: Record, body: RoundBody) -> Judgement:
    name = body.round
    one = world.rounds.get(name) if name is not None else None
    if one is None or body.after is None:
        return _void(Code.UNKNOWN_ROUND, "no cut has opened such a round")
    phase = phase_of(one.pin, one.finals, record)
    if phase is None:
        if _is_certified(one, body.after) or one.phase is None:
            return _void(Code.NOT_IN_PHASE, "it follows another phase than its kind belongs to")
        return _waits(Code.WAITS_FOR_AFTER, "no certificate here has the digest that it follows")
    final = one.finals.get(phase)
    if final is not None and any(named.id == record.id for named in final.records):
        if isinstance(body, Commit) and _is_unmasked(one, record, body):
            return _void(Code.COMMITMENT_COPIED, _REASONS[Code.COMMITMENT_COPIED])
        return COUNTS
    code = qualifies(one.pin, one.finals, record, earlier(world.log, record))
    if code is None and isinstance(body, Commit):
        code = _rivalled(world, record, body)
    if code is not None:
        return _void(code, _REASONS.get(code, "the pinned world of its round says so"))
    if final is not None or phase is not one.phase:
        return _void(Code.NOT_IN_PHASE, "the certified list of its phase does not name it")
    return _waits(Code.WAITS_FOR_CLOSURE, "the certificate of its phase decides")


def _certificate(world: World, record: Record, body: CertificateFinal) -> Judgement:
    try:
        slot = finality.slot_in(body)
    except PeerError:
        return _void(Code.NOT_PROVEN, "it names no slot")
    if world.pinned(slot) is None:
        return _waits(Code.WAITS_FOR_CUT, "the cut that its slot belongs to is not held here")
    certificate = finality.proven(world, record)
    if certificate is None:
        return _void(Code.NOT_PROVEN, "its seals do not prove its value")
    if isinstance(slot, RoundSlot):
        held = slot.phase in world.rounds[slot.round_id].finals
    else:
        held = slot.number <= world.state.cut
        if not held and any(name not in world.blobs for name in value_blobs(certificate.value)):
            return _waits(Code.WAITS_FOR_BLOB, "the positions that it names are not held here")
    if not held:
        return _waits(Code.WAITS_FOR_CLOSURE, "records or lists that it rests on are missing here")
    return COUNTS


def _is_certified(one: Round, after: bytes) -> bool:
    return after == one.pin.round or any(final.digest == after for final in one.finals.values())


def _rivalled(world: World, record: Record, body: Commit) -> Code | None:
    """Tell what another commit record does to one that would count alone.

    Two of one voter, on two branches of its chain: neither is listed. The same commitment by two
    voters: which is the copy is not known before the reveal, and need not be: a commitment binds
    its voter, so only the original can ever be opened. Until then both stand, or a copier could
    make honest votes look void; only the door, which knows who comes second, refuses the copy.
    """
    log = world.log
    is_draft = record.id not in log
    for other in log.by_round(body.round).get(record.kind, ()):
        if not isinstance(other.body, Commit) or other.id == record.id:
            continue
        if other.author != record.author:
            if is_draft and other.body.commitment == body.commitment:
                return Code.COMMITMENT_COPIED
        elif (
            other.body.after == body.after
            and record.prev is not None
            and not log.is_ancestor(other.id, record.prev)
            and not log.is_ancestor(record.id, other.id)
        ):
            return Code.FORK
    return None


def _is_unmasked(one: Round, record: Record, body: Commit) -> bool:
    """Tell whether somebody else has opened the commitment that a listed record holds."""
    opened = {reveal.author for reveal in listed(one.finals, Phase.DECIDE)}
    return any(
        isinstance(other.body, Commit)
        and other.body.commitment == body.commitment
        and other.author in opened - {record.author}
        for other in box(one.finals)
    )


def _is_cut_off(world: World, record: Record) -> bool:
    """Tell whether cuts cannot come to a record because its author's chain is forked below it.

    A rotation that picks its own branch ends this for that branch, and is not cut off itself:
    else nothing could ever settle a fork.
    """
    log = world.log
    if not log.is_forked(record.author) or _picks_its_branch(world, record):
        return False
    known = world.state.identities.get(record.author)
    for fork in log.forks():
        if fork.author == record.author and record.seq >= fork.seq:
            later = [] if known is None else log.path(known.head, fork.seq - 1)
            if not any(has_picked(log, one, fork.seq) for one in [*later, record]):
                return True
    # Every fork below it is settled: it must stand on the branch that cuts have followed.
    return (
        known is not None
        and record.prev is not None
        and not log.is_ancestor(known.head, record.prev)
        and not log.is_ancestor(record.id, known.head)
    )


def _picks_its_branch(world: World, record: Record) -> bool:
    body = record.body
    return (
        isinstance(body, Rotate)
        and body.picks is not None
        and record.prev is not None
        and world.log.is_ancestor(body.picks, record.prev)
    )


def _found_by_its_cut(record: Record, code: Code) -> str:
    """Say what the cut that contains a record has found against it."""
    found = "its guard does not hold"
    if isinstance(record.body, AgentVouch | AgentUnvouch):
        found = _VOUCH_REASONS_THEN.get(code, found)
    elif isinstance(record.body, AgentAdmit | OperatorAdmit):
        found = admittance.REASONS.get(code, found)
    return f"the cut that contains it found that {found}"


def _void(code: Code, why: str) -> Judgement:
    return Judgement(fate=Fate.VOID, code=code, why=why)


def _waits(code: Code, why: str) -> Judgement:
    return Judgement(fate=Fate.WAITS, code=code, why=why)


_VOUCH_REASONS: Final = {
    Code.NOT_ADMITTED: "no cut has admitted its author",
    Code.REVOKED: "its author has revoked its identity or disowned this part of its chain",
    Code.FORK: "its author's chain is forked",
    Code.SUSPENDED: "its author is suspended",
    Code.AGENT_BANNED: "its author's identity has been ended by a ban",
    Code.NOT_ELIGIBLE: "only agents of tier 1 or more vouch, as far as their operator lets them",
    Code.SELF_VOUCH: "it names its own author",
    Code.UNKNOWN_AGENT: "no cut has admitted the agent that it names",
    Code.NO_VOUCH: "its author does not vouch for that agent",
    Code.OVER_QUOTA: "its author has given all the vouches that the charter allows in this epoch",
    Code.CIRCULAR_VOUCH: "whom it names vouches for its author, itself or through others, or too "
    "many vouches lie between the two to tell",
}
_VOUCH_REASONS_THEN: Final = {
    **_VOUCH_REASONS,
    Code.OVER_QUOTA: "no vouch was left to its author in that epoch, or in that cut to the agents "
    "of its operator or to those of its model family",
}
_REASONS: Final = {
    Code.NOT_ADMITTED: "the world of its round does not know its author",
    Code.NOT_ELIGIBLE: "its author may not take part in this round in this way",
    Code.FORK: "its author's chain was forked when the round opened",
    Code.ALREADY_COMMITTED: "its author has committed in this round before",
    Code.COMMITMENT_COPIED: "another voter's record holds the same commitment",
    Code.COMMITMENT_MISMATCH: "ballot and nonce do not open the listed commitment",
    Code.NOT_CERTIFIED: "no certified list holds a commitment of its author",
    Code.OVER_QUOTA: "its author has used up what the charter allows it in this phase",
    Code.AUTHORS_OPERATOR: "its author belongs to the operator of the artifact's author",
    Code.SUSPENDED: "its author was suspended when the round opened",
    Code.AGENT_BANNED: "its author's identity has been ended by a ban",
    Code.QUARANTINED: "its author was quarantined when the round opened",
    Code.NOT_DRAWN: "its author is not among the arbiters that were drawn for this round",
    Code.NOT_MODERATOR: "only a moderator who is not party to a report assesses it",
    Code.NOT_MEMBER: "its author is not an operator of a member instance",
    Code.GUARD_FAILED: "this round does not allow that decision",
}
_FOUND: Final = "its guard does not hold"
_PERSONAL: Final = {
    Code.NOT_ADMITTED: "no cut has admitted its author",
    Code.REVOKED: "its author has revoked its identity or disowned this part of its chain",
    Code.FORK: "its author's chain is forked",
    Code.NOT_ELIGIBLE: "its author's operator did not delegate this to it",
    Code.SUSPENDED: "its author is suspended",
    Code.AGENT_BANNED: "its author's identity has been ended by a ban",
}
_APPEAL_REASONS: Final = {
    Code.UNKNOWN_SANCTION: "no violation of that id is known",
    Code.NOT_AUTHOR: "the violation is another agent's",
    Code.APPEALED: "that violation has been appealed already",
}
_ACT_REASONS: Final = {
    Code.NOT_MEMBER: "only operators of member instances decide by hand",
    Code.UNKNOWN_ACT: "no act of that id waits for cosigners",
    Code.STALE_BASE: "it was written for another charter than the one in force",
    Code.BAD_CHARTER: "its rules are no charter that this realm could have",
    Code.DUPLICATE: "its author has said so already",
    Code.REVOKED: "its author has revoked its identity",
    Code.FORK: "its author's chain is forked",
    Code.UNKNOWN_ARTIFACT: "there is no such artifact",
    Code.UNKNOWN_SANCTION: "no violation of that id is known",
    Code.GUARD_FAILED: "outside a round operators hide, show, or retract what stands, and no more",
}
_HEALTH_REASONS: Final = {
    Code.UNKNOWN_AGENT: "no cut has admitted the agent that it names",
    Code.NOT_ELIGIBLE: "its author does not answer for that agent",
    Code.DUPLICATE: "that is what is known of the agent already",
}
