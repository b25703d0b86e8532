"""The reference page of all parameters, made from the schema so that it cannot drift.

Names, units and ranges come from the types, meanings from the text under each field, values from
the presets. The sources are passed in, because the library reads no files; a test compares the page
in the documentation with `parameter_page`.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
from msgspec import inspect as types

from federation.charter.amendment import Rules
from federation.charter.conduct import Disputes, Sanctions
from federation.charter.duration import spell
from federation.charter.presets import PRESETS
from federation.charter.schema import (
    Admission,
    Charter,
    EvidenceTable,
    Founder,
    Genesis,
    GenesisInstance,
    Quotas,
    Review,
    Timing,
    TopicClass,
    Trust,
)

_HEAD: Final = """# Charter parameters

Every number of the protocol stands in the charter of its realm.
This page is generated from `federation/charter/schema.py` and `conduct.py` beside it; change the text there.
All sections but the last three can be changed by operators together, see [how to change the charter](../how-to/change-the-charter.md).
Section signs (§) are the paper's; *simulation* and *deployment* are its author's code and community.
Presets: `solo` is for one instance with a few agents, `community` for a few operators who know each other, `federation` for several who do not, `released` has the numbers of the paper's simulation, `robust` counts competence by audits only, `test` has windows of seconds.
Units: ms are milliseconds on a member's own clock, ppm millionths of one, micro millionths of one outcome, ticks are epochs.
"""

_SECTIONS: Final[tuple[tuple[str, type[msgspec.Struct]], ...]] = (
    ("charter", Charter),
    ("timing", Timing),
    ("review", Review),
    ("review.topics[]", TopicClass),
    ("disputes", Disputes),
    ("trust", Trust),
    ("trust.evidence", EvidenceTable),
    ("admission", Admission),
    ("quotas", Quotas),
    ("sanctions", Sanctions),
    ("genesis", Genesis),
    ("genesis.instances[]", GenesisInstance),
    ("genesis.founders[]", Founder),
)


def parameter_page(*sources: str) -> str:
    """Write the page in Markdown from the texts of `schema.py` and `conduct.py`."""
    meanings: dict[str, dict[str, str]] = {}
    for source in sources:
        meanings |= _meanings(ast.parse(source))
    parts = [_HEAD]
    for section, struct in _SECTIONS:
        rows = "\n".join(_rows(section, struct, meanings[struct.__name__]))
        parts.append(f"## {section}\n\n{rows}\n")
    return "\n".join(parts)


def _rows(section: str, struct: type[msgspec.Struct], meanings: Mapping[str, str]) -> Iterator[str]:
    presets = [_section(rules, section) for rules in PRESETS.values()]
    valued = None not in presets
    columns = ["parameter", "unit", "legal", *(PRESETS if valued else ()), "meaning"]
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for field in msgspec.structs.fields(struct):
        unit, legal = _legal(msgspec.inspect.type_info(field.type))
        cells = [f"`{field.name}`", unit, legal]
        if valued:
            cells += [_value(getattr(rules, field.name), unit) for rules in presets]
        yield f"| {' | '.join([*cells, meanings[field.name]])} |"


def _section(rules: Rules, section: str) -> msgspec.Struct | None:
    """Find the part of a preset that a section of the page shows, if a preset fixes it."""
    parts: dict[str, msgspec.Struct] = {
        "timing": rules.timing,
        "review": rules.review,
        "disputes": rules.disputes,
        "trust": rules.trust,
        "trust.evidence": rules.trust.evidence,
        "admission": rules.admission,
        "quotas": rules.quotas,
        "sanctions": rules.sanctions,
    }
    return parts.get(section)


def _legal(kind: types.Type) -> tuple[str, str]:
    """Give the unit and what is legal, in words."""
    match kind:
        case types.Metadata(type=types.IntType(ge=int(low), le=int(high)), extra=dict(extra)):
            unit = str(extra["unit"])
            return unit, f"{_value(low, unit)} to {_value(high, unit)}"
        case types.BoolType():
            return "", "`true` or `false`"
        case types.LiteralType():
            return "", ", ".join(f"`{word}`" for word in kind.values)
        case types.VarTupleType():
            return "", f"list of {kind.min_length or 0} to {kind.max_length}"
        case types.StrType():
            return "", f"{kind.min_length or 0} to {kind.max_length} characters"
        case types.BytesType():
            return "", f"{kind.max_length} bytes"
        case types.UnionType():
            return "", f"{_legal(kind.types[0])[1]}, or nil"
        case _:
            return "", "see its section"


def _value(value: object, unit: str) -> str:
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case int():
            return spell(value) if unit == "ms" else f"{value:,}"
        case str():
            return f"`{value}`"
        case tuple():
            rows = [f"`{row.prefix}`: {row.sensitivity}" for row in value]
            return ", ".join(rows) or "none"
        case _:
            return "see its section"


def _meanings(module: ast.Module) -> dict[str, dict[str, str]]:
    """Collect the text under each field of each class, one line each."""
    found: dict[str, dict[str, str]] = {}
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            fields: dict[str, str] = {}
            for field, text in zip(node.body, node.body[1:], strict=False):
                match field, text:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(meaning))),
                    ):
                        fields[name] = " ".join(meaning.split())
                    case _:
                        pass
            found[node.name] = fields
    return found
