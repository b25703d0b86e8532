import io
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from federation.admission import Terms, does_work, passes_gate
from federation.core import CallerError
from node.cli import register_search
from node.cli.errors import Code, CommandError
from node.cli.output import Output
from node.cli.register_home import Home, held
from node.cli.register_search import Effort, Minted, TurnedError, line, mint, span
from node.minting import Saved, Standing, estimate, search, start
from tests.builders import named
from tests.node.minting.works import blank, endless

NAME = named("agent")
EFFORT = Effort(processes=1, most_hours=1)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with held(tmp_path / "mine") as home:
        yield home


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def output(people: io.StringIO, *, quiet: bool = False) -> Output:
    return Output(data=io.StringIO(), people=people, quiet=quiet)


def minted(
    home: Home,
    saved: Saved,
    people: io.StringIO | None = None,
    *,
    effort: Effort = EFFORT,
    epoch: Callable[[], int] = lambda: 7,
) -> Minted:
    return mint(output(people or io.StringIO()), home, NAME, saved, effort, epoch=epoch)


def standing(**changes: object) -> Standing:
    rest = estimate(parts=2, part_tries=512, part_speed=100, gate_tries=1_000, gate_speed=10**6)
    fields: dict[str, object] = {
        "parts": 4,
        "found": 2,
        "tried": 81_234,
        "left": 1_024,
        "processes": 2,
        "speed": 100.0,
        "spent_ms": 9_000,
        "rest": rest,
        **changes,
    }
    return Standing(**fields)  # type: ignore[arg-type]


def test_the_line_says_what_is_found_and_what_is_left_on_average() -> None:
    assert line(standing()) == (
        "[######......] 2/4, 81,234 tries, ~1,024 to go; 50 % end in 9 s, 95 % in 24 s"
    )
    assert line(standing(found=4, left=0)).startswith("[############] 4/4, ")
    assert "the gate to go" in line(standing(found=4, left=0))
    assert line(standing(speed=None, rest=None)).endswith("measuring the speed")


def test_tries_alone_move_no_bar() -> None:
    before, after = line(standing(tried=10)), line(standing(tried=10**9))

    assert before.split(",")[0] == after.split(",")[0]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min 0 s"),
        (3_599, "59 min 59 s"),
        (3_600, "1 h 0 min"),
        (90_000, "1 d 1 h"),
        (10**9, "11,574 d 1 h"),
    ],
)
def test_a_duration_has_two_units_at_most(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_a_proof_is_kept_before_anything_else_is_done_with_it(home: Home) -> None:
    found = minted(home, start(blank()))

    assert home.proof(NAME) == found.work
    assert home.search(NAME) == (None, False)
    assert passes_gate(found.work)
    assert does_work(found.work)
    assert found.tried > 0


def test_at_a_terminal_one_line_is_drawn_over(home: Home) -> None:
    people = Terminal()
    minted(home, start(blank()), people)
    drawn = people.getvalue().split("\r")

    assert len(drawn) > 2
    assert drawn[-1].endswith("\n")
    assert all("\n" not in one for one in drawn[1:-1])


def test_elsewhere_a_line_comes_now_and_then_and_with_json_none(home: Home) -> None:
    people = io.StringIO()
    minted(home, start(blank(bits=12)), people)
    assert people.getvalue().count("to go") <= 2
    assert "\r" not in people.getvalue()

    # A speed that was only just measured is no ground for an estimate.
    people = io.StringIO()
    display = register_search._Display(output(people))
    for spent_ms in (70_000, 72_999, 73_000, 80_000, 102_999, 103_000):
        display.show(standing(spent_ms=spent_ms, tried=spent_ms))
    assert people.getvalue().count("to go") == 2
    assert "73,000 tries" in people.getvalue()
    assert "103,000 tries" in people.getvalue()

    quiet = Terminal()
    mint(output(quiet, quiet=True), home, NAME, start(blank()), EFFORT, epoch=lambda: 7)
    assert quiet.getvalue() == ""


def test_what_goes_on_says_what_there_is(home: Home) -> None:
    people = io.StringIO()
    half = replace(start(blank()), nexts=(100, 0, 0), tried=100, spent_ms=65_000)
    found = minted(home, half, people)

    assert "0 of 3 parts found, 100 hashes tried in 1 min 5 s" in people.getvalue()
    assert found.tried > 100
    assert found.spent_ms >= 65_000


def test_a_search_whose_epoch_is_over_ends_and_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(register_search, "_ASK_S", 0.1)
    with pytest.raises(TurnedError):
        minted(home, start(endless()), epoch=lambda: 9)


def test_it_goes_on_in_the_next_epoch_and_without_an_answer(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(register_search, "_ASK_S", 0.001)
    asked: list[int] = []

    def epoch() -> int:
        asked.append(1)
        if len(asked) % 2:
            raise CommandError("w", why="y", fix="f", code=Code.NO_NODE, leaves=1)  # type: ignore[arg-type]
        return 8

    assert minted(home, start(blank(bits=8)), epoch=epoch).work.epoch == 7
    assert len(asked) > 2


def test_a_search_that_is_too_long_is_given_up(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register_search, "_JUDGED_MS", 300)
    with pytest.raises(CommandError) as found:
        minted(home, start(endless()))

    assert found.value.code == Code.TERMS_REFUSED
    assert "you are ready for 1 h" in found.value.why
    assert home.search(NAME)[0] is not None


def test_on_a_full_disk_the_search_goes_on_and_says_so_once(home: Home) -> None:
    people = io.StringIO()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        found = minted(home, start(blank()), people)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert does_work(found.work)
    assert home.proof(NAME) is None
    assert people.getvalue().count("cannot be saved") == 1


def test_a_search_that_somebody_forged_is_thrown_away(home: Home) -> None:
    forged = replace(start(blank(bits=32, gate_bits=1)), found=(bytes(8),) * 3)
    home.keep_search(NAME, forged)
    with pytest.raises(CallerError):
        minted(home, forged)

    assert home.search(NAME) == (None, False)


def test_processes_that_cannot_work_are_told_of(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text("raise SystemExit(3)")
    monkeypatch.setattr(search, "_PROGRAM", program)
    with pytest.raises(CommandError) as found:
        minted(home, start(endless()))

    assert found.value.code == Code.MINT_FAILED
    assert "too little memory" in found.value.why


def test_there_are_no_more_processes_than_memory_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terms = Terms(memory_kib=262_144, passes=1, parts=4, bits=9, gate_bits=18)
    for free, processors, wanted in (
        (10 * 262_144, 8, 5),
        (10 * 262_144, 2, 2),
        (100, 8, 1),
        (None, 8, 8),
    ):
        monkeypatch.setattr(register_search, "_free_kib", lambda free=free: free)
        monkeypatch.setattr(
            register_search.os, "sched_getaffinity", lambda _, many=processors: set(range(many))
        )
        assert register_search._processes(terms) == wanted


@pytest.mark.parametrize(
    ("content", "free"),
    [
        ("MemTotal: 9 kB\nMemAvailable:    1234 kB\n", 1_234),
        ("MemTotal: 9 kB\n", None),
        ("MemAvailable: many\n", None),
        ("MemAvailable:\n", None),
        ("", None),
    ],
)
def test_free_memory_is_read_or_unknown(content: str, free: int | None, tmp_path: Path) -> None:
    table = tmp_path / "meminfo"
    table.write_text(content)

    assert register_search._free_kib(table) == free
    assert register_search._free_kib(tmp_path / "missing") is None
