"""`charter check`: what a charter implies, before anybody adopts it.

It names values out of range and rules that do not hold, the worst-case time to a terminal state
(L_max, §4.1), and every relaxation that the founders' number implies (design: small communities;
membership). Findings about numbers are made for the genesis; later members change them. What it
calls an error no node lets the operators adopt.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, get_args

from federation.charter.curation_findings import curation_findings
from federation.charter.duration import (
    MATTERS,
    Matter,
    WorstCase,
    operators,
    spell,
    worst_case_of,
    worst_case_time,
)
from federation.charter.findings import Finding, FindingCode, Severity, error, info, warning
from federation.charter.membership import SAFE_MEMBERS, SAFE_VOTERS, quorum_of
from federation.charter.ranges import range_faults
from federation.charter.rules import broken_rules
from federation.charter.schema import Charter, Founder
from federation.charter.trust_findings import trust_findings
from federation.charter.units import Sensitivity
from federation.core import MILLION

_THREE: Final = 3
_MATTERS: Final[Mapping[Matter, str]] = {
    "dispute": "a dispute",
    "report": "an urgent report that is credible",
    "appeal": "an appeal of a sanction",
}
_LOST_STATE: Final = (
    "a member that lost its signed state stops the realm, which is then refounded from a snapshot "
    "(ADR 0008)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    """Who may review what one founder proposes."""

    voters: tuple[Founder, ...]
    relaxed: bool
    """Agents of the author's own operator had to be let in."""


def check(charter: Charter) -> tuple[Finding, ...]:
    """Explain a charter; errors first, then warnings, then infos, each in the order found.

    Values out of range are reported alone, because nothing else can be computed from them.
    """
    ranges = tuple(
        error(
            FindingCode.RANGE,
            f"{fault.path}: {fault.why}",
            why="each parameter has a legal range",
            fix="choose a value inside it",
        )
        for fault in range_faults(charter)
    )
    if ranges:
        return ranges
    found = [*broken_rules(charter), *_times(charter), *_membership(charter), *_panels(charter)]
    found += [*_caps(charter), *trust_findings(charter), *curation_findings(charter)]
    found += _fast_track(charter)
    rank = (Severity.ERROR, Severity.WARNING, Severity.INFO)
    return tuple(sorted(found, key=lambda finding: rank.index(finding.severity)))


def _times(charter: Charter) -> Iterator[Finding]:
    sensitivities: tuple[Sensitivity, ...] = get_args(Sensitivity)
    for sensitivity in sensitivities:
        worst = worst_case_time(charter, sensitivity)
        yield _time(f"{sensitivity} sensitivity is settled within {spell(worst.total)}", worst)
    for matter in MATTERS:
        worst = worst_case_of(charter, matter)
        yield _time(f"{_MATTERS[matter]} is settled within {spell(worst.total)}", worst)


def _time(what: str, worst: WorstCase) -> Finding:
    parts = " + ".join(f"{step.name} {spell(step.window)}" for step in worst.steps)
    spent = sum(step.agreement for step in worst.steps)
    return info(
        FindingCode.WORST_CASE_TIME,
        what,
        why=f"{parts} + {len(worst.steps)} agreements {spell(spent)}",
        fix="nothing; it holds while a quorum is connected",
    )


