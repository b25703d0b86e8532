"""The OpenAPI 3.1 document, made from the table of routes and the structs that they name.

The copy in docs/reference/openapi.json is compared with it by a test, so neither can drift.
"""

import ast
import functools
import inspect
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeAlias

import msgspec
import trio

from federation.charter import PROTOCOL
from node.api.calls import JSON, MSGPACK, Nothing, Route, Who
from node.api.errors import STATUS, Problem
from node.api.reads import VERSION

Json: TypeAlias = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
_REF: Final = "#/components/schemas/{name}"
_PARAMETERS: Final = {
    "id": "64 hex digits, a CID, or the first six or more digits where one thing only has them",
    "instance": "id of an instance, or its first six or more digits",
    "name": "name of a file",
    "webhook": "id of a webhook, in hex",
    "n": "number of a dead letter",
}
_NEEDS: Final = {
    Who.ANYBODY: "Anybody may ask.",
    Who.AGENT: "Needs a token with the scope `act:<agent>` of the agent that acts, or the operator's.",
    Who.OPERATOR: "Needs the operator's token.",
}


def document(routes: Sequence[Route]) -> bytes:
    """Write the document as JSON, the same bytes every time."""
    return _document(tuple(routes))


async def documented(routes: Sequence[Route]) -> bytes:
    """Give the document; the first caller has it made beside the event loop, others wait for that."""
    async with _making:
        return await trio.to_thread.run_sync(document, routes)


_making: Final = trio.Lock()


@functools.cache
def _document(routes: tuple[Route, ...]) -> bytes:
    kinds = _kinds(routes)
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    by_kind: dict[type[msgspec.Struct], Json] = {}
    by_kind.update(zip(kinds, schemas, strict=True))
    for kind in _structs(kinds):
        _describe(components, kind)
    paths: dict[str, Json] = {}
    for route in routes:
        at = paths.setdefault(route.path, {})
        assert isinstance(at, dict), "made here"  # noqa: S101 # our own invariant
        at[route.method.lower()] = _operation(route, by_kind, components)
    whole: Json = {
        "openapi": "3.1.0",
        "info": {
            "title": "Folkmoot",
            "version": VERSION,
            "description": f"HTTP surface of one instance; protocol {PROTOCOL}.",
        },
        "paths": paths,
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n"


def _kinds(routes: Sequence[Route]) -> list[type[msgspec.Struct]]:
    found: dict[type[msgspec.Struct], None] = {Problem: None}
    for route in routes:
        for kind in (route.gives, route.takes, route.query):
            if kind is not None and kind is not Nothing:
                found[kind] = None
    return list(found)


def _operation(
    route: Route, by_kind: dict[type[msgspec.Struct], Json], components: dict[str, Json]
) -> Json:
    problem: Json = {JSON: {"schema": by_kind[Problem]}}
    answers: dict[str, Json] = {"200": _success(route, by_kind)}
    if route.who is Who.AGENT or route.path == "/v1/admin/agents":
        answers = {"201": _success(route, by_kind)}
    answers["default"] = {"description": "Anything else, in one shape.", "content": problem}
    made: dict[str, Json] = {
        "summary": route.summary,
        "description": " ".join(filter(None, (route.says, _NEEDS[route.who]))),
        "operationId": operation_id(route),
        "parameters": [*_in_path(route), *_in_query(route, components)],
        "responses": answers,
    }
    if route.who is not Who.ANYBODY:
        made["security"] = [{"token": []}]
    if route.takes is not None:
        content: dict[str, Json] = {JSON: {"schema": by_kind[route.takes]}}
        if MSGPACK in route.types:
            content[MSGPACK] = {"schema": {"type": "string", "format": "binary"}}
        made["requestBody"] = {"required": True, "content": content}
    return made


def _success(route: Route, by_kind: dict[type[msgspec.Struct], Json]) -> Json:
    schema: Json = {} if route.gives is None else by_kind[route.gives]
    return {"description": "Done.", "content": {route.produces: {"schema": schema}}}


def operation_id(route: Route) -> str:
    """Name the operation for generated clients."""
    words = re.findall(r"[a-z0-9]+", route.path.removeprefix("/v1")) or ["status", "page"]
    return "_".join((route.method.lower(), *words))


def _in_path(route: Route) -> list[Json]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PARAMETERS[name],
            "schema": {"type": "string"},
        }
        for name in route.parameters
    ]


def _in_query(route: Route, components: dict[str, Json]) -> list[Json]:
    table = components.get(route.query.__name__, {})
    fields = table.get("properties", {}) if isinstance(table, dict) else {}
    assert isinstance(fields, dict), "a struct has fields"  # noqa: S101 # our own invariant
    made: list[Json] = []
    for name, schema in fields.items():
        said = schema.get("description", "") if isinstance(schema, dict) else ""
        made.append({"name": name, "in": "query", "description": said, "schema": schema})
    return made


def _structs(kinds: Sequence[type[msgspec.Struct]]) -> list[type[msgspec.Struct]]:
    """Find all structs that these hold, themselves included."""
    found: dict[type[msgspec.Struct], None] = {}
    waiting: list[object] = [*msgspec.inspect.multi_type_info(kinds)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, msgspec.inspect.StructType):
            if one.cls in found:
                continue
            found[one.cls] = None
            waiting.extend(field.type for field in one.fields)
        for name in ("item_type", "type", "types", "item_types", "value_type"):
            inner = getattr(one, name, None)
            if isinstance(inner, tuple):
                waiting.extend(inner)
            elif inner is not None:
                waiting.append(inner)
    return list(found)


def _describe(components: dict[str, Json], kind: type[msgspec.Struct]) -> None:
    """Add the documentation that stands under each field of a struct."""
    schema = components.get(kind.__name__)
    fields = schema.get("properties") if isinstance(schema, dict) else None
    known = fields if isinstance(fields, dict) else {}
    for name, said in field_docs(kind).items():
        field = known.get(name)
        if isinstance(field, dict):
            field["description"] = said


@functools.cache
def field_docs(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Read what stands under each field of a struct: the house's form of documentation."""
    made = _classes_in(kind.__module__).get(kind.__qualname__)
    found = {}
    for field, below in pairwise(made.body if made is not None else []):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            found[field.target.id] = " ".join(below.value.value.split())
    return found


@functools.cache
def _classes_in(module: str) -> dict[str, ast.ClassDef]:
    """Read the classes of a module, by qualified name; once, because to parse it takes long."""
    waiting = [("", one) for one in ast.parse(inspect.getsource(sys.modules[module])).body]
    found: dict[str, ast.ClassDef] = {}
    while waiting:
        within, one = waiting.pop()
        if isinstance(one, ast.ClassDef):
            found[within + one.name] = one
            waiting += [(f"{within}{one.name}.", inner) for inner in one.body]
    return found


def statuses() -> dict[int, list[str]]:
    """List the codes of each HTTP status."""
    found: dict[int, list[str]] = {}
    for code, status in STATUS.items():
        if code.value not in found.setdefault(status, []):
            found[status].append(code.value)
    return dict(sorted(found.items()))
