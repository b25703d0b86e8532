"""Turns what happens into notices: from the feed of events, by one task, exactly once.

The feed is stored, so what is told of rounds is derived from it, event by event; what is told of
artifacts and sanctions is derived from what the world shows after a cut, compared with what was
last told. The notices of a batch of events, and how far that is, are one write: after a kill -9 the
database knows either both or neither, and the rest is derived again.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from itertools import islice
from typing import Final, Protocol, TypeAlias

from federation.artifacts import Artifact
from federation.certificates import Phase
from federation.core import AgentId, ArtifactId, InstanceId, Millis
from federation.protocol import Round, World
from federation.protocol.effects import Happening
from node.notification.mailboxes import Mailboxes
from node.notification.notices import Notices, condition_of
from node.store import SaveEvent, Store, Write
from node.store.notices import Noted, SaveCondition, SaveNotice
from node.telemetry import log

PAGE: Final = 64
"""Events that are turned into notices together."""
AT_ONCE: Final = 2_000
"""Notices of one write, give or take those of one event."""
_NEW: Final = ""
"""The state of an artifact of which nothing was told yet."""

Interested: TypeAlias = Callable[[World, ArtifactId], Awaitable[Iterable[AgentId]]]
"""Gives the agents whose offer to review matches an artifact."""
Sanctions: TypeAlias = Callable[[World, Notices, int], Iterable[SaveNotice]]
"""Gives the notices about sanctions since a tick."""


class Feed(Protocol):
    """What happens, numbered (`node.runtime.events`)."""

    @property
    def last(self) -> int:
        """Cursor of the newest event."""
        ...

    async def after(self, cursor: int, most: int) -> list[SaveEvent]:
        """Give the events after a cursor, oldest first."""
        ...

    async def wait(self, cursor: int) -> None:
        """Return once there is something newer than a cursor."""
        ...


class Noticing:
    """The one task that writes notices."""

    def __init__(
        self,
        *,
        world: Callable[[], World],
        instance: InstanceId,
        feed: Feed,
        store: Store,
        mailboxes: Mailboxes,
        flushed: Callable[[], Awaitable[None]],
        wall: Callable[[], Millis],
        interested: Interested,
        sanctions: Sanctions,
    ) -> None:
        """Tell the agents of an instance; `flushed` waits until what the world shows is durable."""
        self._world = world
        self._instance = instance
        self._feed = feed
        self._store = store
        self._mailboxes = mailboxes
        self._flushed = flushed
        self._wall = wall
        self._interested = interested
        self._sanctions = sanctions
        self._event = 0
        self._tick = 0
        self._conditions: dict[ArtifactId, SaveCondition] = {}
        self._ours: dict[ArtifactId, Artifact] = {}
        """Artifacts of this instance's agents, as they were when they were last looked at."""
        self._looked = 0
        """How many artifacts of the world were looked at whether they are ours."""

    async def run(self) -> None:
        """Tell for ever; begins where it was when the node stopped."""
        noted = await self._store.notices.noted()
        self._conditions = {one.artifact: one for one in await self._store.notices.conditions()}
        self._ours, self._looked = {}, 0
        if noted is None:
            await self._begin()
        else:
            self._event, self._tick = noted.event, noted.tick
        while True:
            newest = self._feed.last
            page = await self._feed.after(self._event, PAGE)
            if not page:
                # What lies between is no longer kept.
                self._event = max(self._event, newest)
                await self._feed.wait(self._event)
                continue
            if page[0].cursor > self._event + 1:
                # So much happened meanwhile that its events are gone: the open rounds stand for them.
                log.warning("notices.gap", events=page[0].cursor - self._event - 1)
                await self._write(await self._of_open_rounds(), page[0].cursor - 1)
            await self._tell(page)

    async def _begin(self) -> None:
        """Start on a store where nothing was told yet: of what is over, nothing is told."""
        event = self._feed.last
        self._tick = self._world().state.tick
        # Artifacts are known as they are now: only what changes from here on is told.
        known = [self._remember(artifact) for artifact in self._changed()]
        await self._write([*await self._of_open_rounds(), *known], event)

    # Deriving -------------------------------------------------------------------------------------

    async def _tell(self, page: list[SaveEvent]) -> None:
        """Write the notices of some events, and that they are written."""
        writes: list[Write] = []
        for event in page:
            writes += await self._of_event(event)
            if len(writes) >= AT_ONCE:
                await self._write(writes, event.cursor)
                writes = []
        await self._write(writes, page[-1].cursor)

    def _notices(self) -> Notices:
        return Notices(self._world(), self._instance, self._wall())

    async def _of_event(self, event: SaveEvent) -> list[Write]:
        one = self._world().rounds.get(event.subject)
        match event.event:
            case Happening.CUT:
                return list(self._of_cut())
            case Happening.ROUND if one is not None:
                return await self._of_opening(one)
            case Happening.PHASE if one is not None and event.phase in _PHASES:
                return [*self._notices().of_phase(one, Phase(event.phase))]
            case Happening.VERDICT if one is not None:
                return [*self._notices().of_verdict(one)]
            case _:
                return []

    async def _of_opening(self, one: Round) -> list[Write]:
        try:
            interested = await self._interested(self._world(), one.pin.artifact)
        except Exception as error:  # noqa: BLE001 # one text that cannot be compared must not stop all
            log.warning("notices.matching_failed", error=type(error).__name__)
            interested = one.pin.watchers
        return [*self._notices().of_opening(one, interested)]

    async def _of_open_rounds(self) -> list[Write]:
        """Tell of all rounds that are open, as if they and their phase had opened just now."""
        found: list[Write] = []
        for one in tuple(self._world().rounds.values()):
            if one.phase is not None:
                found += await self._of_opening(one)
                phase = one.phase
                found += self._notices().of_phase(one, phase) if phase else ()
        return found

    def _of_cut(self) -> Iterator[Write]:
        """Tell what a cut changed about artifacts and sanctions."""
        notices, state = self._notices(), self._world().state
        for artifact in self._changed():
            before = self._conditions.get(artifact.id) or SaveCondition(
                artifact=artifact.id, state=_NEW, flags=()
            )
            yield from notices.of_artifact(artifact, before)
            yield self._remember(artifact)
        if state.tick > self._tick:
            yield from self._sanctions(self._world(), notices, self._tick)
            self._tick = state.tick

    def _changed(self) -> Iterator[Artifact]:
        """Give our agents' artifacts whose condition is not the one that was last told."""
        artifacts = self._world().state.artifacts
        notices = self._notices()
        # Artifacts are only ever added, so each is looked at once to see whose it is.
        for name, artifact in islice(artifacts.items(), self._looked, None):
            self._looked += 1
            if notices.is_ours(artifact.author):
                self._ours[name] = artifact
                if self._conditions.get(name) != condition_of(artifact):
                    yield artifact
        for name, known in self._ours.items():
            artifact = artifacts.get(name, known)
            if artifact is not known:
                self._ours[name] = artifact
                if self._conditions.get(name) != condition_of(artifact):
                    yield artifact

    def _remember(self, artifact: Artifact) -> SaveCondition:
        condition = condition_of(artifact)
        self._conditions[artifact.id] = condition
        return condition

    # Writing --------------------------------------------------------------------------------------

    async def _write(self, writes: list[Write], event: int) -> None:
        """Make notices durable together with how far they go, and wake who waits for them."""
        # Nothing of the world may be told before it is durable itself.
        await self._flushed()
        await self._store.write([*writes, Noted(event=event, tick=self._tick)])
        self._event = event
        told: set[AgentId] = {one.agent for one in writes if isinstance(one, SaveNotice)}
        self._mailboxes.wake(told)


_PHASES: Final = frozenset(phase.value for phase in Phase)
