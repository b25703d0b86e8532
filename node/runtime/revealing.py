"""Reveals the ballots of agents whose keys this instance keeps, by itself.

A ballot may open only after the certificate of its box is verified here; the core tells when a
round has come so far. Nothing has to be remembered for it: the sealed ballot lies in the agent's
own commit record, so after any restart the same look at the open rounds finds what is left to do.

What is heard during a step is only noted. The ballots open one at a time in a part of its own, no
further ahead of the disk than inputs from peers, so a large box holds up nothing else.
"""

from collections.abc import Callable

import trio

from federation.certificates import Phase
from federation.core import AgentId, FederationError, Millis, RoundId, short
from federation.protocol import Keyring, World, custody
from federation.protocol import effects as fx
from federation.protocol.inputs import Arrived
from federation.records import Kind
from node.base.errors import NodeError
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
        self._due: dict[tuple[RoundId, AgentId], None] = {}
        self._failed: set[tuple[RoundId, AgentId]] = set()
        self._may_sign = False
        self._filled = trio.Event()

    # Noting ---------------------------------------------------------------------------------------

    def after(self, effects: list[fx.Effect]) -> None:
        """Note the rounds whose box has just been shut; once settled, and at every cut, all.

        A cut may bring what was missing, a rotation say: what failed before it is tried again.
        """
        told = [effect for effect in effects if isinstance(effect, fx.Tell)]
        is_cut = any(effect.event is fx.Happening.CUT for effect in told)
        if is_cut:
            self._failed.clear()
        if is_cut or self._may_sign is not self._is_settled():
            self._may_sign = self._is_settled()
            self._note_all()
        for effect in told:
            if effect.phase is Phase.DECIDE:
                self._note(effect.subject)

    def _note_all(self) -> None:
        for name in self._driver.world.rounds:
            self._note(name)

    def _note(self, name: RoundId) -> None:
        """Note every ballot of a round that lies in its box and whose key is kept here.

        Not before this instance is settled: it may have forgotten what its agents said last, and a
        reveal in a place of their chains that is taken would be a fork.
        """
        world = self._driver.world
        one = world.rounds.get(name)
        if one is None or one.phase is not Phase.DECIDE or not self._is_settled():
            return
        said = world.log.by_round(name)
        opened = {record.author for record in said.get(Kind.REVEAL, ())}
        voters = {record.author for record in said.get(Kind.COMMIT, ())}
        for agent in sorted(voters - opened):
            if self._keystore.has(agent) and (name, agent) not in self._failed:
                self._due[name, agent] = None
                self._filled.set()

    # Opening --------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Open what is noted, one ballot at a time, for ever."""
        self._note_all()
        while True:
            while not self._due:
                self._filled = trio.Event()
                await self._filled.wait()
            # Others have their turns here too, however much room there is.
            await self._driver.has_room()
            name, agent = next(iter(self._due))
            del self._due[name, agent]
            self._reveal(name, agent)

    def _reveal(self, name: RoundId, agent: AgentId) -> None:
        world = self._driver.world
        # Much may have happened since it was noted.
        if not self._is_settled() or custody.may_reveal(world, name, agent) is None:
            return
        try:
            keyring = keyring_of(world, self._keystore, agent)
            if keyring is None:
                return
            record = custody.reveal(world, keyring, name, now=self._wall())
        except (FederationError, NodeError) as error:
            self._failed.add((name, agent))
            log.warning(
                "ballot.stays_sealed", round=short(name), agent=short(agent), code=error.code
            )
            return
        self._driver.take(Arrived(records=(record,), peer=None))

    def _is_settled(self) -> bool:
        me = self._driver.world.me
        return me is None or me.settled


def keyring_of(world: World, keystore: Keystore, agent: AgentId) -> Keyring | None:
    """Give the keys that sign for an agent, up to the one that its chain knows; None without."""
    heads = world.log.heads_of(agent)
    entry = world.log.entry(heads[-1][1]) if heads else None
    return keystore.keyring(agent, key_index=None if entry is None else entry.keys.key_index)
