"""Builders of violations, and the rules of a charter for them."""

from dataclasses import replace as alter

from msgspec.structs import replace

from federation.charter import Sanctions, preset
from federation.sanctions import RuleId, Violation, violation

AGENT, OPERATOR = b"\1" * 32, b"\2" * 32
RULES: Sanctions = replace(preset("test").sanctions, window=10)


def seen(
    tick: int,
    *,
    points: int | None = None,
    rule: RuleId = RuleId.FRIVOLOUS,
    number: int = 0,
    rules: Sanctions = RULES,
) -> Violation:
    """Make a violation at a tick; `number` tells those of one tick apart, `points` overrides."""
    made = violation(
        agent=AGENT,
        operator=OPERATOR,
        rule=rule,
        tick=tick,
        cause=number.to_bytes(32, "big"),
        evidence=(),
        rules=rules,
    )
    if points is None:
        return made
    return alter(made, points=points)
