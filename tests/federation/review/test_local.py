from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.artifacts import DecidedBy
from federation.certificates import Phase
from federation.core import MILLION, AgentId
from federation.records import Decree, Ruled
from federation.review import Ended, Finals, by_sign, next_phase
from federation.review.local import LocalVerdict, local_verdict
from federation.trust import Decision
from tests.federation.review.paths import PANEL, appealed, bench, decreed, panel, ruled, split
from tests.federation.review.scene import ABSTAIN, AGAINST, FOR, SIX, Scene, final

CHOICES = st.sampled_from([FOR, ABSTAIN, AGAINST])


def ended(scene: Scene, finals: Finals, *, contested: bool = False) -> Ended:
    """Close the last window too, and give the canonical end."""
    if next_phase(scene.pin, finals) is Phase.CONTEST:
        grounds = [scene.contest(1, finals)] if contested else []
        finals[Phase.CONTEST] = final(Phase.CONTEST, *grounds)  # type: ignore[index]
    over = next_phase(scene.pin, finals)
    assert isinstance(over, Ended)
    return over


def mine(scene: Scene, finals: Finals, weights: dict[int, int]) -> LocalVerdict:
    named = {scene.agents[number].id: weight for number, weight in weights.items()}
    found = local_verdict(scene.pin, finals, named)
    assert found is not None
    return found


def voter(scene: Scene, number: int) -> AgentId:
    return scene.agents[number].id


@settings(max_examples=60, deadline=None)
@given(
    votes=st.dictionaries(st.integers(1, 5), CHOICES, min_size=0),
    weights=st.lists(st.integers(50_000, MILLION), min_size=6, max_size=6),
    silent=st.sets(st.integers(1, 5)),
    contested=st.booleans(),
)
def test_with_the_rounds_own_weights_my_verdict_is_the_rounds(
    *, votes: dict[int, object], weights: list[int], silent: set[int], contested: bool
) -> None:
    views = {number: {"weight": weight} for number, weight in enumerate(weights)}
    scene = Scene.of(*SIX, views=views, review={"contest": 1_000})
    finals = scene.voted(votes, silent=silent & votes.keys())  # type: ignore[arg-type]
    canonical = ended(scene, finals, contested=contested).verdict
    for own in ({}, {one.id: weight for one, weight in zip(scene.agents, weights, strict=True)}):
        found = local_verdict(scene.pin, finals, own)

        if not canonical.ballots:
            assert found is None
            continue
        assert found is not None
        assert (found.decision, found.by) == (canonical.decision, canonical.by)
        assert (found.numerator, found.denominator) == (canonical.numerator, canonical.denominator)
        assert found.v_ppm == canonical.v_ppm
        assert [one.size for one in found.shifts] == [0] * len(found.shifts)


def test_an_unweighed_voter_turns_a_verdict_and_is_named_first() -> None:
    scene = Scene.of(*SIX, views={1: {"weight": MILLION}, 2: {"weight": MILLION}})
    finals = scene.voted({1: FOR, 2: FOR, 3: AGAINST, 4: AGAINST, 5: FOR})
    assert ended(scene, finals).verdict.decision is Decision.ACCEPT
    found = mine(scene, finals, {1: 0, 2: 0})

    assert found.decision is Decision.REJECT
    assert {one.voter for one in found.shifts[:2]} == {voter(scene, 1), voter(scene, 2)}
    assert all(one.local == 0 and one.choice is FOR for one in found.shifts[:2])
    assert sum(one.local for one in found.shifts) == pytest.approx(MILLION, abs=5)
    assert sum(one.canonical for one in found.shifts) == pytest.approx(MILLION, abs=5)


def test_weights_of_mine_are_what_is_counted() -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted({1: FOR, 2: FOR, 3: AGAINST, 4: AGAINST, 5: AGAINST})
    found = mine(scene, finals, {1: 500_000, 2: 500_000, 3: 100_000, 4: 200_000, 5: 300_000})

    assert (found.numerator, found.denominator) == (400_000, 1_600_000)
    assert found.v_ppm == 250_000


def test_the_largest_difference_comes_first() -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted(dict.fromkeys(range(1, 6), FOR))
    for heavy in range(1, 6):
        found = mine(scene, finals, {heavy: 200_000})
        sizes = [one.size for one in found.shifts]

        assert found.shifts[0].voter == voter(scene, heavy)
        assert sizes == sorted(sizes, reverse=True)
        assert [one.voter for one in found.shifts[1:]] == sorted(
            voter(scene, number) for number in range(1, 6) if number != heavy
        )


def test_what_was_contested_is_contested_for_me_too() -> None:
    scene = Scene.of(*SIX, review={"contest": 1_000})
    finals = scene.voted(dict.fromkeys(range(1, 6), FOR))
    end = ended(scene, finals, contested=True)
    assert (end.verdict.by, end.verdict.contested) == (DecidedBy.VOTE, True)

    # Nobody has ruled, so that with my weights the vote decides too.
    assert mine(scene, finals, {1: 0}).by is DecidedBy.VOTE


def test_my_weights_are_capped_like_the_rounds() -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted({1: FOR, 2: AGAINST, 3: AGAINST, 4: AGAINST, 5: AGAINST})
    # More than the four others together.
    found = mine(scene, finals, {1: 3_000_000})

    # Five operators: none counts for more than two fifths.
    assert 399_998 <= max(one.local for one in found.shifts) <= 400_000
    assert found.decision is Decision.REJECT


