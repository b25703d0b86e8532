"""The plan of rounds that the model takes for granted allows every course that real rounds take.

The plan (`federation.artifacts.round_plan`) is written by hand beside the code that decides about
phases (`federation.review`). Random rounds are played to their end with that code, and every step
that they take must stand in the plan: else what SPIN proves is about something else.
"""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings

from federation.artifacts import DecidedBy, RoundKind, Verdict
from federation.artifacts.round_plan import PLAN, Kind, Place, Wait
from federation.certificates import Phase
from federation.review import Ended, next_phase
from federation.trust import Decision
from tests.federation.review.scene import Scene
from tests.federation.review.test_course_properties import SEEDS, played, scenes

SAYS = {Decision.ACCEPT: "accept", Decision.REJECT: "reject"}


def kind_of(kind: RoundKind) -> Kind:
    return "review" if kind == "review" else "dispute"


def reached(kind: Kind, place: Place) -> Iterator[Place]:
    """Give a place, and where it leads while no certificate is needed."""
    seen: list[Place] = [place]
    for at in seen:
        yield at
        following = {move.to for move in PLAN if move.at is at and move.kind == kind}
        seen += [to for to in following if to in {Wait.BEGUN, Wait.LOT} and to not in seen]


def leads(kind: Kind, at: Place, to: Place) -> bool:
    places = set(reached(kind, at))
    return any(move.at in places and move.to is to for move in PLAN if move.kind == kind)


def ends(kind: Kind, at: Place, verdict: Verdict) -> bool:
    """Tell whether the plan lets a round end here with this verdict."""
    if verdict.by is DecidedBy.RERUN:
        return leads(kind, at, Wait.OPENED)
    places = set(reached(kind, at))
    said = SAYS[verdict.decision]
    return any(
        move.at in places and move.to is Wait.IDLE and (move.says, move.by) == (said, verdict.by)
        for move in PLAN
        if move.kind == kind
    )


@settings(max_examples=120)
@given(scenes().filter(lambda scene: scene.pin.kind != "appeal"), SEEDS)
def test_whatever_course_a_round_takes_stands_in_the_plan(scene: Scene, dice: Random) -> None:
    done, finals, _ = played(scene, dice)
    now = next_phase(done.pin, finals)
    assert isinstance(now, Ended)
    kind = kind_of(scene.pin.kind)
    course: list[Place] = [phase for phase in finals if phase is not Phase.ASSESS]
    unassessed = {DecidedBy.LAPSED, DecidedBy.UNFOUNDED, DecidedBy.ASSESSED}
    if now.verdict.by in unassessed:
        assert not course
        return
    at: Place = Wait.OPENED
    for phase in course:
        assert leads(kind, at, phase), f"{kind}: the plan does not lead from {at} to {phase}"
        at = phase

    said = f"{now.verdict.decision} by {now.verdict.by}"
    assert ends(kind, at, now.verdict), f"{kind}: the plan does not end at {at} with {said}"


@pytest.mark.parametrize(
    ("kind", "at", "to"),
    [
        ("review", Wait.OPENED, Phase.ADMIN),
        ("review", Phase.FAST, Phase.DECIDE),
        ("dispute", Wait.OPENED, Phase.FAST),
        ("review", Phase.DECIDE, Phase.COMMIT2),
        ("dispute", Phase.ADMIN, Phase.RULE),
    ],
)
def test_the_plan_does_not_lead_everywhere(kind: Kind, at: Place, to: Place) -> None:
    assert not leads(kind, at, to)
