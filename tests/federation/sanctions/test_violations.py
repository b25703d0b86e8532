"""The table of violations, and what names one."""

import pytest

from federation.charter import preset
from federation.sanctions import RULES, RuleId, ViolationClass, points_of, violation
from tests.federation.sanctions import violation_rows as rows
from tests.federation.sanctions.violation_rows import AGENT, OPERATOR, seen

_OF = rows.RULES


def test_every_rule_has_a_row_of_its_class_with_a_text_and_a_remedy() -> None:
    assert set(RULES) == set(RuleId)
    for name, rule in RULES.items():
        assert name.value.partition(".")[0] == rule.kind.value
        assert rule.text.endswith(".")
        assert rule.remedy.endswith(".")


def test_no_rule_is_about_a_vote_against_the_decision_or_a_lost_dispute() -> None:
    assert {name.value for name in RuleId} == {
        "content.harmful",
        "content.unsourced",
        "conduct.frivolous",
        "conduct.unfounded",
        "conduct.unrevealed",
        "conduct.quarantine",
        "coordination.inverted",
        "abuse.proven",
    }


def test_points_come_from_the_charter_by_class() -> None:
    rules = preset("community").sanctions

    assert {kind.value: points_of(kind, rules) for kind in ViolationClass} == {
        "content": 1,
        "conduct": 1,
        "coordination": 4,
        "abuse": 16,
    }


def test_an_id_depends_on_agent_rule_cause_and_tick_and_on_nothing_else() -> None:
    one = seen(5)
    same = violation(
        agent=AGENT,
        operator=bytes(32),
        rule=RuleId.FRIVOLOUS,
        tick=5,
        cause=bytes(32),
        evidence=(b"\7" * 32,),
        rules=_OF,
    )
    others = [seen(6), seen(5, rule=RuleId.UNFOUNDED), seen(5, number=1)]

    assert one.id == same.id
    assert one.operator == OPERATOR
    assert len({one.id, *(other.id for other in others)}) == 4


def test_the_evidence_of_a_violation_is_a_set_in_order() -> None:
    made = violation(
        agent=AGENT,
        operator=OPERATOR,
        rule=RuleId.HARMFUL,
        tick=1,
        cause=bytes(32),
        evidence=(b"\7" * 32, b"\3" * 32, b"\7" * 32),
        rules=_OF,
    )

    assert made.evidence == (b"\3" * 32, b"\7" * 32)


@pytest.mark.parametrize(("tick", "counts"), [(4, False), (5, True), (14, True), (15, False)])
def test_a_violation_counts_from_its_tick_for_one_window(tick: int, counts: bool) -> None:
    assert seen(5).counts(tick, _OF) is counts
    assert seen(5).until(_OF) == 15
