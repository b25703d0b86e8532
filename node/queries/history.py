"""The story of an artifact: proposed, opened by a cut, certificate after certificate, verdict.

Every step says who, in which cut and tick, and why. What an author claims about time stands beside
it and decides nothing.
"""

from collections.abc import Iterator
from enum import StrEnum

import msgspec

from federation.artifacts import Artifact
from federation.certificates import (
    Certificate,
    ListValue,
    Phase,
    VoidValue,
    slot_key,
)
from federation.core import ArtifactId, Millis
from federation.protocol import Fate, Round, World, judge
from federation.records import Propose, Record
from federation.review import course
from node.queries.certified import certificate_of
from node.queries.names import Thing, Who, cid_of, unknown, who
from node.queries.rounds import is_settled
from node.queries.timeline import cuts_of, tick_of
from node.queries.verdicts import Verdict, verdict_of


class Event(StrEnum):
    """What happened."""

    PROPOSED = "proposed"
    """Its author signed the proposal."""
    REFUSED = "refused"
    """It does not count: its guard does not hold."""
    OPENED = "opened"
    """A cut contained it and opened its round."""
    CERTIFIED = "certified"
    """A phase ended: its list became final."""
    VERDICT = "verdict"
    """The lists decided it."""


class Happened(msgspec.Struct, frozen=True, kw_only=True):
    """One step of the story."""

    event: Event
    """What happened."""
    who: tuple[Who, ...]
    """Who did it: the author, the home, the voices that sealed, or whose ballots were counted."""
    cut: int | None
    """Number of the cut that first contained it; nil while none does."""
    tick: int | None
    """Ticks at that cut; nil while no cut contains it."""
    why: str
    """What it means, as a sentence."""
    record: str | None = None
    """Id of the record that holds it, in hex; nil if none does."""
    cid: str | None = None
    """The same as a CIDv1."""
    claimed_at: Millis | None = None
    """What the author claims of the time, Unix time in ms: decides nothing."""
    round: str | None = None
    """Id of the round, in hex."""
    phase: Phase | None = None
    """The phase that ended."""
    digest: str | None = None
    """Digest that was certified, in hex."""
    fence: int | None = None
    """At which try the members agreed, from 0."""
    seals: int | None = None
    """Signatures under the certificate."""
    listed: int | None = None
    """Records that the certificate lists."""
    void: bool = False
    """The phase ended too late: nothing counts."""
    verdict: Verdict | None = None
    """What was decided, with its narrow reasons."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The story of one artifact, in order."""

    id: str
    """Id of the artifact, in hex."""
    cid: str
    """The same as a CIDv1."""
    events: tuple[Happened, ...]
    """What happened, oldest first."""


def history(world: World, artifact_id: ArtifactId) -> History:
    """Tell the story of an artifact or a proposal; raises RequestError NOT_FOUND.

    Looks through certified positions for the cut of each step: meant for one artifact at a time.
    """
    record = world.log.get(artifact_id)
    if record is None or not isinstance(record.body, Propose):
        raise unknown(artifact_id, {Thing.ARTIFACT})
    artifact = world.state.artifacts.get(artifact_id)
    events = _proposal(world, record) if artifact is None else _story(world, record, artifact)
    return History(id=artifact_id.hex(), cid=cid_of(artifact_id), events=tuple(events))


def _proposal(world: World, record: Record) -> Iterator[Happened]:
    """Tell of a proposal that no cut has made an artifact."""
    yield _proposed(world, record, None)
    judged = judge(world, record)
    if judged.fate is Fate.VOID:
        yield Happened(
            event=Event.REFUSED,
            who=(),
            cut=None,
            tick=None,
            why=f"The proposal does not count ({judged.code}): {judged.why}.",
        )


