"""A second reading of trust, in exact fractions that are rounded down where the rules say so.

Imports nothing of `federation`. Besides the rules themselves it bounds them: a factor of decay
never lies above e^(-decay·age), and below it by at most twice its age in units of 2^-32.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor

from tests.vectors.agreement_rows import (
    Row,
    as_list,
    as_row,
    fixed_bytes,
    number,
    plain,
    word,
    words,
)
from tests.vectors.rounds_reader import half, level_of, share_of

MILLION = 1_000_000
ONE = 2**32


# Decay.


def exponential(decay: Fraction) -> tuple[Fraction, Fraction]:
    """Bound e^-decay from below and above, for 0 <= decay <= 1: its series alternates."""
    terms = [Fraction(1)]
    for step in range(1, 40):
        terms.append(terms[-1] * -decay / step)
    low, high = sum(terms), sum(terms[:-1])
    fine = 2**200
    return Fraction(floor(low * fine), fine), Fraction(ceil(high * fine), fine)


def first_factor(decay: int) -> int:
    """Give e^-decay in units of 2^-32, rounded down."""
    low, high = exponential(Fraction(decay, MILLION))
    assert floor(low * ONE) == floor(high * ONE)
    return floor(low * ONE)


def factor(decay: int, age: int) -> int:
    """Give the factor of an age: each tick multiplies by the first and rounds down."""
    step, value = Fraction(first_factor(decay), ONE), ONE
    for _ in range(age):
        if not value or step == 1:
            break
        value = floor(value * step)
    return value


def is_within_bounds(decay: int, age: int, value: int) -> bool:
    """Compare a factor with the exponential itself, for ages whose power is worth computing."""
    low, high = exponential(Fraction(decay, MILLION))
    return low**age * ONE - 2 * age <= value <= high**age * ONE


# Standing.


def standing(rules: Row, rows: Sequence[Row], tick: int) -> Row:
    """Give standing at a tick."""
    alpha = beta = Fraction(MILLION)
    outcomes = 0
    for at, positive, negative, count in _ticks(rules, rows):
        if at > tick:
            continue
        faded = Fraction(factor(number(rules, "decay"), tick - at), ONE)
        alpha += floor(positive * faded)
        beta += floor(negative * faded)
        outcomes += count
    return {
        "tick": tick,
        "alpha": floor(alpha),
        "beta": floor(beta),
        "r": floor(alpha * MILLION / (alpha + beta)),
        "interactions": outcomes,
    }


def undecayed(rules: Row, rows: Sequence[Row]) -> Row:
    """Give the sums without decay and the newest tick."""
    ticks = list(_ticks(rules, rows))
    return {
        "alpha": MILLION + sum(positive for _, positive, _, _ in ticks),
        "beta": MILLION + sum(negative for _, _, negative, _ in ticks),
        "tick": ticks[-1][0] if ticks else None,
    }


def _ticks(rules: Row, rows: Sequence[Row]) -> Iterator[tuple[int, int, int, int]]:
    """Give tick, credited positive, counted negative and outcomes, tick after tick."""
    ordered = sorted(rows, key=lambda row: (number(row, "tick"), fixed_bytes(word(row, "cause"))))
    window, slack = number(rules, "window"), number(rules, "pair_discount")
    credited: list[tuple[int, int]] = []
    before: list[tuple[int, str]] = []
    for at in sorted({number(row, "tick") for row in ordered}):
        earned: Counter[str] = Counter()
        negative = 0
        now = [row for row in ordered if row["tick"] == at]
        for row in now:
            source = word(row, "source")
            earlier = len([1 for tick, name in before if name == source and tick > at - window])
            keep = Fraction(slack, slack + earlier)
            earned[source] += floor(number(row, "positive") * keep)
            negative += floor(number(row, "negative") * keep)
            before.append((at, source))
        positive = sum(min(one, number(rules, "farm_source_cap")) for one in earned.values())
        used = sum(one for tick, one in credited if tick > at - window)
        positive = min(positive, number(rules, "farm_cap") - used)
        credited.append((at, positive))
        yield at, positive, negative, len(now)


# Competence.


def competence(rules: Row, case: Row, agent: str) -> int:
    """Give the competence of an agent over the rounds of a case."""
    rounds = [[as_row(one) for one in as_list(ballots)] for ballots in as_list(case["rounds"])]
    labels = [one for ballots in rounds for one in ballots if one["choice"] != 0]
    mine = [one for one in labels if one["agent"] == agent]
    scored = [
        others == one["choice"]
        for ballots in rounds
        for one in ballots
        if one["agent"] == agent and one["choice"] != 0
        for others in [_decision(case, [two for two in ballots if two is not one])]
        if others is not None
    ]
    if not scored:
        return number(rules, "prior_b")
    chance = floor(
        sum(_share(mine, label) * _share(labels, label) for label in (1, -1)) * Fraction(1, MILLION)
    )
    if chance == MILLION:
        return number(rules, "prior_b")
    agreed = floor(Fraction(scored.count(True) * MILLION, len(scored)))
    if agreed < chance:
        above = floor(Fraction(agreed * MILLION, 2 * chance))
    else:
        rest = Fraction((agreed - chance) * MILLION, 2 * (MILLION - chance))
        above = MILLION // 2 + floor(rest)
    prior = number(rules, "prior_n")
    total = len(scored) * above + prior * number(rules, "prior_b")
    b = floor(Fraction(total, len(scored) + prior))
    return min(max(b, number(rules, "b_floor")), MILLION)


def _share(ballots: Sequence[Row], label: int) -> int:
    """Give the share of a label in ppm, rounded down."""
    return floor(Fraction([one["choice"] for one in ballots].count(label) * MILLION, len(ballots)))


def _decision(case: Row, ballots: Sequence[Row]) -> int | None:
    """Give what these ballots decide, or None."""
    weight = sum(number(one, "weight") for one in ballots)
    if not weight:
        return None
    mean = Fraction(sum(number(one, "weight") * number(one, "choice") for one in ballots), weight)
    if mean >= Fraction(number(case, "accept"), MILLION):
        return 1
    return -1 if mean <= Fraction(number(case, "reject"), MILLION) else None


# Tiers, weights, caps.


def tier(rules: Row, case: Row) -> int:
    """Give the tier of a case."""
    previous, founder = number(case, "previous"), case["founder"]
    reached = [
        level
        for level in (1, 2)
        if case["ticket"] is True
        and _meets(rules, case, level, keeps=previous >= level, founder=founder is not None)
    ]
    found = max(reached, default=0)
    shown = number(case, "interactions")
    if founder is not None and shown < number(rules, "founder_interactions"):
        found = max(found, number(case, "founder"))
    return found


def _meets(rules: Row, case: Row, level: int, *, keeps: bool, founder: bool) -> bool:
    share = Fraction(number(rules, "hysteresis"), MILLION) if keeps else Fraction(1)
    strict = level > 1 and not founder
    age = number(rules, "tier2_age") if strict else 0
    ways = min(number(rules, "tier2_operators"), number(case, "operators")) if strict else 0
    return (
        number(case, "interactions") >= number(rules, f"tier{level}_interactions") * share
        and number(case, "r") >= number(rules, f"tier{level}_r") * share
        and number(case, "age") >= age * share
        and number(case, "ways") >= ways
    )


def audited(rules: Row, case: Row) -> int:
    """Give competence by audits, from a logarithm of fifty digits."""
    prior = number(rules, "audit_n")
    rights = number(case, "right") * MILLION + prior * number(rules, "audit_prior")
    p = min(max(floor(Fraction(rights, number(case, "audits") + prior)), 10_000), 990_000)
    with localcontext(prec=50):
        odds = (Decimal(p) / (MILLION - p)).ln() * MILLION
    return min(max(floor(odds), number(rules, "b_floor")), 4 * MILLION) // 4


def weight(rules: Row, case: Row) -> int:
    """Give the weight of an agent before caps."""
    seat = 2**60 // number(rules, "seats")
    least, most, t = number(rules, "w_min"), number(rules, "w_max"), number(case, "t")
    seats = min(Fraction(1), Fraction(floor(Fraction(t * MILLION, seat)), MILLION))
    if case["voting"] == "ticketed":
        if not t or t < Fraction(seat * least, most):
            return 0
        found = floor(most * Fraction(number(case, "competence"), MILLION) * seats)
    else:
        gamma = Fraction(number(rules, "gamma"), MILLION)
        found = floor(gamma * number(case, "r") + (1 - gamma) * seats * MILLION)
        if case["squared"] is True:
            found = floor(Fraction(found * found, MILLION))
    return min(max(found, least), most)


def clones(case: Row) -> list[int]:
    """Give what clones weigh: by model, then by keeper, each group as its heaviest alone."""
    own = [int(str(one)) for one in as_list(plain(case["weights"]))]
    found = list(own)
    for kind in ("models", "keepers"):
        groups = words(case, kind)
        found = [
            floor(w * min(Fraction(1), Fraction(max(first for first, _ in kin), total)))
            if (total := sum(now for _, now in kin))
            else 0
            for w, group in zip(found, groups, strict=True)
            for kin in [
                [
                    (first, now)
                    for first, now, name in zip(own, found, groups, strict=True)
                    if name == group
                ]
            ]
        ]
    return found


def cap(case: Row) -> Row:
    """Give effective share, half level, level and capped weights of a case."""
    groups = words(case, "groups")
    weights = [int(str(one)) for one in as_list(plain(case["weights"]))]
    sums = {
        group: sum(w for name, w in zip(groups, weights, strict=True) if name == group)
        for group in groups
    }
    heavy = [total for total in sums.values() if total]
    share = share_of(number(case, "share"), len(heavy))
    level = level_of(heavy, share)
    capped = [
        floor(w * Fraction(min(sums[group], level), sums[group] or 1))
        for group, w in zip(groups, weights, strict=True)
    ]
    return {"effective_share": share, "half_level": half(heavy), "level": level, "capped": capped}
