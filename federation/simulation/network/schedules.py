"""Random scenarios from a seed: links, partitions, crashes, clocks, and one liar of a drawn kind.

`draw(seed)` is a pure function, so a failure is repeated by its seed alone. Chaos lasts for the
first seconds; then links are good and, if a quorum of honest members is left, everything must
come to rest. With n = 2 and 3 (strict) a liar can stop progress, but never split the others.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from federation.certificates import CertificatePacket, MessagePacket, packet_from_bytes
from federation.core import InstanceId, Lots, Millis, Ppm
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.records import Stance
from federation.simulation.network.adversaries import (
    CertificateWithholder,
    Disowner,
    DoubleVoter,
    EquivocatingHome,
    FenceRaiser,
    ForgedMembers,
    InventedIds,
    LateFeeder,
    LateForker,
    LateVoter,
    Liar,
    LockDenier,
    LockIgnorer,
    LockInventor,
    LockWithholder,
    RolledBack,
    SelectiveLeader,
    StallingLeader,
    Twins,
)
from federation.simulation.network.agents import View
from federation.simulation.network.community import Community, community
from federation.simulation.network.letters import Packet, Sent
from federation.simulation.network.links import Gap, Line, Weather, partition
from federation.simulation.network.monitors.votes import read
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest, watched

CHAOS: Final[Millis] = 3_000
"""How long the network is bad at most."""
LONG: Final[Millis] = 30_000
"""Virtual time after which a run that should have come to rest has failed."""
_THREE: Final = 3
_MUTED: Final[Ppm] = 750_000
"""Of muted packets, how many are dropped."""

ANY: Final = "any"
"""Asks `draw` for a liar of any kind, or for nobody now and then."""
LIAR: Final = "liar"
"""Asks `draw` for a liar of any kind wherever one may lie."""
NOBODY: Final = "none"
"""Asks `draw` for honest members only."""

Kind = Callable[[Community, int, Lots], Liar]


def _others(there: Community, liar: int) -> list[int]:
    return [place for place in range(len(there.instances)) if place != liar]


def _agent(there: Community, liar: int) -> int:
    return there.homes.index(liar)


def _half(there: Community, liar: int, lots: Lots) -> frozenset[int]:
    others = _others(there, liar)
    return frozenset(lots.sample(others, lots.between(1, max(1, len(others) - 1))))


def _equivocating_home(there: Community, liar: int, lots: Lots) -> Liar:
    others = _others(there, liar)
    victim = lots.pick(others)
    rest = [place for place in others if place != victim]
    return EquivocatingHome(frozenset(rest[: max(1, len(rest) // 2)]), victim)


KINDS: Final[Mapping[str, Kind]] = {
    "twins": lambda there, liar, lots: Twins(_half(there, liar, lots)),
    "equivocating-home": _equivocating_home,
    "lock-ignorer": lambda _there, _liar, _lots: LockIgnorer(),
    "lock-inventor": lambda _there, _liar, _lots: LockInventor(),
    "selective-leader": lambda _there, _liar, _lots: SelectiveLeader(),
    "stalling-leader": lambda _there, _liar, _lots: StallingLeader(),
    "lock-withholder": lambda _there, _liar, _lots: LockWithholder(),
    "lock-denier": lambda _there, _liar, _lots: LockDenier(),
    "fence-raiser": lambda _there, _liar, _lots: FenceRaiser(),
    "invented-ids": lambda _there, _liar, _lots: InventedIds(),
    "certificate-withholder": lambda there, liar, lots: CertificateWithholder(
        lots.pick(_others(there, liar))
    ),
    "forged-members": lambda there, liar, lots: ForgedMembers(lots.pick(_others(there, liar))),
    "late-feeder": lambda there, liar, lots: LateFeeder(lots.pick(_others(there, liar))),
    "disowner": lambda there, liar, _lots: Disowner(there.instances[liar]),
    "late-voter": lambda there, liar, _lots: LateVoter(
        there.founding.agents[_agent(there, liar)], there.agents[_agent(there, liar)]
    ),
    "late-forker": lambda there, liar, _lots: LateForker(
        there.founding.agents[_agent(there, liar)], there.agents[_agent(there, liar)]
    ),
    "double-voter": lambda there, liar, _lots: DoubleVoter(
        there.founding.agents[_agent(there, liar)], there.agents[_agent(there, liar)]
    ),
    "rolled-back": lambda _there, _liar, lots: RolledBack(
        taken=lots.between(300, 1_000),
        lost=lots.between(1_000, 2_000),
        careless=lots.chance(500_000),
    ),
}
"""Every kind of liar by name: built for a community, the liar's place, and a stream of draws."""


