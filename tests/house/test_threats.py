"""Every threat names a test that there is, or says why it has none."""

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "threat-model.md"

PARTS = ("Joining", "Everything else")
HEAD = ["what is tried", "what stands against it", "what is left", "test"]

REFERENCE = re.compile(r"(tests(?:/\w+)+/test_\w+\.py)::(test_\w+)")
EXCUSE = re.compile(r"no test: \w")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One threat of the page."""

    part: str
    """The heading of second level above it."""
    line: int
    """Where it stands, from 1."""
    cells: list[str]
    """What stands in its columns."""


def rows_of(page: str) -> Iterator[Row]:
    """Give the rows of all tables, without heads and rules."""
    part = ""
    for line, text in enumerate(page.splitlines(), start=1):
        if text.startswith("## "):
            part = text.removeprefix("## ")
        elif text.startswith("|"):
            cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
            if cells != HEAD and set(text) != set("|-"):
                yield Row(part=part, line=line, cells=cells)


@functools.cache
def names_in(path: Path) -> frozenset[str]:
    """Name the test functions of a file; none if there is no such file."""
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(one.name for one in tree.body if isinstance(one, kinds))


def faults_of(page: str) -> list[str]:
    """Say what is wrong with a page, line by line."""
    faults = []
    for row in rows_of(page):
        where = f"line {row.line}"
        if len(row.cells) != len(HEAD) or not all(row.cells):
            faults.append(f"{where}: a row has {len(HEAD)} cells, and none is empty")
            continue
        test = row.cells[-1]
        if EXCUSE.match(test):
            continue
        for name in test.split("<br>"):
            told = REFERENCE.fullmatch(name.strip("`"))
            if told is None:
                faults.append(f"{where}: neither a test nor 'no test: why': {name}")
            elif told[2] not in names_in(ROOT / told[1]):
                faults.append(f"{where}: there is no {name}")
    return faults


def test_every_threat_names_tests_that_there_are_or_says_why_it_has_none() -> None:
    assert faults_of(PAGE.read_text(encoding="utf-8")) == []


def test_each_part_of_the_page_has_its_tables_and_no_threat_stands_twice() -> None:
    rows = list(rows_of(PAGE.read_text(encoding="utf-8")))
    tried = [row.cells[0] for row in rows]

    assert {row.part for row in rows} == set(PARTS)
    assert all(sum(row.part == part for row in rows) >= 20 for part in PARTS)
    assert sorted(tried) == sorted(set(tried))


HERE = "`tests/house/test_threats.py::test_a_broken_row_is_found`"


@pytest.mark.parametrize(
    ("test", "is_sound"),
    [
        (HERE, True),
        (f"{HERE}<br>{HERE}", True),
        ("no test: nothing can be done", True),
        ("", False),
        ("no test:", False),
        ("no test: ", False),
        ("tested elsewhere", False),
        ("`tests/house/test_threats.py`", False),
        (HERE.replace("broken", "sound"), False),
        (HERE.replace("test_threats", "test_nothing"), False),
        (f"{HERE}<br>{HERE.replace('broken', 'sound')}", False),
        (f"{HERE}, and more", False),
    ],
)
def test_a_broken_row_is_found(test: str, is_sound: bool) -> None:
    page = f"## Joining\n\n| {' | '.join(HEAD)} |\n|---|---|---|---|\n| a | b | c | {test} |\n"

    assert (faults_of(page) == []) is is_sound


def test_a_row_that_lacks_a_cell_is_found() -> None:
    assert faults_of(f"| a | b | {HERE} |\n")
    assert faults_of(f"| a |  | c | {HERE} |\n")
    assert faults_of(f"| a | b | c | d | {HERE} |\n")
