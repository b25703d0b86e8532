"""Reveals the ballots of agents whose keys this instance keeps, by itself.

A ballot may open only after the certificate of its box is verified here; the core tells when a
round has come so far. Nothing has to be remembered for it: the sealed ballot lies in the agent's
own commit record, so after any restart the same look at the open rounds finds what is left to do.
"""

from collections.abc import Callable

from federation.certificates import Phase
from federation.core import FederationError, Millis, RoundId, short
from federation.protocol import World, custody
from federation.protocol import effects as fx
from federation.protocol.inputs import Arrived
from federation.records import Kind
from node.keys import Keystore
from node.runtime.driver import Driver
from node.telemetry import log


class Revealing:
    """Opens what may be opened."""

    def __init__(self, driver: Driver, keystore: Keystore, *, wall: Callable[[], Millis]) -> None:
        """Reveal with the keys of a keystore."""
        self._driver = driver
        self._keystore = keystore
        self._wall = wall
        self._failed: set[tuple[RoundId, bytes]] = set()
        self._may_sign = False

    def after(self, effects: list[fx.Effect]) -> None:
        """Look at the rounds whose box has just been shut; once settled, at all of them."""
        if self._may_sign is not self._is_settled():
            self._may_sign = not self._may_sign
            self.all()
        for effect in effects:
            if isinstance(effect, fx.Tell) and effect.phase is Phase.DECIDE:
                self.reveal(effect.subject)

    def all(self) -> None:
        """Look at every open round."""
        for name in list(self._driver.world.rounds):
            self.reveal(name)

    def reveal(self, name: RoundId) -> None:
        """Reveal every ballot of a round that lies in its box and whose key is kept here.

        Not before this instance is settled: it may have forgotten what its agents said last, and a
        reveal in a place of their chains that is taken would be a fork.
        """
        world = self._driver.world
        one = world.rounds.get(name)
        if one is None or one.phase is not Phase.DECIDE or not self._is_settled():
            return
        opened = {record.author for record in world.log.by_round(name).get(Kind.REVEAL, ())}
        for agent in _voters(world, name):
            if agent in opened or (name, agent) in self._failed:
                continue
            keyring = self._keystore.keyring(agent)
            if keyring is None or custody.may_reveal(world, name, agent) is None:
                continue
            try:
                record = custody.reveal(world, keyring, name, now=self._wall())
            except FederationError as error:
                self._failed.add((name, agent))
                log.warning(
                    "ballot.stays_sealed", round=short(name), agent=short(agent), code=error.code
                )
                continue
            self._driver.take(Arrived(records=(record,), peer=None))

    def _is_settled(self) -> bool:
        me = self._driver.world.me
        return me is None or me.settled


def _voters(world: World, name: RoundId) -> list[bytes]:
    return sorted({record.author for record in world.log.by_round(name).get(Kind.COMMIT, ())})
