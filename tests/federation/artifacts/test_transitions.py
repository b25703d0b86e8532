import re

from federation.artifacts import TRANSITIONS, Action, State, diagram


def test_every_action_and_every_state_stands_in_the_table() -> None:
    assert {action for _, action in TRANSITIONS} == set(Action)
    assert {row.to for row in TRANSITIONS.values()} == set(State)


def test_only_a_submission_starts_from_nothing() -> None:
    assert [action for origin, action in TRANSITIONS if origin is None] == [Action.SUBMIT]


def test_every_state_can_be_reached_and_only_a_superseded_one_is_left_by_nothing() -> None:
    reached: set[State | None] = {None}
    for _ in TRANSITIONS:
        reached |= {row.to for (origin, _), row in TRANSITIONS.items() if origin in reached}
    leaving = {origin for origin, _ in TRANSITIONS}

    assert reached == {None, *State}
    assert set(State) - leaving == {State.SUPERSEDED}


def test_the_diagram_draws_exactly_the_rows_of_the_table() -> None:
    drawn = re.findall(r"^    (\S+) --> (\w+): (\w+) \(.+\)$", diagram(), re.MULTILINE)

    assert diagram().startswith("stateDiagram-v2\n")
    assert drawn == [
        ("[*]" if origin is None else origin.value, row.to.value, action.value)
        for (origin, action), row in TRANSITIONS.items()
    ]


def test_nothing_but_a_certified_path_leads_to_active() -> None:
    assert {key for key, row in TRANSITIONS.items() if row.to is State.ACTIVE} == {
        (State.PROPOSED, Action.ACCEPT),
        (State.UNDER_REVIEW, Action.ACCEPT),
        (State.DISPUTED, Action.KEEP),
    }


def test_what_is_retracted_or_disputed_comes_back_only_through_a_round() -> None:
    left = {key: row.to for key, row in TRANSITIONS.items()}

    assert [to for (origin, _), to in left.items() if origin is State.RETRACTED] == [State.PROPOSED]
    assert {to for (origin, _), to in left.items() if origin is State.DISPUTED} == {
        State.ACTIVE,
        State.RETRACTED,
    }


def test_the_diagram_holds_no_mark_that_would_end_a_line_of_it() -> None:
    assert ";" not in diagram()
    assert "#" not in diagram()
