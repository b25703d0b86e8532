"""The certified world brought back from its rows, over a log that holds the records they name.

What follows from other rows (keys, views, texts, competence, the rows of the world digest) is
worked out again, and the world digest at the end says whether it was worked out right. Nothing is
changed by rows that do not fit: they are refused, and the caller folds its log.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from federation.artifacts import Artifact, Verdict
from federation.certificates import VOID, ListValue, Phase, VoidValue
from federation.charter import Charter, charter_hash, realm_of
from federation.core import ArtifactId, Code, IdentityId, PeerError, RecordId, RoundId, short
from federation.protocol import epochs, judgements, rows
from federation.protocol.acts import Acts
from federation.protocol.certified import IdentityRow, JoiningRow, ListRow, Rows
from federation.protocol.discipline_rows import Discipline
from federation.protocol.joining import Joining
from federation.protocol.rounds import Round
from federation.protocol.state import Delegation, Identity, State
from federation.records import CertificateFinal, Delegate
from federation.replication import Log
from federation.review import Ended, RoundPin, final_list, next_phase, outcome_of
from federation.trust import Agreement, Audited, Graph, Ledger

T = TypeVar("T")

_DIGEST: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """The certified world, brought back."""

    state: State
    rounds: dict[RoundId, Round]
    """As far as the cut has brought them; `opened_at` is the caller's to set."""
    contained: dict[bytes, RecordId]


def world_of(written: Rows, *, charter: Charter, log: Log) -> Certified:
    """Bring the certified world back over a log that holds its records.

    Raises PeerError NOT_CANONICAL if the rows belong to another realm or charter, name what the
    log lacks, or do not amount to the world digest that they state.
    """
    realm, genesis_hash = realm_of(charter), charter_hash(charter)
    acts = Acts.revived(written.acts, charter, log)
    charter = acts.reigns[-1].charter
    if (written.realm, written.charter_hash) != (realm, genesis_hash):
        raise refused("it belongs to another realm or charter")
    eras = [era.first for era in written.eras]
    if len(written.cuts) != _DIGEST * written.cut or eras[:1] != [1][: written.cut]:
        raise refused("its cuts are no chain from the first one on")
    state = State(
        charter=charter,
        realm=realm,
        charter_hash=acts.reigns[-1].hash,
        acts=acts,
        discipline=Discipline.revived(written.discipline),
        cut=written.cut,
        digest=written.digest,
        tick=written.tick,
        ticked=written.ticked,
        cuts=[written.cuts[at : at + _DIGEST] for at in range(0, len(written.cuts), _DIGEST)],
        eras=list(written.eras),
        beacon=written.beacon,
        next_hashes=dict(written.next_hashes),
        identities=dict(_identity(row, log) for row in written.identities),
        instances=dict(written.instances),
        operators={one.operator: one for one in written.operators},
        joining=_joining(written.joining, charter, acts.replaced_at(written.tick)),
        delegations={name: _delegation(name, log) for name in written.delegations},
        artifacts={one.id: one for one in written.artifacts},
        # The first artifact of a text is its only one: the others are refused as duplicates.
        texts={one.text_id: one.id for one in written.artifacts},
        cited=_cited(written.artifacts),
        rounds_of={name: list(own) for name, own in written.rounds_of},
        steps={name: list(own) for name, own in written.steps},
        due=list(written.due),
        reversals=list(written.reversals),
        unfounded=list(written.unfounded),
        found=dict(written.found),
        refused=dict(written.refused),
        ledger=Ledger(charter.trust),
        agreement=Agreement(charter.trust),
        audits=_audits(written, charter),
        graph=_graph(written, charter),
        unvouched={(by, agent): tick for by, agent, tick in written.unvouched},
        cut_members=written.cut_members,
    )
    for name in state.joining.waiting:
        if name not in log:
            raise _lacks(name)
    for agent in written.agents:
        state.admit(agent)
    if not state.agents.keys() <= state.identities.keys():
        raise refused("it has an agent without an identity")
    state.views = epochs.views(state)
    state.ledger.withdraw(written.withdrawn)
    state.ledger.add(written.evidence)
    rounds = {one.pin.round: one for one in _rounds(written, state, log)}
    state.newest = [name for name, one in rounds.items() if one.pin.cut == state.cut]
    _count(written, state, rounds)
    if rows.rewrite(state) != written.world:
        raise refused("its rows do not amount to its world digest")
    return Certified(
        state=state,
        rounds=rounds,
        contained=dict(_certificate(name, log) for name in written.certificates),
    )


def _cited(artifacts: Sequence[Artifact]) -> dict[ArtifactId, list[ArtifactId]]:
    """Find again who rests on what, in the order in which they were proposed."""
    cited: dict[ArtifactId, list[ArtifactId]] = {}
    for artifact in artifacts:
        for name in artifact.cites:
            cited.setdefault(name, []).append(artifact.id)
    return cited


def _graph(written: Rows, charter: Charter) -> Graph:
    graph = Graph(charter.trust.approval)
    for artifact in written.artifacts:
        judgements.stand(graph, artifact)
    for by, agent, weight in written.vouches:
        graph.vouch(by, agent, weight)
    return graph


def _joining(row: JoiningRow, charter: Charter, former: Charter | None) -> Joining:
    return Joining(
        rules=charter.admission,
        former=former.admission if former else None,
        bits=row.bits,
        beacon=row.beacon,
        before=row.before,
        agents=dict(row.agents),
        operators=dict(row.operators),
        false=set(row.false),
        spent=dict(row.spent),
        waiting={name: (instance, tick) for name, instance, tick in row.waiting},
    )


