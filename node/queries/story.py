"""The part of an artifact's story that one round is: from what opened it to its verdict.

Every phase is told by its certificate and by the records of its list, each with its own author and
words. What a list that is not final would hold is not told: it may still turn out otherwise.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from federation.artifacts import Action, DecidedBy
from federation.certificates import Certificate, ListValue, Phase, VoidValue, slot_key
from federation.protocol import Round, World
from federation.protocol.state import Step
from federation.records import AdminReview, Assess, Contest, ObjectTo, Record, Rule
from federation.review import assessed, course, heard, listed
from node.queries.certified import certificate_of
from node.queries.happenings import Event, Happened, called, moved, of_record, tick_at
from node.queries.live_rounds import is_settled
from node.queries.names import cid_of, who
from node.queries.proceedings import drawn_now, filed, note_of
from node.queries.timeline import cuts_of
from node.queries.verdicts import verdict_of

_ENDS: Final = frozenset(
    {Action.ACCEPT, Action.REJECT, Action.TIMEOUT, Action.KEEP, Action.RETRACT}
)
_FILED: Final = {
    "dispute.file": (Event.DISPUTED, "{who} disputes it as {ground}."),
    "dispute.report": (Event.REPORTED, "{who} reports it as {ground}: a moderator looks first."),
    "artifact.resubmit": (
        Event.RESUBMITTED,
        "{who} brings it back with {count} digests of evidence.",
    ),
    "sanction.appeal": (Event.DISPUTED, "{who} appeals the sanction."),
}
_LISTS: Final = {
    Phase.FAST: "objections",
    Phase.SEAL: "sealed arguments",
    Phase.UNSEAL: "opened arguments",
    Phase.DELIBERATE: "arguments",
    Phase.TURN2: "arguments",
    Phase.TURN3: "arguments",
    Phase.TURN4: "arguments",
    Phase.TURN5: "arguments",
    Phase.COMMIT: "commitments",
    Phase.COMMIT2: "added commitments",
    Phase.DECIDE: "opened ballots",
    Phase.CONTEST: "words against the result",
    Phase.RULE: "rulings",
    Phase.APPEAL: "words against the ruling",
    Phase.ADMIN: "words of operators",
    Phase.ASSESS: "assessments",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shut:
    """A phase that a certificate has ended."""

    phase: Phase
    """The phase."""
    certificate: Certificate
    """What ended it."""
    cut: int | None
    """The cut that contains it; None while none does."""


def told(world: World, found: Round, steps: Sequence[Step]) -> Iterator[Happened]:
    """Tell of a round; `steps` are the rows of the table that its artifact has taken."""
    pin = found.pin
    own = [step for step in steps if step.round == pin.round]
    yield from _cause(world, found, steps)
    fast = Phase.FAST in found.finals
    begun = [step for step in own if step.action is Action.BEGIN_REVIEW]
    # Of a dispute that the rules opened no record tells, so the opening does.
    alone = [
        step
        for step in steps
        if step.action is Action.DISPUTE
        and step.round is None
        and step.cause is None
        and step.cut == pin.cut
        and pin.kind == "dispute"
    ]
    yield _opened(world, found, [*([] if fast else begun), *(alone if pin.cause is None else [])])
    phases = _phases(world, found)
    when = when_of(world, found, phases)
    for phase, certificate in phases:
        shut = _Shut(phase=phase, certificate=certificate, cut=when.get(phase))
        yield from _records(world, found, shut, own)
        yield _certified(world, found, shut, begun if phase is Phase.FAST and fast else ())
        yield from _hidden(world, found, shut)
    if found.verdict is not None:
        last = when.get(phases[-1][0]) if phases else pin.cut
        yield _ended(world, found, last if is_settled(found) else None, own)


def when_of(
    world: World, found: Round, phases: Sequence[tuple[Phase, Certificate]]
) -> dict[Phase, int]:
    """Find the cut of each phase: that of its certificate, or of a later one's if that is first.

    A cut that contains a certificate contains the earlier lists of its round with it.
    """
    contained = world.certificates.contained
    filed_as = {phase: contained.get(slot_key(certificate.slot)) for phase, certificate in phases}
    cuts = cuts_of(world, filter(None, filed_as.values()), first=found.pin.cut)
    when: dict[Phase, int] = {}
    first: int | None = None
    for phase, _ in reversed(phases):
        name = filed_as[phase]
        cut = cuts.get(name) if name else None
        first = min((one for one in (cut, first) if one is not None), default=None)
        if first is not None:
            when[phase] = first
    return when


def _cause(world: World, found: Round, steps: Sequence[Step]) -> Iterator[Happened]:
    """Tell of the record that opened the round, unless that is the proposal or an earlier round."""
    pin = found.pin
    record = world.log.get(pin.cause) if pin.cause else None
    said = filed(world, pin.cause)
    if record is None or said is None or pin.rerun or record.kind not in _FILED:
        return
    event, sentence = _FILED[record.kind]
    yield of_record(
        world,
        record,
        event,
        pin.cut,
        sentence.format(
            who=called(said.by),
            ground=said.ground + (f" (claim {said.claim})" if said.claim else "")
            if said.ground
            else "",
            count=len(said.evidence),
        ),
        note=said.note,
        moves=moved(step for step in steps if step.cause == record.id and step.round is None),
        round=pin.round.hex(),
    )


def _opened(world: World, found: Round, steps: Sequence[Step]) -> Happened:
    pin = found.pin
    voters = len(pin.eligible.reviewers)
    if pin.kind == "appeal":
        what = "opened the appeal, which arbiters hear"
    elif pin.rerun:
        what = f"opened a rerun with a fresh panel: {voters} reviewers may vote"
    elif pin.kind == "report":
        what = f"opened a round about the report: if it is credible, {voters} reviewers may vote"
    elif pin.kind == "dispute":
        by = "by the rules themselves" if pin.cause is None else "about the dispute"
        what = f"opened a round {by}: {voters} reviewers of a fresh panel may vote"
    else:
        again = "the resubmission" if pin.cause else "the proposal"
        what = f"contained {again} and opened its round: {voters} reviewers may vote"
    return Happened(
        event=Event.OPENED,
        who=(who(world, pin.home),),
        cut=pin.cut,
        tick=tick_at(world, pin.cut),
        why=f"Cut {pin.cut} {what}. This home leads it.",
        round=pin.round.hex(),
        moves=moved(steps),
    )


def _phases(world: World, found: Round) -> list[tuple[Phase, Certificate]]:
    """List the phases that the plan has reached and whose certificates are held, in order."""
    reached = course(found.pin, found.finals).after
    held = ((phase, certificate_of(world, found, phase)) for phase in reached)
    return [(phase, certificate) for phase, certificate in held if certificate is not None]


def _certified(world: World, found: Round, shut: _Shut, steps: Sequence[Step]) -> Happened:
    phase, certificate = shut.phase, shut.certificate
    value = certificate.value
    count = len(value.records) if isinstance(value, ListValue) else 0
    void = isinstance(value, VoidValue)
    name = _filed_as(world, certificate)
    what = f"{count} {_LISTS[phase]} are in its list and no others count"
    widened = ", to which the box was widened for want of a quorum" * (phase is Phase.COMMIT2)
    return Happened(
        event=Event.WIDENED if phase is Phase.COMMIT2 else Event.CERTIFIED,
        who=tuple(who(world, seal.voice) for seal in certificate.seals),
        cut=shut.cut,
        tick=tick_at(world, shut.cut),
        why=f"{len(certificate.seals)} members ended the phase {phase}{widened}: "
        + ("it was too late, nothing counts." if void else f"{what}."),
        record=name.hex() if name else None,
        cid=cid_of(name) if name else None,
        round=found.pin.round.hex(),
        phase=phase,
        certificate=name.hex() if name else None,
        digest=certificate.digest.hex(),
        fence=certificate.fence,
        seals=len(certificate.seals),
        listed=count,
        void=void,
        moves=moved(steps),
    )


def _records(world: World, found: Round, shut: _Shut, own: Sequence[Step]) -> Iterator[Happened]:
    """Tell of the records in a list that each mean something of their own."""
    phase = shut.phase
    name = _filed_as(world, shut.certificate)
    credible = [step for step in own if step.action is Action.DISPUTE]
    for record in _in_order(found, phase):
        told_of = _one(world, found, phase, record)
        if told_of is not None:
            event, why = told_of
            yield of_record(
                world,
                record,
                event,
                shut.cut,
                why,
                note=note_of(world, record),
                moves=moved(credible) if event is Event.ASSESSED else (),
                round=found.pin.round.hex(),
                phase=phase,
                certificate=name.hex() if name else None,
                digest=shut.certificate.digest.hex(),
            )


def _hidden(world: World, found: Round, shut: _Shut) -> Iterator[Happened]:
    """Tell that a credible report hides at once, whatever is decided later."""
    if shut.phase is not Phase.ASSESS:
        return
    said = assessed(found.pin, found.finals)
    if said is None or not said.credible:
        return
    for first in listed(found.finals, shut.phase):
        if first.author != said.moderator:
            continue
        yield Happened(
            event=Event.HIDDEN,
            who=(who(world, first.author),),
            cut=shut.cut,
            tick=tick_at(world, shut.cut),
            why="It is absent from reads, search and export until it is decided.",
            record=first.id.hex(),
            cid=cid_of(first.id),
            round=found.pin.round.hex(),
        )


def _in_order(found: Round, phase: Phase) -> list[Record]:
    records = list(listed(found.finals, phase))
    if phase is Phase.RULE:
        place = {agent: index for index, agent in enumerate(drawn_now(found))}
        records.sort(key=lambda record: place.get(record.author, len(place)))
    return records


def _one(world: World, found: Round, phase: Phase, record: Record) -> tuple[Event, str] | None:
    name = called(who(world, record.author))
    match record.body:
        case ObjectTo() as body:
            return Event.OBJECTED, f"{name} objected: {body.reason}."
        case Assess() as body:
            word = "credible" if body.credible else "not credible"
            return Event.ASSESSED, f"{name} looked at the report and found it {word}."
        case Contest() as body:
            what = "the ruling" if phase is Phase.APPEAL else "the process of the result"
            return Event.CONTESTED, f"{name} contested {what}: {body.ground}."
        case Rule() as body:
            counts = heard(found.pin, found.finals)
            other = counts is not None and counts.arbiter != record.author
            rest = " An arbiter before it in lot order ruled too, and is heard." if other else ""
            return Event.RULED, f"{name} was drawn and ruled {body.ruling}: {body.ground}.{rest}"
        case AdminReview() as body:
            return Event.BY_HAND, f"{name} said {body.decision}: {body.reason}"
        case _:
            return None


def _ended(world: World, found: Round, cut: int | None, own: Sequence[Step]) -> Happened:
    decided = found.verdict
    assert decided is not None, "the caller has looked"  # noqa: S101 # our own invariant
    shown = verdict_of(decided, found.pin.charter)
    by_ballots = decided.by in {DecidedBy.VOTE, DecidedBy.SIGN, DecidedBy.SHORTFALL}
    voters = [one.voter for one in decided.ballots if by_ballots and not one.practice]
    return Happened(
        event=Event.VERDICT,
        who=tuple(who(world, name) for name in decided.rulers or voters),
        cut=cut,
        tick=tick_at(world, cut),
        why=shown.why,
        round=found.pin.round.hex(),
        moves=moved(step for step in own if step.action in _ENDS),
        verdict=shown,
    )


def _filed_as(world: World, certificate: Certificate) -> bytes | None:
    key = slot_key(certificate.slot)
    return world.certificates.contained.get(key) or world.filed.get(key)
