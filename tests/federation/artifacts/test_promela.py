"""The model says the same as the code: every guard and every effect, over all values that it knows."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Final

import pytest

from federation.artifacts import (
    TRANSITIONS,
    Action,
    Artifact,
    DecidedBy,
    Facts,
    Flag,
    Row,
    State,
    apply,
)
from federation.artifacts.promela import CONDITIONS, EFFECTS, FIGURE, Claim, model
from federation.artifacts.round_plan import PLAN
from federation.core import RefusedError
from federation.trust import Decision
from tests.builders import named
from tests.federation.artifacts.forms import (
    ROUND,
    active,
    by_rules,
    consent,
    credible,
    decreed,
    dispute,
    disputed,
    proposed,
    quiet_window,
    resubmission,
    retracted,
    submission,
    supersession,
    under_review,
    verdict,
    withdrawal,
)

D_MAX: Final = 2
RESUB_MAX: Final = 1
TICK: Final = 124
BASES: Final[Mapping[State | None, Artifact]] = {
    State.PROPOSED: proposed(),
    State.UNDER_REVIEW: under_review(),
    State.ACTIVE: active(),
    State.DISPUTED: disputed(),
    State.RETRACTED: retracted(grounds=()),
}
Values = dict[str, int | str]


def constants() -> Values:
    found: Values = {f"B_{by.name}": by.value for by in DecidedBy}
    found |= {f"F_{claim.name}": claim.value for claim in Claim}
    found |= {"K_REVIEW": "review", "K_DISPUTE": "dispute"}
    found |= {"V_ACCEPT": "accept", "V_REJECT": "reject", "D_MAX": D_MAX, "RESUB_MAX": RESUB_MAX}
    return found


CONSTANTS: Final = constants()


def holds(condition: str, values: Values) -> bool:
    """Read a condition of the model as Python reads it."""
    spelled = condition.replace("&&", " and ").replace("||", " or ")
    spelled = re.sub(r"!(?!=)", " not ", spelled)
    return bool(eval(spelled, {}, CONSTANTS | values))  # noqa: S307 # our own text


def valuations(claim: Claim) -> Iterator[Values]:
    """Give every combination of values that can matter to an action with this claim."""
    ranges: dict[str, tuple[int | str, ...]] = {"claim": (claim.value,), "frozen": (0, 1)}
    ranges["concealed"] = (0, 1)
    if claim is Claim.VERDICT:
        ranges |= {"current": (0, 1), "about": ("review", "dispute"), "says": ("accept", "reject")}
        ranges["by"] = tuple(by.value for by in DecidedBy)
    elif claim in {Claim.QUIET, Claim.REASON}:
        ranges["current"] = (0, 1)
    else:
        ranges |= {"assessing": (0, 1), "disputes": (0, 1, 2, 3)}
        ranges |= {"cooled": (0, 1), "resubmitted": (0, 1, 2)}
    whole: dict[str, tuple[int | str, ...]] = dict.fromkeys(NAMES, (0,)) | ranges
    for values in product(*whole.values()):
        yield dict(zip(whole, values, strict=True))


NAMES: Final = (
    *("claim", "current", "about", "says", "by"),
    *("frozen", "concealed", "assessing", "disputes", "cooled", "resubmitted"),
)


def artifact_of(base: Artifact, values: Values) -> Artifact:
    flags = {Flag.FROZEN: values["frozen"], Flag.HIDDEN: values["concealed"]}
    return replace(
        base,
        flags=frozenset(flag for flag, up in flags.items() if up),
        reports=int(values["assessing"]),
        disputes=int(values["disputes"]),
        resubmitted=int(values["resubmitted"]),
    )


def facts_of(values: Values) -> Facts:
    of_round = ROUND if values["current"] else named("another round")
    decision = Decision.ACCEPT if values["says"] == "accept" else Decision.REJECT
    made: dict[Claim, Facts] = {
        Claim.SUBMISSION: submission(),
        Claim.QUIET: quiet_window(verdict=consent(round=of_round)),
        Claim.REASON: quiet_window(objections=1),
        Claim.VERDICT: verdict(
            round=of_round, kind=values["about"], decision=decision, by=values["by"]
        ),
        Claim.DISPUTE: dispute(d_max=D_MAX),
        Claim.BY_RULES: by_rules(d_max=D_MAX),
        Claim.CREDIBLE: credible(),
        Claim.WITHDRAWAL: withdrawal(),
        Claim.DECREE: decreed(),
        Claim.REVISION: supersession(),
        Claim.RESUBMISSION: resubmission(
            tick=TICK if values["cooled"] else TICK - 1, resub_max=RESUB_MAX
        ),
    }
    return made[Claim(str(values["claim"]))]


ROWS = [(key, claim) for key in TRANSITIONS for claim in Claim]


@pytest.mark.parametrize(("key", "claim"), ROWS)
def test_a_condition_holds_exactly_where_its_guard_lets_pass(
    key: tuple[State | None, Action], claim: Claim
) -> None:
    row = TRANSITIONS[key]
    for values in valuations(claim):
        base = BASES.get(key[0])
        artifact = None if base is None else artifact_of(base, values)
        passes = row.guard(artifact, facts_of(values)) is None

        assert holds(CONDITIONS[row.guard], values) is passes, values


@pytest.mark.parametrize(("key", "claim"), ROWS)
def test_an_effect_is_what_the_lifecycle_does(
    key: tuple[State | None, Action], claim: Claim
) -> None:
    origin, action = key
    if origin is None:
        return
    for values in valuations(claim):
        before = artifact_of(BASES[origin], values)
        try:
            after = apply(before, action, facts_of(values), tick=TICK, d_max=D_MAX)
        except RefusedError:
            continue
        told = dict(values)
        for text in EFFECTS.get((action, claim), ()):
            exec(text, {}, told)  # noqa: S102 # our own text

        assert told["concealed"] == (Flag.HIDDEN in after.flags), values
        assert told["frozen"] == (Flag.FROZEN in after.flags), values
        assert told["disputes"] == after.disputes
        assert told["resubmitted"] == after.resubmitted
        if "cooled = 0" in EFFECTS.get((action, claim), ()):
            assert after.retracted_at == TICK
        else:
            assert after.retracted_at == before.retracted_at


def test_every_effect_belongs_to_an_action_that_can_have_such_facts() -> None:
    for action, claim in EFFECTS:
        guards = [row.guard for (_, name), row in TRANSITIONS.items() if name is action]

        assert any(f"F_{claim.name}" in CONDITIONS[guard] for guard in guards)


def test_the_table_follows_the_arrows_of_the_figure_and_all_of_them() -> None:
    assert {(origin, row.to) for (origin, _), row in TRANSITIONS.items()} == FIGURE


def test_a_row_whose_guard_nobody_has_explained_is_no_model() -> None:
    row = Row(to=State.ACTIVE, guard=lambda _artifact, _facts: None, condition="always")

    with pytest.raises(KeyError):
        model({**TRANSITIONS, (State.RETRACTED, Action.ACCEPT): row})


def test_the_model_holds_every_row_and_every_move_once() -> None:
    text = model()

    assert re.findall(r'printf\("row (\d+)', text) == [str(n) for n in range(len(TRANSITIONS))]
    moves = re.findall(r'printf\("move (\d+)', text)
    assert sorted({int(n) for n in moves}) == list(range(len(PLAN)))
    assert len(moves) == len(PLAN) + sum(move.early for move in PLAN)


def test_the_bounds_stand_in_the_model() -> None:
    text = model(d_max=7, resub_max=8, credible=9)

    assert "#define D_MAX 7\n" in text
    assert "#define RESUB_MAX 8\n" in text
    assert "#define CREDIBLE 9\n" in text
