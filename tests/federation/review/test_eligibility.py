from hypothesis import given
from hypothesis import strategies as st

from federation.core import Code
from federation.review import AgentView, eligible, may_object, may_take_part, may_vote
from tests.builders import named
from tests.federation.review.scene import Scene, operator

NEWCOMER = {"tier": 0, "reviewer": False, "weight": 0}


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
    assert may_object(agents, kin, author) is None


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
