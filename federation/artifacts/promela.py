"""The lifecycle as a model for SPIN, made from the table and from the plan of rounds (paper 4.1).

The text is Promela. An adversary tries every action at any time, with facts true or forged; time
does what deadlines do; the table alone moves the state. Assertions and formulas say what must hold,
and are written without a look at the table, so that a wrong row cannot excuse itself. Nothing here
runs a model: `tests/machines/test_lifecycle_model.py` does.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from federation.artifacts import dispute_guards, guards, return_guards
from federation.artifacts.artifact import State
from federation.artifacts.facts import Guard
from federation.artifacts.round_plan import PLAN, Kind, Move, Place, Wait
from federation.artifacts.transitions import TRANSITIONS, Action, Row
from federation.artifacts.verdicts import DecidedBy
from federation.certificates import Phase

Table: TypeAlias = Mapping[tuple[State | None, Action], Row]


class Claim(StrEnum):
    """What an action is tried with: the facts of the guards, as few as the model needs."""

    SUBMISSION = "submission"
    QUIET = "quiet"
    """A window that closed with nothing that asks for a vote."""
    REASON = "reason"
    """A window with something that does, or none at all."""
    VERDICT = "verdict"
    DISPUTE = "dispute"
    BY_RULES = "by_rules"
    CREDIBLE = "credible"
    WITHDRAWAL = "withdrawal"
    DECREE = "decree"
    REVISION = "revision"
    RESUBMISSION = "resubmission"


def _verdict(kind: Kind, says: str, *by: DecidedBy) -> str:
    rules = " || ".join(f"by == B_{one.name}" for one in by)
    return f"claim == F_VERDICT && current && about == K_{kind.upper()} && says == V_{says} && ({rules})"


_JUDGED: Final = (DecidedBy.VOTE, DecidedBy.SIGN, DecidedBy.ARBITER, DecidedBy.ADMIN)
_CALM: Final = "!frozen && !assessing"

CONDITIONS: Final[Mapping[Guard, str]] = {
    guards.may_submit: "claim == F_SUBMISSION",
    guards.may_pass_fast: "claim == F_QUIET && current",
    guards.may_begin_review: "claim == F_REASON",
    guards.may_accept: _verdict("review", "ACCEPT", *_JUDGED, DecidedBy.SHORTFALL),
    guards.may_reject: _verdict("review", "REJECT", *_JUDGED),
    guards.may_time_out: _verdict("review", "REJECT", DecidedBy.TIMEOUT, DecidedBy.SHORTFALL),
    dispute_guards.may_dispute: (
        f"(claim == F_DISPUTE && {_CALM} && disputes < D_MAX)"
        f" || (claim == F_BY_RULES && {_CALM}) || (claim == F_CREDIBLE && !frozen)"
    ),
    dispute_guards.may_keep: _verdict("dispute", "ACCEPT", *_JUDGED, DecidedBy.TIMEOUT),
    dispute_guards.may_retract: _verdict("dispute", "REJECT", *_JUDGED, DecidedBy.TIMEOUT),
    return_guards.may_take_back: "(claim == F_WITHDRAWAL && !frozen) || claim == F_DECREE",
    return_guards.may_supersede: "claim == F_REVISION && !frozen",
    return_guards.may_resubmit: (
        "claim == F_RESUBMISSION && !frozen && cooled && resubmitted < RESUB_MAX"
    ),
}
"""Each guard over the model's variables. Personal conditions are left out: the adversary has people
who fulfil them."""

_STANDS: Final = ("concealed = 0", "frozen = 0")
_FALLS: Final = ("frozen = 0", "cooled = 0")

EFFECTS: Final[Mapping[tuple[Action, Claim], tuple[str, ...]]] = {
    (Action.ACCEPT, Claim.VERDICT): _STANDS,
    (Action.KEEP, Claim.VERDICT): _STANDS,
    (Action.REJECT, Claim.VERDICT): _FALLS,
    (Action.TIMEOUT, Claim.VERDICT): _FALLS,
    (Action.RETRACT, Claim.VERDICT): _FALLS,
    (Action.RETRACT, Claim.WITHDRAWAL): _FALLS,
    (Action.RETRACT, Claim.DECREE): _FALLS,
    (Action.DISPUTE, Claim.DISPUTE): ("disputes = disputes + 1",),
    (Action.DISPUTE, Claim.CREDIBLE): ("disputes = disputes + 1", "concealed = 1"),
    (Action.RESUBMIT, Claim.RESUBMISSION): ("resubmitted = resubmitted + 1",),
}
"""What an action does to the model's variables beside the state, if it is not refused."""

