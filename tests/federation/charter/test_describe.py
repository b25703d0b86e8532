import re
from pathlib import Path

import msgspec
import pytest

import federation.charter.schema as schema_module
from federation.charter import Admission, EvidenceTable, Quotas, Review, Timing, Trust
from federation.charter.describe import parameter_page

SOURCE = Path(schema_module.__file__).read_text(encoding="utf-8")
PAGE = Path(schema_module.__file__).parents[2] / "docs" / "reference" / "parameters.md"


def test_the_page_in_the_documentation_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == parameter_page(SOURCE)


def test_every_parameter_of_every_section_is_on_the_page() -> None:
    page = parameter_page(SOURCE)
    structs = [
        kind
        for kind in vars(schema_module).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    ]

    assert len(structs) == page.count("\n## ")
    for struct in structs:
        for name in struct.__struct_fields__:
            assert f"| `{name}` |" in page


@pytest.mark.parametrize(
    "row",
    [
        "| `k` | count | 1 to 1,000,000 | 7 | 7 | 9 | 7 | 7 | 7 |",
        "| `deliberate` | ms | 0 ms to 31 d | 1 h | 1 h | 4 h | 1 h | 1 h | 1 s |",
        "| `three` |  | `available`, `strict` | `strict` | `strict` |",
        "| `squared` |  | `true` or `false` | `false` | `false` | `false` | `true` | `false` |",
        "| `topics` |  | list of 0 to 1024 | `notes`: low | `notes`: low | none | none | `notes`: low | none |",
        "| `salt` |  | 32 bytes | The random bytes",
        "| `seeds` |  | list of 1 to 1024, or nil |",
        "| `name` |  | 1 to 64 characters |",
        "| `tau_reject` | ppm | -1,000,000 to 1,000,000 | -200,000 |",
    ],
)
def test_a_row_tells_unit_range_and_presets(row: str) -> None:
    assert row in parameter_page(SOURCE)


def test_a_parameter_that_no_code_reads_says_that_it_has_no_effect() -> None:
    charter = Path(schema_module.__file__).parent
    readers = "\n".join(
        path.read_text(encoding="utf-8")
        for path in charter.parent.rglob("*.py")
        if charter not in path.parents
    )
    page = parameter_page(SOURCE)
    silent = [
        field
        for struct in (Timing, Review, EvidenceTable, Trust, Admission, Quotas)
        for field in struct.__struct_fields__
        if not re.search(rf"\.{field}\b", readers)
        and not re.search(rf"^\| `{field}` \|.*[Ii]n this version", page, re.MULTILINE)
    ]

    assert silent == []


@pytest.mark.parametrize("field", ["number", "fast_high", "rule"])
def test_what_has_no_effect_yet_is_said_on_the_page(field: str) -> None:
    assert re.search(
        rf"^\| `{field}` \|.*No effect in this version", parameter_page(SOURCE), re.MULTILINE
    )


@pytest.mark.parametrize("field", ["seats", "seeds", "tier2_operators", "liability"])
def test_what_has_an_effect_is_not_said_to_have_none(field: str) -> None:
    (row,) = re.findall(rf"^\| `{field}` \|.*$", parameter_page(SOURCE), re.MULTILINE)

    assert "o effect" not in row


def test_a_field_without_a_text_is_an_error() -> None:
    with pytest.raises(KeyError):
        parameter_page(SOURCE.replace('"""Time to contest the process (Folkmoot)."""', "pass"))
