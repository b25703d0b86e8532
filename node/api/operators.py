"""Routes about who answers for whom: operators, what instances admit, and why a record does not count.

Anybody may ask: all of it stands in the log of every member.
"""

from typing import Final

import msgspec

from node.api.calls import Call, Route
from node.api.ids import read_id
from node.api.limits import price_of_look
from node.api.schemas import Id, Most
from node.queries import names, operators
from node.queries.admissions import AdmissionsPage, admissions
from node.queries.answerable import ties
from node.queries.names import Thing
from node.queries.operators import OperatorList, OperatorPage
from node.queries.why_record import RecordWhy, why_record


class ListOperators(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which operators to list."""

    after: Id | None = None
    """Go on behind this operator: `next` of the page before."""
    most: Most = 50
    """Rows of a page."""


async def list_operators(call: Call) -> OperatorList:
    """List admitted operators."""
    asked = call.ask(ListOperators)
    world = call.node.world
    after = names.resolve(world, asked.after, things=(Thing.AGENT,)).id if asked.after else None
    _spend(call)
    return operators.listing(world, after=after, most=asked.most)


async def show_operator(call: Call) -> OperatorPage:
    """Show one operator."""
    world, name = call.node.world, call.named(Thing.AGENT)
    known = ties(world)
    vouches = sum(
        len(world.state.graph.vouchees(agent)) for agent in known.by_operator.get(name, [])
    )
    _spend(call, more=vouches + len(known.void_for.get(name, [])))
    return operators.one(world, name)


async def show_admissions(call: Call) -> AdmissionsPage:
    """Show whom an instance admits."""
    world, name = call.node.world, call.named(Thing.AGENT)
    _spend(call, more=len(ties(world).void_by.get(name, [])))
    return admissions(world, name)


async def explain_record(call: Call) -> RecordWhy:
    """Explain what becomes of a record."""
    return why_record(call.node.world, read_id("id", call.path["id"]))


def _spend(call: Call, *, more: int = 0) -> None:
    """Charge for a look at all agents, which the first after a cut takes, and at `more` rows."""
    call.spend(price_of_look(len(call.node.world.state.agents), more))


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/operators",
        summary="List operators",
        handler=list_operators,
        gives=OperatorList,
        query=ListOperators,
        says="Admitted ones, by tick of admission.",
    ),
    Route(
        method="GET",
        path="/v1/operators/{id}",
        summary="One operator: its agents, its instances, its quota, its vouches",
        handler=show_operator,
        gives=OperatorPage,
        says="Of one that no cut has admitted too; `says` says the page in sentences.",
    ),
    Route(
        method="GET",
        path="/v1/instances/{id}/admissions",
        summary="Whom an instance admits, and which of its admissions do not count",
        handler=show_admissions,
        gives=AdmissionsPage,
        says="The same on every member at the same cut, but for `waiting`.",
    ),
    Route(
        method="GET",
        path="/v1/records/{id}/why",
        summary="Why a record counts, waits, or does not count",
        handler=explain_record,
        gives=RecordWhy,
        says="The id is given in full, as hex or as a CID.",
    ),
)
"""Rows of the table of routes."""
