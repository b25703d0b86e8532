"""Guards of the other ways out, and of the way back: withdrawal, decree, revision, resubmission.

What rests on an artifact must not lose it by its author's whim, what was retracted must not return
before something is new, and a flag of staleness moves no state (paper 2.1; design: lifecycle).
"""

from federation.artifacts.artifact import Artifact, State
from federation.artifacts.facts import (
    Decreed,
    Facts,
    Refusal,
    Resubmission,
    StaleFlag,
    Supersession,
    Withdrawal,
    frozen,
    wrong_facts,
)
from federation.artifacts.personal import held_against
from federation.core import Code


def may_take_back(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`retract` of what stands: by its author while nothing rests on it, or by the operators.

    Operators are not held by a freeze: it waits for them.
    """
    if artifact is None or not isinstance(facts, Withdrawal | Decreed):
        return wrong_facts("its author's withdrawal, or an act of the operators")
    if isinstance(facts, Decreed):
        return None
    if facts.author != artifact.author:
        return Refusal(
            Code.NOT_AUTHOR,
            "only its author may withdraw it",
            "dispute it, or report it if it must disappear at once",
        )
    if facts.refused is not None:
        return held_against(facts.refused)
    if facts.cited:
        return Refusal(
            Code.CITED,
            "something that stands rests on it",
            "revise it, so that a better one stands in its place",
        )
    return frozen(artifact)


def may_supersede(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`supersede`: another artifact, accepted as its revision, stands in its place."""
    if artifact is None or not isinstance(facts, Supersession):
        return wrong_facts("the accepted revision")
    if facts.by == artifact.id:
        return Refusal(Code.GUARD_FAILED, "nothing supersedes itself", "name the accepted revision")
    return frozen(artifact)


def may_resubmit(artifact: Artifact | None, facts: Facts) -> Refusal | None:
    """`resubmit`: the cooldown is over, evidence is new, and the charter allows one more."""
    if artifact is None or not isinstance(facts, Resubmission):
        return wrong_facts("the resubmission")
    if facts.refused is not None:
        return held_against(facts.refused)
    if facts.r < facts.r_min:
        return Refusal(
            Code.NOT_ELIGIBLE,
            f"the agent's reputation is {facts.r} ppm, the charter asks for {facts.r_min}",
            "earn evidence with practice ballots and arguments",
        )
    if artifact.resubmitted >= facts.resub_max:
        return Refusal(
            Code.RESUBMISSIONS_SPENT,
            f"it came back {artifact.resubmitted} of {facts.resub_max} times",
            "propose something else",
        )
    over = (artifact.retracted_at or 0) + facts.cooldown
    if facts.tick < over:
        return Refusal(
            Code.COOLDOWN,
            f"it was retracted at tick {artifact.retracted_at}, and it is tick {facts.tick}",
            f"wait until tick {over}",
        )
    if set(facts.evidence) <= set(artifact.evidence):
        return Refusal(
            Code.NO_NEW_EVIDENCE,
            "every source that it brings was seen before",
            "bring evidence that is new to it",
        )
    return frozen(artifact)


def may_flag_stale(artifact: Artifact | None, facts: StaleFlag) -> Refusal | None:
    """Tell why a stale flag does not count: only what stands can be out of date."""
    if artifact is None:
        return held_against(Code.UNKNOWN_ARTIFACT)
    if facts.refused is not None:
        return held_against(facts.refused)
    if artifact.state is not State.ACTIVE:
        return Refusal(
            Code.GUARD_FAILED,
            f"it is {artifact.state}, and only what stands can be out of date",
            "look at its newest round",
        )
    if facts.used >= facts.quota:
        return Refusal(
            Code.OVER_QUOTA,
            f"the agent has flagged {facts.used} of {facts.quota} artifacts in this epoch",
            "wait for the next tick",
        )
    return None
