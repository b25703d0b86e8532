"""SPIN walks every state of the lifecycle with its deadlines, against an adversary.

The model is made from the table and from the plan of rounds (`federation.artifacts.promela`). It must
hold, every row and every move must be taken somewhere in it, and each mistake that is put into it on
purpose must be found: a model that forgives everything proves nothing. SPIN and a C compiler are
needed; without them these tests fail, because what is not checked is not known.
"""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from federation.artifacts import TRANSITIONS, Action, Guard, Row, State
from federation.artifacts.dispute_guards import may_dispute, may_keep
from federation.artifacts.guards import may_accept, may_pass_fast
from federation.artifacts.promela import CONDITIONS, EFFECTS, FORMULAS, Claim, model
from federation.artifacts.return_guards import may_resubmit, may_supersede
from federation.artifacts.round_plan import PLAN, Move, Place
from federation.certificates import Phase

COMPILERS: Final = ("cc", "gcc", "clang")
PATIENCE: Final = 250
"""Seconds for one step; it takes about three on an idle machine."""
DEEP: Final = "-m200000"
"""Longest path: SPIN gives up, with a message, on longer ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the verifier said."""

    errors: int
    why: str
    """Its first complaint; empty if it has none."""
    rows: frozenset[int]
    """Rows of the table that it has taken."""
    moves: frozenset[int]
    """Moves of the plan that it has taken."""


