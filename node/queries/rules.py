"""The rules in force for programs: every number with unit and meaning, and every table.

What an agent must keep to stands here in one answer, so that it need not read a page for people.
"""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Final

import msgspec
from msgspec import inspect as types

from federation.artifacts import TRANSITIONS
from federation.charter import conduct, schema
from federation.protocol import World
from federation.sanctions import (
    LADDER,
    RULES,
    TABLE,
    Condition,
    Event,
    Leaves,
    RuleId,
    ViolationClass,
    points_of,
)

NEVER: Final = (
    "a vote against the decision",
    "a dispute that is lost honestly",
    "an ordinary rejection of an artifact",
    "what others of the same operator did, beyond a share of their points for new agents",
)
"""What is never a violation."""
_SECTIONS: Final = (
    "timing",
    "review",
    "disputes",
    "trust",
    "admission",
    "quotas",
    "sanctions",
)


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One number or word of the charter in force."""

    section: str
    """Where it stands."""
    name: str
    """Its field."""
    value: int | str | bool
    """What it is here."""
    unit: str
    """ms, ppm, micro, ticks, count, bits, tier; empty for words."""
    text: str
    """What it means."""


class LadderRow(msgspec.Struct, frozen=True, kw_only=True):
    """One level of the ladder of sanctions."""

    level: int
    """0 to 5."""
    name: str
    """Its name."""
    at: int
    """Points from which on it holds."""
    takes: str
    """What it takes."""
    ends_by: Leaves
    """What ends it."""


class RuleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One rule whose breach is a violation."""

    rule: RuleId
    """Its stable name."""
    kind: ViolationClass
    """Its class."""
    points: int
    """What one breach counts; 0 switches the class off."""
    text: str
    """What it is about."""
    remedy: str
    """How to keep to it."""


class LifecycleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the lifecycle of artifacts: what is not a row cannot happen."""

    state: str | None
    """Where the artifact is; nil before it exists."""
    action: str
    """What happens."""
    to: str
    """Where that leads."""
    condition: str
    """What must hold."""


class QuarantineRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the quarantine."""

    condition: Condition
    """How the agent is taken to be."""
    event: Event
    """What happens."""
    to: Condition
    """How it is taken to be then."""


class RulesPage(msgspec.Struct, frozen=True, kw_only=True):
    """The rules in force."""

    charter: str
    """Hash of the charter, in hex."""
    number: int
    """0 at genesis, one more for each that was adopted."""
    tick: int
    """The tick that this is of."""
    parameters: tuple[Parameter, ...]
    """Every number and word of the charter, without lists."""
    lifecycle: tuple[LifecycleRow, ...]
    """The lifecycle of artifacts."""
    ladder: tuple[LadderRow, ...]
    """The ladder of sanctions."""
    violations: tuple[RuleRow, ...]
    """What is a violation."""
    never: tuple[str, ...]
    """What never is one."""
    quarantine: tuple[QuarantineRow, ...]
    """How an agent comes into quarantine, and out of it."""


def rules_page(world: World) -> RulesPage:
    """Show the rules in force."""
    state = world.state
    sanctions = state.charter.sanctions
    return RulesPage(
        charter=state.charter_hash.hex(),
        number=state.charter.number,
        tick=state.tick,
        parameters=tuple(
            one
            for section in _SECTIONS
            for one in _parameters(section, getattr(state.charter, section))
        ),
        lifecycle=tuple(
            LifecycleRow(
                state=origin.value if origin else None,
                action=action.value,
                to=row.to.value,
                condition=row.condition,
            )
            for (origin, action), row in TRANSITIONS.items()
        ),
        ladder=tuple(
            LadderRow(
                level=step.level,
                name=step.name,
                at=step.points(sanctions),
                takes=step.text,
                ends_by=step.leaves,
            )
            for step in LADDER
        ),
        violations=tuple(
            RuleRow(
                rule=name,
                kind=rule.kind,
                points=points_of(rule.kind, sanctions),
                text=rule.text,
                remedy=rule.remedy,
            )
            for name, rule in RULES.items()
        ),
        never=NEVER,
        quarantine=tuple(
            QuarantineRow(condition=condition, event=event, to=to)
            for (condition, event), to in TABLE.items()
        ),
    )


def _parameters(section: str, value: msgspec.Struct) -> Iterator[Parameter]:
    """List the fields of a section, and of sections in it; lists of things are left out."""
    texts = _texts().get(type(value).__name__, {})
    for field in msgspec.structs.fields(value):
        found = getattr(value, field.name)
        if isinstance(found, msgspec.Struct):
            yield from _parameters(f"{section}.{field.name}", found)
        elif isinstance(found, int | str):
            yield Parameter(
                section=section,
                name=field.name,
                value=found,
                unit=_unit(msgspec.inspect.type_info(field.type)),
                text=texts.get(field.name, ""),
            )


def _unit(kind: types.Type) -> str:
    match kind:
        case types.Metadata(extra=dict(extra)):
            return str(extra.get("unit", ""))
        case _:
            return ""


@cache
def _texts() -> dict[str, dict[str, str]]:
    """Collect the text under each field of the charter, from its source; none if that is absent."""
    return {**_of_module(schema), **_of_module(conduct)}


def _of_module(module: ModuleType) -> dict[str, dict[str, str]]:
    try:
        source = inspect.getsource(module)
    except OSError:
        return {}
    return {
        node.name: dict(_of_class(node))
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
    }


def _of_class(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in zip(node.body, node.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(meaning))),
            ):
                yield name, " ".join(meaning.split())
            case _:
                pass
