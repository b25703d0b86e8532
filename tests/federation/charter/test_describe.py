import re
from pathlib import Path

import msgspec
import pytest

import federation.charter.conduct as conduct_module
import federation.charter.schema as schema_module
from federation.charter import (
    Admission,
    Disputes,
    EvidenceTable,
    Quotas,
    Review,
    Sanctions,
    Timing,
    Trust,
)
from federation.charter.describe import parameter_page

SOURCES = tuple(
    Path(module.__file__).read_text(encoding="utf-8") for module in (schema_module, conduct_module)
)
PAGE = Path(schema_module.__file__).parents[2] / "docs" / "reference" / "parameters.md"


def test_the_page_in_the_documentation_is_the_generated_one() -> None:
    assert PAGE.read_text(encoding="utf-8") == parameter_page(*SOURCES)


def test_every_parameter_of_every_section_is_on_the_page() -> None:
    page = parameter_page(*SOURCES)
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
        "| `q_dispute` | count | 1 to 1,000,000 | 3 | 5 | 7 | 5 | 5 | 5 | Quorum of a dispute",
        "| `ban` | count | 1 to 1,000,000 | 16 | 16 |",
        "| `squared` |  | `true` or `false` | `false` | `false` | `false` | `true` | `false` |",
        "| `topics` |  | list of 0 to 1024 | `notes`: low | `notes`: low | none | none | `notes`: low | none |",
        "| `salt` |  | 32 bytes | The random bytes",
        "| `seeds` |  | list of 1 to 1024, or nil |",
        "| `name` |  | 1 to 64 characters |",
        "| `tau_reject` | ppm | -1,000,000 to 1,000,000 | -200,000 |",
    ],
)
def test_a_row_tells_unit_range_and_presets(row: str) -> None:
    assert row in parameter_page(*SOURCES)


def test_a_parameter_that_no_code_reads_says_that_it_has_no_effect() -> None:
    charter = Path(schema_module.__file__).parent
    readers = "\n".join(
        path.read_text(encoding="utf-8")
        for path in charter.parent.rglob("*.py")
        if charter not in path.parents
    )
    page = parameter_page(*SOURCES)
    silent = [
        field
        for struct in (
            Timing,
            Review,
            Disputes,
            EvidenceTable,
            Trust,
            Admission,
            Quotas,
            Sanctions,
        )
        for field in struct.__struct_fields__
        if not re.search(rf"\.{field}\b", readers)
        and not re.search(rf"^\| `{field}` \|.*[Ii]n this version", page, re.MULTILINE)
    ]

    assert silent == []


@pytest.mark.parametrize(
    "field", ["seats", "seeds", "tier2_operators", "liability", "rule", "fast_high", "d_max", "ban"]
)
def test_what_has_an_effect_is_not_said_to_have_none(field: str) -> None:
    (row,) = re.findall(rf"^\| `{field}` \|.*$", parameter_page(*SOURCES), re.MULTILINE)

    assert "o effect" not in row


def test_a_field_without_a_text_is_an_error() -> None:
    with pytest.raises(KeyError):
        parameter_page(
            *(
                one.replace('"""Time to contest the process (Folkmoot)."""', "pass")
                for one in SOURCES
            )
        )
