"""Beta reputation: the fold of evidence, with farming caps and decay (§2.3, §4.5).

`r = alpha / (alpha + beta)` with the prior (1,1) in both. Per subject the rows stand in one order,
that of `Evidence`, which no arrival order can change; then, in this order:

1. a row counts `D / (D+n)`, n its pair's earlier rows in the window (pair: source, subject);
2. positive sums per (source, tick) are cut at `farm_source_cap`;
3. positive sums per tick are cut at what `farm_cap` leaves after the earlier ticks in the window;
4. sums per tick fade with their age (`decay`) beyond the prior.

Rows older than the window keep counting, faded; they no longer use up a cap. Evidence that comes
late is put in its place and what lies behind it is folded again.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

from federation.charter import Trust
from federation.core import MILLION, AgentId, Micro, OperatorId, Ppm
from federation.trust.decay import Decay
from federation.trust.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Reputation:
    """What the evidence says about one agent at one tick."""

    r: Ppm
    """Mean of the Beta distribution; half a million without evidence."""
    interactions: int
    """Outcomes so far; an outcome split over several operators is one."""
    alpha: Micro
    """Positive evidence faded to this tick, plus the prior."""
    beta: Micro
    """Negative evidence faded to this tick, plus the prior."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecayed:
    """Sums of evidence as they stand in a row of the world digest."""

    alpha: Micro
    """Credited positive evidence without decay, plus the prior."""
    beta: Micro
    """Counted negative evidence without decay, plus the prior."""
    tick: int | None
    """Tick of the newest row, None if there is none."""


@dataclass(slots=True, kw_only=True)
class _Account:
    """One subject: its rows in order, and the fold as far as it has been made."""

    rows: list[Evidence] = field(default_factory=list)
    ticks: list[int] = field(default_factory=list)
    """Folded ticks, rising; `positive`, `negative` and `outcomes` run beside it."""
    positive: list[Micro] = field(default_factory=list)
    negative: list[Micro] = field(default_factory=list)
    outcomes: list[int] = field(default_factory=list)
    """Outcomes so far, up to and with each tick."""
    folded: int = 0
    """How many rows the fold contains: always whole ticks."""
    pairs: dict[OperatorId, list[int]] = field(default_factory=dict)
    """Ticks of folded rows by source, rising."""

    def insert(self, row: Evidence) -> None:
        """Put a row in its place and undo the fold from its tick on."""
        place = bisect_right(self.ticks, row.tick - 1)
        if place < len(self.ticks):
            for run in (self.ticks, self.positive, self.negative, self.outcomes):
                del run[place:]
            for seen in self.pairs.values():
                del seen[bisect_right(seen, row.tick - 1) :]
            self.folded = bisect_right(self.rows, row.tick - 1, key=lambda kept: kept.tick)
        insort(self.rows, row)


class Ledger:
    """All evidence of a realm by subject; a pure function of the rows and the charter."""

    def __init__(self, trust: Trust) -> None:
        """Keep books under the charter's section on trust."""
        self._trust = trust
        self._decay = Decay(trust.decay)
        self._accounts: dict[AgentId, _Account] = {}

    def add(self, rows: Iterable[Evidence]) -> None:
        """Take rows in, in any order; each row once, since equal rows count twice."""
        for row in rows:
            self._accounts.setdefault(row.subject, _Account()).insert(row)

    def rows(self, subject: AgentId) -> tuple[Evidence, ...]:
        """List a subject's rows in the order in which they are folded."""
        account = self._accounts.get(subject)
        return tuple(account.rows) if account is not None else ()

    def standing(self, subject: AgentId, tick: int) -> Reputation:
        """Compute reputation at a tick, from the rows at or before it."""
        alpha = beta = MILLION
        interactions = 0
        account = self._folded(subject)
        if account is not None:
            known = bisect_right(account.ticks, tick)
            interactions = account.outcomes[known - 1] if known else 0
            for at in range(known - 1, -1, -1):
                factor = self._decay.factor(tick - account.ticks[at])
                if not factor:
                    break
                alpha += account.positive[at] * factor >> 32
                beta += account.negative[at] * factor >> 32
        return Reputation(
            r=alpha * MILLION // (alpha + beta), interactions=interactions, alpha=alpha, beta=beta
        )

    def undecayed(self, subject: AgentId) -> Undecayed:
        """Give the sums without decay and their newest tick, for the world digest."""
        account = self._folded(subject)
        if account is None:
            return Undecayed(alpha=MILLION, beta=MILLION, tick=None)
        return Undecayed(
            alpha=MILLION + sum(account.positive),
            beta=MILLION + sum(account.negative),
            tick=account.ticks[-1],
        )

    def _folded(self, subject: AgentId) -> _Account | None:
        account = self._accounts.get(subject)
        if account is not None:
            waiting = account.rows[account.folded :]
            for tick, rows in groupby(waiting, key=lambda row: row.tick):
                self._fold_tick(account, tick, list(rows))
        return account

    def _fold_tick(self, account: _Account, tick: int, rows: list[Evidence]) -> None:
        oldest = tick - self._trust.window
        by_source: dict[OperatorId, Micro] = {}
        negative = 0
        for row in rows:
            seen = account.pairs.setdefault(row.source, [])
            earlier = len(seen) - bisect_right(seen, oldest)
            earned = self._discounted(row.positive, earlier)
            by_source[row.source] = by_source.get(row.source, 0) + earned
            negative += self._discounted(row.negative, earlier)
            seen.append(tick)
        earned = sum(min(sum_, self._trust.farm_source_cap) for sum_ in by_source.values())
        used = sum(account.positive[bisect_right(account.ticks, oldest) :])
        account.ticks.append(tick)
        account.positive.append(min(earned, self._trust.farm_cap - used))
        account.negative.append(negative)
        before = account.outcomes[-1] if account.outcomes else 0
        account.outcomes.append(before + len({(row.cause, row.kind) for row in rows}))
        account.folded += len(rows)

    def _discounted(self, amount: Micro, earlier: int) -> Micro:
        slack = self._trust.pair_discount
        return amount * slack // (slack + earlier)