def _story(world: World, record: Record, artifact: Artifact) -> Iterator[Happened]:
    yield _proposed(world, record, artifact.cut)
    found = world.rounds.get(artifact.round) if artifact.round else None
    if found is None:
        return
    yield Happened(
        event=Event.OPENED,
        who=(who(world, found.pin.home),),
        cut=artifact.cut,
        tick=tick_of(world, artifact.cut),
        why=f"Cut {artifact.cut} contained the proposal and opened its round, which this home "
        f"leads: {len(found.pin.eligible.reviewers)} reviewers may vote.",
        round=found.pin.round.hex(),
    )
    phases = _phases(world, found)
    when = _when(world, found, phases)
    for phase, certificate in phases:
        yield _certified(world, found, phase, certificate, when.get(phase))
    if found.verdict is not None:
        last = when.get(phases[-1][0]) if phases else artifact.cut
        yield _ended(world, found, last if is_settled(world, found) else None)


def _proposed(world: World, record: Record, cut: int | None) -> Happened:
    author = who(world, record.author)
    return Happened(
        event=Event.PROPOSED,
        who=(author,),
        cut=cut,
        tick=None if cut is None else tick_of(world, cut),
        why=f"{author.name or author.id[:12]} proposed it as record {record.seq} of its chain.",
        record=record.id.hex(),
        cid=cid_of(record.id),
        claimed_at=record.statement.at,
    )


def _phases(world: World, found: Round) -> list[tuple[Phase, Certificate]]:
    """List the phases that the plan has reached and whose certificates are held, in order."""
    reached = course(found.pin, found.finals).after
    held = ((phase, certificate_of(world, found, phase)) for phase in reached)
    return [(phase, certificate) for phase, certificate in held if certificate is not None]


def _when(world: World, found: Round, phases: list[tuple[Phase, Certificate]]) -> dict[Phase, int]:
    """Find the cut of each phase: that of its certificate, or of a later one's if that is first.

    A cut that contains a certificate contains the earlier lists of its round with it.
    """
    contained = world.certificates.contained
    filed = {phase: contained.get(slot_key(certificate.slot)) for phase, certificate in phases}
    cuts = cuts_of(world, filter(None, filed.values()), first=found.pin.cut)
    when: dict[Phase, int] = {}
    first: int | None = None
    for phase, _ in reversed(phases):
        name = filed[phase]
        cut = cuts.get(name) if name else None
        first = min((one for one in (cut, first) if one is not None), default=None)
        if first is not None:
            when[phase] = first
    return when


def _certified(
    world: World, found: Round, phase: Phase, certificate: Certificate, cut: int | None
) -> Happened:
    value = certificate.value
    listed = len(value.records) if isinstance(value, ListValue) else 0
    void = isinstance(value, VoidValue)
    key = slot_key(certificate.slot)
    filed = world.certificates.contained.get(key) or world.filed.get(key)
    names = {
        Phase.FAST: "objections",
        Phase.DELIBERATE: "arguments",
        Phase.COMMIT: "commitments",
        Phase.COMMIT2: "added commitments",
        Phase.DECIDE: "opened ballots",
    }
    told = f"{listed} {names.get(phase, 'records')} are in its list and no others count"
    return Happened(
        event=Event.CERTIFIED,
        who=tuple(who(world, seal.voice) for seal in certificate.seals),
        cut=cut,
        tick=None if cut is None else tick_of(world, cut),
        why=f"{len(certificate.seals)} members ended the phase {phase}: "
        + ("it was too late, nothing counts." if void else f"{told}."),
        record=filed.hex() if filed else None,
        cid=cid_of(filed) if filed else None,
        round=found.pin.round.hex(),
        phase=phase,
        digest=certificate.digest.hex(),
        fence=certificate.fence,
        seals=len(certificate.seals),
        listed=listed,
        void=void,
    )


def _ended(world: World, found: Round, cut: int | None) -> Happened:
    decided = found.verdict
    assert decided is not None, "the caller has looked"  # noqa: S101 # our own invariant
    shown = verdict_of(decided, found.pin.charter.review)
    voters = (one.voter for one in decided.ballots if not one.practice)
    return Happened(
        event=Event.VERDICT,
        who=tuple(who(world, voter) for voter in voters),
        cut=cut,
        tick=None if cut is None else tick_of(world, cut),
        why=shown.why,
        round=found.pin.round.hex(),
        verdict=shown,
    )
