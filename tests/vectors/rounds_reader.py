"""A second reading of rounds: from ids and ballots to lists, caps, tally and verdict.

Imports nothing of `federation`. Fractions instead of cross-multiplied integers, and the level of
the caps found by search in the rule itself instead of by a formula.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from tests.vectors.agreement_reader import pack, tagged_hash
from tests.vectors.agreement_rows import Row, as_bytes, as_list, many, number, plain, under, word
from tests.vectors.certificates_reader import value_digest
from tests.vectors.second_reader import commitment

MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A round as the second reader sees it."""

    weights: Mapping[bytes, int]
    numerator: int
    denominator: int
    practice: Sequence[bytes]
    unrevealed: Sequence[bytes]
    verdict: Row


def named(row: Row, name: str) -> bytes:
    """Give the byte string of a field."""
    return as_bytes(plain(row[name]))


def round_id(file: Row, case: Row) -> bytes:
    """Name the round of a case."""
    plain_id = [plain(file[name]) for name in ("realm", "artifact")]
    return tagged_hash("round", pack([*plain_id, "review", case["ordinal"], plain(file["cut"])]))


def commitment_of(file: Row, case: Row, ballot: Row) -> bytes:
    """Commit to a ballot of a case."""
    opened = as_list(plain(ballot["ballot"]))
    return commitment(
        named(file, "realm"),
        round_id(file, case),
        named(ballot, "voter"),
        opened,
        named(ballot, "nonce"),
    )


def digests(file: Row, case: Row) -> list[tuple[bytes, bytes]]:
    """Give for every list its digest and what its records name: the digest before, or the round."""
    after = this = round_id(file, case)
    found = []
    for one in many(case, "lists"):
        ids = sorted(named(record, "id") for record in many(one, "records"))
        slot = [this, word(one, "phase")]
        digest = value_digest(slot, None if one["void"] is True else ids)
        found.append((digest, after))
        after = digest
    return found


# Weights.


def capped(
    weights: Mapping[bytes, int], groups: Mapping[bytes, bytes], share: int
) -> dict[bytes, int]:
    """Cap every group at its share of what is counted in the end, and take no more than half."""
    totals = _sums(weights, groups)
    heavy = [total for total in totals.values() if total]
    level = level_of(heavy, share_of(share, len(heavy)))
    return {
        member: floor(Fraction(weight * min(total, level), total)) if total else 0
        for member, weight in weights.items()
        for total in [totals[groups[member]]]
    }


def takes_half(weights: Mapping[bytes, int], groups: Mapping[bytes, bytes], share: int) -> bool:
    """Tell whether to keep the share would take more than half of all."""
    heavy = [total for total in _sums(weights, groups).values() if total]
    kept = highest_level(heavy, share_of(share, len(heavy)))
    return kept < half(heavy)


def _sums(weights: Mapping[bytes, int], groups: Mapping[bytes, bytes]) -> dict[bytes, int]:
    return {
        group: sum(weight for member, weight in weights.items() if groups[member] == group)
        for group in {groups[member] for member in weights}
    }


def share_of(share: int, groups: int) -> int:
    """Raise a cap to what so few groups can keep, in ppm rounded down."""
    return min(MILLION, max(share, floor(Fraction(2 * MILLION, max(groups, 1)))))


def level_of(totals: Sequence[int], share: int) -> int:
    """Give the level of a cap: what keeps the share, or what keeps half of all if that is more."""
    return max(highest_level(totals, share), half(totals))


def half(totals: Sequence[int]) -> int:
    """Give the least level that leaves half of all.

    Of all ways to say which groups the level cuts, the right one leaves least; so the level must
    leave half in each of them, and the one that asks most of it says what it is.
    """
    falling = sorted(totals, reverse=True)
    asks = (
        (Fraction(sum(totals), 2) - sum(falling[cut:])) / cut for cut in range(1, len(totals) + 1)
    )
    return ceil(max(asks, default=Fraction(0)))


def highest_level(totals: Iterable[int], share: int) -> int:
    """Search the largest c with 10^6·c ≤ share·Σ min(W, c); the levels that keep it are a run."""
    sums = list(totals)

    def keeps(level: int) -> bool:
        return MILLION * level <= share * sum(min(total, level) for total in sums)

    low, high = 0, sum(sums) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


# Verdicts.