def _audits(written: Rows, charter: Charter) -> Audited:
    audits = Audited(charter.trust)
    for one in written.audits:
        if not 0 <= one.right <= one.audits:
            raise refused("it counts more right votes than audits")
        audits.observe(one.agent, True, audits=one.right)
        audits.observe(one.agent, False, audits=one.audits - one.right)
    return audits


def _identity(row: IdentityRow, log: Log) -> tuple[IdentityId, Identity]:
    entry = log.entry(row.head)
    if entry is None:
        raise _lacks(row.head)
    # The very object of the log's entry: a fold tells by it whether the keys have moved.
    keys = entry.keys
    return keys.identity, Identity(
        keys=keys, seq=row.seq, head=row.head, forked_in=row.forked_in, key_ticks=row.key_ticks
    )


def _delegation(name: RecordId, log: Log) -> Delegation:
    record = log.get(name)
    if record is None or not isinstance(record.body, Delegate):
        raise _lacks(name)
    return Delegation(operator=record.author, seq=record.seq, body=record.body)


def _certificate(name: RecordId, log: Log) -> tuple[bytes, RecordId]:
    record = log.get(name)
    if record is None or not isinstance(record.body, CertificateFinal):
        raise _lacks(name)
    return record.body.slot, name


def _rounds(written: Rows, state: State, log: Log) -> Iterator[Round]:
    worlds = [
        {view.agent: view for view in (_at(written.views, place) for place in places)}
        for places in written.worlds
    ]
    for row in written.rounds:
        seats, reign = _at(written.seats, row.seats), state.acts.reign_at(row.cut)
        pin = RoundPin(
            round=row.round,
            realm=state.realm,
            artifact=row.artifact,
            author=row.author,
            author_operator=row.author_operator,
            home=row.home,
            home_operator=row.home_operator,
            cut=row.cut,
            sensitivity=row.sensitivity,
            author_has_ticket=row.author_has_ticket,
            watchers=frozenset(row.watchers),
            flags=frozenset(row.flags),
            kind=row.kind,
            disputer=row.disputer,
            disputer_operator=row.disputer_operator,
            cause=row.cause,
            voted=frozenset(row.voted),
            rerun=row.rerun,
            assess_only=row.assess_only,
            formal=row.formal,
            beacon=row.beacon,
            charter=reign.charter,
            agents=_at(worlds, row.agents),
            member_operators=row.member_operators,
            members=frozenset(member.operator for member in seats),
        )
        one = Round(
            pin=pin,
            seats=seats,
            charter_hash=reign.hash,
            opened_at=0,
            closed=row.closed,
        )
        for listed in row.lists:
            _put_list(one, listed, log)
        artifact = state.artifacts.get(row.artifact)
        if artifact is None and row.kind != "appeal":
            raise refused("one of its rounds is of an artifact that it does not have")
        _bring_to(one, None if artifact is None else artifact.verdict)
        state.decided[row.round] = tuple(listed.digest for listed in row.lists)
        yield one


def _put_list(one: Round, row: ListRow, log: Log) -> None:
    value: ListValue | VoidValue = VOID
    held = {}
    if row.records is not None:
        value = ListValue(records=row.records)
        for name in row.records:
            record = log.get(name)
            if record is None:
                raise _lacks(name)
            held[name] = record
    one.certified[row.phase] = (value, row.digest)
    one.finals[row.phase] = final_list(value, row.digest, held)


def _bring_to(one: Round, newest: Verdict | None) -> None:
    """Set phase and verdict; the artifact remembers the verdict that moved it last."""
    known = newest is not None and newest.round == one.pin.round
    came_to = Ended(verdict=newest) if newest and known else next_phase(one.pin, one.finals)
    if isinstance(came_to, Ended) is not one.closed:
        raise refused("one of its rounds is closed and has not ended, or the other way round")
    if isinstance(came_to, Ended):
        one.verdict = came_to.verdict
    elif isinstance(came_to, Phase):
        one.phase = came_to


def _count(written: Rows, state: State, rounds: Mapping[RoundId, Round]) -> None:
    """Take the ended rounds into the estimate of competence, or put them aside for the tick."""
    for name in written.pending:
        one = rounds.get(name)
        if one is None or one.verdict is None or one.pin.artifact not in state.artifacts:
            raise refused("it counts a round that it does not have")
        topics = state.artifacts[one.pin.artifact].topics
        outcome = outcome_of(one.pin, one.finals, one.verdict, tick=state.tick + 1, topics=topics)
        state.pending.append((outcome, one.verdict, one.pin.charter))
    waiting = set(written.pending)
    for name, one in rounds.items():
        if one.closed and one.verdict is not None and name not in waiting:
            epochs.observe(state, one.pin.charter, one.verdict)


def _at(table: Sequence[T], place: int) -> T:
    if place >= len(table):
        raise refused("it names a place that its tables do not have")
    return table[place]


def _lacks(name: RecordId) -> PeerError:
    return refused(f"the log does not hold record {short(name)}, which it names")


def refused(why: str) -> PeerError:
    """Say why a snapshot cannot be used."""
    return PeerError(
        "snapshot refused",
        why=why,
        fix="fold the log from genesis, and take a new snapshot",
        code=Code.NOT_CANONICAL,
    )
