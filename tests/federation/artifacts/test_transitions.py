import re

from federation.artifacts import TRANSITIONS, Action, State, diagram


def test_every_action_and_every_state_stands_in_the_table() -> None:
    assert {action for _, action in TRANSITIONS} == set(Action)
    assert {row.to for row in TRANSITIONS.values()} == set(State)


def test_only_a_submission_starts_from_nothing() -> None:
    assert [action for origin, action in TRANSITIONS if origin is None] == [Action.SUBMIT]


def test_every_state_can_be_reached_and_ends_in_a_terminal_one() -> None:
    reached: set[State | None] = {None}
    for _ in TRANSITIONS:
        reached |= {row.to for (origin, _), row in TRANSITIONS.items() if origin in reached}
    leaving = {origin for origin, _ in TRANSITIONS}

    assert reached == {None, *State}
    assert set(State) - leaving == {State.ACTIVE, State.RETRACTED}


def test_the_diagram_draws_exactly_the_rows_of_the_table() -> None:
    drawn = re.findall(r"^    (\S+) --> (\w+): (\w+) \(.+\)$", diagram(), re.MULTILINE)

    assert diagram().startswith("stateDiagram-v2\n")
    assert drawn == [
        ("[*]" if origin is None else origin.value, row.to.value, action.value)
        for (origin, action), row in TRANSITIONS.items()
    ]
