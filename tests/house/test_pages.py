"""What pages show of the code is what the code says."""

from pathlib import Path

from federation.artifacts.transitions import diagram

ROOT = Path(__file__).parents[2]
PROTOCOL = ROOT / "docs" / "reference" / "protocol.md"


def between(page: Path, first: str, last: str) -> str:
    """Give what stands between two marks of a page, each of which stands there once."""
    text = page.read_text(encoding="utf-8")
    _, mark, rest = text.partition(first)
    shown, end, _ = rest.partition(last)
    assert mark, f"{page.name} lacks the mark {first}"
    assert first not in rest, f"{page.name} has the mark {first} twice"
    assert end, f"{page.name} does not end what {first} begins"
    return shown


def test_the_lifecycle_is_drawn_from_the_table() -> None:
    shown = between(PROTOCOL, "<!-- lifecycle: made from the table -->\n", "<!-- end -->")

    assert shown == f"```mermaid\n{diagram()}```\n", "write the new diagram between the marks"
