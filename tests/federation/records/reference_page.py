"""The parts of docs/reference/records.md that are made from the code.

`python -m tests.federation.records.reference_page` writes them anew between their markers; a test
fails as soon as the page and the code differ.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import inspect

from federation.codec import LIMITS
from federation.records import KINDS, ArtifactText, Note

PAGE: Final = Path(__file__).parents[3] / "docs" / "reference" / "records.md"


def kinds_table() -> str:
    """Show every kind with its authors, its prose and what its schema says of it."""
    rows = ["| kind | authors | prose | says |", "|---|---|---|---|"]
    for kind, spec in KINDS.items():
        authors = ", ".join(sorted(role.value for role in spec.authors))
        prose = {None: "", ArtifactText: "artifact", Note: "note"}[spec.text]
        says = _summary(spec.body).removeprefix(f"{kind}: ").removesuffix(".")
        rows.append(f"| `{kind}` | {authors} | {prose} | {says} |")
    return "\n".join(rows)


def fields_list() -> str:
    """Show the fields of every body, and of the two kinds of prose."""
    tables: dict[str, type[msgspec.Struct]] = {}
    tables |= {str(kind): spec.body for kind, spec in KINDS.items()}
    tables |= {"prose: artifact": ArtifactText, "prose: note": Note}
    return "\n\n".join(_fields(name, kind) for name, kind in tables.items())


def limits_table() -> str:
    """Show the limits with their unit."""
    rows = (
        ("record", f"{LIMITS.record // 1024} KiB"),
        ("text", f"{LIMITS.text // 1024} KiB"),
        ("depth of nesting", f"{LIMITS.depth}"),
        ("keys of a map", f"{LIMITS.map_keys}"),
        ("items of a list", f"{LIMITS.list_items:,}"),
        ("blob", f"{LIMITS.blob // 1024 // 1024} MiB"),
        ("frame between peers", f"{LIMITS.frame // 1024} KiB"),
    )
    return "\n".join(["| what | at most |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])


PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "kinds": kinds_table,
    "fields": fields_list,
    "limits": limits_table,
}


def written(page: str) -> str:
    """Give the page with every made part in place."""
    for name, make in PARTS.items():
        before, rest = page.split(f"<!-- made: {name} -->\n")
        _, after = rest.split("<!-- end -->", 1)
        page = f"{before}<!-- made: {name} -->\n{make()}\n<!-- end -->{after}"
    return page


def _summary(kind: type[msgspec.Struct]) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0]


def _fields(name: str, kind: type[msgspec.Struct]) -> str:
    shape = inspect.type_info(kind)
    assert isinstance(shape, inspect.StructType)
    rows = [f"| `{field.encode_name}` | {_said(field.type)} |" for field in shape.fields]
    return "\n".join([f"### {name}", "| field | holds |", "|---|---|", *rows])


def _said(kind: inspect.Type) -> str:
    """Say in words what a value of this type is."""
    match kind:
        case inspect.NoneType():
            return "nil"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"{_number(kind.ge)} … {_number(kind.le)}"
        case inspect.BytesType():
            return f"{_sized(kind.min_length, kind.max_length)} bytes"
        case inspect.StrType() if kind.pattern is not None:
            pattern = kind.pattern.removeprefix("\\A").removesuffix("\\Z").replace("|", "\\|")
            return f"text like `{pattern}`"
        case inspect.StrType():
            return f"text of {_sized(kind.min_length, kind.max_length)} characters"
        case inspect.EnumType():
            return " · ".join(str(one.value) for one in kind.cls)
        case inspect.UnionType():
            return " or ".join(_said(one) for one in sorted(kind.types, key=_is_nil))
        case inspect.VarTupleType():
            return f"list of {_sized(kind.min_length, kind.max_length)}: {_said(kind.item_type)}"
        case inspect.StructType():
            inner = "; ".join(f"{field.name}: {_said(field.type)}" for field in kind.fields)
            return f"[{inner}]"
        case _:
            raise AssertionError(kind)


def _is_nil(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.NoneType)


def _sized(least: int | None, most: int | None) -> str:
    if least == most:
        return f"{most:,}"
    return f"{least} to {most:,}" if least else f"at most {most:,}"


def _number(bound: float | None) -> str:
    named = {2**53 - 1: "2^53 - 1", 2**63 - 1: "2^63 - 1"}
    assert bound is not None
    return named.get(int(bound), f"{bound:,}")


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
