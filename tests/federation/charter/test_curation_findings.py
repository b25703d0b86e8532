from typing import Any

import pytest
from msgspec.structs import replace

from federation.charter import HOUR, Charter, Finding, FindingCode, Severity, preset
from federation.charter.curation_findings import curation_findings
from tests.federation.charter.founding import founded, genesis_of


def _of(charter: Charter, code: FindingCode) -> list[Finding]:
    return [finding for finding in curation_findings(charter) if finding.code is code]


def _changed(base: str, sizes: list[int], section: str, **changes: Any) -> Charter:  # noqa: ANN401
    rules = replace(getattr(preset(base), section), **changes)
    return founded(base, genesis_of(sizes), **{section: rules})


def _without_badges(charter: Charter, keep: int) -> Charter:
    founders = charter.genesis.founders
    bare = [*founders[:keep], *(replace(one, badges=()) for one in founders[keep:])]
    return replace(charter, genesis=replace(charter.genesis, founders=tuple(bare)))


def test_a_charter_without_a_phase_of_ruling_says_who_decides_instead() -> None:
    (finding,) = _of(_changed("community", [3] * 10, "review", rule=0), FindingCode.NO_ARBITRATION)

    assert finding.severity is Severity.INFO
    assert "decided by sign, a tie rejects" in finding.what
    assert _of(founded("community", genesis_of([3] * 10)), FindingCode.NO_ARBITRATION) == []


@pytest.mark.parametrize(
    ("sizes", "keep", "part"),
    [
        # Five agents of one operator, and no author of another one.
        ([5], 5, "5 founders are named arbiters, none of them of another operator"),
        ([3] * 10, 0, "0 founders are named arbiters, none of them"),
        # The first operator's three, and two of the second.
        ([3] * 10, 5, "5 founders are named arbiters, as few as 2 of them"),
    ],
)
def test_few_arbiters_are_told_with_what_happens_then(
    sizes: list[int], keep: int, part: str
) -> None:
    charter = _without_badges(founded("community", genesis_of(sizes)), keep)
    finding, *_ = _of(charter, FindingCode.FEW_ARBITERS)

    assert finding.severity is Severity.WARNING
    assert part in finding.what
    assert "decided by sign" in finding.why


def test_an_arbiter_of_tier_1_is_none() -> None:
    charter = founded("community", genesis_of([3] * 10))
    low = tuple(replace(one, tier=1) for one in charter.genesis.founders)
    charter = replace(charter, genesis=replace(charter.genesis, founders=low))

    assert "0 founders are named arbiters" in _of(charter, FindingCode.FEW_ARBITERS)[0].what


def test_operators_that_may_all_vote_are_said_to_leave_no_arbiter() -> None:
    # Seven voters are wanted: seven other operators can all be among them, eight can not.
    assert [
        one.severity
        for one in _of(founded("community", genesis_of([1] * 8)), FindingCode.FEW_ARBITERS)
    ] == [Severity.INFO]
    assert _of(founded("community", genesis_of([1] * 9)), FindingCode.FEW_ARBITERS) == []


@pytest.mark.parametrize(
    ("sizes", "fewest"), [([5], 0), ([3] * 5, 2), ([6, 6, 5, 5, 1], 4), ([3] * 6, 5)]
)
def test_the_panel_that_a_review_leaves_for_a_dispute_is_counted(
    sizes: list[int], fewest: int
) -> None:
    # Seven vote in the review, and two operators are parties: their largest two are taken.
    found = _of(founded("community", genesis_of(sizes)), FindingCode.DISPUTE_PANEL)

    assert [f"as few as {fewest} of" in one.what for one in found] == ([True] if fewest < 5 else [])


def test_a_dispute_that_retracts_when_nobody_decides_is_warned_of() -> None:
    kept = founded("community", genesis_of([3] * 10))
    lost = _changed("community", [3] * 10, "disputes", timeout="retract")

    assert _of(kept, FindingCode.DISPUTE_TIMEOUT) == []
    assert [one.severity for one in _of(lost, FindingCode.DISPUTE_TIMEOUT)] == [Severity.WARNING]


@pytest.mark.parametrize(("operators", "warned"), [(1, True), (2, True), (3, False)])
def test_moderators_of_two_operators_leave_some_reports_to_nobody(
    operators: int, warned: bool
) -> None:
    charter = founded("community", genesis_of([2] * operators))

    assert bool(_of(charter, FindingCode.FEW_MODERATORS)) is warned


def test_no_moderator_at_all_is_told_so() -> None:
    charter = _without_badges(founded("community", genesis_of([2] * 4)), 0)
    (finding,) = _of(charter, FindingCode.FEW_MODERATORS)

    assert finding.what.startswith("no founder is named moderator")
    assert "lapses after 1 h" in finding.why


@pytest.mark.parametrize(
    ("operators", "severity", "part"),
    [(1, Severity.WARNING, "1 of 1"), (3, Severity.INFO, "3 of 3"), (4, Severity.INFO, "3 of 4")],
)
def test_how_many_operators_decide_by_hand_is_told(
    operators: int, severity: Severity, part: str
) -> None:
    (finding,) = _of(founded("community", genesis_of([2] * operators)), FindingCode.BY_HAND)

    assert finding.severity is severity
    assert finding.what.startswith(f"{part} operators decide by hand")
    assert "a dispute keeps its artifact" in finding.why


def test_a_window_before_a_vote_that_comes_anyway_is_explained() -> None:
    (finding,) = _of(founded("federation", genesis_of([5] * 6)), FindingCode.HELD_OPEN)

    assert finding.what.startswith("proposals of high sensitivity wait 6 h")
    assert _of(founded("community", genesis_of([5] * 6)), FindingCode.HELD_OPEN) == []


@pytest.mark.parametrize(
    ("section", "changes", "what"),
    [
        ("disputes", {"d_max": 0}, "no disputes"),
        ("disputes", {"d_agent": 0}, "no disputes"),
        ("disputes", {"resub_max": 0}, "no resubmissions"),
        ("quotas", {"reports_epoch": 0}, "no urgent reports"),
        ("quotas", {"flags_epoch": 0}, "no stale flags"),
        ("review", {"deliberate": 0}, "no debate"),
        ("review", {"turns": 3}, "no turns"),
        ("review", {"seal": HOUR}, "no sealing"),
    ],
)
def test_what_a_number_switches_off_is_told(
    section: str, changes: dict[str, Any], what: str
) -> None:
    (finding,) = _of(_changed("community", [3] * 10, section, **changes), FindingCode.SWITCHED_OFF)

    assert what in finding.what


@pytest.mark.parametrize(("conduct", "severity"), [(9, Severity.INFO), (10, Severity.WARNING)])
def test_a_ladder_that_suspends_for_one_frivolous_dispute_is_warned_of(
    conduct: int, severity: Severity
) -> None:
    charter = _changed("community", [3] * 10, "sanctions", conduct=conduct)
    (finding,) = _of(charter, FindingCode.LADDER)

    assert finding.severity is severity
    assert ("a single case of bad conduct suspends" in finding.why) is (conduct == 10)
