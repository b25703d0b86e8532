"""The book of violations, levels and quarantines in the certified state, and its rows.

`Discipline` is one aggregate of the state, as `Joining` is; `discipline` and `discipline_tick` are
all that change it. Levels and quarantines move at ticks only. What follows from the rest is not in
the rows: it is found again when they are read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import msgspec

from federation.core import AgentId, Digest, OperatorId, RecordId, RoundId
from federation.crypto import Choice
from federation.records import Health
from federation.sanctions import Event, Quarantine, RuleId, Sample, Standing, Violation


class ViolationRow(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """One violation."""

    id: Digest
    agent: AgentId
    operator: OperatorId
    rule: RuleId
    points: int
    tick: int
    cause: Digest
    evidence: tuple[RecordId, ...]
    void: bool
    appeal: RecordId | None


class QuarantineRow(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """One quarantine."""

    agent: AgentId
    event: Event
    since: int
    until: int
    extended: int
    evidence: tuple[RecordId, ...]


class DisciplineRow(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, forbid_unknown_fields=True
):
    """The whole book as plain values, all by id; violations by tick, then id."""

    violations: tuple[ViolationRow, ...] = ()
    standings: tuple[tuple[AgentId, int, int, int, int], ...] = ()
    """Agent, level, since, own points, inherited ones."""
    quarantines: tuple[QuarantineRow, ...] = ()
    said: tuple[tuple[AgentId, Health, RecordId], ...] = ()
    repairs: tuple[tuple[AgentId, tuple[int, ...]], ...] = ()
    marks: tuple[tuple[AgentId, RuleId, tuple[int, ...]], ...] = ()
    samples: tuple[tuple[AgentId, tuple[tuple[RoundId, Choice, bool], ...]], ...] = ()
    settled: tuple[tuple[RoundId, bool], ...] = ()
    judged: tuple[AgentId, ...] = ()
    again: tuple[AgentId, ...] = ()
    charges: tuple[tuple[AgentId, Digest, tuple[AgentId, ...], int, int | None], ...] = ()
    """Agent, cause, who paid, tick, and when the agent had been found bad before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a ban has cost those who vouched for the agent: given back if it was wrong."""

    cause: Digest
    """What names it in the books: the violation that brought the ban."""
    paid: tuple[AgentId, ...]
    """Who has a row for it, ascending."""
    tick: int
    found_bad: int | None
    """When the agent had last been found bad before."""


@dataclass(slots=True, kw_only=True)
class Discipline:
    """Violations, and what follows from them."""

    violations: dict[Digest, Violation] = field(default_factory=dict)
    """All there ever were, void ones too, in the order of their ticks."""
    standings: dict[AgentId, Standing] = field(default_factory=dict)
    """Agents with a level or a point, as of the last tick."""
    quarantines: dict[AgentId, Quarantine] = field(default_factory=dict)
    said: dict[AgentId, tuple[Health, RecordId]] = field(default_factory=dict)
    """What operators have said of their agents since the last tick: the newest word of each."""
    repairs: dict[AgentId, tuple[int, ...]] = field(default_factory=dict)
    """Ticks at which operators said that an agent with a standing is repaired, ascending."""
    marks: dict[tuple[AgentId, RuleId], tuple[int, ...]] = field(default_factory=dict)
    """Ticks of what is a violation only if it is repeated in the window, ascending."""
    samples: dict[AgentId, dict[RoundId, Sample]] = field(default_factory=dict)
    """Votes of which later checks have told whether they were right, since the agent was last
    repaired or quarantined."""
    settled: dict[RoundId, bool] = field(default_factory=dict)
    """Rounds whose result was checked later, with whether the artifact stood then."""
    judged: set[AgentId] = field(default_factory=set)
    """Agents with a new sample since the last tick."""
    again: set[AgentId] = field(default_factory=set)
    """Agents whose whole way on the ladder is gone again at the next tick."""
    charges: dict[AgentId, Charge] = field(default_factory=dict)
    """Bans that stand, with what they have cost others."""
    of_agent: dict[AgentId, list[Digest]] = field(default_factory=dict, compare=False)
    """Violations of each agent, as they came. Not in the rows."""
    of_operator: dict[OperatorId, list[Digest]] = field(default_factory=dict, compare=False)
    """The same of each operator's agents. Not in the rows."""
    moving: set[AgentId] = field(default_factory=set, compare=False)
    """Agents that the next tick must look at: at least those with a new violation or a standing.
    Not in the rows; one too many changes nothing."""

    def add(self, one: Violation) -> bool:
        """Take a violation in; False if it costs nothing, or is known, and nothing has changed."""
        known = (self.violations[name] for name in self.of_agent.get(one.agent, ()))
        if not one.points or any((k.rule, k.cause) == (one.rule, one.cause) for k in known):
            return False
        self._keep(one)
        return True

    def find(self, name: Digest) -> Violation | None:
        """Give the violation with this id, void or not."""
        return self.violations.get(name)

    def of(self, agent: AgentId) -> list[Violation]:
        """List an agent's violations, void ones too, as they came."""
        return [self.violations[name] for name in self.of_agent.get(agent, ())]

    def change(self, one: Violation) -> None:
        """Put a violation that is known already as it is now."""
        self.violations[one.id] = one

    def note(self, agent: AgentId, rule: RuleId, tick: int, *, window: int) -> int:
        """Count one of those that are a violation only if repeated; give how many are in the window."""
        key = (agent, rule)
        kept = tuple(at for at in self.marks.get(key, ()) if tick - at < window)
        self.marks[key] = (*kept, tick)
        return len(kept) + 1

    def prune(self, tick: int, *, window: int) -> None:
        """Forget marks that no window can contain any more."""
        self.marks = {
            key: kept
            for key, ticks in self.marks.items()
            if (kept := tuple(at for at in ticks if tick - at < window))
        }

    def sampled(self, agent: AgentId, round_id: RoundId, sample: Sample, *, first: bool) -> None:
        """Note what was found out about a vote.

        `first` says that nothing was known about its round before; else a sample that is still
        kept is corrected, and one that is not does not come back.
        """
        kept = self.samples.setdefault(agent, {}) if first else self.samples.get(agent, {})
        if first or round_id in kept:
            kept[round_id] = sample
            self.judged.add(agent)

    def _keep(self, one: Violation) -> None:
        self.violations[one.id] = one
        self.of_agent.setdefault(one.agent, []).append(one.id)
        self.of_operator.setdefault(one.operator, []).append(one.id)
        self.moving.add(one.agent)

    def row(self) -> DisciplineRow:
        """Give all of it as one row of plain values, in one order."""
        ordered = sorted(self.violations.values(), key=lambda one: (one.tick, one.id))
        return DisciplineRow(
            violations=tuple(
                ViolationRow(
                    id=one.id,
                    agent=one.agent,
                    operator=one.operator,
                    rule=one.rule,
                    points=one.points,
                    tick=one.tick,
                    cause=one.cause,
                    evidence=one.evidence,
                    void=one.void,
                    appeal=one.appeal,
                )
                for one in ordered
            ),
            standings=tuple(
                (name, one.level, one.since, one.own, one.inherited)
                for name, one in sorted(self.standings.items())
            ),
            quarantines=tuple(
                QuarantineRow(
                    agent=name,
                    event=one.event,
                    since=one.since,
                    until=one.until,
                    extended=one.extended,
                    evidence=one.evidence,
                )
                for name, one in sorted(self.quarantines.items())
            ),
            said=tuple((name, *word) for name, word in sorted(self.said.items())),
            repairs=tuple(sorted(self.repairs.items())),
            marks=tuple((name, rule, at) for (name, rule), at in sorted(self.marks.items())),
            samples=tuple(_samples(self)),
            settled=tuple(sorted(self.settled.items())),
            judged=tuple(sorted(self.judged)),
            again=tuple(sorted(self.again)),
            charges=tuple(
                (name, one.cause, one.paid, one.tick, one.found_bad)
                for name, one in sorted(self.charges.items())
            ),
        )

    @classmethod
    def revived(cls, row: DisciplineRow) -> "Discipline":
        """Bring the book back that `row` wrote."""
        book = cls(
            standings={
                name: Standing(level=level, since=since, own=own, inherited=inherited)
                for name, level, since, own, inherited in row.standings
            },
            quarantines={
                one.agent: Quarantine(
                    event=one.event,
                    since=one.since,
                    until=one.until,
                    extended=one.extended,
                    evidence=one.evidence,
                )
                for one in row.quarantines
            },
            said={name: (state, record) for name, state, record in row.said},
            repairs=dict(row.repairs),
            marks={(name, rule): at for name, rule, at in row.marks},
            samples={
                name: {of: Sample(choice=choice, stood=stood) for of, choice, stood in kept}
                for name, kept in row.samples
            },
            settled=dict(row.settled),
            judged=set(row.judged),
            again=set(row.again),
            charges={
                name: Charge(cause=cause, paid=paid, tick=tick, found_bad=bad)
                for name, cause, paid, tick, bad in row.charges
            },
        )
        for one in row.violations:
            book._keep(
                Violation(
                    id=one.id,
                    agent=one.agent,
                    operator=one.operator,
                    rule=one.rule,
                    points=one.points,
                    tick=one.tick,
                    cause=one.cause,
                    evidence=one.evidence,
                    void=one.void,
                    appeal=one.appeal,
                )
            )
        book.moving |= book.standings.keys()
        return book

    def copy(self) -> "Discipline":
        """Give a book that may be changed: for a look at what a cut will come to."""
        return replace(
            self,
            violations=dict(self.violations),
            standings=dict(self.standings),
            quarantines=dict(self.quarantines),
            said=dict(self.said),
            repairs=dict(self.repairs),
            marks=dict(self.marks),
            samples={name: dict(kept) for name, kept in self.samples.items()},
            settled=dict(self.settled),
            judged=set(self.judged),
            again=set(self.again),
            charges=dict(self.charges),
            of_agent={name: list(kept) for name, kept in self.of_agent.items()},
            of_operator={name: list(kept) for name, kept in self.of_operator.items()},
            moving=set(self.moving),
        )


def _samples(
    book: Discipline,
) -> Iterator[tuple[AgentId, tuple[tuple[RoundId, Choice, bool], ...]]]:
    for name, kept in sorted(book.samples.items()):
        if kept:
            yield name, tuple((of, one.choice, one.stood) for of, one in sorted(kept.items()))