def tool(*names: str) -> str:
    """Find a program, or fail and say how to get it."""
    for name in names:
        found = shutil.which(name)
        if found is not None:
            return found
    pytest.fail(
        f"this machine has no {names[0]}: the model of the lifecycle cannot be checked. "
        "On Debian or Ubuntu: apt-get install --yes --no-install-recommends spin gcc libc6-dev"
    )


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(  # noqa: S603 # our own model, and programs found on the PATH
        command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, (
        f"{' '.join(command)}: {done.stdout[-2_000:]}{done.stderr[-2_000:]}"
    )
    return done.stdout


def build(folder: Path, text: str, *, formulas: bool) -> Path:
    """Make a verifier of a model; without formulas it only looks at assertions, and is faster."""
    folder.joinpath("model.pml").write_text(text, encoding="utf-8")
    run(folder, tool("spin"), "-a", "model.pml")
    options = () if formulas else ("-DSAFETY", "-DNOCLAIM")
    run(folder, tool(*COMPILERS), "-O0", "-w", *options, "-o", "verifier", "pan.c")
    return folder / "verifier"


def verify(verifier: Path, formula: str | None = None, *, time_passes: bool = True) -> Verdict:
    """Walk every state: assertions, or one formula under weak fairness, which is that time passes."""
    fairness = ("-f",) if time_passes else ()
    options = () if formula is None else ("-a", *fairness, "-N", formula)
    said = run(verifier.parent, str(verifier), DEEP, "-w20", "-n", *options)
    errors = re.search(r"errors: (\d+)", said)
    assert errors is not None, said[-2_000:]
    assert "max search depth too small" not in said
    why = re.search(r"^pan:\d+: (.+)$", said, re.MULTILINE)
    return Verdict(
        errors=int(errors[1]),
        why="" if why is None else why[1],
        rows=frozenset(map(int, re.findall(r"^row (\d+)$", said, re.MULTILINE))),
        moves=frozenset(map(int, re.findall(r"^move (\d+)$", said, re.MULTILINE))),
    )


def without_deadline(place: Place) -> Sequence[Move]:
    """Give the plan with a phase that time does not end."""
    return [replace(move, timed=move.timed and move.at is not place) for move in PLAN]


def dropping(guard: Guard, condition: str) -> Mapping[Guard, str]:
    """Give the guards with one condition left out of one of them."""
    assert condition in CONDITIONS[guard]
    return {**CONDITIONS, guard: CONDITIONS[guard].replace(condition, "true")}


def table_with(state: State, action: Action, to: State, guard: Guard) -> str:
    """Write the model of a table with one more row, or another one."""
    row = Row(to=to, guard=guard, condition="a mistake")
    return model({**TRANSITIONS, (state, action): row})


def table_without(state: State, action: Action) -> str:
    return model({key: row for key, row in TRANSITIONS.items() if key != (state, action)})


def effects_without(action: Action, claim: Claim, text: str) -> str:
    kept = tuple(one for one in EFFECTS[action, claim] if one != text)
    assert len(kept) < len(EFFECTS[action, claim])
    return model(effects={**EFFECTS, (action, claim): kept})


def test_nothing_stands_without_a_certified_path_and_no_limit_is_passed(tmp_path: Path) -> None:
    said = verify(build(tmp_path, model(), formulas=False))

    assert (said.errors, said.why) == (0, "")
    assert said.rows == set(range(len(TRANSITIONS))), "a row that nothing can take"
    assert said.moves == set(range(len(PLAN))), "a move that nothing can make"


def test_every_round_ends_if_time_passes_whatever_people_do(tmp_path: Path) -> None:
    # That forged verdicts are refused is shown above; here they would only be many ways to wait.
    verifier = build(tmp_path, model(forged=False), formulas=True)
    said = {formula: verify(verifier, formula).why for formula in FORMULAS}

    assert said == dict.fromkeys(FORMULAS, "")
    # Time is what ends them: where none passes, everybody can wait for ever.
    assert "acceptance cycle" in verify(verifier, "settles", time_passes=False).why


UNTIMED: Final = [Phase.COMMIT, Phase.ADMIN]
OTHERS: Final = sorted({move.at for move in PLAN} - set(UNTIMED))


@pytest.mark.parametrize(
    "place", [*UNTIMED, *(pytest.param(place, marks=pytest.mark.slow) for place in OTHERS)]
)
def test_a_phase_without_a_deadline_is_found(tmp_path: Path, place: Place) -> None:
    verifier = build(tmp_path, model(plan=without_deadline(place), forged=False), formulas=True)

    assert "acceptance cycle" in verify(verifier, "settles").why


def test_a_moderator_who_never_looks_is_found(tmp_path: Path) -> None:
    text = model(forged=False)
    lapse = "        :: assessing -> assessing = 0; only = 0\n"
    assert text.count(lapse) == 1
    verifier = build(tmp_path, text.replace(lapse, "        :: false\n"), formulas=True)

    assert "acceptance cycle" in verify(verifier, "assesses").why


@pytest.mark.parametrize(
    ("guard", "condition", "complaint"),
    [
        (may_dispute, "disputes < D_MAX", "filed<="),
        (may_resubmit, "resubmitted < RESUB_MAX", "returned<="),
        (may_accept, "current", "certified=="),
        (may_keep, "current", "at!="),
        (may_pass_fast, "current", "certified=="),
    ],
)
def test_a_guard_that_forgets_a_condition_is_found(
    tmp_path: Path, guard: Guard, condition: str, complaint: str
) -> None:
    text = model(conditions=dropping(guard, condition))
    said = verify(build(tmp_path, text, formulas=False))

    assert said.errors == 1
    assert complaint in said.why.replace("(", "").replace(")", "")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            table_with(State.RETRACTED, Action.SUPERSEDE, State.SUPERSEDED, may_supersede),
            id="a retracted artifact is superseded",
        ),
        pytest.param(
            table_with(State.DISPUTED, Action.SUPERSEDE, State.SUPERSEDED, may_supersede),
            id="a revision ends a dispute",
        ),
        pytest.param(
            table_with(
                State.UNDER_REVIEW,
                Action.TIMEOUT,
                State.ACTIVE,
                TRANSITIONS[State.UNDER_REVIEW, Action.TIMEOUT].guard,
            ),
            id="a timeout accepts",
        ),
        pytest.param(
            table_without(State.DISPUTED, Action.RETRACT), id="a dispute cannot be sustained"
        ),
        pytest.param(
            effects_without(Action.KEEP, Claim.VERDICT, "concealed = 0"),
            id="what is kept stays hidden",
        ),
        pytest.param(
            effects_without(Action.ACCEPT, Claim.VERDICT, "frozen = 0"),
            id="what is accepted stays frozen",
        ),
        pytest.param(
            effects_without(Action.RESUBMIT, Claim.RESUBMISSION, "resubmitted = resubmitted + 1"),
            id="resubmissions are not counted",
        ),
        pytest.param(
            effects_without(Action.DISPUTE, Claim.DISPUTE, "disputes = disputes + 1"),
            id="disputes are not counted",
        ),
    ],
)
def test_a_wrong_row_or_a_forgotten_effect_is_found(tmp_path: Path, text: str) -> None:
    assert verify(build(tmp_path, text, formulas=False)).errors == 1


def test_a_row_that_nothing_can_take_is_found(tmp_path: Path) -> None:
    text = table_with(State.RETRACTED, Action.KEEP, State.ACTIVE, may_keep)
    said = verify(build(tmp_path, text, formulas=False))

    assert set(range(len(TRANSITIONS) + 1)) - said.rows == {len(TRANSITIONS)}
