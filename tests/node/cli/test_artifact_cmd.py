import io

import pytest

from node.cli.artifact_cmd import say_done
from node.cli.errors import Exit
from node.cli.output import Json, Output


def output(*, quiet: bool) -> tuple[Output, io.StringIO]:
    data = io.StringIO()
    return Output(data=data, people=io.StringIO(), quiet=quiet), data


@pytest.mark.parametrize(
    ("quiet", "shown"),
    [(True, '{"seq":3,"at":1700000000000}\n'), (False, "seq  3\nat   2023-11-14 22:13:20Z\n")],
)
def test_the_claimed_time_is_a_number_for_programs_and_a_date_for_people(
    shown: str, *, quiet: bool
) -> None:
    where, data = output(quiet=quiet)
    told: Json = {"seq": 3, "at": 1_700_000_000_000}

    assert say_done(where, told, "Done.") is Exit.OK
    assert data.getvalue() == shown


def test_an_answer_without_a_time_shows_none() -> None:
    where, data = output(quiet=False)
    say_done(where, {"seq": 3}, "Done.")

    assert data.getvalue() == "seq  3\n"
