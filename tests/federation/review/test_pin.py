from dataclasses import replace

import pytest

from federation.artifacts import Flag
from federation.codec import encode
from federation.crypto import plain_hash
from federation.review import (
    fast_window,
    has_quorum,
    is_undecidable,
    most_arguments,
    quorum_needed,
    round_id,
    watchers,
)
from tests.builders import REALM, named
from tests.federation.review.scene import SIX, Scene, operator


def test_a_round_is_named_by_realm_artifact_kind_ordinal_and_cut() -> None:
    words = [REALM, named("artifact"), "review", 0, named("cut")]
    name = round_id(REALM, named("artifact"), "review", 0, named("cut"))

    assert name == plain_hash(b"folkmoot/1/round" + encode(words))
    assert name != round_id(REALM, named("artifact"), "review", 1, named("cut"))
    assert name != round_id(REALM, named("artifact"), "review", 0, named("another cut"))


@pytest.mark.parametrize(
    ("sizes", "quorum"), [((5,), 3), ((1, 1, 1), 2), ((1, 1), 1), ((1,), 0), ((17, 17, 17), 3)]
)
def test_the_quorum_is_lowered_to_the_reviewers_there_are(
    sizes: tuple[int, ...], quorum: int
) -> None:
    assert quorum_needed(Scene.of(*sizes).pin) == quorum


def test_a_quorum_needs_two_operators_where_there_are_two() -> None:
    scene = Scene.of(1, 3, 1)

    assert not has_quorum(scene.pin, scene.ids(1, 2, 3))
    assert has_quorum(scene.pin, scene.ids(1, 2, 4))


def test_one_operator_is_enough_where_there_is_only_one() -> None:
    scene = Scene.of(5)

    assert has_quorum(scene.pin, scene.ids(1, 2, 3))
    assert not has_quorum(scene.pin, scene.ids(1, 2))


def test_authors_newcomers_and_strangers_make_no_quorum() -> None:
    scene = Scene.of(1, 1, 1, 1, 1, views={4: {"reviewer": False, "tier": 0}})

    assert not has_quorum(scene.pin, scene.ids(0, 1, 2, 4) | {named("stranger")})
    assert has_quorum(scene.pin, scene.ids(1, 2, 3))


def test_a_round_without_reviewers_or_without_weight_cannot_be_decided() -> None:
    weightless = Scene.of(1, 1, 1, views={1: {"weight": 0}, 2: {"weight": 0}})

    assert is_undecidable(Scene.of(1).pin)
    assert is_undecidable(weightless.pin)
    assert not is_undecidable(Scene.of(1, 1).pin)


def test_only_reviewers_who_could_object_watch() -> None:
    views = {4: {"reviewer": False, "tier": 0}}
    scene = Scene.of(1, 1, 1, 1, 1, views=views, watchers=(0, 1, 2, 4))

    assert watchers(scene.pin) == (2, 3)


def test_fewer_watchers_are_enough_where_fewer_may_review() -> None:
    assert watchers(Scene.of(1, 1, 1, watchers=(1, 2)).pin) == (2, 2)


def test_only_low_sensitivity_a_ticket_and_no_flag_open_a_window() -> None:
    review = {"fast_low": 1_000}

    assert fast_window(Scene.of(1, 1, sensitivity="low", review=review).pin) == 1_000
    assert fast_window(Scene.of(1, 1, sensitivity="high", review=review).pin) == 0
    assert fast_window(Scene.of(1, 1, sensitivity="low", review=review, formal=True).pin) == 0
    assert fast_window(Scene.of(1, 1, sensitivity="low", review=review, rerun=True).pin) == 0
    assert fast_window(Scene.of(1, 1, sensitivity="low", review=review, kind="dispute").pin) == 0
    assert fast_window(Scene.of(1, 1, sensitivity="low", ticket=False).pin) == 0
    assert fast_window(Scene.of(1, 1, sensitivity="low", flags=[Flag.FORENSIC]).pin) == 0


def test_a_window_of_high_sensitivity_is_the_charters_for_every_author_with_a_ticket() -> None:
    review = {"fast_low": 1_000, "fast_high": 7_000}
    trusted = {0: {"tier": 2}}

    assert fast_window(Scene.of(1, 1, review=review).pin) == 7_000
    assert fast_window(Scene.of(1, 1, review=review, views=trusted).pin) == 7_000
    assert fast_window(Scene.of(1, 1, review=review, ticket=False).pin) == 0
    assert fast_window(Scene.of(1, 1, review=review, flags=[Flag.FORENSIC]).pin) == 0


def test_a_trusted_author_waits_half_as_long() -> None:
    trusted = Scene.of(1, 1, sensitivity="low", views={0: {"tier": 2}}, review={"fast_low": 1_001})

    assert fast_window(trusted.pin) == 500


def test_an_author_unknown_to_the_world_waits_the_whole_window() -> None:
    scene = Scene.of(1, 1, sensitivity="low", review={"fast_low": 1_000})

    assert fast_window(replace(scene.pin, author=named("gone"))) == 1_000


def test_who_may_vote_follows_the_pin_and_cannot_be_given() -> None:
    scene = Scene.of(1, 1, 1)
    moved = replace(scene.pin, author=scene.agents[1].id)

    assert moved.eligible.reviewers == scene.ids(0, 2)


def test_a_disputes_quorum_is_never_lowered() -> None:
    scene = Scene.of(*[1] * 8, kind="dispute", disputer=1)
    few = Scene.of(*[1] * 6, kind="dispute", disputer=1)

    assert quorum_needed(scene.pin) == 5
    assert not is_undecidable(scene.pin)
    assert not has_quorum(scene.pin, scene.ids(2, 3, 4, 5))
    assert has_quorum(scene.pin, scene.ids(2, 3, 4, 5, 6))
    # Four are left of six, and no four make a quorum of five.
    assert quorum_needed(few.pin) == 5
    assert is_undecidable(few.pin)


def test_a_disputes_quorum_needs_two_operators_where_there_are_two() -> None:
    two = Scene.of(1, 5, 1, kind="dispute")
    one = Scene.of(1, 5, kind="dispute")

    assert not has_quorum(two.pin, two.ids(1, 2, 3, 4, 5))
    assert has_quorum(two.pin, two.ids(1, 2, 3, 4, 6))
    assert has_quorum(one.pin, one.ids(1, 2, 3, 4, 5))


def test_a_panel_without_weight_decides_no_dispute() -> None:
    weightless = {number: {"weight": 0} for number in range(1, 6)}

    assert is_undecidable(Scene.of(*SIX, kind="dispute", views=weightless).pin)
    assert not is_undecidable(Scene.of(*SIX, kind="dispute").pin)


def test_an_appeal_has_no_vote() -> None:
    assert is_undecidable(Scene.of(*SIX, kind="appeal").pin)


def test_both_sides_of_a_dispute_are_known_by_agent_and_operator() -> None:
    scene = Scene.of(1, 1, 1, kind="dispute", disputer=1)

    assert scene.pin.sides == scene.ids(0, 1)
    assert scene.pin.side_operators == {operator(0), operator(1)}
    assert Scene.of(1, 1, kind="dispute").pin.sides == scene.ids(0)


def test_a_turn_lists_one_argument_of_each_author() -> None:
    assert most_arguments(Scene.of(1, 1, review={"mode": "rounds"}).pin) == 1
    assert most_arguments(Scene.of(1, 1, review={"mode": "sealed_first"}).pin) == 5
    assert most_arguments(Scene.of(1, 1, review={"arguments_each": 2}).pin) == 2
