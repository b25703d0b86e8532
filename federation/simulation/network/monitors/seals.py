"""Watches sealed arguments: nobody reads one before the list of the seals is certified.

An honest agent opens only what a certified list holds, and only where that certificate is; a seal
itself travels without a text. Whoever sees an argument that opens a seal before q members have
sealed the list could still seal an answer to it (design: deliberation, sealed first).
"""

from typing import TYPE_CHECKING

from federation.certificates import Phase, RoundSlot, slot_key
from federation.core import IdentityId, RecordId, RoundId, short
from federation.protocol import effects as fx
from federation.records import Argue, Record, SealArgument
from federation.simulation.network.letters import Gossip, Sent
from federation.simulation.network.monitors.monitor import Monitor
from federation.simulation.network.monitors.votes import Votes

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class Seals(Monitor):
    """No argument is opened before a certified list holds its seal."""

    def __init__(self, votes: Votes, careful: frozenset[bytes]) -> None:
        """Judge by the certificates that `votes` has counted; `careful` agents must not leak."""
        super().__init__()
        self._votes = votes
        self._careful = careful
        self._sealed: dict[RecordId, IdentityId] = {}
        self.opened: dict[RecordId, RoundId] = {}
        """Arguments that have opened a seal, and the round of each."""

    def stored(self, node: "SimNode", effect: fx.Effect) -> None:
        """See a record at the instance that stores it."""
        if isinstance(effect, fx.StoreRecord):
            self._see(effect.record, node)

    def sent(self, node: "SimNode", sent: Sent) -> None:
        """See records on their way."""
        del node
        if isinstance(sent.letter, Gossip):
            for record in sent.letter.records:
                self._see(record, None)

    def _see(self, record: Record, home: "SimNode | None") -> None:
        match record.body:
            case SealArgument():
                self._sealed[record.id] = record.author
                if record.text_raw is not None:
                    self.broke("a seal shows its text", f"by agent {short(record.author)}")
            case Argue(nonce=bytes()) as argument if record.id not in self.opened:
                self.opened[record.id] = argument.round
                if record.author in self._careful and not self._is_listed(record, argument, home):
                    self.broke(
                        "opened before the seals were certified",
                        f"by agent {short(record.author)}",
                    )
            case _:
                pass

    def _is_listed(self, record: Record, argument: Argue, home: "SimNode | None") -> bool:
        slot = slot_key(RoundSlot(round_id=argument.round, phase=Phase.SEAL))
        listed = self._votes.lists.get(self._votes.certified.get(slot) or b"") or ()
        return any(self._sealed.get(name) == record.author for name in listed) and (
            home is None or (home.instance, slot) in self._votes.accepted
        )
