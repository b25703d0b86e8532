"""Every way an invite can stand, and every way somebody who came by it can."""

from dataclasses import replace

import pytest

from federation.core import Code
from federation.protocol import World
from federation.records import AgentUnvouch, AgentVouch, Role
from node.queries.invites import InvitedRow, InviteRow, Seen, invites_page
from node.store import Invite, Invited
from tests.builders import named
from tests.federation.protocol.town import Town

INVITE = Invite(
    id="0badcafe",
    inviter=named("inviter"),
    sha256=named("code"),
    weight=64,
    uses=2,
    created=1,
    until=9,
    deadline=9,
)


@pytest.fixture(scope="module")
def town() -> Town:
    return Town.of(2, 4).settled()


def row(world: World, *came_by: Invited, invite: Invite = INVITE, **seen: object) -> InviteRow:
    known = Seen(
        invite=invite,
        is_over=bool(seen.get("is_over")),
        fault=None if seen.get("fault") is None else str(seen["fault"]),
        came_by=came_by,
    )
    (found,) = invites_page(world, [known], more=False).invites
    return found


def stage(world: World, one: Invited) -> InvitedRow:
    (found,) = row(world, one).invited
    return found


def test_an_invite_is_open_until_one_thing_ends_it(town: Town) -> None:
    world = town.world()
    two = tuple(
        Invited(agent=named(place), invite=INVITE.id, place=place, at=1) for place in range(2)
    )
    rows = {
        row(world): "open",
        row(world, two[0]): "open",
        row(world, fault="its tier"): "held_up",
        row(world, is_over=True, fault="its tier"): "over",
        row(world, *two, is_over=True): "used",
        row(world, *two, invite=replace(INVITE, revoked=3)): "revoked",
    }

    assert [one.state.value for one in rows] == list(rows.values())
    assert [bool(one.why) for one in rows] == [one.state.value != "open" for one in rows]
    assert [one.used for one in rows] == [0, 1, 0, 0, 2, 2]


def test_a_page_names_the_last_one_only_if_there_are_more(town: Town) -> None:
    seen = Seen(invite=INVITE, is_over=False, fault=None, came_by=())

    assert invites_page(town.world(), [seen], more=True).next == INVITE.id
    assert invites_page(town.world(), [seen], more=False).next is None
    assert invites_page(town.world(), [], more=False).invites == ()


def test_before_its_admission_is_signed_a_place_is_noted(town: Town) -> None:
    found = stage(town.world(), Invited(agent=named("new"), invite=INVITE.id, place=0, at=1))

    assert (found.stage.value, found.record, found.code) == ("noted", None, None)
    assert found.agent.name is None


def test_an_admitted_agent_waits_for_its_vouch_and_it_says_why(town: Town) -> None:
    one = Invited(agent=town.agent(1), invite=INVITE.id, place=0, at=1)
    fresh, late = (
        stage(town.world(), one),
        stage(town.world(), replace(one, code=Code.OVER_QUOTA, why="no more today")),
    )

    assert fresh.stage.value == late.stage.value == "vouch_waits"
    assert fresh.why
    assert (late.code, late.why) == ("OVER_QUOTA", "no more today")


def test_what_is_settled_is_told_by_its_record(town: Town) -> None:
    pen = town.pen(Role.AGENT, 0)
    vouch = pen.say(AgentVouch(agent=town.agent(1), weight=5, reason="r"))
    back = pen.say(AgentUnvouch(agent=town.agent(1), reason="r"))
    town.arrive(town.world(), vouch, back)
    one = Invited(agent=town.agent(1), invite=INVITE.id, place=0, at=1, is_settled=True)

    given = stage(town.world(), replace(one, record=vouch.id))
    taken = stage(town.world(), replace(one, record=back.id))
    not_given = stage(town.world(), replace(one, code=Code.REVOKED, why="gone"))
    assert (given.stage.value, given.record) == ("vouched", vouch.id.hex())
    assert (taken.stage.value, taken.record) == ("taken_back", back.id.hex())
    assert (not_given.stage.value, not_given.code, not_given.why) == ("given_up", "REVOKED", "gone")


def test_an_admission_waits_and_may_turn_out_not_to_count() -> None:
    town = Town.of(1, 2).settled()
    waits, refused = town.stranger(Role.AGENT, 1), town.stranger(Role.AGENT, 2)
    town.admit(waits)
    void = town.admit(refused)
    world = town.world()
    world.state.refused[void.id] = Code.OVER_QUOTA
    rows = [
        stage(world, Invited(agent=pen.id, invite=INVITE.id, place=0, at=1))
        for pen in (waits, refused)
    ]
    town.admit(refused)

    assert [(one.stage.value, one.code) for one in rows] == [
        ("admission_waits", None),
        ("not_admitted", "OVER_QUOTA"),
    ]
    again = Invited(agent=refused.id, invite=INVITE.id, place=0, at=1)
    assert stage(world, again).stage.value == "admission_waits"
