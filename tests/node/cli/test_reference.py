from node.cli.errors import EXPLAINED, Code, Exit
from node.cli.main import COMMANDS
from node.cli.reference import page
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
