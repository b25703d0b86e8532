"""What an instance admits: counts against limits, what does not count, and what it weighs."""

from dataclasses import replace

import msgspec
import pytest

from federation.charter import preset
from federation.core import Code
from federation.protocol import World
from federation.records import Role
from node.base.errors import NodeCode, RequestError
from node.queries.admissions import AdmissionsPage, admissions
from node.queries.answerable import MOST_VOID
from tests.federation.protocol.town import Town
from tests.node.queries import joiners
from tests.node.queries.scenes import plain


def page(here: Town, instance: int, *, seen_by: int = 0) -> AdmissionsPage:
    return admissions(here.world(seen_by), here.founding.instances[instance])


def codes(found: AdmissionsPage) -> dict[Code, int]:
    return {one.code: one.count for one in found.void.codes}


def test_an_instance_that_has_admitted_nobody_but_founders_has_all_its_room() -> None:
    here = joiners.town()
    found = page(here, 1)

    assert (found.agents.used, found.agents.most, found.agents.left) == (0, 3, 3)
    assert (found.operators.used, found.operators.most, found.operators.left) == (0, 3, 3)
    assert (found.barred, found.free, found.waiting, found.void.count) == (False, False, 0, 0)
    assert (found.admitted_agents, found.admitted_operators) == (2, 0)
    assert found.operator.name == "operator 1"
    assert "all count" in " ".join(found.says)
    assert isinstance(plain(found), dict)


def test_the_first_instance_has_admitted_all_founding_operators() -> None:
    assert page(joiners.town(), 0).admitted_operators == 3


def test_admissions_of_the_epoch_are_counted_by_role() -> None:
    here = joiners.town()
    agent, operator = here.stranger(Role.AGENT), here.stranger(Role.OPERATOR)
    waiting = [
        joiners.admit(here, agent, proof=joiners.good(here, agent, instance=1), instance=1),
        joiners.admit(here, operator, proof=joiners.good(here, operator, instance=1), instance=1),
    ]
    assert page(here, 1, seen_by=1).waiting == 2
    assert "2 wait" in " ".join(page(here, 1, seen_by=1).says)
    joiners.decided(here, *waiting)
    found = page(here, 1)

    assert (found.agents.used, found.agents.left) == (1, 2)
    assert (found.operators.used, found.operators.left) == (1, 2)
    assert (found.waiting, found.void.count) == (0, 0)
    assert (found.admitted_agents, found.admitted_operators) == (3, 1)
    assert page(here, 0).agents.used == 0
    assert "has admitted 1 of at most 3 agents and 1 of at most 3 operators" in found.says[0]


def test_an_instance_that_admits_without_cost_is_seen_by_all_others_alike() -> None:
    here = joiners.town()
    crowd = [here.stranger(Role.AGENT, number) for number in range(1, 6)]
    proofs = (
        None,
        joiners.good(here, crowd[0], instance=2),
        b"no proof at all",
        joiners.false(here, crowd[3], instance=2),
        joiners.good(here, crowd[4], instance=2),
    )
    signed = [
        joiners.admit(here, one, proof=proof, instance=2)
        for one, proof in zip(crowd, proofs, strict=True)
    ]
    joiners.decided(here, *signed)
    seen = [page(here, 2, seen_by=place) for place in range(3)]

    assert seen[0] == seen[1] == seen[2]
    assert codes(seen[0]) == {
        Code.PROOF_MISSING: 1,
        Code.PROOF_WRONG_KEY: 1,
        Code.NOT_CANONICAL: 1,
        Code.PROOF_WORK: 1,
        Code.INSTANCE_BARRED: 1,
    }
    assert [one.record for one in seen[0].void.newest] == [one.id.hex() for one in signed[::-1]]
    assert [one.newcomer.id for one in seen[0].void.newest] == [one.id.hex() for one in crowd[::-1]]
    assert all(one.operator.name == "operator 0" for one in seen[0].void.newest)
    assert "no proof" in seen[0].void.newest[-1].says
    assert seen[0].barred
    words = " ".join(seen[0].says)
    assert "5 do not count" in words
    assert "INSTANCE_BARRED 1" in words
    assert "it is barred" in words
    assert not page(here, 1).barred
    assert page(here, 1).void.count == 0