FIGURE: Final[frozenset[tuple[State | None, State]]] = frozenset(
    {
        (None, State.PROPOSED),
        (State.PROPOSED, State.UNDER_REVIEW),
        (State.PROPOSED, State.ACTIVE),
        (State.UNDER_REVIEW, State.ACTIVE),
        (State.UNDER_REVIEW, State.RETRACTED),
        (State.ACTIVE, State.DISPUTED),
        (State.ACTIVE, State.SUPERSEDED),
        (State.ACTIVE, State.RETRACTED),
        (State.DISPUTED, State.ACTIVE),
        (State.DISPUTED, State.RETRACTED),
        (State.RETRACTED, State.PROPOSED),
    }
)
"""The arrows of the paper's figure, with the fast track of its section 3.2.1."""

_VARIABLES: Final = """\
byte st, was;                     /* where the artifact stands, and stood a step before */
byte at, kind, pending;           /* where its round stands, what it is about and says so far */
bool rerun, frozen, concealed, cooled, assessing, only;
byte disputes, resubmitted, credible;
/* Ghosts, which no guard reads: a certified list lets it stand; disputes filed; times it returned. */
bool certified;
byte filed, returned;
/* Set and forgotten within one step: what is tried, with which facts, and for the plan where to. */
byte act, claim, about, says, by, goes;
bool current, due, ok;
c_decl { static int row_seen[256], move_seen[256]; }
"""

_SETTLE: Final = """\
/* What must hold after every step. None of it is read from the table. */
inline check() {
    assert(ARROW(was, st));
    assert(certified == (st == S_ACTIVE || st == S_DISPUTED || st == S_SUPERSEDED));
    assert((at != P_IDLE) == (st == S_PROPOSED || st == S_UNDER_REVIEW || st == S_DISPUTED));
    assert(filed <= D_MAX);
    assert(returned <= RESUB_MAX);
    assert(!frozen || at == P_ADMIN)
}

inline settle() {
    fire();
    /* What the plan asks for, the table never refuses. */
    assert(ok || !(due && act || claim == F_CREDIBLE));
    if
    :: due && (claim == F_VERDICT || claim == F_QUIET) -> certified = (says == V_ACCEPT)
    :: !due && ok && (claim == F_WITHDRAWAL || claim == F_DECREE) -> certified = 0
    :: !due && ok && claim == F_DISPUTE -> filed = filed + 1
    :: was == S_RETRACTED && st == S_PROPOSED -> returned = returned + 1
    :: else
    fi;
    assert(!(due && claim == F_VERDICT && says == V_ACCEPT && concealed));
    if
    :: due -> at = goes
    :: !due && ok && (act == A_SUBMIT || act == A_RESUBMIT) -> at = P_OPENED; kind = K_REVIEW
    :: !due && ok && act == A_DISPUTE -> at = P_OPENED; kind = K_DISPUTE
    :: else
    fi;
    if :: at == P_IDLE -> kind = 0; pending = 0; rerun = 0 :: else fi;
    check();
    was = st; act = 0; claim = 0; about = 0; says = 0; by = 0; goes = 0; current = 0; due = 0; ok = 0
}
"""

