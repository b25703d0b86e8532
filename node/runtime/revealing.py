"""Reveals ballots, and opens sealed arguments, of agents whose keys this instance keeps, by itself.

Either may open only after the certificate that lists it is verified here; the core tells when a
round has come so far. Nothing has to be remembered for it: what is sealed lies in the agent's own
record, so after any restart the same look at the open rounds finds what is left to do.

What is heard during a step is only noted. Things open one at a time in a part of its own, no
further ahead of the disk than inputs from peers, so a large box holds up nothing else.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import trio

from federation.certificates import Phase
from federation.core import AgentId, FederationError, Millis, RoundId, short
from federation.protocol import Keyring, World, authoring, custody
from federation.protocol import effects as fx
from federation.protocol.inputs import Arrived
from federation.records import Argue, Kind, Record
from node.base.errors import NodeError
from node.keys import Keystore
from node.runtime.driver import Driver
from node.telemetry import log

Duty: TypeAlias = tuple[RoundId, AgentId, Phase]
"""What to open: a ballot in `decide`, an argument in `unseal`."""
_SEALED_AS: Final = {
    Phase.DECIDE: (Kind.COMMIT, Kind.REVEAL),
    Phase.UNSEAL: (Kind.SEAL, Kind.ARGUE),
}
"""Per phase in which something opens: the kind that holds it, and the kind that opens it."""


class Revealing:
    """Opens what may be opened."""

    def __init__(self, driver: Driver, keystore: Keystore, *, wall: Callable[[], Millis]) -> None:
        """Reveal with the keys of a keystore."""
        self._driver = driver
        self._keystore = keystore
        self._wall = wall
        self._due: dict[Duty, None] = {}
        self._failed: set[Duty] = set()
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
            if effect.phase in _SEALED_AS:
                self._note(effect.subject)

    def _note_all(self) -> None:
        for name in self._driver.world.rounds:
            self._note(name)

    def _note(self, name: RoundId) -> None:
        """Note all that is sealed in a round, that is listed and whose key is kept here.

        Not before this instance is settled: it may have forgotten what its agents said last, and
        to open something in a place of their chains that is taken would be a fork.
        """
        world = self._driver.world
        one = world.rounds.get(name)
        phase = one.phase if one else None
        if phase not in _SEALED_AS or not self._is_settled():
            return
        sealed, opening = _SEALED_AS[phase]
        said = world.log.by_round(name)
        authors = {record.author for record in said.get(sealed, ())}
        opened = {record.author for record in said.get(opening, ()) if _opens(record)}
        for agent in sorted(authors - opened):
            duty = name, agent, phase
            if self._keystore.has(agent) and duty not in self._failed:
                self._due[duty] = None
                self._filled.set()

    # Opening --------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Open what is noted, one at a time, for ever."""
        self._note_all()
        while True:
            while not self._due:
                self._filled = trio.Event()
                await self._filled.wait()
            # Others have their turns here too, however much room there is.
            await self._driver.has_room()
            duty = next(iter(self._due))
            del self._due[duty]
            self._open(duty)

    def _open(self, duty: Duty) -> None:
        world = self._driver.world
        name, agent, phase = duty
        may = authoring.may_unseal if phase is Phase.UNSEAL else custody.may_reveal
        # Much may have happened since it was noted.
        if not self._is_settled() or may(world, name, agent) is None:
            return
        open_own = authoring.unseal if phase is Phase.UNSEAL else custody.reveal
        try:
            keyring = keyring_of(world, self._keystore, agent)
            if keyring is None:
                return
            record = open_own(world, keyring, name, now=self._wall())
        except (FederationError, NodeError) as error:
            self._failed.add(duty)
            what = "argument" if phase is Phase.UNSEAL else "ballot"
            log.warning(
                f"{what}.stays_sealed", round=short(name), agent=short(agent), code=error.code
            )
            return
        self._driver.take(Arrived(records=(record,), peer=None))

    def _is_settled(self) -> bool:
        me = self._driver.world.me
        return me is None or me.settled


def _opens(record: Record) -> bool:
    """Tell an opened seal from arguments of the same round that were never sealed."""
    return not isinstance(record.body, Argue) or record.body.nonce is not None


def keyring_of(world: World, keystore: Keystore, agent: AgentId) -> Keyring | None:
    """Give the keys that sign for an agent, up to the one that its chain knows; None without."""
    heads = world.log.heads_of(agent)
    entry = world.log.entry(heads[-1][1]) if heads else None
    return keystore.keyring(agent, key_index=None if entry is None else entry.keys.key_index)