def _membership(charter: Charter) -> Iterator[Finding]:
    n = operators(charter)
    quorum = quorum_of(n, three=charter.timing.three)
    report = info if n >= SAFE_MEMBERS else warning
    # Who lost its state stays silent, and where all must sign there is nobody in its place.
    stops = f"; {_LOST_STATE}" if n > 1 and not quorum.down else ""
    yield report(
        FindingCode.MEMBERSHIP,
        f"{n} operators of instances: f = {quorum.f}, q = {quorum.q}; agreement survives "
        f"{quorum.liars} liars, certificates continue with {quorum.down} down",
        why="f = (n-1)/3 rounded down, q = (n+f)/2 rounded down + 1; verdicts of fewer than "
        f"{SAFE_MEMBERS} operators are marked narrow{stops}",
        fix="nothing" if n >= SAFE_MEMBERS else f"federate with {SAFE_MEMBERS - n} more",
    )
    if n == _THREE:
        if charter.timing.three == "strict":
            what = "strict: no two liars can forge a list, and one operator down stops everything"
        else:
            what = (
                "available: one operator may be down, and one lying home is detected, not stopped"
            )
        yield warning(
            FindingCode.THREE,
            f"three operators, {what}",
            why="three members cannot survive both a liar and an absence",
            fix="add a fourth operator, or choose the other setting knowingly",
        )


def _panels(charter: Charter) -> Iterator[Finding]:
    q_min = charter.review.q_min
    panels = [_panel(charter, author) for author in charter.genesis.founders]
    smallest = min(len(panel.voters) for panel in panels)
    if smallest == 0:
        yield warning(
            FindingCode.NO_REVIEWER,
            "some founder's proposals have no reviewer",
            why="the author never reviews, so the shortfall policy decides its rounds",
            fix="name another founder of tier 1 or 2",
        )
    elif smallest < q_min:
        yield warning(
            FindingCode.QUORUM_LOWERED,
            f"as few as {smallest} founders may review a proposal; q_min is {q_min}",
            why="the quorum is lowered to the reviewers there are, and the verdict marked narrow",
            fix=f"name {q_min - smallest} more founders of tier 1 or 2",
        )
    relaxed = sum(panel.relaxed for panel in panels)
    if relaxed:
        yield warning(
            FindingCode.EXCLUSION_RELAXED,
            f"for {relaxed} of {len(panels)} founders, agents of the author's operator review",
            why=f"without them fewer than {q_min} reviewers remain; the verdict is marked narrow",
            fix="name founders of more operators",
        )
    voters = min(len({voter.operator for voter in panel.voters}) for panel in panels)
    if voters < SAFE_VOTERS:
        yield warning(
            FindingCode.FEW_OPERATORS,
            f"as few as {voters} operators stand behind a count",
            why=f"below {SAFE_VOTERS} a verdict is marked narrow: few hands hold many votes",
            fix="name founders of more operators",
        )


def _panel(charter: Charter, author: Founder) -> _Panel:
    others = [
        founder
        for founder in charter.genesis.founders
        if founder.tier >= 1 and founder.agent != author.agent
    ]
    strangers = tuple(founder for founder in others if founder.operator != author.operator)
    if len(strangers) >= charter.review.q_min or len(strangers) == len(others):
        return _Panel(voters=strangers, relaxed=False)
    return _Panel(voters=tuple(others), relaxed=True)


def _caps(charter: Charter) -> Iterator[Finding]:
    voters = [founder for founder in charter.genesis.founders if founder.tier >= 1]
    groups = (
        ("operator", charter.trust.operator_cap, {voter.operator for voter in voters}),
        ("instance", charter.trust.instance_cap, {voter.instance for voter in voters}),
    )
    for noun, cap, members in groups:
        if members and 2 * MILLION // len(members) > cap:
            raised = min(MILLION, 2 * MILLION // len(members))
            yield info(
                FindingCode.CAP_RAISED,
                f"with {len(members)} {noun}s the {noun} cap of {cap} ppm is {raised} ppm or more",
                why=f"a cap below 2 / {noun}s in the count could not be kept by all of them",
                fix=f"nothing; it falls back once {-(-2 * MILLION // cap)} {noun}s vote",
            )


def _fast_track(charter: Charter) -> Iterator[Finding]:
    if not any(row.sensitivity == "low" for row in charter.review.topics):
        yield info(
            FindingCode.NO_FAST_TRACK,
            "no topic is of low sensitivity",
            why="an unmapped topic is high, so every proposal is voted on",
            fix="class the topics that may be accepted when nobody objects",
        )