def read(case: Row) -> Read:
    """Work out tally and verdict of a case from its agents, ballots and lists."""
    rules, lists = under(case, "rules"), {word(one, "phase"): one for one in many(case, "lists")}
    agents = {named(one, "agent"): one for one in many(case, "agents")}
    reviewers, relaxed = _reviewers(case, agents, number(rules, "q_min"))
    boxed = _authors(lists, "commit") | _authors(lists, "commit2")
    opened = boxed & _authors(lists, "decide")
    counted = sorted(opened & reviewers)
    weights = {voter: number(agents[voter], "weight") for voter in counted}
    halved = False
    for kind in ("operator", "instance"):
        groups = {voter: named(agents[voter], kind) for voter in counted}
        halved |= takes_half(weights, groups, number(rules, f"{kind}_cap"))
        weights = capped(weights, groups, number(rules, f"{kind}_cap"))
    choices = {
        named(one, "voter"): as_list(plain(one["ballot"]))[0] for one in many(case, "ballots")
    }
    signed = {voter: int(str(choices[voter])) for voter in counted}
    tally = _Tally(
        rules=rules,
        numerator=sum(weights[voter] * signed[voter] for voter in counted),
        denominator=sum(weights.values()),
        operators=len({named(agents[voter], "operator") for voter in counted}),
        needed=min(number(rules, "q_min"), len(reviewers)),
        full=len(counted) >= min(number(rules, "q_min"), len(reviewers))
        and len({named(agents[voter], "operator") for voter in counted})
        >= min(2, len({named(agents[voter], "operator") for voter in reviewers})),
        against=-1 in signed.values(),
        objected=bool(_authors(lists, "fast")),
        halved=halved,
    )
    decision, by, sign = _decide(case, lists, tally, reviewers)
    silent = by in ("timeout", "fast_track") or not lists
    return Read(
        weights=weights,
        numerator=tally.numerator,
        denominator=tally.denominator,
        practice=sorted(opened - reviewers),
        unrevealed=sorted(boxed - opened),
        verdict={
            "decision": decision,
            "by": by,
            "v_ppm": floor(Fraction(tally.numerator * MILLION, max(tally.denominator, 1))),
            "strong": tally.is_strong and by in ("vote", "sign"),
            "quorum": tally.full and not silent,
            "quorum_needed": tally.needed,
            "operators": tally.operators,
            "narrow": _narrow(case, tally, by, relaxed=relaxed, sign=sign),
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tally:
    rules: Row
    numerator: int
    denominator: int
    operators: int
    needed: int
    full: bool
    against: bool
    objected: bool
    halved: bool

    @property
    def is_strong(self) -> bool:
        return abs(self.mean) >= Fraction(number(self.rules, "strong"), MILLION)

    @property
    def mean(self) -> Fraction:
        return Fraction(self.numerator, self.denominator) if self.denominator else Fraction(0)

    def reaches(self, name: str) -> int:
        """Compare the mean with a threshold: -1, 0 or 1."""
        gap = self.mean - Fraction(number(self.rules, name), MILLION)
        return (gap > 0) - (gap < 0)


def _authors(lists: Mapping[str, Row], phase: str) -> set[bytes]:
    if phase not in lists:
        return set()
    return {named(one, "author") for one in many(lists[phase], "records")}


def _reviewers(case: Row, agents: Mapping[bytes, Row], q_min: int) -> tuple[set[bytes], bool]:
    """Give who may review, and whether agents of the author's operator had to be let in."""
    author = named(many(case, "agents")[0], "agent")
    home = named(agents[author], "operator")
    able = {one for one in agents if one != author and number(agents[one], "tier") > 0}
    far = {one for one in able if named(agents[one], "operator") != home}
    return (far, False) if len(far) >= q_min else (able, able != far)


def _decide(
    case: Row, lists: Mapping[str, Row], tally: _Tally, reviewers: set[bytes]
) -> tuple[str, str, bool]:
    """Give decision, by what, and whether the sign of the tally gave it."""
    rules, watchers = tally.rules, len(as_list(case["watchers"]))
    if "fast" in lists and not tally.objected and watchers >= number(rules, "fast_min_watchers"):
        return "accept", "fast_track", False
    if "commit" in lists and lists["commit"]["void"] is True:
        return "reject", "timeout", False
    sign = "accept" if tally.numerator > 0 else "reject"
    if not reviewers or not tally.full or not tally.denominator:
        policy = word(rules, "shortfall")
        if policy == "arbitrate":
            return sign, "shortfall", True
        consent = policy == "fast_track" and not tally.objected and not tally.against
        return ("accept" if consent else "reject"), "shortfall", False
    if tally.reaches("tau_accept") >= 0:
        return "accept", "vote", False
    if tally.reaches("tau_reject") <= 0:
        return "reject", "vote", False
    return sign, "sign", True


def _narrow(case: Row, tally: _Tally, by: str, *, relaxed: bool, sign: bool) -> list[str]:
    """List the safeguards that the verdict lacks."""
    rules = tally.rules
    lacking = [
        ("quorum_below_q_min", tally.needed < number(rules, "q_min")),
        ("relaxed_exclusion", relaxed),
        ("shortfall", by == "shortfall"),
        ("by_sign", sign),
        ("few_operators_counted", by not in ("fast_track", "timeout") and tally.operators < 5),
        ("few_member_operators", number(case, "member_operators") < 4),
        ("cap_stopped_at_half", by not in ("fast_track", "timeout") and tally.halved),
    ]
    return [reason for reason, holds in lacking if holds]