class Opinionated:
    """A policy with some of everything, drawn from a seed by agent and round."""

    def __init__(self, seed: int) -> None:
        """Draw opinions from `seed`."""
        self._seed = seed

    def objection(self, view: View) -> Reason | None:
        """Object now and then."""
        return Reason.UNCLEAR if self._lots(view).chance(200_000) else None

    def argument(self, view: View) -> tuple[Stance, str] | None:
        """Argue now and then."""
        if self._lots(view).chance(300_000):
            return Stance.NEUTRAL, "It depends on what is meant."
        return None

    def ballot(self, view: View) -> Ballot | None:
        """Vote for it more often than against it, or stay away."""
        draw = self._lots(view).below(10)
        if draw == 0:
            return None
        choice = Choice.FOR if draw < 7 else Choice.AGAINST  # noqa: PLR2004 # six of nine
        return Ballot(choice, Reason.ACCURATE, Basis.MEMORY)

    def _lots(self, view: View) -> Lots:
        return Lots(self._seed, "opinion", view.index, view.round.pin.artifact.hex())


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Everything about one run."""

    seed: int
    members: int
    three_available: bool
    kind: str | None
    """The liar's kind; None if everybody is honest."""
    liar: int
    """The liar's place in the founding; of no meaning without one."""
    weather: Weather
    clocks: Mapping[int, Millis]
    crashes: tuple[tuple[Millis, int, Millis], ...]
    """When, who, for how long."""
    jumps: tuple[tuple[Millis, int, Millis], ...]
    """When, whose clock, by how much."""
    proposals: tuple[tuple[Millis, int], ...]
    """When, and which agent."""
    picky: Ppm = 0
    """Of letters to one victim at a time, how many are dropped until links are good."""
    muted: str | None = None
    """Packets of this kind are mostly dropped until links are good: it drives fences up."""

    @property
    def there(self) -> Community:
        """Give the community."""
        return community(
            self.members,
            agents=max(5, self.members),
            three_available=self.three_available,
            timing=TIMING,
            review=REVIEW,
        )

    @property
    def promises_progress(self) -> bool:
        """A quorum of honest members is left."""
        return self.kind is None or self.members > _THREE

    @property
    def size(self) -> str:
        """Say how many members there are, and for three what they chose."""
        if self.members != _THREE:
            return str(self.members)
        return f"{self.members} {'available' if self.three_available else 'strict'}"

    @property
    def replay(self) -> str:
        """Give the command that repeats exactly this run and prints its transcript."""
        return (
            f".venv/bin/python -m benchmarks.simnet --seeds {self.seed} --n {self.members} "
            f"--kind {self.kind or NOBODY} --transcript"
        )

    def __str__(self) -> str:
        """Say in one line what this is."""
        liar = f"{self.kind} at i{self.liar}" if self.kind else "all honest"
        return (
            f"seed {self.seed}: n = {self.size}, {liar}, "
            f"{len(self.weather.gaps)} gaps, {len(self.crashes)} crashes, {len(self.jumps)} jumps"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a run without a violation."""

    at_rest: bool
    """All honest instances agree, and every artifact is decided."""
    ended: Millis
    events: int
    transcript_hash: str
    counters: Mapping[str, int]


def draw(seed: int, *, members: int | None = None, kind: str = ANY) -> Scenario:
    """Draw a scenario; `members` and `kind` fix what is not to be drawn.

    `kind` is a name in `KINDS`, or `ANY`, `LIAR` or `NOBODY`. Every second seed of three members
    is of three that chose availability. Nobody lies among these, for with a liar nothing is
    promised to them, and nobody lies alone; a kind asked for by name makes three strict.
    """
    lots = Lots("schedule", seed)
    drawn_members, drawn_kind = lots.pick((1, 2, 3, 3, 4, 4, 4, 7)), lots.pick(tuple(KINDS))
    n = members or drawn_members
    available = n == _THREE and seed % 2 == 1 and kind not in KINDS
    liar = lots.below(n)
    # Drawn whether it is needed or not: what comes after must not depend on what was asked for.
    lies = lots.chance(900_000)
    if kind == ANY:
        kind = drawn_kind if lies else NOBODY
    elif kind == LIAR:
        kind = drawn_kind
    may_lie = n > 1 and not available and kind != NOBODY
    there = community(n, agents=max(5, n), three_available=available, timing=TIMING, review=REVIEW)
    end = lots.between(1_000, CHAOS)
    return Scenario(
        seed=seed,
        members=n,
        three_available=available,
        kind=kind if may_lie else None,
        liar=liar,
        weather=_weather(lots, there.founding.instances, end),
        clocks={place: lots.below(5_000) for place in range(n)},
        crashes=tuple(
            (lots.below(end), lots.below(n), lots.between(50, 800)) for _ in range(lots.below(3))
        ),
        jumps=tuple(
            (lots.below(end), lots.below(n), lots.between(-400, 1_000))
            for _ in range(lots.below(2))
        ),
        proposals=((lots.between(10, 300), lots.below(len(there.homes))),),
        picky=lots.pick((0, 0, 300_000, 900_000)),
        muted=lots.pick((None, None, "seal", "cosign", "propose")),
    )


def _weather(lots: Lots, instances: Sequence[InstanceId], end: Millis) -> Weather:
    line = Line(
        shortest=lots.between(1, 10),
        longest=lots.between(10, 80),
        loss=lots.pick((0, 20_000, 100_000, 250_000)),
        twice=lots.pick((0, 50_000)),
        reorders=lots.chance(800_000),
    )
    gaps: tuple[Gap, ...] = ()
    if len(instances) > 1:
        for _ in range(lots.below(3)):
            start = lots.below(end)
            side = lots.sample(instances, lots.between(1, len(instances) - 1))
            rest = [one for one in instances if one not in side]
            gaps += partition(start, start + lots.between(100, 1_500), (side, rest))
    return Weather(line=line, gaps=gaps, good_from=end)


def build(scenario: Scenario, *, keeps_lines: bool = False) -> SimNetwork:
    """Set the network of a scenario up, with everything that will happen to it planned."""
    there = scenario.there
    conducts = {}
    if scenario.kind is not None:
        lots = Lots("liar", scenario.seed)
        conducts[scenario.liar] = KINDS[scenario.kind](there, scenario.liar, lots)
    network = watched(
        there,
        seed=str(scenario.seed),
        weather=scenario.weather,
        conducts=conducts,
        clocks=scenario.clocks,
        policy=Opinionated(scenario.seed),
        censor=_censor(scenario),
        demands_progress=scenario.promises_progress,
        keeps_lines=keeps_lines,
    )
    network.start()
    for when, who, down_for in scenario.crashes:
        network.at(when, lambda who=who, down=down_for: network.node(who).crash(down_for=down))  # type: ignore[misc]
    for when, who, by in scenario.jumps:
        network.at(when, lambda who=who, by=by: network.node(who).jump_clock(by))  # type: ignore[misc]
    for when, who in scenario.proposals:
        network.at(when, lambda who=who: _propose(network, who))  # type: ignore[misc]
        network.at(when, lambda who=who: _vouch(network, who))  # type: ignore[misc]
    return network


def _propose(network: SimNetwork, who: int) -> None:
    """Propose, and try again while the agent's instance is down."""
    if network.propose(who) is None:
        network.timeline.after(100, lambda: _propose(network, who))


def _vouch(network: SimNetwork, who: int) -> None:
    """Vouch for whom comes next, so that a tick has trust to reckon; not while the instance is down.

    The last vouches for nobody: vouches in a circle are refused.
    """
    other = who + 1
    if other < len(network.agents):
        network.vouch(who, other, 100 + who)


def _censor(scenario: Scenario) -> Callable[[Sent], bool] | None:
    """Drop most of what goes to one instance at a time, and most packets of the muted kind.

    Which instance that is changes every 60 letters.
    """
    if not scenario.picky and scenario.muted is None:
        return None
    lots = Lots("censor", scenario.seed)
    instances = scenario.there.founding.instances
    seen = itertools.count()
    victim = [instances[0]]

    def drops(sent: Sent) -> bool:
        if next(seen) % 60 == 0:
            victim[0] = lots.pick(instances)
        if sent.receiver == victim[0] and lots.chance(scenario.picky):
            return True
        return _is_muted(sent, scenario.muted) and lots.chance(_MUTED)

    return drops


def _is_muted(sent: Sent, muted: str | None) -> bool:
    """Tell whether a letter is a packet of the muted kind; certificates go with the seals."""
    if muted is None or not isinstance(sent.letter, Packet):
        return False
    match packet_from_bytes(sent.letter.packet).packet:
        case MessagePacket(raw=raw):
            said = read(raw)
            return said is not None and said.step == muted
        case CertificatePacket():
            return muted == "seal"
        case _:
            return False


def run(scenario: Scenario, *, keeps_lines: bool = False) -> Outcome:
    """Run a scenario to its end; raises Violation if a monitor finds anything."""
    return finish(build(scenario, keeps_lines=keeps_lines), scenario)


def finish(network: SimNetwork, scenario: Scenario) -> Outcome:
    """Run a network that was built for a scenario to its end."""
    good = scenario.weather.good_from
    network.run_until(good)
    artifacts = len(scenario.proposals)
    if scenario.promises_progress:
        network.run_until(lambda: is_at_rest(network, artifacts=artifacts), most=LONG)
        # A little longer: what comes late must change nothing.
        network.run_until(network.now + 400)
        network.run_until(lambda: is_at_rest(network, artifacts=artifacts), most=LONG)
    else:
        network.run_until(good + 3_000)
    network.finish()
    return Outcome(
        at_rest=is_at_rest(network, artifacts=artifacts),
        ended=network.now,
        events=network.counters["events"],
        transcript_hash=network.transcript.hash,
        counters=dict(network.counters),
    )
