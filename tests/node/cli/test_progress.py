import io

from node.cli.output import Output
from node.cli.progress import bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def output(people: io.StringIO, *, quiet: bool = False) -> Output:
    return Output(data=io.StringIO(), people=people, quiet=quiet)


def test_on_a_terminal_one_line_is_drawn_over_and_ended() -> None:
    people = Terminal()
    draw = bar(output(people), "verdicts")
    draw(0, 2)
    draw(2, 2)

    assert people.getvalue() == f"\rverdicts [{'.' * 30}] 0/2\rverdicts [{'#' * 30}] 2/2\n"


def test_elsewhere_every_step_is_a_line() -> None:
    people = io.StringIO()
    draw = bar(output(people), "verdicts")
    draw(1, 3)
    draw(3, 3)

    assert people.getvalue().splitlines() == [
        f"verdicts [{'#' * 10}{'.' * 20}] 1/3",
        f"verdicts [{'#' * 30}] 3/3",
    ]


def test_nothing_to_do_is_no_division_by_zero() -> None:
    people = io.StringIO()
    bar(output(people), "verdicts")(0, 0)

    assert "0/0" in people.getvalue()


def test_a_person_watches_at_a_terminal_unless_only_data_is_wanted() -> None:
    assert output(Terminal()).is_watched
    assert not output(Terminal(), quiet=True).is_watched
    assert not output(io.StringIO()).is_watched
