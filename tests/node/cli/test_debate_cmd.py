"""`folkmoot review debate`: threads for people, one object for programs, nothing hostile shown."""

import io
from collections.abc import Iterator

import msgspec
import pytest

from node.cli.client import Client
from node.cli.debate_cmd import _pages, _put_argument, _put_digest, _put_head
from node.cli.output import Json, Output
from node.cli.tables import Told, row_of
from node.queries.debate import debate
from tests.federation.protocol.town import Town
from tests.node.queries.test_debate import argued

HOSTILE = "dry\x1b[31m\u202e\nsecond \x07line"


@pytest.fixture(scope="module")
def page() -> Told:
    """Give the page of a debate of two, as a node would send it."""
    town = Town.of(3, 6)
    name, _, _ = argued(town)
    return row_of(msgspec.json.decode(msgspec.json.encode(debate(town.world(), name, digest=2))))


def shown() -> tuple[Output, io.StringIO, io.StringIO]:
    data, people = io.StringIO(), io.StringIO()
    return Output(data=data, people=people, quiet=False), data, people


def rows(page: Told, name: str) -> Iterator[Told]:
    found = page[name]
    assert isinstance(found, list)
    return map(row_of, found)


def test_the_head_tells_how_much_was_said(page: Told) -> None:
    output, data, people = shown()
    _put_head(output, {**page, "closed": [{"id": "ab", "name": "curie"}]})

    assert "total       2\n" in data.getvalue()
    assert "unanswered  1\n" in data.getvalue()
    assert "never opened by: curie\n" in data.getvalue()
    assert "STANCE" in people.getvalue()
    assert "against" in data.getvalue()


def test_answers_are_moved_in_behind_what_they_answer(page: Told) -> None:
    output, data, _ = shown()
    for row in rows(page, "arguments"):
        _put_argument(output, row)
    first, words, answer, more = data.getvalue().splitlines()

    assert first.startswith("agent 1 ")
    assert first.endswith(": against, content, turn 1, not certified yet, stands")
    assert words == "  It does not hold. The source is old."
    assert answer.startswith("  agent 0 ")
    assert answer.endswith("turn 1, not certified yet, stands, unanswered")
    assert more == "    It does hold."


def test_an_argument_without_words_and_one_of_a_claim_and_a_seal_are_told(page: Told) -> None:
    output, data, _ = shown()
    first = next(rows(page, "arguments"))
    _put_argument(output, {**first, "note": None, "claim": 3, "turn": 0, "certified": True})
    head, words = data.getvalue().splitlines()

    assert " on claim 3: against, content, sealed first, stands" in head
    assert words == "  (no words held here)"


def test_very_deep_answers_are_moved_in_no_further(page: Told) -> None:
    output, data, _ = shown()
    first = next(rows(page, "arguments"))
    for depth in (8, 32):
        _put_argument(output, {**first, "depth": depth, "note": "x"})
    heads = data.getvalue().splitlines()[::2]

    assert heads[0] == heads[1]
    assert heads[0].startswith(" " * 16 + "agent")


def test_a_digest_says_what_it_is_and_what_it_leaves_out(page: Told) -> None:
    output, data, people = shown()
    _put_digest(output, row_of(page["digest"]))
    lines = data.getvalue().splitlines()

    assert lines[0].startswith("Digest: ")
    assert len(lines) == 4
    assert lines[-1] == (
        "Quoted 2 arguments; 0 more are not quoted, and of 0 the text is not held here."
    )
    _put_digest(output, {})
    assert "hidden" in people.getvalue()


def test_control_characters_of_arguments_do_not_reach_the_terminal(page: Told) -> None:
    output, data, _ = shown()
    first = next(rows(page, "arguments"))
    _put_argument(output, {**first, "note": HOSTILE})
    _put_digest(output, {"quotes": [{"argument": "ab" * 32, "words": HOSTILE, "part": True}]})
    told = data.getvalue()

    assert not {"\x1b", "\x07", "\u202e"} & {*told}
    assert "second " in told
    assert "[…]" in told


class Pages:
    """A node that has three pages, and remembers what it was asked."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.asked: list[dict[str, object]] = []

    def get(self, *path: str, **query: str | int | None) -> Json:
        """Give the next page."""
        assert path == ("v1", "rounds", "r", "debate")
        self.asked.append({key: value for key, value in query.items() if value is not None})
        number = len(self.asked)
        return {"next": None if number == 3 else f"cursor {number}"}


def test_all_pages_are_asked_for_and_a_digest_once(monkeypatch: pytest.MonkeyPatch) -> None:
    node = Pages()
    monkeypatch.setattr(Client, "get", lambda _, *path, **query: node.get(*path, **query))
    client = object.__new__(Client)
    all_of_it = list(_pages(client, "r", 5, most=200))
    assert len(all_of_it) == 3
    assert node.asked == [
        {"digest": 5, "most": 200},
        {"after": "cursor 1", "most": 200},
        {"after": "cursor 2", "most": 200},
    ]
    node.asked.clear()

    assert len(list(_pages(client, "r", 5, most=1))) == 1
    assert node.asked == [{"digest": 5, "most": 1}]
