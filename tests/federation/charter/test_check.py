from collections.abc import Iterable
from typing import Any

import pytest
from msgspec.structs import replace

from federation.charter import (
    Finding,
    FindingCode,
    Genesis,
    Severity,
    Three,
    TopicClass,
    check,
    preset,
)
from tests.federation.charter.founding import founded, genesis_of

LOW = (TopicClass(prefix="", sensitivity="low"),)


def _check(base: str, genesis: Genesis, **sections: Any) -> tuple[Finding, ...]:  # noqa: ANN401
    return check(founded(base, genesis, **sections))


def _of(findings: Iterable[Finding], code: FindingCode) -> list[Finding]:
    return [finding for finding in findings if finding.code is code]


def test_values_out_of_range_are_reported_alone() -> None:
    charter = founded("test", genesis_of([1]))
    findings = check(replace(charter, review=replace(charter.review, k=0)))

    assert [(finding.code, finding.severity) for finding in findings] == [
        (FindingCode.RANGE, Severity.ERROR)
    ]


def test_errors_come_first_and_infos_last() -> None:
    trust = replace(preset("test").trust, w_max=40_000)
    findings = _check("test", genesis_of([1]), trust=trust)
    severities = [finding.severity for finding in findings]
    rank = [Severity.ERROR, Severity.WARNING, Severity.INFO]

    assert severities == sorted(severities, key=rank.index)
    assert set(severities) == set(rank)


def test_the_worst_case_time_is_told_with_its_sum() -> None:
    low, high, *others = _of(_check("test", genesis_of([5])), FindingCode.WORST_CASE_TIME)

    assert low.what == "low sensitivity is settled within 25 s"
    assert high.what == "high sensitivity is settled within 23 s"
    assert [one.what.partition(" is settled")[0] for one in others] == [
        "a dispute",
        "an urgent report that is credible",
        "an appeal of a sanction",
    ]
    assert high.why.startswith(
        "cut 500 ms + deliberate 1 s + commit 5 s + commit2 5 s + decide 5 s"
    )


def test_a_safe_community_has_no_warnings() -> None:
    findings = _check("community", genesis_of([3] * 10))

    assert [finding for finding in findings if finding.severity is not Severity.INFO] == []


@pytest.mark.parametrize(
    ("sizes", "severity", "part"),
    [
        ([5], Severity.WARNING, "1 operators of instances: f = 0, q = 1; agreement survives 0"),
        ([5, 5], Severity.WARNING, "q = 2; agreement survives 1 liars"),
        ([5] * 4, Severity.INFO, "f = 1, q = 3"),
    ],
)
def test_what_a_membership_survives_is_told(
    sizes: list[int], severity: Severity, part: str
) -> None:
    (finding,) = _of(_check("test", genesis_of(sizes)), FindingCode.MEMBERSHIP)

    assert finding.severity is severity
    assert part in finding.what


@pytest.mark.parametrize(
    ("operators", "three", "stops"),
    [
        (1, "strict", False),
        (2, "strict", True),
        (3, "strict", True),
        (3, "available", False),
        (4, "strict", False),
    ],
)
def test_where_all_must_sign_lost_state_is_told_to_stop_the_realm(
    operators: int, three: Three, stops: bool
) -> None:
    timing = replace(preset("test").timing, three=three)
    findings = _check("test", genesis_of([2] * operators), timing=timing)
    (finding,) = _of(findings, FindingCode.MEMBERSHIP)

    assert ("lost its signed state stops the realm" in finding.why) is stops


@pytest.mark.parametrize("three", ["strict", "available"])
def test_three_operators_are_told_what_they_chose(three: Three) -> None:
    timing = replace(preset("test").timing, three=three)
    (finding,) = _of(_check("test", genesis_of([2] * 3), timing=timing), FindingCode.THREE)

    assert three in finding.what


def test_other_memberships_are_not_told_about_three() -> None:
    assert _of(_check("test", genesis_of([2] * 4)), FindingCode.THREE) == []


def test_one_operator_with_five_founders_decides_narrowly() -> None:
    findings = _check("solo", genesis_of([5]))
    (relaxed,) = _of(findings, FindingCode.EXCLUSION_RELAXED)
    (few,) = _of(findings, FindingCode.FEW_OPERATORS)

    assert relaxed.what.startswith("for 5 of 5 founders")
    assert few.what.startswith("as few as 1 operators")
    assert _of(findings, FindingCode.QUORUM_LOWERED) == []
    assert _of(findings, FindingCode.SEATS) == []


def test_three_operators_with_one_agent_each_lower_the_quorum() -> None:
    findings = _check("test", genesis_of([1] * 3))
    (lowered,) = _of(findings, FindingCode.QUORUM_LOWERED)

    assert lowered.what == "as few as 2 founders may review a proposal; q_min is 3"
    assert _of(findings, FindingCode.EXCLUSION_RELAXED) == []


def test_a_single_founder_has_no_reviewer() -> None:
    findings = _check("test", genesis_of([1]))

    assert len(_of(findings, FindingCode.NO_REVIEWER)) == 1
    assert _of(findings, FindingCode.QUORUM_LOWERED) == []


def test_founders_of_tier_0_are_no_reviewers() -> None:
    genesis = genesis_of([2])
    founders = (genesis.founders[0], replace(genesis.founders[1], tier=0))

    assert (
        len(_of(_check("test", replace(genesis, founders=founders)), FindingCode.NO_REVIEWER)) == 1
    )


def test_a_realm_of_newcomers_only_is_checked_too() -> None:
    genesis = genesis_of([1])
    founders = (replace(genesis.founders[0], tier=0),)

    assert _of(_check("test", replace(genesis, founders=founders)), FindingCode.CAP_RAISED) == []


def test_raised_caps_are_told_with_the_size_at_which_they_fall_back() -> None:
    operator, instance = _of(_check("test", genesis_of([2] * 5)), FindingCode.CAP_RAISED)

    assert "100000 ppm is 400000 ppm" in operator.what
    assert "once 20 operators vote" in operator.fix
    assert "250000 ppm is 400000 ppm" in instance.what
    assert "once 8 instances vote" in instance.fix


def test_a_charter_without_low_topics_never_takes_the_fast_track() -> None:
    some = replace(preset("test").review, topics=LOW)

    assert len(_of(_check("test", genesis_of([2])), FindingCode.NO_FAST_TRACK)) == 1
    assert _of(_check("test", genesis_of([2]), review=some), FindingCode.NO_FAST_TRACK) == []