_FORMULAS: Final = """\
ltl settles { [] ((st == S_PROPOSED || st == S_UNDER_REVIEW || st == S_DISPUTED) ->
    <> (st == S_ACTIVE || st == S_RETRACTED || st == S_SUPERSEDED)) }
ltl thaws { [] (frozen -> <> (!frozen)) }
ltl assesses { [] (assessing -> <> (!assessing)) }
"""
FORMULAS: Final = ("settles", "thaws", "assesses")
"""Names of the formulas: each says that, if time passes, something ends."""

_REPORTS: Final = """\
        /* A moderator finds it not credible, or the time for it is over. */
        :: assessing -> assessing = 0; only = 0
"""

_FORGED: Final = """\
        /* Forged: verdicts and windows that no list of this round stands for. */
        :: act = A_ACCEPT; claim = F_QUIET
        :: claim = F_VERDICT;
            if :: act = A_ACCEPT :: act = A_REJECT :: act = A_TIMEOUT
               :: act = A_KEEP :: act = A_RETRACT fi;
            if :: about = K_REVIEW :: about = K_DISPUTE fi;
            if :: says = V_ACCEPT :: says = V_REJECT fi;
            if :: by = B_VOTE :: by = B_TIMEOUT fi
"""

_ADVERSARY: Final = """\
        :: act = A_SUBMIT; claim = F_SUBMISSION
        :: act = A_DISPUTE; claim = F_DISPUTE
        :: act = A_DISPUTE; claim = F_BY_RULES
        :: act = A_RETRACT; claim = F_WITHDRAWAL
        :: act = A_RETRACT; claim = F_DECREE
        :: act = A_SUPERSEDE; claim = F_REVISION
        :: act = A_RESUBMIT; claim = F_RESUBMISSION
        :: st != S_NOTHING && !assessing && !concealed ->
            assessing = 1; only = (st != S_ACTIVE)
        /* A moderator finds it credible and takes what stands, or hides it beside a round. */
        :: assessing && credible < CREDIBLE -> assessing = 0; credible = credible + 1;
            if
            :: only -> concealed = 1
            :: !only && st == S_ACTIVE -> act = A_DISPUTE; claim = F_CREDIBLE
            :: else
            fi; only = 0
        :: st == S_RETRACTED && !cooled -> cooled = 1
        :: st != S_NOTHING -> concealed = !concealed
        /* Nobody does anything: without this, time would always be helped along. */
        :: true
"""


def model(
    table: Table = TRANSITIONS,
    plan: Sequence[Move] = PLAN,
    conditions: Mapping[Guard, str] = CONDITIONS,
    effects: Mapping[tuple[Action, Claim], tuple[str, ...]] = EFFECTS,
    *,
    d_max: int = 2,
    resub_max: int = 1,
    credible: int = 1,
    forged: bool = True,
) -> str:
    """Write the model; every argument can be broken on purpose, to see that the model notices.

    `d_max`, `resub_max` and `credible` bound disputes, resubmissions and credible reports: the model
    has finitely many states only because of them. Without `forged` verdicts, which are always refused,
    the formulas have far fewer steps to follow. Raises KeyError for a guard that has no condition:
    a new row is not checked until somebody has said what its guard means here.
    """
    parts = (
        "/* Made by federation.artifacts.promela: do not edit. */\n",
        *_constants(d_max, resub_max, credible),
        _VARIABLES,
        _fire(table, conditions, effects),
        _SETTLE,
        _FORMULAS,
        _process("Time", [_move(n, move) for n, move in enumerate(plan) if move.timed]),
        _process(
            "Adversary",
            [
                *(_move(n, move) for n, move in enumerate(plan) if move.early),
                *([_FORGED] if forged else []),
                _ADVERSARY,
            ],
        ),
        _process("Reports", [_REPORTS]),
    )
    return "\n".join(parts)


