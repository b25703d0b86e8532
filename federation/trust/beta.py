"""Beta reputation: the fold of evidence, with farming caps and decay (§2.3, §4.5).

`r = alpha / (alpha + beta)` with the prior (1,1) in both. Per subject the rows stand in one order,
that of `Evidence`, which no arrival order can change; then, in this order:

1. a row counts `D / (D+n)`, n its pair's earlier rows in the window (pair: source, subject);
2. positive sums per (source, tick) are cut at `farm_source_cap`;
3. positive sums per tick are cut at what `farm_cap` leaves after the earlier ticks in the window;
4. sums per tick fade with their age (`decay`) beyond the prior.

Rows older than the window keep counting, faded; they no longer use up a cap. Evidence that comes
late is put in its place and what lies behind it is folded again. When another charter comes into
force, rows keep their amounts, and discount, caps and decay of all of them are its own (`under`):
the books depend on the rows and on the charter in force, not on the charters before it. A row that is withdrawn counts as
if it had never been: it uses up no cap, discounts no other row and is no interaction, and whether
the row or its withdrawal comes first makes no difference.
"""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from federation.charter import Trust
from federation.core import MILLION, AgentId, Digest, Micro, OperatorId, Ppm
from federation.trust.decay import Decay
from federation.trust.evidence import Evidence, EvidenceKind, Withdrawal
from federation.trust.explain import Entry, discounted, explain


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
    """Folded ticks, rising; `positive`, `negative`, `liable` and `outcomes` run beside it."""
    positive: list[Micro] = field(default_factory=list)
    negative: list[Micro] = field(default_factory=list)
    liable: list[Micro] = field(default_factory=list)
    """What of the negative is liability: nobody's own doing."""
    outcomes: list[int] = field(default_factory=list)
    """Outcomes so far, up to and with each tick."""
    folded: int = 0
    """How many rows the fold contains: always whole ticks."""
    pairs: dict[OperatorId, list[int]] = field(default_factory=dict)
    """Ticks of folded rows by source, rising."""

    def insert(self, row: Evidence) -> None:
        """Put a row in its place and undo the fold from its tick on."""
        self._unfold(row.tick)
        insort(self.rows, row)

    def remove(self, taken: Collection[tuple[Digest, EvidenceKind]]) -> None:
        """Take rows of these causes and kinds out and undo the fold from the first one's tick on."""
        kept = [row for row in self.rows if (row.cause, row.kind) not in taken]
        if len(kept) < len(self.rows):
            self._unfold(next(r.tick for r in self.rows if (r.cause, r.kind) in taken))
            self.rows = kept

    def unfold(self) -> None:
        """Undo the whole fold."""
        if self.ticks:
            self._unfold(self.ticks[0])

    def _unfold(self, tick: int) -> None:
        place = bisect_right(self.ticks, tick - 1)
        if place < len(self.ticks):
            for run in (self.ticks, self.positive, self.negative, self.liable, self.outcomes):
                del run[place:]
            for seen in self.pairs.values():
                del seen[bisect_right(seen, tick - 1) :]
            self.folded = bisect_right(self.rows, tick - 1, key=lambda kept: kept.tick)


