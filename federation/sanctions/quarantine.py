"""Broken is not malicious: the quarantine, as one table (design: sanctions).

An agent whose operator says that it is broken, or whose votes later checks find to be chance, weighs
nothing for a while and gets no points. It ends when the operator says that it is repaired, or when
its time is over; after the last extension that is a conduct violation, and the ladder takes over.

A fork is handled where identities are: it bars until it is settled.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from federation.charter import Sanctions
from federation.core import RecordId


class Condition(StrEnum):
    """How an agent is taken to be."""

    HEALTHY = "healthy"
    QUARANTINED = "quarantined"


class Event(StrEnum):
    """What can move it."""

    BROKEN = "broken"
    """Its operator says so."""
    RANDOM = "random"
    """Its votes are chance, by what later checks found."""
    REPAIRED = "repaired"
    """Its operator says so."""
    TIME_OVER = "time_over"
    """The quarantine has lasted its time, and may be extended."""
    RUN_OUT = "run_out"
    """It has lasted its time, and all extensions: a violation."""


TABLE: Final[Mapping[tuple[Condition, Event], Condition]] = {
    (Condition.HEALTHY, Event.BROKEN): Condition.QUARANTINED,
    (Condition.HEALTHY, Event.RANDOM): Condition.QUARANTINED,
    (Condition.QUARANTINED, Event.REPAIRED): Condition.HEALTHY,
    (Condition.QUARANTINED, Event.TIME_OVER): Condition.QUARANTINED,
    (Condition.QUARANTINED, Event.RUN_OUT): Condition.HEALTHY,
}
"""Allowed moves; what is absent changes nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """One agent's quarantine."""

    event: Event
    """What began it: `broken` or `random`."""
    since: int
    """Tick at which it began."""
    until: int
    """Tick at which its time is over."""
    extended: int = 0
    """How often it was extended."""
    evidence: tuple[RecordId, ...] = ()
    """The operator's word, or the rounds whose votes were checked."""


def condition(quarantine: Quarantine | None) -> Condition:
    """Name the condition of an agent."""
    return Condition.HEALTHY if quarantine is None else Condition.QUARANTINED


def timed_out(quarantine: Quarantine, *, tick: int, rules: Sanctions) -> Event | None:
    """Tell what the time does to a quarantine at a tick: nothing, an extension, or the end."""
    if tick < quarantine.until:
        return None
    return Event.TIME_OVER if quarantine.extended < rules.extensions else Event.RUN_OUT


def after(
    quarantine: Quarantine | None,
    event: Event,
    *,
    tick: int,
    evidence: tuple[RecordId, ...] = (),
    rules: Sanctions,
) -> Quarantine | None:
    """Give the quarantine after an event; a row that is missing changes nothing."""
    to = TABLE.get((condition(quarantine), event))
    if to is None:
        return quarantine
    if to is Condition.HEALTHY:
        return None
    if quarantine is None:
        return Quarantine(event=event, since=tick, until=tick + rules.quarantine, evidence=evidence)
    return Quarantine(
        event=quarantine.event,
        since=quarantine.since,
        until=tick + rules.quarantine,
        extended=quarantine.extended + 1,
        evidence=quarantine.evidence,
    )
