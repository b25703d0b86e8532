"""What a charter implies about arbiters, disputes, reports and sanctions (§3.2.3, §3.3, §3.4).

A part of `check`. The numbers are those of the genesis: who is named with a badge, and how many
reviewers are left once a review has used some of them up.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final, get_args

from federation.charter.duration import operators, spell
from federation.charter.findings import Finding, FindingCode, info, warning
from federation.charter.membership import quorum_of
from federation.charter.schema import Charter, Founder
from federation.charter.units import Badge
from federation.core import OperatorId

DRAWN: Final = 3
"""Arbiters drawn where sensitivity is high; one where it is low (§3.2.3)."""
_TRUSTED: Final = 2
"""Tier that an arbiter and a disputer need."""
_PARTIES: Final = 2
"""Operators that a report concerns: the author's and the reporter's."""


def curation_findings(charter: Charter) -> Iterator[Finding]:
    """Explain who rules, who sits on a panel, who looks at reports, and what violations bring."""
    yield from _arbiters(charter)
    yield from _dispute_panel(charter)
    yield from _dispute_timeout(charter)
    yield from _moderators(charter)
    yield _by_hand(charter)
    yield from _windows(charter)
    yield from _switched_off(charter)
    yield _ladder(charter)


def _badged(charter: Charter, badge: Badge) -> list[Founder]:
    """List who can hold an office: the badge, and tier 1 to look at reports, 2 to rule."""
    assert badge in get_args(Badge), "a badge of the schema"  # noqa: S101 # our own
    least = _TRUSTED if badge == "arbiter" else 1
    return [
        founder
        for founder in charter.genesis.founders
        if badge in founder.badges and founder.tier >= least
    ]


def _arbiters(charter: Charter) -> Iterator[Finding]:
    if not charter.review.rule:
        yield info(
            FindingCode.NO_ARBITRATION,
            "no arbiter is asked: unclear votes of a review are decided by sign, a tie rejects",
            why="review.rule is 0; such a verdict is marked narrow, and a dispute or an appeal that "
            "no vote decides comes to the operators at once",
            fix="nothing, or give review.rule some hours and name arbiters of several operators",
        )
        return
    arbiters = _badged(charter, "arbiter")
    per_operator = Counter(founder.operator for founder in arbiters)
    # Who is of the author's operator never rules.
    left = len(arbiters) - max(per_operator.values(), default=0)
    if left < DRAWN:
        who = "none" if not left else f"as few as {left}"
        yield warning(
            FindingCode.FEW_ARBITERS,
            f"{len(arbiters)} founders are named arbiters, {who} of them of another operator than "
            "an author",
            why=f"{DRAWN} are drawn where sensitivity is high; without one a review is decided by "
            "sign, which is marked narrow, and a dispute or an appeal comes to the operators",
            fix="name arbiters of tier 2 of several operators",
        )
    strangers = len({founder.operator for founder in charter.genesis.founders}) - 1
    if arbiters and 0 < strangers <= charter.review.k:
        yield info(
            FindingCode.FEW_ARBITERS,
            f"agents of all {strangers} other operators may vote in one round, and then nobody is "
            "left to rule on it",
            why="an arbiter is of no operator whose agents were counted, so that nobody rules on "
            f"its own vote; a round aims at {charter.review.k} voters",
            fix="nothing; name arbiters whose operators seldom vote",
        )


def _reviewers(charter: Charter) -> Counter[OperatorId]:
    return Counter(founder.operator for founder in charter.genesis.founders if founder.tier)


def _dispute_panel(charter: Charter) -> Iterator[Finding]:
    review, disputes = charter.review, charter.disputes
    if not disputes.d_max or not disputes.d_agent:
        return
    counts = sorted(_reviewers(charter).values(), reverse=True)
    strangers = sum(counts[2:])
    fewest, most = max(0, strangers - review.k), max(0, strangers - review.q_min)
    if fewest < disputes.q_dispute:
        yield warning(
            FindingCode.DISPUTE_PANEL,
            f"a dispute needs {disputes.q_dispute} voters, and as few as {fewest} of the founders "
            f"are left for its panel, {most} at the most",
            why="neither who voted in the review nor anybody of the author's or the disputer's "
            "operator sits on it, and its quorum is never lowered: else arbiters decide, and "
            "then operators",
            fix="name more founders of tier 1 or 2 of more operators, or lower disputes.q_dispute",
        )


def _dispute_timeout(charter: Charter) -> Iterator[Finding]:
    if charter.disputes.timeout == "retract":
        yield warning(
            FindingCode.DISPUTE_TIMEOUT,
            "a dispute that nobody decides retracts its artifact",
            why="where panels are short and operators are away, one disputer takes back what many "
            "have accepted (ADR 39)",
            fix="choose keep; retract is there to reproduce the paper",
        )


def _moderators(charter: Charter) -> Iterator[Finding]:
    if not charter.quotas.reports_epoch:
        return
    moderators = _badged(charter, "moderator")
    if len({founder.operator for founder in moderators}) <= _PARTIES:
        who = "no founder is" if not moderators else f"{len(moderators)} founders are"
        yield warning(
            FindingCode.FEW_MODERATORS,
            f"{who} named moderator; some urgent reports find nobody who may look at them",
            why="a moderator is of neither the author's nor the reporter's operator; a report that "
            f"nobody looks at lapses after {spell(charter.disputes.assess)}",
            fix="name moderators of three operators or more; until then operators can hide an "
            "artifact together",
        )


def _by_hand(charter: Charter) -> Finding:
    n = operators(charter)
    quorum = quorum_of(n, three=charter.timing.three)
    report = info if n > 1 else warning
    return report(
        FindingCode.BY_HAND,
        f"{quorum.q} of {n} operators decide by hand what nobody else does, within "
        f"{spell(charter.review.admin)}; as many adopt another charter",
        why="if so many do not agree in time a review rejects, a dispute "
        f"{charter.disputes.timeout}s its artifact, a sanction stays",
        fix="nothing" if n > 1 else "federate: one operator alone answers for all of it",
    )


def _windows(charter: Charter) -> Iterator[Finding]:
    review = charter.review
    if review.fast_high:
        yield info(
            FindingCode.HELD_OPEN,
            f"proposals of high sensitivity wait {spell(review.fast_high)} for objections, and are "
            "voted on all the same",
            why="who watches the topic can say what the vote should look at (§3.2.1)",
            fix="nothing; 0 begins the review at once",
        )


def _switched_off(charter: Charter) -> Iterator[Finding]:
    review, disputes, quotas = charter.review, charter.disputes, charter.quotas
    off = (
        (disputes.d_max and disputes.d_agent, "disputes", "what is accepted stays for good"),
        (quotas.reports_epoch, "urgent reports", "only operators together can hide an artifact"),
        (quotas.flags_epoch, "stale flags", "nobody is asked to look at what has grown old"),
        (disputes.resub_max, "resubmissions", "what is retracted comes back as a new artifact"),
        (review.deliberate or review.mode != "open", "debate", "everybody votes on what it reads"),
        (review.mode == "rounds" or review.turns == 1, "turns", "they count in the mode rounds"),
        (review.mode == "sealed_first" or not review.seal, "sealing", "it is of sealed_first"),
    )
    for is_on, what, why in off:
        if not is_on:
            yield info(
                FindingCode.SWITCHED_OFF,
                f"this charter has no {what}",
                why=why,
                fix="nothing, or choose a value that switches it on",
            )


def _ladder(charter: Charter) -> Finding:
    rules = charter.sanctions
    points = {
        "harmful content": rules.content,
        "bad conduct": rules.conduct,
        "collusion": rules.coordination,
        "proven abuse": rules.abuse,
    }
    harsh = [
        name for name, each in points.items() if name != "proven abuse" and each >= rules.suspension
    ]
    report = warning if harsh else info
    worth = ", ".join(f"{name} {each}" for name, each in points.items())
    return report(
        FindingCode.LADDER,
        f"{rules.warning} points warn, {rules.limit} divide quotas, {rules.probation} halve the "
        f"weight, {rules.suspension} suspend, {rules.ban} ban; they count for {rules.window} ticks",
        why=f"points of one violation: {worth}"
        + (f"; a single case of {' or '.join(harsh)} suspends" if harsh else ""),
        fix="raise sanctions.suspension, or lower those points" if harsh else "nothing",
    )
