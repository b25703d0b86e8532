"""Links between instances: latency, loss, repetition, reordering, partitions, healing.

Every directed link draws from a stream of its own, so traffic on one link never changes what
happens on another. From `good_from` on nothing is lost or repeated and no gap is open: liveness is
promised only for such a network, safety for every one (design: federation, why it is right).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from federation.core import InstanceId, Lots, Millis, Ppm


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """How one directed link behaves."""

    shortest: Millis = 2
    longest: Millis = 20
    loss: Ppm = 0
    twice: Ppm = 0
    """How often a message arrives a second time."""
    reorders: bool = True
    """False: what was sent first arrives first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """From `start` until `end` nothing passes from `senders` to `receivers`."""

    start: Millis
    end: Millis
    senders: frozenset[InstanceId]
    receivers: frozenset[InstanceId]

    def stops(self, sender: InstanceId, receiver: InstanceId, now: Millis) -> bool:
        """Tell whether a message sent now is stopped."""
        return (
            self.start <= now < self.end and sender in self.senders and receiver in self.receivers
        )


def partition(
    start: Millis, end: Millis, groups: Sequence[Iterable[InstanceId]]
) -> tuple[Gap, ...]:
    """Separate groups of instances from each other for a while."""
    sets = [frozenset(group) for group in groups]
    return tuple(
        Gap(start=start, end=end, senders=one, receivers=other)
        for one in sets
        for other in sets
        if one is not other
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """How the whole network behaves."""

    line: Line = field(default_factory=Line)
    lines: Mapping[tuple[InstanceId, InstanceId], Line] = field(default_factory=dict)
    """Links that behave differently, as (sender, receiver)."""
    gaps: tuple[Gap, ...] = ()
    good_from: Millis = 0
    """From then on nothing is lost or repeated, and no gap is open."""


class Links:
    """All links of a network, seeded."""

    def __init__(self, seed: str, weather: Weather) -> None:
        """Draw from `seed`."""
        self.weather = weather
        self._seed = seed
        self._lots: dict[tuple[InstanceId, InstanceId], Lots] = {}
        self._latest: dict[tuple[InstanceId, InstanceId], Millis] = {}

    def arrivals(self, sender: InstanceId, receiver: InstanceId, now: Millis) -> tuple[Millis, ...]:
        """Tell when the copies of a message sent now arrive: none, one or two."""
        weather = self.weather
        line = weather.lines.get((sender, receiver), weather.line)
        lots = self._stream(sender, receiver)
        first = self._arrival(
            sender, receiver, now + lots.between(line.shortest, line.longest), line
        )
        if now >= weather.good_from:
            return (first,)
        if any(gap.stops(sender, receiver, now) for gap in weather.gaps) or (
            line.loss and lots.chance(line.loss)
        ):
            return ()
        if line.twice and lots.chance(line.twice):
            return (first, now + lots.between(line.shortest, 2 * line.longest))
        return (first,)

    def _stream(self, sender: InstanceId, receiver: InstanceId) -> Lots:
        lots = self._lots.get((sender, receiver))
        if lots is None:
            lots = Lots(self._seed, "link", sender.hex(), receiver.hex())
            self._lots[sender, receiver] = lots
        return lots

    def _arrival(self, sender: InstanceId, receiver: InstanceId, at: Millis, line: Line) -> Millis:
        if line.reorders:
            return at
        at = max(at, self._latest.get((sender, receiver), 0))
        self._latest[sender, receiver] = at
        return at
