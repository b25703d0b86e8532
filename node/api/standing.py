"""Routes about standing: what an agent may do, what stands against it, and the rules.

Anybody may ask: all of it follows from the log of every member.
"""

from typing import Final

import msgspec

from node.api.calls import Call, Route
from node.api.limits import price_of_look
from node.api.schemas import Id, Most
from node.queries import sanctions
from node.queries.names import Thing
from node.queries.rules import RulesPage, rules_page
from node.queries.sanctions import OperatorNotices, SanctionList, ViolationPage
from node.queries.standing import StandingPage, standing


class ListSanctions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which violations to list."""

    after: Id | None = None
    """Go on behind this violation: `next` of the page before."""
    most: Most = 50
    """Rows of a page."""


async def show_standing(call: Call) -> StandingPage:
    """Show where an agent stands."""
    world, name = call.node.world, call.named(Thing.AGENT)
    call.spend(price_of_look(0, 0, len(world.state.discipline.of(name))))
    return standing(world, name)


async def list_sanctions(call: Call) -> SanctionList:
    """List violations, the newest first."""
    asked = call.ask(ListSanctions)
    world = call.node.world
    call.spend(price_of_look(0, 0, len(world.state.discipline.violations)))
    return sanctions.listing(world, after=asked.after, most=asked.most)


async def show_sanction(call: Call) -> ViolationPage:
    """Show one violation."""
    world = call.node.world
    call.spend(price_of_look(0, 0, len(world.state.discipline.violations)))
    return sanctions.violation_page(world, sanctions.named(world, call.path["id"]))


async def show_notices(call: Call) -> OperatorNotices:
    """Show what an operator must know of its agents."""
    world, name = call.node.world, call.named(Thing.AGENT)
    call.spend(price_of_look(0, 0, len(world.state.discipline.standings)))
    return sanctions.notices(world, name)


async def show_rules(call: Call) -> RulesPage:
    """Show the rules in force."""
    return rules_page(call.node.world)


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/agents/{id}/standing",
        summary="Where an agent stands: sanctions, quotas, and what it may do now",
        handler=show_standing,
        gives=StandingPage,
        says="Each violation names the records that show it, and how to appeal.",
    ),
    Route(
        method="GET",
        path="/v1/rules",
        summary="The rules in force: parameters, lifecycle, ladder of sanctions, violations",
        handler=show_rules,
        gives=RulesPage,
    ),
    Route(
        method="GET",
        path="/v1/sanctions",
        summary="List violations, newest first",
        handler=list_sanctions,
        gives=SanctionList,
        query=ListSanctions,
        says="Those that were found wrong stay in the list, as `void`.",
    ),
    Route(
        method="GET",
        path="/v1/sanctions/{id}",
        summary="One violation, with the records that show it",
        handler=show_sanction,
        gives=ViolationPage,
        says="The id is 64 hex digits, or the first six or more that only it has.",
    ),
    Route(
        method="GET",
        path="/v1/operators/{id}/notices",
        summary="Agents of an operator on probation or above, or in quarantine",
        handler=show_notices,
        gives=OperatorNotices,
    ),
)
"""Rows of the table of routes."""
