"""One small federation in which everything that must not count is tried, past the door.

Three instances, nine founders of nine operators. Agent 0 proposes; in its round agents 1, 2 and 5
vote as they should, and around them everything hostile happens. `staged` plays it once and notes
which fate each of the interesting records must come to, whoever looks at it afterwards.
"""

import functools
from dataclasses import dataclass, field

import msgspec

from federation.certificates import Phase
from federation.charter import preset
from federation.codec import encode
from federation.core import Code, RecordId, RoundId
from federation.crypto import Choice, plain_hash
from federation.records import (
    Body,
    CertificateFinal,
    Commit,
    Kind,
    Propose,
    Record,
    Reveal,
    Role,
    Statement,
    record_id,
    signing_payload,
)
from tests.builders import Chain, Identity, artifact_text, ballot, named, propose
from tests.builders import argue as argument
from tests.builders import commit as committing
from tests.builders import object_to as objection
from tests.federation.protocol.town import keys, rules
from tests.federation.protocol.trial import Trial

QUOTA = 2
"""Proposals an epoch in this federation; also arguments a round."""


@dataclass
class Stage:
    """The played federation, and what its records must come to."""

    town: Trial
    round: RoundId
    proposal: Record
    second_round: RoundId
    expected: dict[RecordId, tuple[str, Code | None]] = field(default_factory=dict)
    names: dict[str, Record] = field(default_factory=dict)

    def note(self, name: str, record: Record, code: Code | None, *, fate: str = "") -> Record:
        self.names[name] = record
        self.expected[record.id] = (fate or ("void" if code else "counts"), code)
        return record


def limited_town() -> Trial:
    """Start the federation of this module."""
    quotas = msgspec.structs.replace(preset("test").quotas, proposals_epoch=QUOTA)
    return Trial.of(
        3, 9, operators=9, seed="hostile", review=rules(arguments_each=QUOTA), quotas=quotas
    )


def opening(town: Trial, index: int, round_id: RoundId, choice: int, after: bytes) -> Reveal:
    """Open agent `index`'s vote as `Town.cast` made it, whether or not it may."""
    nonce = plain_hash(b"nonce" + town.agent(index) + round_id)
    return Reveal(round=round_id, after=after, ballot=town.ballot(choice), nonce=nonce)


def unknown_kind(town: Trial, index: int) -> Record:
    """Sign a record of a kind that only a later version knows."""
    pen = town.pen(Role.AGENT, index)
    body = encode({"hello": 1})
    statement = Statement(
        1,
        "future.kind",
        pen.id,
        0,
        len(pen.records),
        pen.head.id,
        town.now,
        len(body),
        plain_hash(body),
    )
    raw = encode(statement)
    name = record_id(town.founding.realm, raw)
    return Record(
        id=name,
        statement=statement,
        body=None,
        statement_raw=raw,
        body_raw=body,
        text_raw=None,
        signature=pen.signer.sign(signing_payload(name)),
    )


def say(town: Trial, index: int, body: Body, text: bytes | None = None) -> Record:
    """Let an agent sign something past the door, and let it arrive at its home."""
    record = town.sign(index, body, text)
    town.arrive(town.home(index), record)
    return record


@functools.cache
def staged() -> Stage:
    """Play everything once; read only what comes back, it is shared."""
    town = limited_town()
    stage = Stage(town, bytes(32), town.propose(0, "A"), bytes(32))
    # Over quota: the third proposal of one epoch.
    town.propose(8, "First")
    town.propose(8, "Second")
    stage.note("proposal over quota", town.propose(8, "Third"), Code.OVER_QUOTA)
    stage.round = round_id = town.open_round(stage.proposal)
    one = town.world().rounds[round_id]
    _deliberate(stage)
    town.in_phase(round_id, Phase.COMMIT)
    deliberated = one.finals[Phase.DELIBERATE].digest
    _commit(stage, deliberated)
    town.in_phase(round_id, Phase.DECIDE)
    late = Commit(round=round_id, after=deliberated, commitment=named("late"), sealed=bytes(552))
    stage.note("commit after the box is shut", say(town, 6, late), Code.NOT_IN_PHASE)
    _reveal(stage, one.finals[Phase.COMMIT].digest)
    town.in_phase(round_id, None)
    second = town.propose(1, "B")
    stage.second_round = town.open_round(second)
    _forked_later(stage)
    town.vote(second, {2: 1, 3: 1, 5: -1})
    town.settled()
    town.settled()
    return stage


