import lzma
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.demo.cruxeval import PackedSet
from node.demo.make_cruxeval import main, pack, pack_item, sense

QUESTION = "Read this.\n\n[PYTHON]\ndef f(a):\n    return a\nassert f(1) == ??\n[/PYTHON]"

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
HASHABLE = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)
LITERALS = st.recursive(
    HASHABLE | st.sets(HASHABLE, min_size=1, max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HASHABLE, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[1,2]", "[1, 2]"),
        ('"a"', "'a'"),
        ("{1: 2, 3: 4}", "{3: 4, 1: 2}"),
        ("{1, 2}", "{2, 1}"),
        ("( 1 , )", "(1,)"),
        ("1_000", "1000"),
        (" no literal", "no literal\n"),
        (r"'\d'", r"'\\d'"),
    ],
)
def test_two_spellings_of_one_value_have_one_sense(one: str, other: str) -> None:
    assert sense(one) == sense(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "True"),
        ("1", "1.0"),
        ("1", "'1'"),
        ("[1]", "(1,)"),
        ("[1, 2]", "[2, 1]"),
        ("{1: True}", "{1: 1}"),
        ("{}", "set()"),
        ("'a'", "b'a'"),
        ("[1, 2]", "['1, int 2']"),
        ("None", "'None'"),
        ("None", "none"),
    ],
)
def test_different_values_have_different_senses(one: str, other: str) -> None:
    assert sense(one) != sense(other)


def test_a_call_is_never_run_but_stays_text() -> None:
    assert sense("__import__('sys').exit(3)") == " __import__('sys').exit(3)"


@pytest.mark.parametrize("depth", [150, 5_000])
def test_deep_nesting_is_read_or_stays_text_but_does_not_fail(depth: int) -> None:
    assert sense("[" * depth + "]" * depth)


@given(LITERALS)
@settings(max_examples=50)
def test_a_printed_value_has_the_sense_of_the_value_in_parentheses_too(value: object) -> None:
    text = repr(value)

    assert sense(text) == sense(f"( {text} )")
    assert not sense(text).startswith(" ")


def test_distinct_answers_are_stored_once_and_picked_by_index() -> None:
    item = pack_item(QUESTION, "q", "[1, 2]", ["3", "[1,2]", "", "[1, 2]", "3", "oops("])

    assert item.code == "def f(a):\n    return a"
    assert item.call == "f(1)"
    assert item.answers == ("3", "[1, 2]", "oops(")
    assert item.truth == 1
    assert item.picks == bytes([1, 2, 0, 2, 1, 3])


def test_a_value_keeps_its_most_frequent_spelling() -> None:
    item = pack_item(QUESTION, "q", "0", ["[1,2]", "[1, 2]", "[1, 2]"])

    assert item.answers == ("[1, 2]", "0")


def test_a_truth_that_nobody_found_is_kept_too() -> None:
    item = pack_item(QUESTION, "q", "7", ["1", ""])

    assert item.answers[item.truth] == "7"


def test_a_question_of_another_layout_is_refused() -> None:
    with pytest.raises(ValueError, match="another layout"):
        pack_item("What is six times seven?", "q", "42", ["42"])


def write_source(folder: Path, *, header: str = "id,answer,m", row: str = "q,1,2") -> Path:
    (folder / "models.csv").write_text("model,family,acc,null\nm,f,0,0\n")
    (folder / "preds.csv").write_text(f"{header}\n{row}\n")
    snippet = QUESTION.replace("\n", "\\n")
    (folder / "items.jsonl").write_text(f'{{"id":"q","question":"{snippet}","answer":"1"}}\n')
    return folder


def test_a_source_folder_is_packed(tmp_path: Path) -> None:
    packed = pack(write_source(tmp_path))

    assert packed.models == (("m", "f"),)
    assert packed.items[0].answers == ("2", "1")


def test_sources_that_disagree_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="columns"):
        pack(write_source(tmp_path, header="id,answer,other"))
    with pytest.raises(ValueError, match="disagree about q"):
        pack(write_source(tmp_path, row="q,5,2"))


def test_the_command_writes_a_file_that_reads_back(tmp_path: Path) -> None:
    target = tmp_path / "set.xz"

    assert main([str(write_source(tmp_path)), str(target)]) == 0
    written = msgspec.msgpack.decode(lzma.decompress(target.read_bytes()), type=PackedSet)
    assert written == pack(tmp_path)


def test_the_command_without_a_folder_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage:" in capsys.readouterr().err
