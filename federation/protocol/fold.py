"""Fold one cut into the certified state (design: time, fold order).

Inside a cut each stage runs by (author, seq): keys, forks, admissions · certificates, which end
rounds · at a tick: evidence, trust, tiers, sanctions, charter · acts of judgement and of operators ·
triggers, which open rounds. The caller has made sure that every record at or below the positions
and every list of a contained certificate is held, and that trust is reckoned at a tick; so a fold
never waits and never fails: what does not count gets a code and changes nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from federation.artifacts import DecidedBy, hide, merge_voters, report_over
from federation.certificates import Position, Positions
from federation.codec import encode
from federation.core import AgentId, ArtifactId, Code, Digest, PeerError, RecordId, RoundId
from federation.crypto import Domain, digest
from federation.identity import verify_fork
from federation.protocol import (
    admissions,
    consequences,
    discipline,
    epochs,
    judgements,
    openings,
    rows,
)
from federation.protocol.rounds import Round, opened_nonces, with_beacon
from federation.protocol.state import Identity, State
from federation.protocol.story import note_round
from federation.records import (
    AdminReview,
    CertificateFinal,
    LogFork,
    Record,
    Rotate,
    RotateBy,
)
from federation.replication import Log
from federation.review import (
    Ended,
    Finals,
    RoundPin,
    advance,
    is_credible,
    next_phase,
    outcome_of,
)

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
    decided = state.acts.take(state, fresh)
    moved = _certificates(state, cut, rounds, fresh)
    if cut.number:
        # Cut 0 is the charter: its beacon is fixed by the realm alone.
        _beacon(state, cut, moved.ended)
        _give_beacon(state, rounds)
    banned: tuple[AgentId, ...] = ()
    if cut.tick:
        assert cut.reckoned is not None, "trust is reckoned before a tick is folded"  # noqa: S101 # ours
        state.ticked = cut.number
        banned = epochs.tick(state, cut.reckoned)
        consequences.lapse(state)
        state.joining.turn(state.tick, state.beacon)
    if cut.tick or changed or touched:
        state.views = epochs.views(state)
    changed |= judgements.vouches(state, fresh)
    for record in decided:
        if isinstance(record.body, AdminReview):
            consequences.decree(state, record, record.body)
    # What was taken wrongly is given back at once where it is evidence.
    changed |= state.discipline.again
    consequences.after_bans(state, banned)
    opened = (
        *(openings.open_again(state, pin) for pin in moved.again),
        *openings.open_rounds(state, fresh),
        *openings.open_due(state),
    )
    state.newest = [one.pin.round for one in opened]
    artifacts = _stand(state)
    changed |= {record.author for record in fresh if record.author in state.agents}
    rows.update(
        state,
        identities=touched,
        rounds=[*cut.finals, *(one.pin.round for one in opened)],
        artifacts=artifacts,
        agents=state.agents if cut.tick else changed,
    )
    return Folded(opened=opened, ended=tuple(moved.ended))


def _stand(state: State) -> tuple[ArtifactId, ...]:
    """Let approvals count for what a cut has made of each artifact; tell which it changed."""
    for name, before in state.moved.items():
        if before is not None:
            judgements.stand(state.graph, before, -1)
        judgements.stand(state.graph, state.artifacts[name])
    changed = tuple(state.moved)
    state.moved = {}
    return changed


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


@dataclass(slots=True)
class _Moved:
    """What the certificates of a cut did."""

    ended: list[RoundId] = field(default_factory=list)
    again: list[RoundPin] = field(default_factory=list)
    """Rounds that an arbiter sent to a fresh panel."""


def _certificates(
    state: State, cut: Contained, rounds: Mapping[RoundId, Round], fresh: list[Record]
) -> _Moved:
    """Bring artifacts to where the contained lists lead."""
    for record in fresh:
        if isinstance(record.body, CertificateFinal) and record.id not in cut.certified:
            state.refused[record.id] = Code.NOT_PROVEN
    moved = _Moved()
    for name in sorted(cut.finals):
        finals = cut.finals[name]
        pin = rounds[name].pin
        known = state.decided[name]
        state.decided[name] = tuple(final.digest for final in finals.values())
        came_to = next_phase(pin, finals)
        verdict = came_to.verdict if isinstance(came_to, Ended) else None
        artifact = state.artifacts.get(pin.artifact)
        if artifact is not None:
            if pin.kind == "report" and not known:
                # Its first list is that of the assessment: nothing keeps disputes away any more.
                artifact = report_over(artifact, state.tick)
                if is_credible(pin, finals):
                    # Whatever became of it meanwhile: no author keeps in sight what was reported
                    # by withdrawing or revising it.
                    artifact = hide(artifact)
            after = advance(artifact, pin, finals, tick=state.tick)
            state.put(after)
            note_round(state, artifact, after, pin)
            consequences.after_round(state, artifact, after)
        if verdict is None:
            continue
        moved.ended.append(name)
        consequences.round_ended(state, pin, verdict)
        discipline.observe(state, pin, finals, verdict, artifact)
        if artifact is not None:
            outcome = outcome_of(pin, finals, verdict, tick=state.tick + 1, topics=artifact.topics)
            state.pending.append((outcome, verdict, pin.charter))
        if verdict.by is DecidedBy.RERUN:
            # Nothing was decided, but who has voted must not vote again.
            noted = merge_voters(state.artifacts[pin.artifact], verdict)
            state.put(noted)
            # A report that never took its artifact must not take it from the round that decides.
            if noted.round == name:
                moved.again.append(pin)
    return moved


def _give_beacon(state: State, rounds: Mapping[RoundId, Round]) -> None:
    """Give the rounds of the cut before the beacon with which their arbiters are drawn."""
    for name in state.newest:
        one = rounds[name]
        one.pin = with_beacon(one.pin, state.beacon)


def _beacon(state: State, cut: Contained, ended: list[RoundId]) -> None:
    nonces = [nonce for name in ended for nonce in opened_nonces(cut.finals[name])]
    # One canonical list: joined bytes alone would not tell where the secrets end.
    state.beacon = digest(Domain.BEACON, encode([state.beacon, list(cut.secrets), nonces]))
    state.next_hashes = dict(cut.next_hashes)
