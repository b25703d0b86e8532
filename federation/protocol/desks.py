"""What the agreement asks of the world: who holds what, and what witnesses amount to.

The certificate machine knows nothing of records; these two desks answer for it, one for a phase
of a round and one for a cut, by the pinned world and the log alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from federation.certificates import (
    CutHolding,
    CutSlot,
    Desk,
    Entry,
    ListHolding,
    Looked,
    Outcome,
    Quorum,
    RoundSlot,
    Witnessed,
    chains_blob,
    fresh_cut,
    fresh_list,
    witnessed,
)
from federation.core import IdentityId, Millis, RecordId
from federation.crypto import Signer, plain_hash
from federation.protocol.rounds import Round
from federation.protocol.world import LiveSlot, World
from federation.records import AgentAdmit, OperatorAdmit, Record, Rotate, RotateBy
from federation.review import is_late, most_arguments

RIVALS: Final = 4
"""Records that a witness names at one place of a forked chain."""
_OTHER: Final = 2
"""Rank of a record that settles no fork."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundDesk:
    """Answers for one phase of one round."""

    world: World
    round: Round
    slot: RoundSlot
    quorum: Quorum
    now: Millis

    def holding(self) -> ListHolding:
        """List the qualifying records held now, and whether the round is past its deadline."""
        log = self.world.log
        looked: dict[RecordId, Looked] = {}
        for record in self.round.qualified(log):
            one = self.round.look(log, record.id, self.slot.phase)
            if one is not None:
                looked[record.id] = one
        each = most_arguments(self.round.pin)
        return ListHolding(
            ids=witnessed(self.slot, looked, each=each),
            late=is_late(self.slot.phase, self.round.pin, self.now - self.round.opened_at),
        )

    def fresh(self, witnesses: Sequence[Witnessed]) -> Outcome:
        """Compute the list that q witnesses amount to."""
        review = self.round.pin.charter.review
        return fresh_list(
            self.slot,
            witnesses,
            self.quorum,
            lambda name: self.round.look(self.world.log, name, self.slot.phase),
            most=review.list_most,
            each=most_arguments(self.round.pin),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CutDesk:
    """Answers for the next cut."""

    world: World
    signer: Signer | None
    """The pinned key of this node's voice, whose seed makes the beacon secrets."""
    slot: CutSlot
    quorum: Quorum
    now: Millis

    def holding(self) -> CutHolding:
        """Name everything held above the last cut, and open this instance's beacon secret."""
        world = self.world
        assert self.signer is not None, "an observer is never asked what it holds"  # noqa: S101 # ours
        held = {author: above for author in world.log.authors() if (above := self._above(author))}
        secret = self.signer.secret(world.realm, self.slot.number)
        return CutHolding(
            chains=chains_blob(
                held,
                beacon=world.state.beacon,
                members=world.state.instances,
                admitted=self._awaited(held).union(filter(world.is_admitted, held)),
                most=world.charter.quotas.witness_ids,
            ),
            tick=self.now - world.ticked_at >= world.charter.timing.epoch,
            world=world.digest,
            secret=secret,
            next_hash=plain_hash(self.signer.secret(world.realm, self.slot.number + 1)),
        )

    def fresh(self, witnesses: Sequence[Witnessed]) -> Outcome:
        """Compute the cut that q witnesses amount to."""
        return fresh_cut(
            self.slot,
            witnesses,
            self.quorum,
            self._entry,
            last=self.world.positions,
            promised=self.world.state.next_hashes,
        )

    def _awaited(self, held: Mapping[IdentityId, Sequence[Sequence[RecordId]]]) -> set[IdentityId]:
        """Name the newcomers whose admission by a member waits for a cut as they do.

        They move with it, before all other strangers: an id can be ground until it comes first.
        """
        log = self.world.log
        records = [
            log.get(name)
            for instance in self.world.state.instances
            for ids in held.get(instance, ())
            for name in ids
        ]
        bodies = [record.body for record in records if record is not None]
        agents = {body.agent for body in bodies if isinstance(body, AgentAdmit)}
        return agents | {body.operator for body in bodies if isinstance(body, OperatorAdmit)}

    def _above(self, author: IdentityId) -> list[list[RecordId]]:
        """List what stands above an author's position, of many rivals at one place only a few.

        What leads to a recovery comes first, then what leads to any other rotation: these settle
        forks, and neither a thief of today's key nor one of the next may crowd them out.
        """
        log = self.world.log
        last = self.world.positions.get(author)
        groups = log.above(author, last.seq, head=last.head) if last else log.above(author, -1)
        if all(len(ids) <= RIVALS for ids in groups):
            return [list(ids) for ids in groups]
        rank: dict[RecordId, int] = {}
        for name in (name for ids in reversed(groups) for name in ids):
            record = log.get(name)
            rank[name] = min(rank.get(name, _OTHER), _settling(record))
            if record is not None and record.prev is not None:
                rank[record.prev] = min(rank.get(record.prev, _OTHER), rank[name])
        return [sorted(ids, key=lambda name: (rank[name], name))[:RIVALS] for ids in groups]

    def _entry(self, name: RecordId) -> Entry | None:
        record = self.world.log.get(name)
        if record is None:
            return None
        rotation = record.body if isinstance(record.body, Rotate) else None
        return Entry(
            author=record.author,
            seq=record.seq,
            prev=record.prev,
            is_recovery=rotation is not None and rotation.by is RotateBy.RECOVERY,
            picks=rotation.picks if rotation else None,
        )


def _settling(record: Record | None) -> int:
    """Rank a record by what it may do for a fork: a recovery, another rotation, anything else."""
    if record is None or not isinstance(record.body, Rotate):
        return _OTHER
    return 0 if record.body.by is RotateBy.RECOVERY else 1


def desk_of(world: World, live: LiveSlot, now: Millis) -> Desk:
    """Give the desk of a live slot."""
    slot = live.slot
    match slot:
        case CutSlot():
            return CutDesk(
                world=world,
                signer=world.signer_in(live.pinned),
                slot=slot,
                quorum=live.pinned.quorum,
                now=now,
            )
        case _:
            return RoundDesk(
                world=world,
                round=world.rounds[slot.round_id],
                slot=slot,
                quorum=live.pinned.quorum,
                now=now,
            )
