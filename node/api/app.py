"""The application: the table of routes behind the gate."""

from collections.abc import Sequence

import trio
from starlette.routing import Route as Address
from starlette.routing import Router
from starlette.types import ASGIApp

from node.access.tokens import TokenFile
from node.api.bans import Bans
from node.api.calls import Route, Service
from node.api.gate import Endpoint, Gate
from node.api.limits import Limits
from node.api.routes import ROUTES
from node.api.turns import Turns
from node.runtime import Node


def build(
    node: Node,
    *,
    limits: Limits,
    stop: trio.Event,
    bans: Bans,
    names: frozenset[str] = frozenset(),
) -> ASGIApp:
    """Make the application of a node; `names` are host names that clients may call it by.

    It tells `bans` of addresses that are not to be heard; to turn them away is the server's part.
    """
    service = Service(
        node=node,
        tokens=TokenFile(node.data),
        limits=limits,
        bans=bans,
        turns=Turns(limits),
        stop=stop,
        streams=trio.CapacityLimiter(limits.streams),
    )
    # No answer to a slash too many: it would repeat what the client calls this host.
    router = Router(addresses(service, ROUTES), redirect_slashes=False)
    return Gate(service, router, names=names)


def addresses(service: Service, routes: Sequence[Route]) -> list[Address]:
    """Give one address of the router for each path, with all its methods."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in routes:
        by_path.setdefault(route.path, {})[route.method] = route
    return [
        Address(path, Endpoint(service, rows), methods=list(rows)) for path, rows in by_path.items()
    ]
