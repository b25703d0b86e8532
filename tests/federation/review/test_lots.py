import hashlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from federation.certificates import Phase
from federation.review import arbiters, drawn_arbiters, lot, moderator_lot
from tests.builders import named
from tests.federation.review.paths import bench, panel, split
from tests.federation.review.scene import (
    ARBITER,
    BEACON,
    FOR,
    NEWCOMER,
    ROUND,
    RULED,
    SIX,
    Scene,
    final,
)


def test_a_lot_is_a_hash_of_beacon_round_and_agent() -> None:
    agent = named("agent")

    assert lot(BEACON, ROUND, agent) == hashlib.sha256(BEACON + ROUND + agent).digest()
    assert moderator_lot(ROUND, agent) == hashlib.sha256(ROUND + agent).digest()


def test_three_arbiters_of_high_sensitivity_are_drawn_lowest_lot_first() -> None:
    scene = bench(5)
    drawn = drawn_arbiters(scene.pin, split(scene))
    order = sorted(scene.ids(6, 7, 8, 9, 10), key=lambda one: lot(BEACON, ROUND, one))

    assert drawn == tuple(order[:3])


def test_one_arbiter_of_low_sensitivity_is_drawn() -> None:
    scene = bench(5, sensitivity="low", ticket=False)

    assert len(drawn_arbiters(scene.pin, split(scene))) == 1


def test_without_a_beacon_nobody_is_drawn_though_somebody_could_be() -> None:
    scene = bench(2, beacon=None)
    finals = split(scene)

    assert drawn_arbiters(scene.pin, finals) == ()
    assert arbiters(scene.pin, finals) == scene.ids(6, 7)


def test_another_beacon_draws_in_another_order() -> None:
    scene = bench(12)
    finals = split(scene)
    orders = {
        drawn_arbiters(replace(scene.pin, beacon=named("beacon", number)), finals)
        for number in range(8)
    }

    assert len(orders) > 1


def test_an_arbiter_holds_its_office_and_may_act() -> None:
    unfit: list[dict[str, object]] = [
        {"tier": 1},
        {"badges": frozenset()},
        {"badges": frozenset({"moderator"})},
        {"revoked": True},
        {"forked": True},
        {"suspended": True},
        {"banned": True},
        {"quarantined": True},
        {"scope": frozenset({"review.commit"})},
    ]
    views = {6 + number: ARBITER | change for number, change in enumerate(unfit)}
    views[15] = ARBITER | {"scope": frozenset({"review.rule"})}
    views[16] = ARBITER | {"probation": True}
    scene = Scene.of(*SIX, *[1] * 11, views=views, review=RULED)

    assert arbiters(scene.pin, split(scene)) == scene.ids(15, 16)


def test_an_arbiter_is_apart_from_the_sides_and_from_the_vote() -> None:
    everybody = dict.fromkeys(range(13), ARBITER)
    # Operators: 0 the author's, 1 the disputer's, 2 to 6 of voters, 7 of one who voted before, 8.
    scene = Scene.of(
        2, 2, 2, 1, 1, 1, 1, 1, 2, kind="dispute", disputer=2, voted=(10,), views=everybody
    )
    finals = scene.voted(dict.fromkeys((4, 6, 7, 8, 9), FOR))

    assert arbiters(scene.pin, finals) == scene.ids(11, 12)


def test_who_left_its_ballot_closed_is_a_voter_but_its_operator_is_not_out() -> None:
    views = dict.fromkeys((5, 6), ARBITER)
    scene = Scene.of(1, 1, 1, 1, 1, 2, views=views, review=RULED)
    finals = scene.voted(dict.fromkeys((1, 2, 3, 4, 5), FOR), silent=[5])

    assert arbiters(scene.pin, finals) == scene.ids(6)
    assert arbiters(scene.pin, scene.voted(dict.fromkeys((1, 2, 3, 4, 5), FOR))) == frozenset()


def test_a_practice_ballot_keeps_its_voter_out_and_not_its_operator() -> None:
    views = {6: NEWCOMER, 7: ARBITER}
    scene = Scene.of(*SIX, 2, views=views, review=RULED)
    finals = scene.voted(dict.fromkeys((1, 2, 6), FOR))

    assert arbiters(scene.pin, finals) == scene.ids(7)


def test_of_a_sanction_the_appellant_and_its_operator_rule_not() -> None:
    scene = Scene.of(2, 1, views=dict.fromkeys(range(3), ARBITER), kind="appeal", review=RULED)

    assert drawn_arbiters(scene.pin, {}) == tuple(scene.ids(2))


@given(st.permutations(range(12)))
def test_the_order_of_the_world_does_not_matter(order: list[int]) -> None:
    scene = panel(5)
    agents = list(scene.pin.agents.items())
    mixed = replace(scene.pin, agents=dict(agents[index] for index in order))
    finals = {Phase.DECIDE: final(Phase.DECIDE)}

    assert drawn_arbiters(mixed, finals) == drawn_arbiters(scene.pin, finals)
