import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.artifacts import RoundKind
from federation.core import Code
from federation.review import (
    AgentView,
    eligible,
    is_delegated,
    may_object,
    may_take_part,
    may_vote,
)
from tests.builders import named
from tests.federation.review.scene import NEWCOMER, SIX, Scene, operator


def test_one_operator_with_five_founders_has_four_reviewers() -> None:
    scene = Scene.of(5)

    assert scene.pin.eligible.reviewers == scene.ids(1, 2, 3, 4)
    assert scene.pin.eligible.relaxed


def test_three_operators_with_one_agent_each_have_two_reviewers() -> None:
    scene = Scene.of(1, 1, 1)

    assert scene.pin.eligible.reviewers == scene.ids(1, 2)
    # Nobody of the author's operator was let in: there is nobody to let in.
    assert not scene.pin.eligible.relaxed


def test_the_authors_operator_stays_out_where_enough_others_are() -> None:
    scene = Scene.of(3, 1, 1, 1)

    assert scene.pin.eligible.reviewers == scene.ids(3, 4, 5)
    assert not scene.pin.eligible.relaxed


def test_the_exclusion_is_relaxed_one_reviewer_below_q_min() -> None:
    scene = Scene.of(3, 1, 1)

    assert scene.pin.eligible.reviewers == scene.ids(1, 2, 3, 4)
    assert scene.pin.eligible.operators == {operator(0), operator(1), operator(2)}
    assert scene.pin.eligible.relaxed


def test_barred_agents_do_not_fill_the_bench() -> None:
    scene = Scene.of(2, 1, 1, 1, 1, views={2: {"forked": True}, 3: {"revoked": True}})

    assert scene.pin.eligible.reviewers == scene.ids(1, 4, 5)
    assert scene.pin.eligible.relaxed


def test_a_used_up_panel_does_not_hand_a_rerun_to_the_authors_operator() -> None:
    scene = Scene.of(3, 1, 1, 1, rerun=True, voted=(3, 4, 5))

    assert not scene.pin.eligible.reviewers
    assert not scene.pin.eligible.relaxed


def test_where_the_exclusion_was_relaxed_a_rerun_has_who_is_left() -> None:
    scene = Scene.of(3, 1, rerun=True, voted=(1, 3))

    assert scene.pin.eligible.reviewers == scene.ids(2)


def test_who_brought_back_the_work_of_another_does_not_review_it() -> None:
    scene = Scene.of(*SIX, disputer=3)

    assert scene.pin.eligible.reviewers == scene.ids(1, 2, 4, 5)


def test_newcomers_practise_under_the_same_exclusions() -> None:
    strict = Scene.of(2, 1, 1, 1, 1, views={1: NEWCOMER, 5: NEWCOMER})
    relaxed = Scene.of(2, 1, 1, 1, views={1: NEWCOMER, 4: NEWCOMER})

    assert strict.pin.eligible.practice == strict.ids(5)
    assert relaxed.pin.eligible.practice == relaxed.ids(1, 4)
    assert relaxed.pin.eligible.reviewers == relaxed.ids(2, 3)


def test_refusals_name_their_reason() -> None:
    scene = Scene.of(2, 1, 1, 1, views={2: {"forked": True}, 3: {"revoked": True}, 4: NEWCOMER})
    agents, allowed = scene.pin.agents, scene.pin.eligible
    author, kin, forked, revoked, newcomer = (chain.id for chain in scene.agents)

    assert may_take_part(agents, named("stranger")) is Code.NOT_ADMITTED
    assert may_vote(agents, allowed, named("stranger")) is Code.NOT_ADMITTED
    assert may_take_part(agents, forked) is Code.FORK
    assert may_take_part(agents, revoked) is Code.NOT_ELIGIBLE
    assert may_take_part(agents, author) is None
    assert may_vote(agents, allowed, author) is Code.NOT_ELIGIBLE
    assert may_vote(agents, allowed, newcomer) is None
    assert may_object(agents, newcomer, author) is Code.NOT_ELIGIBLE
    assert may_object(agents, author, author) is Code.NOT_ELIGIBLE
    assert may_object(agents, kin, author) is Code.AUTHORS_OPERATOR
    assert may_object(agents, kin, author, relaxed=True) is None


