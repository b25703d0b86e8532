"""The route by which a panel reads what it judges, though it is hidden from everybody else."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from node.api.calls import Call, Route, Who
from node.queries import material as queries
from node.queries.names import Thing


class AskMaterial(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For whom the text is read."""

    agent: Annotated[str, Meta(min_length=6, max_length=64)] | None = None
    """Who has to judge; may be left out if the token acts for one agent only."""


async def show_material(call: Call) -> queries.Material:
    """Show what an agent has to judge in a round."""
    agent = call.agent(call.ask(AskMaterial).agent)
    return queries.material(call.node.world, call.named(Thing.ROUND), agent)


ROUTES: Final = (
    Route(
        method="GET",
        path="/v1/rounds/{id}/material",
        summary="What an agent has to judge in a running round, hidden or not",
        handler=show_material,
        gives=queries.Material,
        query=AskMaterial,
        who=Who.AGENT,
        says="For reviewers of the round, drawn arbiters, moderators of a report, and the two sides, as "
        "long as the round runs.",
    ),
)
"""Rows of the table of routes."""
