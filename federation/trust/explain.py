"""Why a reputation is what it is: row by row, what it brought after discount, caps and decay.

The rule is that of `beta`, told from the other end: there sums are kept by tick, here each sum is
given back to the rows that made it. What a cap or the decay takes from a sum, and what a division
loses, is borne by its rows in proportion: the k-th row gets ⌊S·c_k/C⌋ - ⌊S·c_{k-1}/C⌋ of a sum S, c_k
the running total of what was asked and C all of it. So the entries add up exactly, each is within
one millionth of its share, and no row is last in line because of its place.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, groupby, pairwise

from federation.charter import Trust
from federation.core import Micro, OperatorId
from federation.trust.decay import Decay
from federation.trust.evidence import Evidence


class Bound(StrEnum):
    """Which farming cap took something from a row."""

    SOURCE_CAP = "source_cap"
    """`farm_source_cap`: of one source at one tick."""
    FARM_CAP = "farm_cap"
    """`farm_cap`: of all sources in the window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row in the books of its subject, and what it comes to."""

    evidence: Evidence
    earlier: int
    """Rows of the same source in the window before it: n of the discount."""
    discounted_positive: Micro
    """Positive evidence after the pairwise discount."""
    discounted_negative: Micro
    """Negative evidence after the pairwise discount; no cap shields from it."""
    credited: Micro
    """Positive evidence after the farming caps."""
    positive: Micro
    """What of it is left now, faded."""
    negative: Micro
    """What of the negative evidence is left now, faded."""
    bounds: tuple[Bound, ...]
    """Caps that held at its tick and took part of it; mostly none."""


def discounted(amount: Micro, *, earlier: int, slack: int) -> Micro:
    """Give what a row counts after `earlier` rows of its pair: D / (D + n), D being `slack`."""
    return amount * slack // (slack + earlier)


def shared(total: int, parts: Sequence[int]) -> list[int]:
    """Share a total of at least 0 out in proportion to `parts`; it adds up exactly."""
    whole = sum(parts)
    if not whole:
        return [0] * len(parts)
    upto = [total * running // whole for running in accumulate(parts)]
    return [after - before for before, after in pairwise([0, *upto])]


def explain(
    rows: Sequence[Evidence], *, trust: Trust, decay: Decay, tick: int
) -> tuple[Entry, ...]:
    """Tell what each of one subject's rows, in order, brings at a tick; later rows are left out."""
    entries: list[Entry] = []
    seen: dict[OperatorId, list[int]] = {}
    ticks: list[int] = []
    credited: list[Micro] = []
    known = [row for row in rows if row.tick <= tick]
    for at, group in groupby(known, key=lambda row: row.tick):
        used = sum(credited[bisect_right(ticks, at - trust.window) :])
        found = _one_tick(
            list(group),
            seen,
            trust,
            left=trust.farm_cap - used,
            factor=decay.factor(tick - at),
        )
        ticks.append(at)
        credited.append(sum(entry.credited for entry in found))
        entries.extend(found)
    return tuple(entries)


def _one_tick(
    rows: list[Evidence],
    seen: dict[OperatorId, list[int]],
    trust: Trust,
    *,
    left: Micro,
    factor: int,
) -> list[Entry]:
    earlier = [_earlier(seen, row, trust.window) for row in rows]
    slack = trust.pair_discount
    counted = list(zip(rows, earlier, strict=True))
    positive = [discounted(row.positive, earlier=n, slack=slack) for row, n in counted]
    negative = [discounted(row.negative, earlier=n, slack=slack) for row, n in counted]
    sources = [row.source for row in rows]
    within, full = _within_sources(sources, positive, trust.farm_source_cap)
    farmed = sum(within) > left
    credited = shared(min(sum(within), left), within)
    kept = shared(sum(credited) * factor >> 32, credited)
    held = shared(sum(negative) * factor >> 32, negative)
    return [
        Entry(
            evidence=row,
            earlier=n,
            discounted_positive=positive[at],
            discounted_negative=negative[at],
            credited=credited[at],
            positive=kept[at],
            negative=held[at],
            bounds=tuple(
                bound
                for bound, holds in (
                    (Bound.SOURCE_CAP, row.source in full),
                    (Bound.FARM_CAP, farmed),
                )
                if holds and positive[at]
            ),
        )
        for at, (row, n) in enumerate(counted)
    ]


def _earlier(seen: dict[OperatorId, list[int]], row: Evidence, window: int) -> int:
    """Count the pair's rows in the window before this one, and note this one."""
    ticks = seen.setdefault(row.source, [])
    count = len(ticks) - bisect_right(ticks, row.tick - window)
    ticks.append(row.tick)
    return count


def _within_sources(
    sources: Sequence[OperatorId], amounts: Sequence[Micro], most: Micro
) -> tuple[list[Micro], frozenset[OperatorId]]:
    """Cap the amounts of each source at `most`; also name the sources that gave more."""
    within = [0] * len(amounts)
    full = set()
    for source in dict.fromkeys(sources):
        places = [at for at, one in enumerate(sources) if one == source]
        given = sum(amounts[at] for at in places)
        if given > most:
            full.add(source)
        parts = shared(min(given, most), [amounts[at] for at in places])
        for at, part in zip(places, parts, strict=True):
            within[at] = part
    return within, frozenset(full)