def test_a_bar_ends_with_the_epoch_and_what_did_not_count_stays_in_sight() -> None:
    here = joiners.town(timing=msgspec.structs.replace(preset("test").timing, epoch=2_000))
    liar = here.stranger(Role.AGENT)
    signed = joiners.admit(here, liar, proof=joiners.false(here, liar, instance=2), instance=2)
    joiners.decided(here, signed)
    tick = here.world().state.tick
    here.until(lambda one: all(world.state.tick > tick for world in one.live()))

    assert not page(here, 2).barred
    assert page(here, 2).epoch > tick
    assert codes(page(here, 2)) == {Code.PROOF_WORK: 1}


def test_admissions_over_the_quota_are_listed_and_no_room_is_left() -> None:
    here = joiners.town()
    crowd = [here.stranger(Role.AGENT, number) for number in range(1, 6)]
    signed = [
        joiners.admit(here, one, proof=joiners.good(here, one, instance=1), instance=1)
        for one in crowd
    ]
    joiners.decided(here, *signed)
    found = page(here, 1)

    assert (found.agents.used, found.agents.left) == (3, 0)
    assert codes(found) == {Code.OVER_QUOTA: 2}


def test_of_very_many_void_admissions_the_newest_are_shown_and_all_are_counted() -> None:
    here = joiners.town()
    one = here.stranger(Role.OPERATOR)
    signed = [joiners.admit(here, one, proof=None, instance=2) for _ in range(MOST_VOID + 7)]
    joiners.decided(here, *signed)
    found = page(here, 2)

    assert found.void.count == MOST_VOID + 7
    assert codes(found) == {Code.PROOF_MISSING: MOST_VOID + 7}
    assert [each.record for each in found.void.newest] == [
        each.id.hex() for each in signed[: -MOST_VOID - 1 : -1]
    ]


def test_the_weight_of_its_agents_is_told_against_the_cap() -> None:
    here = joiners.town(2, 6)
    found = page(here, 1)

    assert (found.weight.reviewers, found.weight.before, found.weight.after) == (
        3,
        500_000,
        500_000,
    )
    assert found.instance_cap == here.world().charter.trust.instance_cap
    assert found.weight.raised
    assert "3 are reviewers, and hold 50.0 %" in found.says[-1]
    assert "impossible with so few instances" in found.says[-1]


def test_an_instance_that_would_have_too_much_is_told_what_counts_of_it() -> None:
    here = joiners.town(operators=6)
    views = here.world().state.views
    for number in range(6):
        name = here.agent(number)
        views[name] = (
            replace(views[name], weight=views[name].weight // 2)
            if number in {0, 1}
            else replace(views[name], instance=here.founding.instances[2])
        )
    found = page(here, 2)

    assert (found.weight.reviewers, found.weight.bounds) == (4, True)
    assert found.weight.before > found.weight.cap >= found.weight.after
    assert "hold 80.0 % of the weight" in found.says[-1]
    assert found.says[-1].endswith("66.6 % count.")


def test_an_instance_that_its_cap_would_take_too_much_of_is_told_so() -> None:
    here = joiners.town(operators=6)
    views = here.world().state.views
    for number in range(6):
        name = here.agent(number)
        views[name] = (
            replace(views[name], weight=views[name].weight // 20)
            if number in {0, 1}
            else replace(views[name], instance=here.founding.instances[2])
        )
    found = page(here, 2)

    # 40 of 41 parts: half of all is left, and the others are one part of that.
    assert (found.weight.halved, found.weight.raised) == (True, False)
    assert found.weight.before > found.weight.cap >= found.weight.after > 950_000
    assert found.says[-1].endswith(
        "the cap for one instance is 95.1 %, since 25.0 % would take more than half of all weight: "
        "95.1 % count."
    )


def test_an_instance_without_reviewers_weighs_nothing() -> None:
    here = joiners.town(3, 2)
    found = page(here, 2)

    assert (found.weight.reviewers, found.weight.before, found.weight.after) == (0, 0, 0)
    assert "weigh nothing" in found.says[-1]


def test_a_realm_that_asks_for_no_proof_says_so() -> None:
    found = page(Town.of(1, 2), 0)

    assert found.free
    assert any("no proof of work" in one for one in found.says)


@pytest.mark.parametrize("who", ["agent", "operator", "nobody"])
def test_only_a_member_instance_has_such_a_page(who: str) -> None:
    here = Town.of(1, 2)
    names = {"agent": here.agent(0), "operator": here.founding.operators[0], "nobody": bytes(32)}
    with pytest.raises(RequestError) as caught:
        admissions(here.world(), names[who])
    assert caught.value.code is NodeCode.NOT_FOUND


def test_a_look_changes_nothing() -> None:
    here = joiners.town()
    world: World = here.world()
    before = world.state.joining.row()
    page(here, 0)
    assert world.state.joining.row() == before