class Ledger:
    """All evidence of a realm by subject; a pure function of the rows and the charter."""

    def __init__(self, trust: Trust) -> None:
        """Keep books under the charter's section on trust."""
        self._trust = trust
        self._decay = Decay(trust.decay)
        self._accounts: dict[AgentId, _Account] = {}
        self._withdrawn: dict[AgentId, set[tuple[Digest, EvidenceKind]]] = {}

    def under(self, trust: Trust) -> None:
        """Go on under another charter's section on trust: every row is folded again by it."""
        self._trust = trust
        self._decay = Decay(trust.decay)
        for account in self._accounts.values():
            account.unfold()

    def add(self, rows: Iterable[Evidence]) -> None:
        """Take rows in, in any order; each row once, since equal rows count twice.

        A row that is withdrawn already is left out.
        """
        for row in rows:
            if (row.cause, row.kind) not in self._withdrawn.get(row.subject, ()):
                self._accounts.setdefault(row.subject, _Account()).insert(row)

    def withdraw(self, withdrawals: Iterable[Withdrawal]) -> None:
        """Take rows back for good, those that are here and those that come later.

        A withdrawal is final; one that is repeated changes nothing.
        """
        by_subject: dict[AgentId, set[tuple[Digest, EvidenceKind]]] = {}
        for one in withdrawals:
            by_subject.setdefault(one.subject, set()).add((one.cause, one.kind))
        for subject, taken in by_subject.items():
            self._withdrawn.setdefault(subject, set()).update(taken)
            account = self._accounts.get(subject)
            if account is not None:
                account.remove(taken)
                if not account.rows:
                    del self._accounts[subject]

    def withdrawn(self) -> tuple[Withdrawal, ...]:
        """List all withdrawals, sorted; with all `rows` they are the whole ledger."""
        return tuple(
            sorted(
                Withdrawal(cause=cause, kind=kind, subject=subject)
                for subject, taken in self._withdrawn.items()
                for cause, kind in taken
            )
        )

    def rows(self, subject: AgentId) -> tuple[Evidence, ...]:
        """List a subject's rows that count, in the order in which they are folded."""
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

    def own_r(self, subject: AgentId, tick: int) -> Ppm:
        """Give what `standing` would call r if the subject answered for nobody.

        Rows of liability still discount others of their source: none of it reads a row anew.
        """
        account = self._folded(subject)
        whole = self.standing(subject, tick)
        beta = whole.beta
        if account is not None:
            for at in range(bisect_right(account.ticks, tick) - 1, -1, -1):
                factor = self._decay.factor(tick - account.ticks[at])
                if not factor:
                    break
                own = account.negative[at] - account.liable[at]
                beta += (own * factor >> 32) - (account.negative[at] * factor >> 32)
        return whole.alpha * MILLION // (whole.alpha + beta)

    def own_negative(self, subject: AgentId, *, after: int) -> Micro:
        """Add up what counts against a subject since a tick, but for liability; it does not fade."""
        account = self._folded(subject)
        if account is None:
            return 0
        first = bisect_right(account.ticks, after)
        return sum(account.negative[first:]) - sum(account.liable[first:])

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

    def explain(self, subject: AgentId, tick: int) -> tuple[Entry, ...]:
        """Tell what each row brings at a tick: added to the prior they are `standing`, exactly.

        This folds all rows anew: for readers, not for every agent at every tick.
        """
        return explain(self.rows(subject), trust=self._trust, decay=self._decay, tick=tick)

    def by_topic(self, subject: AgentId, tick: int) -> dict[str, Reputation]:
        """Compute reputation by top topic, sorted; each begins with a prior of its own.

        A row brings its topic what it brings `standing`: discount and caps look at all topics
        together, or spreading over topics would be a way around them. For readers: no weight looks
        at it. Rows without a topic are under the empty name.
        """
        by_topic: dict[str, list[Entry]] = {}
        for entry in self.explain(subject, tick):
            by_topic.setdefault(entry.evidence.topic, []).append(entry)
        return {topic: _reputation(by_topic[topic]) for topic in sorted(by_topic)}

    def _folded(self, subject: AgentId) -> _Account | None:
        account = self._accounts.get(subject)
        if account is not None:
            waiting = account.rows[account.folded :]
            for tick, rows in groupby(waiting, key=lambda row: row.tick):
                self._fold_tick(account, tick, list(rows))
        return account

    def _fold_tick(self, account: _Account, tick: int, rows: list[Evidence]) -> None:
        oldest, slack = tick - self._trust.window, self._trust.pair_discount
        by_source: dict[OperatorId, Micro] = {}
        negative = liable = 0
        for row in rows:
            seen = account.pairs.setdefault(row.source, [])
            earlier = len(seen) - bisect_right(seen, oldest)
            earned = discounted(row.positive, earlier=earlier, slack=slack)
            by_source[row.source] = by_source.get(row.source, 0) + earned
            against = discounted(row.negative, earlier=earlier, slack=slack)
            negative += against
            liable += against if row.kind is EvidenceKind.LIABILITY else 0
            seen.append(tick)
        earned = sum(min(sum_, self._trust.farm_source_cap) for sum_ in by_source.values())
        used = sum(account.positive[bisect_right(account.ticks, oldest) :])
        account.ticks.append(tick)
        account.positive.append(min(earned, self._trust.farm_cap - used))
        account.negative.append(negative)
        account.liable.append(liable)
        before = account.outcomes[-1] if account.outcomes else 0
        account.outcomes.append(before + len({(row.cause, row.kind) for row in rows}))
        account.folded += len(rows)


def _reputation(entries: Sequence[Entry]) -> Reputation:
    """Add entries to the prior."""
    alpha = MILLION + sum(entry.positive for entry in entries)
    beta = MILLION + sum(entry.negative for entry in entries)
    rows = (entry.evidence for entry in entries)
    return Reputation(
        r=alpha * MILLION // (alpha + beta),
        interactions=len({(row.tick, row.cause, row.kind) for row in rows}),
        alpha=alpha,
        beta=beta,
    )
