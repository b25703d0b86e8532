"""The OpenAPI document is the table of routes, and the copy in the documentation is the document."""

from pathlib import Path

import msgspec
import pytest
import trio

from node.api.calls import Nothing, Route, Who
from node.api.errors import STATUS
from node.api.openapi import _document, document, documented, field_docs, operation_id, statuses
from node.api.reference import page, write
from node.api.routes import ROUTES

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
MADE = msgspec.json.decode(document(ROUTES))


def test_every_route_stands_in_the_document_and_nothing_else() -> None:
    described = {
        f"{method.upper()} {path}" for path, methods in MADE["paths"].items() for method in methods
    }

    assert described == {route.name for route in ROUTES}
    assert MADE["openapi"].startswith("3.1")


def test_every_operation_has_a_name_of_its_own() -> None:
    assert len({operation_id(route) for route in ROUTES}) == len(ROUTES)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_an_operation_says_what_it_takes_gives_and_needs(route: Route) -> None:
    made = MADE["paths"][route.path][route.method.lower()]

    assert made["summary"] == route.summary
    assert ("requestBody" in made) == (route.takes is not None)
    assert ("security" in made) == (route.who is not Who.ANYBODY)
    assert {one["name"] for one in made["parameters"] if one["in"] == "path"} == set(
        route.parameters
    )
    fields = (
        [] if route.query is Nothing else [one.name for one in msgspec.structs.fields(route.query)]
    )
    assert [one["name"] for one in made["parameters"] if one["in"] == "query"] == fields
    assert "default" in made["responses"]


def test_every_reference_inside_the_document_leads_somewhere() -> None:
    def references(value: object) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return own + [one for inner in value.values() for one in references(inner)]
        if isinstance(value, list):
            return [one for inner in value for one in references(inner)]
        return []

    found = set(references(MADE))

    assert found
    assert found <= {f"#/components/schemas/{name}" for name in MADE["components"]["schemas"]}


STRUCTS = sorted(
    {kind for route in ROUTES for kind in (route.takes, route.gives, route.query)}
    - {None, Nothing},
    key=lambda kind: kind.__name__,
)


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
def test_every_field_is_described(kind: type[msgspec.Struct]) -> None:
    assert {one.name for one in msgspec.structs.fields(kind)} == set(field_docs(kind))


def test_statuses_list_every_code() -> None:
    assert {code for codes in statuses().values() for code in codes} == {c.value for c in STATUS}


def test_the_copy_in_the_documentation_is_the_document() -> None:
    """Write it anew with `python -m node.api.reference`."""
    assert (REFERENCE / "openapi.json").read_bytes() == document(ROUTES)


def test_the_reference_page_is_made_from_the_table() -> None:
    """Write it anew with `python -m node.api.reference`."""
    assert (REFERENCE / "http-api.md").read_text(encoding="utf-8") == page()


def test_both_are_written_anew_by_one_command(tmp_path: Path) -> None:
    write(tmp_path)

    assert (tmp_path / "http-api.md").read_text(encoding="utf-8") == page()
    assert (tmp_path / "openapi.json").read_bytes() == document(ROUTES)


@pytest.mark.trio
async def test_other_work_goes_on_while_the_document_is_made_once() -> None:
    _document.cache_clear()
    field_docs.cache_clear()
    turns = 0
    made: list[bytes] = []

    async def ask() -> None:
        made.append(await documented(ROUTES))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(ask)
        while not made:
            turns += 1
            await trio.sleep(0.01)

    assert turns > 2, "made in the loop it would let nothing else have a turn"
    assert made == [document(ROUTES)] * 5
    assert _document.cache_info().misses == 1
