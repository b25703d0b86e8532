import io

import pytest

from node.cli.output import Json, Output, clean
from node.cli.tables import (
    cell,
    lasting,
    moment,
    prose,
    put_end,
    put_fields,
    put_table,
    row_of,
    rows_of,
    share,
)

ID = "ab" * 32


def output() -> Output:
    return Output(data=io.StringIO(), people=io.StringIO(), quiet=False)


def shown(out: Output) -> tuple[str, str]:
    assert isinstance(out.data, io.StringIO)
    assert isinstance(out.people, io.StringIO)
    return out.data.getvalue(), out.people.getvalue()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        ("", "-"),
        ([], "-"),
        ({}, "-"),
        (True, "yes"),
        (False, "no"),
        (0, "0"),
        (1.5, "1.5"),
        ("word", "word"),
        (ID, "abababababab"),
        (["a", ID], "a, abababababab"),
        ({"id": ID, "cid": "b", "name": "ada"}, "ada"),
        ({"id": ID, "name": None}, "id abababababab, name -"),
        ({"for": 1, "against": 2}, "for 1, against 2"),
    ],
)
def test_a_value_is_shown_in_few_words(value: Json, text: str) -> None:
    assert cell(value) == text


def test_what_agents_wrote_cannot_steer_a_terminal() -> None:
    evil = "a\x1b[2Jb\rc\u202ed\x00"

    for text in (clean(evil), cell(evil), cell({"id": ID, "name": evil}), prose(f"{evil}\n{evil}")):
        assert "\x1b" not in text
        assert "\r" not in text
        assert "\u202e" not in text
        assert "\x00" not in text
    assert prose("one\ntwo") == "one\ntwo"


def test_rows_are_data_and_headings_are_not() -> None:
    out = output()
    put_table(out, ("name", "n"), [("ada", "1"), ("b", "22")])

    assert shown(out) == ("ada   1\nb     22\n", "NAME  N\n")


def test_an_empty_table_says_so_to_people_only() -> None:
    out = output()
    put_table(out, ("name",), [])

    assert shown(out) == ("", "(none)\n")


def test_fields_show_ids_in_full() -> None:
    out = output()
    put_fields(out, {"id": ID, "last_seen": None})

    assert shown(out)[0] == f"id         {ID}\nlast seen  -\n"


def test_a_verdict_is_never_shown_without_what_it_lacked() -> None:
    out = output()
    verdict: Json = {"why": "Accepted.", "narrow": [{"reason": "quorum", "why": "Too few."}]}
    put_end(out, {"verdict": verdict, "waits": {"sentence": "Accepted."}})
    put_end(out, {"verdict": None, "waits": {"sentence": "A cut is due."}})

    assert shown(out)[0] == "verdict: Accepted.\n  narrow: Too few.\nwaits: A cut is due.\n"


def test_json_of_another_shape_is_no_traceback() -> None:
    assert row_of([1]) == {}
    assert rows_of({"a": 1}) == []
    assert rows_of([1, {"a": 1}]) == [{"a": 1}]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (moment(0), "1970-01-01 00:00:00Z"),
        (moment(None), "-"),
        (lasting(61_000), "1 min 1 s"),
        (lasting(None), "-"),
        (share(250_000), "0.250"),
        (share(None), "-"),
    ],
)
def test_times_and_shares_are_spelt(text: str, wanted: str) -> None:
    assert text == wanted