def _constants(d_max: int, resub_max: int, credible: int) -> Iterator[str]:
    names = {
        "S": ["NOTHING", *(state.name for state in State)],
        "P": [one.name for kind in (Wait, Phase) for one in kind],
        "A": ["NOTHING", *(action.name for action in Action)],
        "K": ["NO_ROUND", "REVIEW", "DISPUTE"],
        "V": ["NOTHING", "ACCEPT", "REJECT"],
        "B": ["NOBODY", *(one.name for one in DecidedBy)],
        "F": ["NOTHING", *(one.name for one in Claim)],
    }
    for prefix, values in names.items():
        yield "".join(f"#define {prefix}_{name} {n}\n" for n, name in enumerate(values))
    yield f"#define D_MAX {d_max}\n#define RESUB_MAX {resub_max}\n#define CREDIBLE {credible}\n"
    arrows = sorted((_state(origin), _state(to)) for origin, to in FIGURE)
    pairs = " || ".join(f"((a) == {a} && (b) == {b})" for a, b in arrows)
    yield f"#define ARROW(a, b) ((a) == (b) || {pairs})\n"


def _fire(
    table: Table,
    conditions: Mapping[Guard, str],
    effects: Mapping[tuple[Action, Claim], tuple[str, ...]],
) -> str:
    """Write the door: the rows, each with its guard; anything else is refused, changing nothing."""
    lines = ["inline fire() {", "    if"]
    for number, ((origin, action), row) in enumerate(table.items()):
        lines += [
            # An expression ends with its line: SPIN reads the line's end as a semicolon.
            f"    :: st == {_state(origin)} && act == A_{action.name} && ({conditions[row.guard]}) ->",
            f"        {_seen('row', number)}",
            f"        st = {_state(row.to)}; ok = 1;",
            "        if",
            *(
                f"        :: claim == F_{claim.name} -> {'; '.join(does)}"
                for (name, claim), does in effects.items()
                if name is action
            ),
            "        :: else",
            "        fi",
        ]
    return "\n".join([*lines, "    :: else", "    fi", "}", ""])


def _move(number: int, move: Move) -> str:
    """Write one move of the plan."""
    needs = f" && {move.needs}" if move.needs else ""
    does = [*move.does, f"due = 1; goes = {_place(move.to)}"]
    if move.action is not None:
        does += [f"act = A_{move.action.name}", *_asked(move)]
    elif move.says is not None:
        does.append(f"pending = V_{move.says.upper()}")
    return "\n".join(
        [
            f"        :: at == {_place(move.at)} && kind == K_{move.kind.upper()}{needs} ->",
            f"            {_seen('move', number)} /* {move.note} */",
            f"            {'; '.join(does)}",
        ]
    )


def _asked(move: Move) -> Iterator[str]:
    """Set the facts that a round brings: they are always its own."""
    if move.by is None:
        yield "claim = F_REASON"
        return
    assert move.says is not None, "a verdict says something"  # noqa: S101 # ours
    yield f"claim = {'F_QUIET' if move.by is DecidedBy.FAST_TRACK else 'F_VERDICT'}; current = 1"
    yield f"about = kind; says = V_{move.says.upper()}; by = B_{move.by.name}"


def _process(name: str, options: Sequence[str]) -> str:
    """Write somebody who takes one step after the other; without a step to take it waits."""
    head = [f"active proctype {name}() {{", "    do", "    :: atomic {", "        if"]
    return "\n".join(
        [
            *head,
            *(one.rstrip("\n") for one in options),
            "        fi;",
            "        settle() }",
            "    od",
            "}",
            "",
        ]
    )


def _seen(what: str, number: int) -> str:
    """Let the verifier print once that it has come here: what it never prints is unreachable."""
    return f'c_code {{ if (!{what}_seen[{number}]++) printf("{what} {number}\\n"); }};'


def _state(state: State | None) -> str:
    return "S_NOTHING" if state is None else f"S_{state.name}"


def _place(place: Place) -> str:
    return f"P_{place.name}"
