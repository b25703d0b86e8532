"""Relations that a working charter keeps: order of its numbers, a genesis that fits together.

Everything here is an error: such a realm would not work or could not be checked by others.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from federation.charter.duration import boxed_within, spell
from federation.charter.findings import Finding, FindingCode, error
from federation.charter.presets import TEST
from federation.charter.ranges import range_faults
from federation.charter.schema import Admission, Charter, Genesis
from federation.charter.units import HOUR, MINUTE, MOST_BITS, SECOND

_LEAST_IN_EARNEST: Final = (
    ("timing", "epoch", 10 * MINUTE),
    ("timing", "cut_min", 10 * SECOND),
    ("timing", "leader_timer", 500),
    ("review", "fast_low", 10 * MINUTE),
    ("review", "fast_high", 10 * MINUTE),
    ("review", "seal", 5 * MINUTE),
    ("review", "deliberate", 5 * MINUTE),
    ("review", "commit", 5 * MINUTE),
    ("review", "reveal", 5 * MINUTE),
    ("review", "contest", 5 * MINUTE),
    ("review", "rule", 10 * MINUTE),
    ("review", "appeal", 10 * MINUTE),
    ("review", "admin", HOUR),
    ("review", "deadline", HOUR),
    ("disputes", "assess", 5 * MINUTE),
)
"""Shorter windows do not outlast clock differences and delivery over the internet."""
_TURNS: Final = 2
"""Fewer turns are no debate in turns."""


def broken_rules(charter: Charter) -> Iterator[Finding]:
    """Yield every relation that does not hold; values are within their ranges already."""
    yield from _order(charter)
    yield from _mode(charter)
    yield from _deadline(charter)
    yield from _genesis(charter.genesis)
    yield from _topics(charter)
    yield from _puzzle(charter.admission)
    yield from _test_only(charter)


def faults_of(charter: Charter) -> tuple[str, ...]:
    """Say what is wrong with a charter: values out of range, else rules that do not hold.

    Every node refuses to adopt a charter that has a fault: what is one is part of the protocol.
    """
    ranges = range_faults(charter)
    if ranges:
        return tuple(f"{fault.path}: {fault.why}" for fault in ranges)
    return tuple(finding.what for finding in broken_rules(charter))


def _order(charter: Charter) -> Iterator[Finding]:
    timing, review, trust = charter.timing, charter.review, charter.trust
    disputes, sanctions = charter.disputes, charter.sanctions
    pairs = (
        ("timing.cut_min", timing.cut_min, "timing.epoch", timing.epoch),
        ("review.q_min", review.q_min, "review.k", review.k),
        ("review.k", review.k, "review.list_most", review.list_most),
        ("review.tau_reject + 1", review.tau_reject + 1, "review.tau_accept", review.tau_accept),
        ("review.commit_min", review.commit_min, "review.commit", review.commit),
        # What a few have accepted fewer, or by less, must not take back.
        ("review.q_min", review.q_min, "disputes.q_dispute", disputes.q_dispute),
        ("disputes.q_dispute", disputes.q_dispute, "review.list_most", review.list_most),
        (
            "review.tau_accept",
            review.tau_accept,
            "disputes.tau_retract",
            disputes.tau_retract,
        ),
        ("review.r_min", review.r_min, "disputes.r_dispute", disputes.r_dispute),
        ("sanctions.warning", sanctions.warning, "sanctions.limit", sanctions.limit),
        ("sanctions.limit", sanctions.limit, "sanctions.probation", sanctions.probation),
        ("sanctions.probation", sanctions.probation, "sanctions.suspension", sanctions.suspension),
        ("sanctions.suspension", sanctions.suspension, "sanctions.ban", sanctions.ban),
        ("trust.w_min", trust.w_min, "trust.w_max", trust.w_max),
        ("trust.b_floor", trust.b_floor, "trust.prior_b", trust.prior_b),
        ("trust.farm_source_cap", trust.farm_source_cap, "trust.farm_cap", trust.farm_cap),
        (
            "trust.tier1_interactions",
            trust.tier1_interactions,
            "trust.tier2_interactions",
            trust.tier2_interactions,
        ),
        # Else every founder loses tier 1 before it could have earned it, and nobody reviews.
        (
            "trust.tier1_interactions",
            trust.tier1_interactions,
            "trust.founder_interactions",
            trust.founder_interactions,
        ),
        ("trust.tier1_r", trust.tier1_r, "trust.tier2_r", trust.tier2_r),
        (
            "trust.evidence.vote_weak",
            trust.evidence.vote_weak,
            "trust.evidence.vote_strong",
            trust.evidence.vote_strong,
        ),
        # Else friends who dispute each other in vain earn more than authors.
        (
            "trust.evidence.survived",
            trust.evidence.survived,
            "trust.evidence.accepted_vote",
            trust.evidence.accepted_vote,
        ),
        # A report hides at once, so that a frivolous dispute must never cost more.
        (
            "trust.evidence.dispute_dismissed",
            trust.evidence.dispute_dismissed,
            "trust.evidence.unfounded_report",
            trust.evidence.unfounded_report,
        ),
    )
    for low_name, low, high_name, high in pairs:
        if low > high:
            yield error(
                FindingCode.ORDER,
                f"{low_name} is {low}, above {high_name}, which is {high}",
                why=f"{low_name} may not exceed {high_name}",
                fix=f"lower {low_name} or raise {high_name}",
            )


def _mode(charter: Charter) -> Iterator[Finding]:
    review = charter.review
    if review.mode == "rounds" and (review.turns < _TURNS or not review.deliberate):
        yield error(
            FindingCode.MODE,
            f"review.mode is rounds, with {review.turns} turns of {spell(review.deliberate)}",
            why="the mode rounds debates in turns: it needs two or more, and time for each",
            fix="raise review.turns and review.deliberate, or choose the mode open",
        )
    if review.mode == "sealed_first" and not review.seal:
        yield error(
            FindingCode.MODE,
            "review.mode is sealed_first, and review.seal is 0",
            why="without time to seal an assessment nothing is sealed before the debate",
            fix="give review.seal some time, or choose the mode open",
        )


def _deadline(charter: Charter) -> Iterator[Finding]:
    review = charter.review
    needed = boxed_within(charter)
    if review.deadline < needed:
        yield error(
            FindingCode.DEADLINE,
            f"rounds are void after {spell(review.deadline)}, but a slow one needs {spell(needed)}",
            why=f"objections or an assessment, the debate of the mode {review.mode} and a widened "
            "box must fit before the deadline",
            fix="raise review.deadline or shorten those phases",
        )


def _genesis(genesis: Genesis) -> Iterator[Finding]:
    instances = [member.instance for member in genesis.instances]
    agents = [founder.agent for founder in genesis.founders]
    lists = {
        "instances": instances,
        "operators": list(genesis.operators),
        "founders": agents,
        "records": list(genesis.records),
        "seeds": list(genesis.seeds or ()),
    }
    for name, ids in lists.items():
        if not _strictly_rising(ids):
            yield _wrong(f"genesis.{name} is not sorted without repeats", "sort it by id")
    if len({member.key for member in genesis.instances}) < len(instances):
        yield _wrong("two founding instances share one key", "give each instance its own key")
    known = set(genesis.operators)
    answerable = [(row.instance, row.operator) for row in genesis.instances]
    answerable += [(row.agent, row.operator) for row in genesis.founders]
    for name_id, operator in answerable:
        if operator not in known:
            yield _wrong(
                f"the operator of {name_id[:6].hex()} is not in genesis.operators", "list it there"
            )
    for founder in genesis.founders:
        if founder.instance not in instances:
            yield _wrong(
                f"founder {founder.agent[:6].hex()} was admitted by no founding instance",
                "name a founding instance",
            )
        if list(founder.badges) != sorted(set(founder.badges)):
            yield _wrong(
                f"badges of founder {founder.agent[:6].hex()} are not sorted without repeats",
                "sort them",
            )
    if not set(genesis.seeds or ()) <= set(agents):
        yield _wrong("a seed is not a founder", "choose seeds among the founders")
    missing = (set(instances) | known | set(agents)) - set(genesis.records)
    if missing:
        yield _wrong(
            f"{len(missing)} inceptions are not in genesis.records",
            "list every inception: an identity's id is the id of its inception",
        )


def _topics(charter: Charter) -> Iterator[Finding]:
    prefixes = [row.prefix for row in charter.review.topics]
    if not _strictly_rising([prefix.encode() for prefix in prefixes]):
        yield error(
            FindingCode.ORDER,
            "review.topics is not sorted by prefix without repeats",
            why="a prefix classed twice would have no certain sensitivity",
            fix="sort the classes and keep one per prefix",
        )


def _puzzle(admission: Admission) -> Iterator[Finding]:
    if admission.agent_bits > admission.most_bits:
        yield error(
            FindingCode.ORDER,
            f"admission.agent_bits is {admission.agent_bits}, above admission.most_bits, which is "
            f"{admission.most_bits}",
            why="the bits move between the two",
            fix="lower admission.agent_bits or raise admission.most_bits",
        )
    hardest = admission.operator_bits + admission.most_bits - admission.agent_bits
    if hardest > MOST_BITS:
        yield error(
            FindingCode.ORDER,
            f"the puzzle of operators can come to {hardest} bits",
            why="it grows with that of agents, and no proof of more than "
            f"{MOST_BITS} bits is accepted",
            fix="lower admission.operator_bits or admission.most_bits",
        )


def _test_only(charter: Charter) -> Iterator[Finding]:
    if charter.preset == TEST:
        return
    admission = charter.admission
    for field in ("agent_bits", "operator_bits", "gate_bits"):
        if not getattr(admission, field):
            yield error(
                FindingCode.TEST_ONLY,
                f"admission.{field} is 0",
                why=f"outside the preset {TEST} joining costs something: who can make identities "
                "for nothing fills every disk of the realm",
                fix=f"ask for a bit or more, or start from the preset {TEST}",
            )
    for section, field, least in _LEAST_IN_EARNEST:
        value: int = getattr(getattr(charter, section), field)
        if 0 < value < least:
            yield error(
                FindingCode.TEST_ONLY,
                f"{section}.{field} is {spell(value)}",
                why=f"outside the preset {TEST} it must be at least {spell(least)}: windows "
                "have to outlast clock differences and delivery",
                fix=f"lengthen it, or start from the preset {TEST}",
            )


def _strictly_rising(ids: Sequence[bytes]) -> bool:
    return all(a < b for a, b in pairwise(ids))


def _wrong(what: str, fix: str) -> Finding:
    return error(FindingCode.GENESIS, what, why="the founders must fit together for cut 0", fix=fix)