def test_sanctions_have_codes_of_their_own() -> None:
    views = {
        1: {"suspended": True},
        2: {"banned": True, "suspended": True},
        3: {"quarantined": True},
        4: {"probation": True},
    }
    scene = Scene.of(*SIX, views=views)
    agents, allowed = scene.pin.agents, scene.pin.eligible
    author, suspended, banned, quarantined, probation, _ = (chain.id for chain in scene.agents)

    assert may_take_part(agents, suspended) is Code.SUSPENDED
    assert may_take_part(agents, banned) is Code.AGENT_BANNED
    assert may_vote(agents, allowed, suspended) is Code.SUSPENDED
    assert may_object(agents, banned, author) is Code.AGENT_BANNED
    assert may_object(agents, quarantined, author) is Code.QUARANTINED
    assert may_object(agents, probation, author) is None
    # It is taken to be broken: it may show that it is not.
    assert may_take_part(agents, quarantined) is None
    assert allowed.practice == {quarantined}
    assert allowed.reviewers == scene.ids(4, 5)


def test_the_operator_that_counts_is_the_one_that_the_round_pinned() -> None:
    scene = Scene.of(*SIX)
    agents, author, moved = scene.pin.agents, scene.agents[0].id, scene.agents[1].id

    assert may_object(agents, moved, author, operator=operator(1)) is Code.AUTHORS_OPERATOR
    assert may_object(agents, moved, author, operator=operator(0)) is None
    assert may_object(agents, moved, named("gone")) is None


def test_sanctioned_agents_fill_no_bench() -> None:
    views = {1: {"suspended": True}, 2: {"banned": True}, 3: {"quarantined": True}}
    scene = Scene.of(*SIX, views=views)

    assert scene.pin.eligible.reviewers == scene.ids(4, 5)


def test_a_dispute_has_a_fresh_panel_of_strangers_to_both_sides() -> None:
    scene = Scene.of(
        2, 2, 2, 1, 1, kind="dispute", disputer=2, voted=(4,), views={7: NEWCOMER, 6: {}}
    )

    # Neither the author's operator (0, 1), nor the disputer's (2, 3), nor who has voted (4).
    assert scene.pin.eligible.reviewers == scene.ids(5, 6)
    assert scene.pin.eligible.practice == scene.ids(7)
    assert not scene.pin.eligible.relaxed


@pytest.mark.parametrize("kind", ["dispute", "report"])
def test_a_dispute_never_relaxes_its_exclusions(kind: RoundKind) -> None:
    scene = Scene.of(5, kind=kind)

    assert scene.pin.eligible.reviewers == frozenset()
    assert not scene.pin.eligible.relaxed


def test_a_dispute_that_the_rules_open_has_no_second_side() -> None:
    assert Scene.of(1, 1, 1, kind="dispute").pin.eligible.reviewers == Scene.of(1, 1, 1).ids(1, 2)


def test_only_the_panel_of_a_rerun_is_fresh_in_a_review() -> None:
    first = Scene.of(*SIX, voted=(1, 2))
    rerun = Scene.of(*SIX, voted=(1, 2), rerun=True)

    assert first.pin.eligible.reviewers == first.ids(1, 2, 3, 4, 5)
    assert rerun.pin.eligible.reviewers == rerun.ids(3, 4, 5)


def test_nobody_votes_about_a_sanction() -> None:
    eligible_ = Scene.of(*SIX, kind="appeal").pin.eligible

    assert not eligible_.reviewers | eligible_.practice


def test_an_empty_scope_covers_every_kind() -> None:
    assert is_delegated(frozenset(), "review.rule")
    assert is_delegated(frozenset({"review.rule"}), "review.rule")
    assert not is_delegated(frozenset({"review.argue"}), "review.rule")


@given(
    st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), min_size=1, max_size=12),
    st.integers(1, 5),
)
def test_the_author_never_reviews_and_its_operator_only_below_q_min(
    rows: list[tuple[int, bool, bool]], q_min: int
) -> None:
    agents = {
        named(number): AgentView(
            agent=named(number),
            operator=operator(owner),
            instance=named("instance"),
            model=named(number),
            keeper=named(number),
            tier=int(reviewer),
            weight=1,
            reviewer=reviewer,
            revoked=revoked,
        )
        for number, (owner, reviewer, revoked) in enumerate(rows)
    }
    author = agents[named(0)]
    allowed = eligible(agents, author=author.agent, author_operator=author.operator, q_min=q_min)
    strangers = [
        one
        for one in agents.values()
        if one.operator != author.operator and one.reviewer and not one.revoked
    ]

    assert author.agent not in allowed.reviewers | allowed.practice
    assert {one.agent for one in strangers} <= allowed.reviewers
    assert not allowed.reviewers & allowed.practice
    if len(strangers) >= q_min:
        assert author.operator not in {agents[one].operator for one in allowed.reviewers}
        assert author.operator not in {agents[one].operator for one in allowed.practice}
