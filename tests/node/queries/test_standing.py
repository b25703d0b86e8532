"""The page of an agent's standing."""

import pytest

from federation.records import Health
from federation.sanctions import Leaves
from node.base.errors import RequestError
from node.queries.standing import StandingPage, standing
from tests.federation.protocol.docket import Docket
from tests.node.queries.scenes import plain


def page(docket: Docket, index: int) -> StandingPage:
    return standing(docket.world, docket.name(index))


def test_an_agent_against_which_nothing_stands() -> None:
    docket = Docket()
    docket.tick()
    found = page(docket, 1)

    assert (found.level.level, found.level.name, found.level.points) == (0, "none", 0)
    assert (found.level.next_at, found.level.since, found.level.ends) == (2, None, None)
    assert (found.quarantine, found.violations) == (None, ())
    assert found.weight == found.earned > 0
    assert {one.what.value for one in found.may if one.allowed} >= {"propose", "vote", "argue"}
    assert isinstance(plain(found), dict)


@pytest.mark.parametrize(
    ("points", "level", "ends", "ends_by"),
    [
        (2, 1, 11, Leaves.WINDOW),
        (4, 2, 11, Leaves.CLEAN),
        (6, 3, 11, Leaves.CLEAN),
        (10, 4, 21, Leaves.SERVED),
        (16, 5, None, Leaves.APPEAL),
    ],
)
def test_the_level_says_what_it_takes_and_when_it_ends(
    points: int, level: int, ends: int | None, ends_by: Leaves
) -> None:
    docket = Docket(window=10, suspended=2)
    docket.frivolous(1, times=points)
    docket.tick()
    found = page(docket, 1)

    assert (found.level.level, found.level.points, found.level.since) == (level, points, 1)
    assert (found.level.ends, found.level.ends_by) == (ends, ends_by)
    assert len(found.violations) == points
    if ends is not None:
        assert str(ends) in found.level.says


def test_probation_halves_the_weight_and_suspension_and_quarantine_take_it() -> None:
    docket = Docket()
    docket.frivolous(1, times=6)
    docket.frivolous(2, times=10)
    docket.says(3, Health.BROKEN)
    docket.tick()

    assert page(docket, 1).weight == page(docket, 1).earned // 2 > 0
    assert page(docket, 2).weight == 0 < page(docket, 2).earned
    assert page(docket, 3).weight == 0 < page(docket, 3).earned
    assert page(docket, 3).quarantine is not None
    assert any("probation" in one for one in page(docket, 1).why)
    assert any("suspension" in one for one in page(docket, 2).why)
    assert any("quarantine" in one for one in page(docket, 3).why)


def test_what_is_no_agent_has_no_standing() -> None:
    docket = Docket()
    for name, code in ((bytes(32), "NOT_FOUND"), (docket.operator(1), "BAD_REQUEST")):
        with pytest.raises(RequestError) as refused:
            standing(docket.world, name)
        assert refused.value.code == code
