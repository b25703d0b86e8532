"""The plan of rounds as a table of moves: what may happen where, and what time alone brings about.

It is the protocol seen from an adversary: objections, ballots, contests, rulings and the operators'
silence are all allowed to happen or not, and a phase that a charter may leave out is both there and
not there. `promela` makes a model of it; what really decides stands in `review` (paper 3.2, 3.3).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from federation.artifacts.transitions import Action
from federation.artifacts.verdicts import DecidedBy
from federation.certificates import Phase


class Wait(StrEnum):
    """Where a round stands between phases, and no round at all."""

    IDLE = "idle"
    """Nothing runs."""
    OPENED = "opened"
    """A cut has opened it."""
    BEGUN = "begun"
    """There is going to be a vote."""
    LOT = "lot"
    """The next cut's beacon draws arbiters."""


Place: TypeAlias = Phase | Wait
Kind: TypeAlias = Literal["review", "dispute"]
"""A credible report goes on as a dispute."""
Says: TypeAlias = Literal["accept", "reject"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One thing that can happen to a round."""

    at: Place
    to: Place
    """`idle` if the round ends."""
    kind: Kind
    note: str
    """What happens, in words."""
    needs: str = ""
    """A condition over the model's variables."""
    says: Says | None = None
    """What the round says from here on; a verdict if it ends."""
    by: DecidedBy | None = None
    """Which rule decides; None if nothing is decided yet."""
    action: Action | None = None
    """What the artifact is asked to do."""
    does: tuple[str, ...] = ()
    """Assignments to the model's variables."""
    early: bool = False
    """People can bring it about before the deadline."""
    timed: bool = True
    """The deadline brings it about by itself; a plan without such a move can wait for ever."""


_KINDS: Final[tuple[Kind, ...]] = ("review", "dispute")
_SAYS: Final[tuple[Says, ...]] = ("accept", "reject")
_SILENT: Final = frozenset({DecidedBy.SHORTFALL, DecidedBy.TIMEOUT})
_PENDING: Final[Mapping[Says, str]] = {
    "accept": "pending == V_ACCEPT",
    "reject": "pending == V_REJECT",
}


def action_for(kind: Kind, says: Says, by: DecidedBy) -> Action:
    """Name the row that a verdict stands for."""
    if kind == "dispute":
        return Action.KEEP if says == "accept" else Action.RETRACT
    if says == "accept":
        return Action.ACCEPT
    return Action.TIMEOUT if by in _SILENT else Action.REJECT


def plan() -> tuple[Move, ...]:
    """List every move of reviews and disputes, in the order of their phases."""
    return (
        *_opening(),
        *(move for kind in _KINDS for move in _debate(kind)),
        *(move for kind in _KINDS for move in _ballots(kind)),
        *_review_count(),
        *_dispute_count(),
        *(move for kind in _KINDS for move in _contest(kind)),
        *(move for kind in _KINDS for move in _arbitration(kind)),
        *(move for kind in _KINDS for move in _operators(kind)),
    )


def _end(
    at: Place, kind: Kind, says: Says, by: DecidedBy, *, needs: str = "", early: bool = False
) -> Move:
    return Move(
        at=at,
        to=Wait.IDLE,
        kind=kind,
        note=f"ends: {says} by {by}",
        needs=needs,
        says=says,
        by=by,
        action=action_for(kind, says, by),
        early=early,
    )


def _opening() -> Iterator[Move]:
    fresh = "st == S_PROPOSED"
    begin = Action.BEGIN_REVIEW
    yield Move(at=Wait.OPENED, to=Phase.FAST, kind="review", note="a window opens", needs=fresh)
    yield Move(
        at=Wait.OPENED, to=Wait.BEGUN, kind="review", note="no window", needs=fresh, action=begin
    )
    yield Move(at=Wait.OPENED, to=Wait.BEGUN, kind="review", note="a rerun", needs=f"!({fresh})")
    yield Move(at=Wait.OPENED, to=Wait.BEGUN, kind="dispute", note="a panel is called")
    yield _end(Phase.FAST, "review", "accept", DecidedBy.FAST_TRACK)
    yield Move(at=Phase.FAST, to=Wait.BEGUN, kind="review", note="a reason to vote", action=begin)
    # With nobody who may vote, a review does at once what its policy says.
    for says in _SAYS:
        yield _end(Wait.BEGUN, "review", says, DecidedBy.SHORTFALL)
    for kind in _KINDS:
        yield Move(at=Wait.BEGUN, to=Wait.LOT, kind=kind, note="nobody may vote")
    yield Move(at=Wait.BEGUN, to=Phase.ADMIN, kind="dispute", note="nobody votes, nobody rules")


def _debate(kind: Kind) -> Iterator[Move]:
    for first in (Phase.SEAL, Phase.DELIBERATE, Phase.COMMIT):
        yield Move(at=Wait.BEGUN, to=first, kind=kind, note=f"begins with {first}")
    turns = (Phase.DELIBERATE, Phase.TURN2, Phase.TURN3, Phase.TURN4, Phase.TURN5)
    following = dict(pairwise(turns))
    yield Move(at=Phase.SEAL, to=Phase.UNSEAL, kind=kind, note="seals are listed")
    for sealed in (Phase.SEAL, Phase.UNSEAL):
        yield Move(at=sealed, to=Phase.DELIBERATE, kind=kind, note="all seals are open")
        yield Move(at=sealed, to=Phase.COMMIT, kind=kind, note="no discussion")
    for turn in turns:
        yield Move(at=turn, to=Phase.COMMIT, kind=kind, note="the debate is over")
        if turn in following:
            yield Move(at=turn, to=following[turn], kind=kind, note="another turn")


def _ballots(kind: Kind) -> Iterator[Move]:
    lost: tuple[Says, ...] = ("reject",) if kind == "review" else _SAYS
    yield Move(
        at=Phase.COMMIT, to=Phase.COMMIT2, kind=kind, note="too few: widened once", early=True
    )
    for box in (Phase.COMMIT, Phase.COMMIT2):
        yield Move(at=box, to=Phase.DECIDE, kind=kind, note="the box is shut", early=True)
        for says in lost:
            yield _end(box, kind, says, DecidedBy.TIMEOUT)


def _review_count() -> Iterator[Move]:
    for says in _SAYS:
        yield _end(Phase.DECIDE, "review", says, DecidedBy.VOTE, early=True)
        yield _end(Phase.DECIDE, "review", says, DecidedBy.SIGN, early=True)
        yield _end(Phase.DECIDE, "review", says, DecidedBy.SHORTFALL)
    yield Move(at=Phase.DECIDE, to=Wait.LOT, kind="review", note="between, or too few", early=True)


def _dispute_count() -> Iterator[Move]:
    for says in _SAYS:
        yield _end(Phase.DECIDE, "dispute", says, DecidedBy.VOTE, early=True)
    yield Move(at=Phase.DECIDE, to=Wait.LOT, kind="dispute", note="short of the quorum")
    yield Move(at=Phase.DECIDE, to=Phase.ADMIN, kind="dispute", note="short, and nobody rules")


def _contest(kind: Kind) -> Iterator[Move]:
    for says in _SAYS:
        yield Move(
            at=Phase.DECIDE,
            to=Phase.CONTEST,
            kind=kind,
            note=f"clear: {says}",
            says=says,
            early=True,
        )
        yield _end(Phase.CONTEST, kind, says, DecidedBy.VOTE, needs=_PENDING[says])
    yield Move(at=Phase.CONTEST, to=Wait.LOT, kind=kind, note="contested")
    yield from _nobody_rules(Phase.CONTEST, kind)


def _nobody_rules(at: Place, kind: Kind) -> Iterator[Move]:
    """Without an arbiter a clear vote stands, else the sign decides a review; operators a dispute."""
    if kind == "review":
        for says in _SAYS:
            yield _end(at, kind, says, DecidedBy.SIGN)
            yield _end(at, kind, says, DecidedBy.VOTE, needs=_PENDING[says])
    else:
        yield Move(at=at, to=Phase.ADMIN, kind=kind, note="no arbiter")


def _arbitration(kind: Kind) -> Iterator[Move]:
    yield Move(at=Wait.LOT, to=Phase.RULE, kind=kind, note="arbiters are drawn")
    yield from _nobody_rules(Wait.LOT, kind)
    yield from _nobody_rules(Phase.RULE, kind)
    for says in _SAYS:
        yield _end(Phase.RULE, kind, says, DecidedBy.ARBITER, early=True)
        yield Move(
            at=Phase.RULE, to=Phase.APPEAL, kind=kind, note=f"ruled: {says}", says=says, early=True
        )
        yield _end(Phase.APPEAL, kind, says, DecidedBy.ARBITER, needs=_PENDING[says])
    yield Move(
        at=Phase.RULE,
        to=Wait.OPENED,
        kind=kind,
        note="a fresh panel, once",
        needs="!rerun",
        does=("rerun = 1",),
        early=True,
    )
    yield Move(
        at=Phase.RULE,
        to=Phase.ADMIN,
        kind=kind,
        note="frozen",
        does=("frozen = 1",),
        early=True,
    )
    yield Move(at=Phase.APPEAL, to=Phase.ADMIN, kind=kind, note="the ruling is contested")


def _operators(kind: Kind) -> Iterator[Move]:
    for says in _SAYS:
        yield _end(Phase.ADMIN, kind, says, DecidedBy.ADMIN, early=True)
        # Operators who say nothing let stand what a panel or an arbiter has judged.
        for judged in (DecidedBy.VOTE, DecidedBy.ARBITER):
            yield _end(Phase.ADMIN, kind, says, judged, needs=_PENDING[says])
    lost: tuple[Says, ...] = ("reject",) if kind == "review" else _SAYS
    for says in lost:
        yield _end(Phase.ADMIN, kind, says, DecidedBy.TIMEOUT)


PLAN: Final = plan()
