"""Fold one cut into the certified state (design: time, fold order).

Inside a cut each stage runs by (author, seq): keys, forks, admissions · certificates, which end
rounds · at a tick: evidence, trust, tiers · acts of judgement · triggers, which open rounds. The
caller has made sure that every record at or below the positions and every list of a contained
certificate is held, and that trust is reckoned at a tick; so a fold never waits and never fails:
what does not count gets a code and changes nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from federation.artifacts import Artifact, Submission, apply, in_round
from federation.artifacts.transitions import Action
from federation.certificates import Position, Positions
from federation.charter import sensitivity_of
from federation.codec import encode
from federation.core import AgentId, Code, Digest, PeerError, RecordId, RefusedError, RoundId
from federation.crypto import Domain, digest
from federation.identity import verify_fork
from federation.protocol import admissions, epochs, judgements, rows
from federation.protocol.rounds import Round, open_round, opened_nonces
from federation.protocol.state import Identity, State
from federation.records import (
    CertificateFinal,
    LogFork,
    Propose,
    Record,
    Rotate,
    RotateBy,
)
from federation.replication import Log
from federation.review import Ended, Finals, advance, is_delegated, next_phase, outcome_of

RECOVERY_TICKS: Final = 72
"""How long after a thief's rotation the recovery key can still undo it (design: identities)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contained:
    """One cut, ready to be folded."""

    number: int
    digest: Digest
    tick: bool
    positions: Positions
    secrets: tuple[bytes, ...]
    """Opened beacon secrets, in member order."""
    next_hashes: Mapping[bytes, Digest]
    finals: Mapping[RoundId, Finals]
    """Per round that the cut moves, the lists it contains with their closure."""
    certified: frozenset[RecordId]
    """Ids of the contained `certificate.final` records that verified."""
    reckoned: epochs.Reckoning | None = None
    """At a tick, trust as reckoned from the world before; at cut 0, that of the seeds."""
    proven: Mapping[Digest, bool] = field(default_factory=dict)
    """Whether admission proofs do their work, by the hash of their bytes; the fold verifies itself
    what this lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """What a fold did that the live side must know."""

    opened: tuple[Round, ...]
    ended: tuple[RoundId, ...]


def fold(state: State, log: Log, cut: Contained, rounds: Mapping[RoundId, Round]) -> Folded:
    """Bring `state` from the cut before to `cut`."""
    fresh = new_records(state, log, cut.positions)
    state.turn_to(cut.number, cut.digest)
    touched = _keys(state, log, cut.positions) | _forks(state, log, fresh)
    changed = admissions.admit(state, log, fresh, _first_trust(cut), cut.proven)
    steps, ended = _certificates(state, cut, rounds, fresh)
    if cut.number:
        # Cut 0 is the charter: its beacon is fixed by the realm alone.
        _beacon(state, cut, ended)
    if cut.tick:
        assert cut.reckoned is not None, "trust is reckoned before a tick is folded"  # noqa: S101 # ours
        state.ticked = cut.number
        epochs.tick(state, cut.reckoned)
        state.joining.turn(state.tick, state.beacon)
    if cut.tick or changed or touched:
        state.views = epochs.views(state)
    for before, after in steps:
        judgements.stand(state.graph, before, -1)
        judgements.stand(state.graph, after)
    changed |= judgements.vouches(state, fresh)
    opened = _triggers(state, fresh)
    moved = [*(rounds[name] for name in cut.finals), *opened]
    rows.update(
        state,
        identities=touched,
        rounds=[one.pin.round for one in moved],
        artifacts=[one.pin.artifact for one in moved],
        agents=state.agents if cut.tick else changed,
    )
    return Folded(opened=opened, ended=tuple(ended))


def _first_trust(cut: Contained) -> Mapping[AgentId, int]:
    """Give the trust that admissions of a cut come with: moves at ticks, begins at genesis."""
    return cut.reckoned.trust if cut.reckoned is not None and not cut.number else {}


def new_records(state: State, log: Log, positions: Positions) -> list[Record]:
    """List the records between the last cut and `positions`, by (author, seq)."""
    found: list[Record] = []
    for author in sorted(positions):
        known = state.identities.get(author)
        here = positions[author]
        if known is None or known.head != here.head:
            found += log.path(here.head, known.seq if known else -1)
    return found


def positions_of(state: State) -> Positions:
    """Give the positions of the last cut."""
    return {name: Position(seq=one.seq, head=one.head) for name, one in state.identities.items()}


# Keys and forks ----------------------------------------------------------------------------


def _keys(state: State, log: Log, positions: Positions) -> set[bytes]:
    """Move every identity to its position; tell which moved in their keys or are new."""
    changed: set[bytes] = set()
    for author, here in positions.items():
        known = state.identities.get(author)
        if known is not None and known.head == here.head:
            continue
        entry = log.entry(here.head)
        assert entry is not None, "the closure of a cut is held before it is folded"  # noqa: S101 # ours
        keys = entry.keys
        moved = known is None or known.keys is not keys
        ticks = known.key_ticks if known else ()
        ticks += (state.tick,) * (len(keys.keys) - len(ticks))
        forked = known.forked_in if known else None
        if known is not None and moved:
            forked = _settled(log, forked, log.path(here.head, known.seq))
            if forked is None and _is_contested(log, log.path(here.head, 0), ticks):
                forked = state.cut
        state.identities[author] = Identity(
            keys=keys, seq=here.seq, head=here.head, forked_in=forked, key_ticks=ticks
        )
        if moved:
            changed.add(author)
    return changed


def _settled(log: Log, forked: int | None, path: list[Record]) -> int | None:
    """Tell whether an identity is still forked after new records: a pick of a branch settles it."""
    return None if any(has_picked(log, record, 0) for record in path) else forked


def _is_contested(log: Log, path: list[Record], ticks: tuple[int, ...]) -> bool:
    """Tell whether a recovery came too late in a chain; `ticks` are those of its keys.

    More than 72 ticks after the first rotation that it would undo it does not count: which key
    is the owner's can no longer be told. So the identity is barred as if it had forked, and for
    good: whoever recovered late must not settle it by a pick of its own. Undoing a revocation has
    no other deadline: a recovery by the current recovery key undoes no rotation.
    """
    for record in path:
        entry = log.entry(record.id)
        if isinstance(record.body, Rotate) and entry is not None:
            undone, key = entry.keys.nullifies, entry.keys.key_index
            if undone is not None and ticks[key] - ticks[undone] > RECOVERY_TICKS:
                return True
    return False


def _forks(state: State, log: Log, fresh: list[Record]) -> set[bytes]:
    """Bar the authors of proven forks from this cut's rounds on; tell who is new among them."""
    barred: set[bytes] = set()
    for record in fresh:
        if not isinstance(record.body, LogFork):
            continue
        known = state.identities.get(record.body.author)
        try:
            if known is None:
                raise _unknown_author()
            fork = verify_fork(
                state.realm, record.body, key_of=partial(log.key_of, below=known.head)
            )
        except PeerError as error:
            state.refused[record.id] = error.code
            continue
        # A rotation already contained may have picked a branch at or above the fork.
        later = log.path(known.head, fork.seq - 1)
        if known.forked_in is None and not any(has_picked(log, one, fork.seq) for one in later):
            state.identities[record.body.author] = replace(known, forked_in=state.cut)
            barred.add(record.body.author)
    return barred


