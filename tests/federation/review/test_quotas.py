from federation.certificates import Phase
from federation.core import Code
from federation.review.quotas import over_quota, written
from tests.builders import named
from tests.federation.review.scene import SIX, Scene, final


def test_only_records_of_the_same_kind_and_the_same_turn_are_counted() -> None:
    scene = Scene.of(*SIX, review={"mode": "rounds", "turns": 2})
    first = scene.argue(1, {})
    finals = {Phase.DELIBERATE: final(Phase.DELIBERATE, first)}
    second = scene.argue(1, finals, Phase.TURN2)
    vote = scene.agents[1].revoke(reason="of another kind")
    body = second.body
    assert body is not None

    assert written([first, vote], body) == 0  # type: ignore[arg-type]
    assert written([first, second, vote], body) == 1  # type: ignore[arg-type]


def test_the_record_after_the_last_that_counts_is_refused() -> None:
    scene = Scene.of(*SIX)
    said = [scene.argue(1, {}) for _ in range(3)]
    body = scene.argue(1, {}, claim=1).body

    assert over_quota(said[:1], body, 2) is None  # type: ignore[arg-type]
    assert over_quota(said[:2], body, 2) is Code.OVER_QUOTA  # type: ignore[arg-type]
    assert over_quota([], body, 0) is Code.OVER_QUOTA  # type: ignore[arg-type]


def test_the_order_of_earlier_records_does_not_matter() -> None:
    scene = Scene.of(*SIX)
    said = [scene.argue(1, {}, claim=number) for number in (1, 2, 3)]
    other = scene.agents[1].say(scene.argue(2, {}, replies_to=named("x")).body)  # type: ignore[arg-type]

    assert written([*said, other], said[0].body) == written([other, *said[::-1]], said[0].body)  # type: ignore[arg-type]
