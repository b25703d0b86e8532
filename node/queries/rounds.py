"""Rounds: where one stands here, until when to act in it, and afterwards how everybody voted.

Before the `decide` certificate is final here and its records are held, an answer holds nothing of
any ballot: not that one was opened, let alone how. Afterwards it holds all of them.
"""

import heapq
from typing import Final

import msgspec

from federation.artifacts import RoundKind
from federation.certificates import Phase, quorum
from federation.core import MILLION, Millis, Ppm, RoundId, Weight
from federation.protocol import Round, World
from federation.review import Tally, count, course, quorum_needed
from node.base.errors import NodeCode, RequestError
from node.queries.acts import Act, MayAct, to_review
from node.queries.arguments import Argument, argument_of
from node.queries.certified import Certified, certified_of
from node.queries.live_rounds import (
    DEBATE,
    Counts,
    artifact_now,
    counts_of,
    held_in,
    is_settled,
    live_slot,
    next_cut,
    round_waits,
    settling,
    title_of,
    unsettled,
)
from node.queries.names import Thing, Who, cid_of, unknown, who
from node.queries.proceedings import Proceedings, proceedings
from node.queries.verdicts import (
    Ballot,
    Closed,
    Verdict,
    ballot_of,
    closed_of,
    verdict_of,
)
from node.queries.waits import Wait
from node.queries.windows import Window, window_of

__all__ = [
    "Act",
    "Argument",
    "Counts",
    "MayAct",
    "OpenRound",
    "OpenRounds",
    "RoundPage",
    "TallyPage",
    "argument_of",
    "artifact_now",
    "counts_of",
    "is_settled",
    "live_slot",
    "next_cut",
    "one",
    "open_rounds",
    "round_waits",
    "settling",
    "to_review",
    "unsettled",
]

MOST: int = 200
"""Rounds of one page."""
_UNBOXED: Final = frozenset({Phase.ASSESS, Phase.FAST, Phase.SEAL, *DEBATE, Phase.COMMIT})
"""Phases in which a round is void once it has passed its deadline, or leads on to such a phase."""


class TallyPage(msgspec.Struct, frozen=True, kw_only=True):
    """What the opened ballots add up to; exists once `decide` is final here."""

    numerator: int
    """Σ w·v."""
    denominator: Weight
    """Σ w; 0 if no ballot of a reviewer was opened."""
    v: Ppm | None
    """V in ppm, rounded down; nil if Σ w is 0."""
    quorum: bool
    """Enough ballots, of enough operators, were opened."""
    operators: int
    """Operators with a counted ballot."""
    revealed: int
    """Opened ballots of reviewers."""


class RoundPage(msgspec.Struct, frozen=True, kw_only=True):
    """One round as it stands on this instance."""

    now: Millis
    """This instance's own clock when the answer was made; all times in it are on that clock."""
    id: str
    """Id of the round, in hex; no record has it."""
    kind: RoundKind
    """`review`, `dispute`, `report` (a credible one goes on as a dispute), or `appeal`."""
    artifact: str
    """Id of the artifact, in hex; of an appeal, of the violation that the sanction rests on."""
    artifact_cid: str
    """The same as a CIDv1."""
    title: str | None
    """Title of the artifact; nil if its text is not readable here."""
    author: Who
    """Author of the artifact, or the appellant; it never votes."""
    home: Who
    """Instance that leads the round's first fences."""
    sensitivity: str
    """`low` or `high`, as pinned."""
    cut: int
    """Number of the cut that opened it: its members, reviewers and weights are that cut's."""
    opened_at: Millis
    """When this instance stored that cut's certificate."""
    phase: Phase | None
    """The open phase; nil when the round has ended here."""
    after: str | None
    """What records of the open phase name in `after`, in hex; nil when none is open."""
    window: Window | None
    """The open phase's window here; nil when none is open."""
    deadline: Millis | None
    """When the round is void if no box was shut; nil once one was, or the round has ended."""
    waits: Wait
    """What it waits for."""
    counts: Counts
    """Records so far."""
    arguments: tuple[Argument, ...]
    """What was argued so far."""
    k: int
    """Reviewers it aims for: the box may close early at the k-th commitment."""
    reviewers: int
    """Agents that may vote with weight: E."""
    practice: int
    """Agents below tier 1 that may cast practice ballots."""
    reviewer_operators: int
    """Operators of the reviewers."""
    relaxed: bool
    """Agents of the author's operator may review, because there are too few others."""
    quorum: int
    """Opened ballots of reviewers that it needs: min(q_min, E), in a dispute always q_dispute."""
    members: int
    """n: operators that agree on its lists."""
    member_quorum: int
    """q: how many of them make a list final."""
    proceedings: Proceedings
    """Who filed it, arbiters with their lots, rulings, contests, assessments, operators' words."""
    certificates: tuple[Certified, ...]
    """Phases that are final, in order."""
    tally: TallyPage | None
    """Sum of the opened ballots; nil before `decide` is final here."""
    ballots: tuple[Ballot, ...]
    """Opened ballots by voter; empty before `decide` is final here."""
    unrevealed: tuple[Closed, ...]
    """Listed commitments that nobody opened; empty before `decide` is final here."""
    verdict: Verdict | None
    """How it ended here; nil while it runs."""
    settled: bool
    """A cut contains all that ended it: the verdict stands in the artifact's certified state."""


