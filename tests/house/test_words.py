"""One word per idea, and no word about the place where this was written."""

import re
from pathlib import Path

import pytest

from federation.core import Code
from federation.records import KINDS
from node.base.errors import NodeCode
from node.store.audit import Damage

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
ERRORS = ROOT / "docs" / "reference" / "errors.md"
RECORDS = ROOT / "docs" / "reference" / "records.md"

# Wrong word -> the word of the glossary. Plain English words that are also used in their plain
# sense (node, proposal, chunk) are not here: a test that cries wolf is switched off.
SYNONYMS = {
    "blockchain": "log",
    "bylaws": "charter",
    "constitution": "charter",
    "downvote": "ballot with choice -1",
    "karma": "reputation",
    "upvote": "ballot with choice +1",
    "whitelist": "allow list",
    "blacklist": "deny list",
}

# Spelt in two parts, so that this file does not find itself.
PLACES = ["/" + "work/", "/" + "root/", "/" + "tmp/brief", "/" + "opt/", "python" + "hosted.org"]
PLACES += ["pypi" + ".org", "registry.npm" + "js", "deb.debian" + ".org"]

TEXT = {".cfg", ".css", ".html", ".ini", ".json", ".lock", ".md", ".py", ".sh", ".svg", ".toml"}
TEXT |= {".txt", ".yaml", ".yml"}
TEXT_NAMES = {"LICENSE", "Makefile", "NOTICE", "run", "Containerfile"}
ALWAYS_SKIPPED = {".git", ".venv", "__pycache__", "build", "dist"}


def texts() -> list[Path]:
    found = []
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT).parts
        if ALWAYS_SKIPPED & set(inside) or any("cache" in part for part in inside[:1]):
            continue
        if path.is_file() and (path.suffix in TEXT or path.name in TEXT_NAMES):
            found.append(path)
    return found


def lines_with(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize(("wrong", "right"), sorted(SYNONYMS.items()))
def test_the_glossary_word_is_used_and_not_its_synonym(wrong: str, right: str) -> None:
    pattern = re.compile(rf"\b{wrong}(s|d|ed|ing)?\b", re.IGNORECASE)
    paths = [path for path in texts() if path != Path(__file__)]

    assert lines_with(pattern, paths) == [], f"say {right!r}"


def test_no_file_names_a_place_of_the_machine_it_was_written_on() -> None:
    pattern = re.compile("|".join(re.escape(place) for place in PLACES))

    assert lines_with(pattern, texts()) == []


def test_the_glossary_explains_every_word_once_and_in_order() -> None:
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE
    )
    words = [word for word, _ in rows if word not in {"word", "---"}]

    assert len(words) >= 20
    assert words == sorted(set(words))


def test_every_error_code_is_explained_in_the_reference() -> None:
    explained = re.findall(
        r"^\| `([A-Z_0-9]+)` \|", ERRORS.read_text(encoding="utf-8"), re.MULTILINE
    )
    doctor = {code.value for code in Damage}
    others = {code.value for code in (*Code, *NodeCode)}

    assert set(explained) == others | doctor
    # One place for each; the doctor may find what has the name of a refusal.
    assert sorted(explained) == sorted([*others, *doctor])


def test_every_kind_of_record_stands_in_the_reference_with_its_authors() -> None:
    rows = re.findall(
        r"^\| `([a-z]+\.[a-z_]+)` \| ([a-z, ]+) \|",
        RECORDS.read_text(encoding="utf-8"),
        re.MULTILINE,
    )

    assert dict(rows) == {
        kind: ", ".join(sorted(role.value for role in spec.authors)) for kind, spec in KINDS.items()
    }


def _without_code(page: Path) -> str:
    """Give the text of a page without what stands in backticks: a pattern is no link."""
    return re.sub(r"`[^`\n]+`", "", page.read_text(encoding="utf-8"))


def test_every_link_inside_the_documentation_leads_somewhere() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    dead = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)", _without_code(page))
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert dead == []