def _deliberate(stage: Stage) -> None:
    town, round_id = stage.town, stage.round
    for number in range(QUOTA):
        record = say(town, 1, *argument(round_id, f"argument {number}"))
        stage.note(f"argument {number}", record, None)
    record = say(town, 1, *argument(round_id, "one too many"))
    stage.note("argument over quota", record, Code.OVER_QUOTA)
    record = say(town, 2, *objection(round_id))
    stage.note("objection where there is no window", record, Code.NOT_IN_PHASE)
    record = say(town, 6, *argument(round_id, after=named("another")))
    stage.note("argument that follows nothing", record, Code.NOT_IN_PHASE)
    same = stage.proposal.body
    assert isinstance(same, Propose)
    record = say(town, 7, same, stage.proposal.text_raw)
    stage.note("proposal of the same text", record, Code.DUPLICATE)
    stage.note(
        "record of an unknown kind", _arrived(town, 6, unknown_kind(town, 6)), Code.UNKNOWN_KIND
    )


def _commit(stage: Stage, after: bytes) -> None:
    town, round_id = stage.town, stage.round
    for index, choice in ((1, 1), (2, 1), (5, -1)):
        stage.note(f"commit of {index}", town.cast(index, round_id, choice), None)
    honest = stage.names["commit of 2"].body
    assert isinstance(honest, Commit)
    stage.note("copied commit", say(town, 3, honest), Code.COMMITMENT_COPIED)
    record = say(town, 1, msgspec.structs.replace(honest, commitment=named("again")))
    stage.note("second commit", record, Code.ALREADY_COMMITTED)
    record = say(town, 0, msgspec.structs.replace(honest, commitment=named("author")))
    stage.note("commit of the author", record, Code.NOT_ELIGIBLE)
    elsewhere = msgspec.structs.replace(honest, round=named("nowhere"))
    stage.note("commit in an unknown round", say(town, 5, elsewhere), Code.UNKNOWN_ROUND)
    early = opening(town, 2, round_id, 1, after)
    stage.note("reveal before the box is shut", say(town, 2, early), Code.NOT_IN_PHASE)
    stranger = town.stranger(Role.AGENT)
    town.arrive(town.world(), *stranger.records)
    record = stranger.say(committing(stranger, round_id, ballot(Choice.FOR), after=after))
    town.arrive(town.world(), record)
    stage.note("commit of a stranger", record, Code.NOT_ADMITTED)
    pens = (town.pen(Role.AGENT, 4), town.pen(Role.AGENT, 4))
    for pen, choice in zip(pens, (Choice.FOR, Choice.AGAINST), strict=True):
        record = pen.say(committing(pen, round_id, ballot(choice), after=after))
        town.arrive(town.home(4), record)
        stage.note(f"commit of the branch {choice.name}", record, Code.FORK)


def _reveal(stage: Stage, after: bytes) -> None:
    town, round_id = stage.town, stage.round
    wrong = opening(town, 1, round_id, -1, after)
    stage.note("reveal of another ballot", say(town, 1, wrong), Code.COMMITMENT_MISMATCH)
    stolen = opening(town, 2, round_id, 1, after)
    stage.note("reveal by the copier", say(town, 3, stolen), Code.COMMITMENT_MISMATCH)
    unlisted = opening(town, 6, round_id, 1, after)
    stage.note("reveal of nothing listed", say(town, 6, unlisted), Code.NOT_CERTIFIED)
    for index in (1, 2, 5):
        stage.note(f"reveal of {index}", town.reveal(index, round_id), None)
    genuine = next(
        one
        for one in town.world().log.by_kind(Kind.CERTIFICATE)
        if isinstance(one.body, CertificateFinal)
    )
    assert isinstance(genuine.body, CertificateFinal)
    thin = msgspec.structs.replace(genuine.body, seals=genuine.body.seals[:1])
    stage.note("certificate without a quorum", town.say(1, thin), Code.NOT_PROVEN)
    nowhere = msgspec.structs.replace(genuine.body, slot=b"nowhere")
    stage.note("certificate of no slot", town.say(2, nowhere), Code.NOT_PROVEN)


def _forked_later(stage: Stage) -> None:
    """Let the agent that forked go on, on one of its branches, after a cut has its proof."""
    town = stage.town
    branch = next(
        record for name, record in stage.names.items() if name.startswith("commit of the branch")
    )
    three = keys(town.seed, Role.AGENT.value, 4)
    records = town.home(4).log.path(branch.id, -1)
    owner = Identity(role=Role.AGENT, number=1_004, inception=records[0], realm=town.founding.realm)
    pen = Chain(owner, records, 0, three.current, three.next, three.recovery)
    stage.note("argument of a forked agent", pen.say(*argument(stage.second_round)), Code.FORK)
    content = propose(artifact_text(title="By a forked agent"))
    stage.note("proposal of a forked agent", pen.say(*content), Code.FORK)
    town.arrive(town.home(4), *pen.records[-2:])


def _arrived(town: Trial, index: int, record: Record) -> Record:
    town.arrive(town.home(index), record)
    return record