class OpenRound(msgspec.Struct, frozen=True, kw_only=True):
    """A round that still runs here, or whose end no cut contains yet."""

    id: str
    """Id of the round, in hex."""
    kind: RoundKind
    """`review`, `dispute`, `report` or `appeal`."""
    artifact: str
    """Id of the artifact, in hex; of an appeal, of the violation."""
    artifact_cid: str
    """The same as a CIDv1."""
    title: str | None
    """Title of the artifact; nil if its text is not readable here."""
    cut: int
    """Number of the cut that opened it."""
    phase: Phase | None
    """The open phase; nil when it has ended here and waits for a cut."""
    window: Window | None
    """The open phase's window here."""
    counts: Counts
    """Records so far."""
    waits: Wait
    """What it waits for."""
    verdict: Verdict | None
    """How it ended here; nil while it runs."""


class OpenRounds(msgspec.Struct, frozen=True, kw_only=True):
    """One page of open rounds, oldest first."""

    rounds: tuple[OpenRound, ...]
    """The rounds, with what each waits for."""
    next: str | None
    """Cursor of the next page; nil when this is the last."""


def one(world: World, round_id: RoundId, now: Millis) -> RoundPage:
    """Show one round; `now` is in ms on this instance's own clock. Raises RequestError NOT_FOUND."""
    found = world.rounds.get(round_id)
    if found is None:
        raise unknown(round_id, {Thing.ROUND})
    pin, live = found.pin, live_slot(world, found)
    so_far = course(pin, found.finals)
    lists = so_far.lists
    tally = count(pin, lists) if Phase.DECIDE in lists else None
    needs = quorum(len(found.seats), three_available=pin.charter.timing.three == "available")
    may_be_void = found.phase in _UNBOXED and Phase.COMMIT not in found.certified
    return RoundPage(
        now=now,
        id=round_id.hex(),
        kind=pin.kind,
        artifact=pin.artifact.hex(),
        artifact_cid=cid_of(pin.artifact),
        title=title_of(world, found),
        author=who(world, pin.author),
        home=who(world, pin.home),
        sensitivity=pin.sensitivity,
        cut=pin.cut,
        opened_at=found.opened_at,
        phase=found.phase,
        after=so_far.after[found.phase].hex() if found.phase else None,
        window=window_of(world, live, now) if live else None,
        deadline=found.opened_at + pin.charter.review.deadline if may_be_void else None,
        waits=round_waits(world, found, now),
        counts=counts_of(world, found),
        arguments=tuple(
            argument_of(world, record, certified=phase in found.finals)
            for phase in DEBATE
            for record in held_in(world, found, phase)
        ),
        k=pin.charter.review.k,
        reviewers=len(pin.eligible.reviewers),
        practice=len(pin.eligible.practice),
        reviewer_operators=len(pin.eligible.operators),
        relaxed=pin.eligible.relaxed,
        quorum=quorum_needed(pin),
        members=needs.n,
        member_quorum=needs.q,
        proceedings=proceedings(world, found),
        certificates=certified_of(world, found),
        tally=None if tally is None else _tally(tally),
        ballots=tuple(ballot_of(world, opened) for opened in tally.ballots) if tally else (),
        unrevealed=tuple(closed_of(world, shut) for shut in tally.unrevealed) if tally else (),
        verdict=verdict_of(found.verdict, pin.charter) if found.verdict else None,
        settled=is_settled(found),
    )


def open_rounds(
    world: World, now: Millis, *, after: RoundId | None = None, most: int = 50
) -> OpenRounds:
    """List rounds that run here or wait for a cut, oldest first (by cut, then by id).

    `after` is the last round of the page before, which may have ended since; `most` is 1 to 200.
    Raises RequestError BAD_REQUEST, or NOT_FOUND for an unknown cursor.
    """
    if not 1 <= most <= MOST:
        raise RequestError(
            "list refused",
            why=f"a page holds 1 to {MOST} rounds, not {most}",
            fix="ask for fewer, and follow the cursor",
            code=NodeCode.BAD_REQUEST,
        )
    found = list(unsettled(world))
    if after is not None:
        if after not in world.rounds:
            raise unknown(after, {Thing.ROUND})
        last = _place(world.rounds[after])
        found = [each for each in found if _place(each) > last]
    page = heapq.nsmallest(most, found, key=_place)
    return OpenRounds(
        rounds=tuple(_brief(world, each, now) for each in page),
        next=page[-1].pin.round.hex() if len(found) > most else None,
    )


def _place(found: Round) -> tuple[int, RoundId]:
    return found.pin.cut, found.pin.round


def _brief(world: World, found: Round, now: Millis) -> OpenRound:
    live = live_slot(world, found)
    return OpenRound(
        id=found.pin.round.hex(),
        kind=found.pin.kind,
        artifact=found.pin.artifact.hex(),
        artifact_cid=cid_of(found.pin.artifact),
        title=title_of(world, found),
        cut=found.pin.cut,
        phase=found.phase,
        window=window_of(world, live, now) if live else None,
        counts=counts_of(world, found),
        waits=round_waits(world, found, now),
        verdict=verdict_of(found.verdict, found.pin.charter) if found.verdict else None,
    )


def _tally(counted: Tally) -> TallyPage:
    return TallyPage(
        numerator=counted.numerator,
        denominator=counted.denominator,
        v=counted.numerator * MILLION // counted.denominator if counted.denominator else None,
        quorum=counted.quorum,
        operators=len(counted.operators),
        revealed=len(counted.counted),
    )
