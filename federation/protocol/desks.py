"""What the agreement asks of the world: who holds what, and what witnesses amount to.

The certificate machine knows nothing of records; these two desks answer for it, one for a phase
of a round and one for a cut, by the pinned world and the log alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from federation.certificates import (
    MOST_LISTED,
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
    capped,
    chains_blob,
    fresh_cut,
    fresh_list,
)
from federation.core import Millis, RecordId
from federation.crypto import Signer, plain_hash
from federation.protocol.rounds import Round
from federation.protocol.world import LiveSlot, World
from federation.records import Rotate, RotateBy
from federation.review import is_late


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
            one = self.round.look(log, record.id)
            if one is not None:
                looked[record.id] = one
        return ListHolding(
            ids=capped(self.slot, looked, MOST_LISTED),
            late=is_late(self.slot.phase, self.round.pin, self.now - self.round.opened_at),
        )

    def fresh(self, witnesses: Sequence[Witnessed]) -> Outcome:
        """Compute the list that q witnesses amount to."""
        review = self.round.pin.charter.review
        return fresh_list(
            self.slot,
            witnesses,
            self.quorum,
            lambda name: self.round.look(self.world.log, name),
            most=review.list_most,
            each=review.arguments_each,
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
        held = {}
        for author in world.log.authors():
            last = world.positions.get(author)
            above = (
                world.log.above(author, last.seq, head=last.head)
                if last
                else world.log.above(author, -1)
            )
            if above:
                held[author] = above
        secret = self.signer.secret(world.realm, self.slot.number)
        return CutHolding(
            chains=chains_blob(
                held, beacon=world.state.beacon, most=world.charter.quotas.witness_ids
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
        case RoundSlot():
            return RoundDesk(
                world=world,
                round=world.rounds[slot.round_id],
                slot=slot,
                quorum=live.pinned.quorum,
                now=now,
            )
