"""What the agreement asks of the world: who holds what, and what witnesses amount to.

The certificate machine knows nothing of records; these two desks answer for it, one for a phase
of a round and one for a cut, by the pinned world and the log alone.
"""

from collections.abc import Sequence
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
from federation.records import Rotate, RotateBy
from federation.review import is_late

RIVALS: Final = 4
"""Records that a witness names at one place of a forked chain."""


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
        each = self.round.pin.charter.review.arguments_each
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
        held = {author: above for author in world.log.authors() if (above := self._above(author))}
        secret = self.signer.secret(world.realm, self.slot.number)
        return CutHolding(
            chains=chains_blob(
                held,
                beacon=world.state.beacon,
                admitted=frozenset(filter(world.is_admitted, held)),
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

    def _above(self, author: IdentityId) -> list[list[RecordId]]:
        """List what stands above an author's position, of many rivals at one place only a few.

        Rotations come first among them: they settle forks, and a forker must not be able to
        crowd them out.
        """
        log = self.world.log
        last = self.world.positions.get(author)
        groups = log.above(author, last.seq, head=last.head) if last else log.above(author, -1)

        def rank(name: RecordId) -> tuple[bool, RecordId]:
            record = log.get(name)
            return record is None or not isinstance(record.body, Rotate), name

        return [
            list(ids) if len(ids) <= RIVALS else sorted(ids, key=rank)[:RIVALS] for ids in groups
        ]

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
        case _:
            return RoundDesk(
                world=world,
                round=world.rounds[slot.round_id],
                slot=slot,
                quorum=live.pinned.quorum,
                now=now,
            )