def test_whom_i_weigh_far_above_all_others_decides_since_a_cap_takes_half_at_most() -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted({1: FOR, 2: AGAINST, 3: AGAINST, 4: AGAINST, 5: AGAINST})

    assert mine(scene, finals, {1: 10**12}).decision is Decision.ACCEPT


def test_an_own_quorum_takes_those_with_weight_only() -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted({1: FOR, 2: FOR, 3: FOR})
    assert ended(scene, finals).verdict.by is DecidedBy.VOTE

    one_left = mine(scene, finals, {1: 0, 2: 0})
    alone = mine(scene, finals, {1: 0, 2: 0, 4: 0, 5: 0})

    # Two of the three that I count did not vote; where I count one only, it is a quorum.
    assert one_left.by is DecidedBy.SHORTFALL
    assert (alone.by, alone.decision) == (DecidedBy.VOTE, Decision.ACCEPT)


def test_where_i_count_nobody_the_charters_policy_for_too_few_decides() -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted({1: FOR, 2: FOR, 3: FOR})
    found = mine(scene, finals, dict.fromkeys(range(1, 6), 0))

    assert found.by is DecidedBy.SHORTFALL
    assert (found.numerator, found.denominator, found.v_ppm) == (0, 0, 0)
    assert all(one.local == 0 for one in found.shifts)


def test_a_weight_that_i_give_to_a_newcomer_counts_no_practice_ballot() -> None:
    scene = Scene.of(*SIX, views={5: {"tier": 0, "weight": 0, "reviewer": False}})
    finals = scene.voted({1: FOR, 2: FOR, 3: FOR, 5: AGAINST})
    found = mine(scene, finals, {5: MILLION})

    assert voter(scene, 5) not in {one.voter for one in found.shifts}
    assert found.v_ppm == MILLION


def test_where_no_ballot_was_opened_there_is_nothing_to_weigh() -> None:
    scene = Scene.of(*SIX)
    opening = scene.opening()
    void = opening | {Phase.COMMIT: final(Phase.COMMIT, void=True)}
    nobody = scene.voted({1: FOR}, silent=[1])

    for finals in (opening, void, nobody):
        assert local_verdict(scene.pin, finals, {voter(scene, 1): 0}) is None


def test_the_round_itself_is_left_as_it_was() -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted({1: FOR, 2: FOR, 3: AGAINST})
    before = (replace(scene.pin), scene.pin.eligible, dict(scene.pin.agents))
    mine(scene, finals, {1: 0, 2: 5})

    assert (scene.pin, scene.pin.eligible, dict(scene.pin.agents)) == before


def test_a_list_that_the_plan_never_reached_counts_for_nobody() -> None:
    scene = Scene.of(*SIX)
    finals = scene.voted({1: FOR, 2: FOR, 3: FOR})
    ahead = {Phase.DECIDE: finals[Phase.DECIDE]}

    assert local_verdict(scene.pin, ahead, {}) is None


def test_what_my_count_leaves_open_the_rounds_arbiter_has_decided_for_me_too() -> None:
    scene = bench()
    finals = ruled(scene, split(scene), Ruled.REJECT)
    clear = mine(scene, finals, {4: 0, 5: 0})

    assert (mine(scene, finals, {}).by, mine(scene, finals, {}).decision) == (
        DecidedBy.ARBITER,
        Decision.REJECT,
    )
    # With my weights the vote was clear, and nobody had to be asked.
    assert (clear.by, clear.decision) == (DecidedBy.VOTE, Decision.ACCEPT)


def test_what_the_operators_decided_stands_for_me_where_the_result_was_contested() -> None:
    scene = panel()
    finals = scene.voted(dict.fromkeys(PANEL, FOR))
    finals[Phase.CONTEST] = final(Phase.CONTEST, scene.contest(1, finals))
    finals = appealed(scene, ruled(scene, finals, Ruled.BY_SIGN))
    finals = decreed(scene, finals, Decree.RETRACT, (0, 1, 2))

    assert mine(scene, finals, {}).by is DecidedBy.ADMIN
    assert mine(scene, finals, {}).decision is Decision.REJECT


def test_a_dispute_is_counted_by_its_own_threshold_with_my_weights() -> None:
    scene = panel(review={"contest": 0})
    votes = dict(zip(PANEL, (AGAINST, AGAINST, AGAINST, FOR, FOR), strict=True))
    finals = scene.voted(votes)

    assert mine(scene, finals, {}).decision is Decision.ACCEPT
    heavier = mine(scene, finals, dict.fromkeys(PANEL[:3], 2_000_000))
    assert (heavier.by, heavier.decision) == (DecidedBy.VOTE, Decision.REJECT)
    # Whom I do not count makes no quorum, and nobody was asked to rule: the sign is left.
    short = mine(scene, finals, {PANEL[3]: 0})
    assert (short.by, short.decision) == (DecidedBy.SIGN, Decision.REJECT)


def test_an_escalation_of_ones_own_is_asked_first() -> None:
    scene = bench()
    finals = ruled(scene, split(scene), Ruled.REJECT)
    found = local_verdict(scene.pin, finals, {}, by_sign)

    assert found is not None
    assert (found.by, found.decision) == (DecidedBy.SIGN, Decision.ACCEPT)


def test_about_a_sanction_there_is_nothing_to_weigh() -> None:
    scene = bench(kind="appeal")

    assert local_verdict(scene.pin, ruled(scene, {}, Ruled.UPHOLD), {}) is None
