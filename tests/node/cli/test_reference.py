from pathlib import Path

from node.cli.errors import EXPLAINED, Code, Exit
from node.cli.main import COMMANDS
from node.cli.reference import BEGIN, END, FOUND, codes, page, write
from node.store.audit import Damage
from tests.node.cli.session import ROOT


def test_the_page_in_the_documentation_is_the_generated_one() -> None:
    assert (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8") == page()


def test_every_command_with_every_example_is_on_the_page() -> None:
    for command in COMMANDS:
        assert f"## folkmoot {command.name}\n" in page()
        for example in command.examples:
            assert f"\n{example}\n" in page()


def test_every_code_is_on_the_page() -> None:
    assert EXPLAINED.keys() == set(Code)
    for code in Code:
        assert f"| `{code}` |" in page()
    for leaves in Exit:
        assert f"| {int(leaves)} |" in page()


def test_a_page_may_hold_some_commands_only() -> None:
    assert page(COMMANDS[:1]).count("\n## ") == 1


def test_the_codes_among_the_errors_are_those_of_the_tables() -> None:
    """Write them anew with `python -m node.cli.reference`."""
    text = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")

    assert text.partition(BEGIN)[2].partition(END)[0] == codes()
    assert FOUND.keys() == set(Damage)


def test_what_stands_around_the_codes_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "errors.md").write_text(f"before\n{BEGIN}old\n{END}\nafter\n")
    write(tmp_path)

    assert (tmp_path / "errors.md").read_text() == f"before\n{BEGIN}{codes()}{END}\nafter\n"
    assert (tmp_path / "cli.md").read_text() == page()
