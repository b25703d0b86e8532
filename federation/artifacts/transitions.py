"""The lifecycle as one table (paper 2.1): an absent row is a refusal that changes nothing.

The fast-track edge is missing in the paper's figure and required by its section 3.2.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from federation.artifacts import dispute_guards, guards, return_guards
from federation.artifacts.artifact import State
from federation.artifacts.facts import Guard


class Action(StrEnum):
    """What can happen to an artifact."""

    SUBMIT = "submit"
    ACCEPT = "accept"
    BEGIN_REVIEW = "begin_review"
    REJECT = "reject"
    TIMEOUT = "timeout"
    DISPUTE = "dispute"
    """A round opens that may end what stands."""
    KEEP = "keep"
    RETRACT = "retract"
    SUPERSEDE = "supersede"
    RESUBMIT = "resubmit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Where an action leads, and the guard that must hold."""

    to: State
    guard: Guard
    condition: str
    """The guard in a few words, for the diagram."""


TRANSITIONS: Final[Mapping[tuple[State | None, Action], Row]] = {
    (None, Action.SUBMIT): Row(
        to=State.PROPOSED,
        guard=guards.may_submit,
        condition="admitted, r ≥ r_min, no exact duplicate, quota free",
    ),
    (State.PROPOSED, Action.ACCEPT): Row(
        to=State.ACTIVE,
        guard=guards.may_pass_fast,
        condition="fast track: watched, and nobody objected",
    ),
    (State.PROPOSED, Action.BEGIN_REVIEW): Row(
        to=State.UNDER_REVIEW,
        guard=guards.may_begin_review,
        condition="objection, high sensitivity, sandbox, or a flag",
    ),
    (State.UNDER_REVIEW, Action.ACCEPT): Row(
        to=State.ACTIVE,
        guard=guards.may_accept,
        condition="quorum and V ≥ τ_accept, by sign, ruling, operators, or by policy",
    ),
    (State.UNDER_REVIEW, Action.REJECT): Row(
        to=State.RETRACTED,
        guard=guards.may_reject,
        condition="quorum and V ≤ τ_reject, by sign, ruling, or operators",
    ),
    (State.UNDER_REVIEW, Action.TIMEOUT): Row(
        to=State.RETRACTED,
        guard=guards.may_time_out,
        condition="void box, too few ballots, or nobody decided",
    ),
    (State.ACTIVE, Action.DISPUTE): Row(
        to=State.DISPUTED,
        guard=dispute_guards.may_dispute,
        condition="tier 2, r ≥ r_dispute, limits, new ground, by the rules, or a credible report",
    ),
    (State.DISPUTED, Action.KEEP): Row(
        to=State.ACTIVE,
        guard=dispute_guards.may_keep,
        condition="dismissed: -V < τ_retract, by sign, ruling, operators, or timeout",
    ),
    (State.DISPUTED, Action.RETRACT): Row(
        to=State.RETRACTED,
        guard=dispute_guards.may_retract,
        condition="sustained: quorum and -V ≥ τ_retract, by sign, ruling, operators, or timeout",
    ),
    (State.ACTIVE, Action.SUPERSEDE): Row(
        to=State.SUPERSEDED,
        guard=return_guards.may_supersede,
        condition="a revision of it is accepted",
    ),
    (State.ACTIVE, Action.RETRACT): Row(
        to=State.RETRACTED,
        guard=return_guards.may_take_back,
        condition="withdrawn while nothing rests on it, or by the operators",
    ),
    (State.RETRACTED, Action.RESUBMIT): Row(
        to=State.PROPOSED,
        guard=return_guards.may_resubmit,
        condition="cooldown over, new evidence, r ≥ r_min, resubmissions left",
    ),
}


def diagram() -> str:
    """Draw the table as the Mermaid state diagram that the docs show."""
    lines = ["stateDiagram-v2"]
    for (origin, action), row in TRANSITIONS.items():
        start = "[*]" if origin is None else origin.value
        lines.append(f"    {start} --> {row.to.value}: {action.value} ({row.condition})")
    return "\n".join(lines) + "\n"