def has_picked(log: Log, record: Record, seq: int) -> bool:
    """Tell whether a rotation picks the branch it stands on, at or above `seq`.

    A recovery that itself stands at `seq` picks the branch that it begins: it wins the fork.
    """
    if not isinstance(record.body, Rotate):
        return False
    if record.body.picks is None:
        return record.body.by is RotateBy.RECOVERY and record.seq == seq
    picked = log.get(record.body.picks)
    return picked is not None and picked.seq >= seq and log.is_ancestor(picked.id, record.id)


def _unknown_author() -> PeerError:
    return PeerError(
        "fork proof does not count",
        why="no cut contains its author",
        fix="file it again once a cut does",
        code=Code.NOT_PROVEN,
    )


# Certificates -------------------------------------------------------------------------------


def _certificates(
    state: State, cut: Contained, rounds: Mapping[RoundId, Round], fresh: list[Record]
) -> tuple[list[tuple[Artifact, Artifact]], list[RoundId]]:
    """Bring artifacts to where the contained lists lead.

    Gives each step of an artifact, before and after, in order, and the rounds that ended.
    """
    for record in fresh:
        if isinstance(record.body, CertificateFinal) and record.id not in cut.certified:
            state.refused[record.id] = Code.NOT_PROVEN
    steps, ended = [], []
    for name in sorted(cut.finals):
        finals = cut.finals[name]
        pin = rounds[name].pin
        state.decided[name] = tuple(final.digest for final in finals.values())
        artifact = state.artifacts[pin.artifact]
        moved = advance(artifact, pin, finals)
        steps.append((artifact, moved))
        state.artifacts[pin.artifact] = moved
        came_to = next_phase(pin, finals)
        if isinstance(came_to, Ended):
            verdict = came_to.verdict
            outcome = outcome_of(pin, finals, verdict, tick=state.tick + 1, topics=artifact.topics)
            state.pending.append((outcome, verdict))
            ended.append(name)
    return steps, ended


def _beacon(state: State, cut: Contained, ended: list[RoundId]) -> None:
    nonces = [nonce for name in ended for nonce in opened_nonces(cut.finals[name])]
    # One canonical list: joined bytes alone would not tell where the secrets end.
    state.beacon = digest(Domain.BEACON, encode([state.beacon, list(cut.secrets), nonces]))
    state.next_hashes = dict(cut.next_hashes)


# Triggers -----------------------------------------------------------------------------------


def _triggers(state: State, fresh: list[Record]) -> tuple[Round, ...]:
    opened = []
    for record in fresh:
        if isinstance(record.body, Propose):
            try:
                artifact = apply(None, Action.SUBMIT, submission(state, record, record.body))
            except RefusedError as error:
                state.refused[record.id] = error.code
                continue
            agent = state.agents[record.author]
            tick, used = agent.proposed
            used = used + 1 if tick == state.tick else 1
            state.agents[record.author] = replace(agent, proposed=(state.tick, used))
            state.texts[artifact.text_id] = artifact.id
            one = open_round(state, artifact)
            state.artifacts[artifact.id] = advance(in_round(artifact, one.pin.round), one.pin, {})
            state.decided[one.pin.round] = ()
            opened.append(one)
    return tuple(opened)


def submission(state: State, record: Record, body: Propose) -> Submission:
    """Collect the facts of a proposal in this world; also asked by the door before signing."""
    agent = state.agents.get(record.author)
    review, quotas = state.charter.review, state.charter.quotas
    tick, used = agent.proposed if agent else (state.tick, 0)
    first = state.texts.get(body.text_id)
    return Submission(
        id=record.id,
        author=record.author,
        author_operator=agent.operator if agent else bytes(32),
        home=agent.instance if agent else bytes(32),
        topics=body.topics,
        sensitivity=sensitivity_of(review, body.topics),
        text_id=body.text_id,
        cut=state.cut,
        admitted=agent is not None,
        delegated=agent is None or is_delegated(agent.scope, record.kind),
        forked=is_forked(state, record.author),
        barred=is_barred(state, record.author) or is_disowned(state, record),
        r=agent.r if agent else 0,
        r_min=review.r_min,
        duplicate_of=first if first != record.id else None,
        used=used if tick == state.tick else 0,
        quota=quotas.proposals_epoch if agent and agent.tier else quotas.sandbox_epoch,
    )


def is_barred(state: State, agent: bytes) -> bool:
    """Tell whether an identity is forked or revoked in this world."""
    known = state.identities.get(agent)
    return known is None or known.forked_in is not None or known.keys.revoked


def is_forked(state: State, agent: bytes) -> bool:
    """Tell whether a contained proof bars an identity until it picks a branch."""
    known = state.identities.get(agent)
    return known is not None and known.forked_in is not None


def is_disowned(state: State, record: Record) -> bool:
    """Tell whether a record's author has disowned it as a thief's (`disown_after`)."""
    known = state.identities.get(record.author)
    return known is not None and known.keys.is_disowned(record.seq)
