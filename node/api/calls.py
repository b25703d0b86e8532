"""What a route is, and what it is called with.

The whole surface is one table of `Route` rows (`routes`): the application, the OpenAPI document,
the reference page and the attacks of the tests are made from it, so a new row is served, described
and attacked without further doing.
"""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias, TypeVar

import msgspec
import trio
from starlette.responses import Response

from federation.core import AgentId, OperatorId
from node.access.tokens import Caller, TokenFile
from node.api.bans import Bans
from node.api.errors import error_of
from node.api.limits import Limits
from node.api.turns import Turns
from node.base.errors import NodeCode
from node.commands import bad_field
from node.queries import names
from node.runtime import Node

T = TypeVar("T")

JSON: Final = "application/json"
MSGPACK: Final = "application/msgpack"
HTML: Final = "text/html"
EVENTS: Final = "text/event-stream"


Spend: TypeAlias = Callable[[int], None]
"""Takes more from the caller's bucket; raises NodeError TOO_MANY_REQUESTS."""


class Who(StrEnum):
    """Who may use a route."""

    ANYBODY = "anybody"
    AGENT = "agent"
    """A token that acts for the agent which the request names, or the operator's."""
    OPERATOR = "operator"


class Nothing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No query at all."""


@dataclass(slots=True, kw_only=True)
class Service:
    """What all requests share."""

    node: Node
    tokens: TokenFile
    limits: Limits
    bans: Bans
    turns: Turns
    stop: trio.Event
    """Set when the node stops: streams end at once."""
    streams: trio.CapacityLimiter


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request, admitted and read."""

    service: Service
    caller: Caller
    spend: Spend
    """Charges the caller for what this request costs beyond the usual."""
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    content_type: str
    remote: tuple[str, int]
    """Address and port that the request came from; empty where nobody can tell."""
    spend_of: Callable[[OperatorId, int], None]
    """Charges an operator, whoever calls; raises NodeError TOO_MANY_REQUESTS."""

    @property
    def node(self) -> Node:
        """The node that is asked."""
        return self.service.node

    def take(self, kind: type[T]) -> T:
        """Read a body of JSON; raises NodeError BAD_REQUEST or BAD_FIELD, with the path."""
        return read_json(self.body, kind)

    def ask(self, kind: type[T]) -> T:
        """Read the query; raises NodeError BAD_FIELD with the name of the field."""
        try:
            return msgspec.convert(dict(self.query), kind, strict=False)
        except msgspec.ValidationError as error:
            raise error_of(NodeCode.BAD_FIELD, "query refused", why=str(error)) from error

    def named(self, *things: names.Thing, part: str = "id") -> bytes:
        """Give the full id that the path names: in full, as a CID, or by its first digits.

        Raises RequestError BAD_REQUEST, NOT_FOUND or AMBIGUOUS.
        """
        return names.resolve(self.node.world, self.path[part], things=things).id

    def agent(self, said: str | None) -> AgentId:
        """Give the agent that a request acts for, if its token may.

        Where none is said, it is the only one that the token acts for. Raises NodeError
        NOT_ALLOWED, or what `resolve` raises.
        """
        if said is None:
            if self.caller.only_agent is None:
                raise bad_field("$.agent", "the token does not act for exactly one agent")
            return self.caller.only_agent
        agent = names.resolve(self.node.world, said, things=(names.Thing.AGENT,)).id
        if not self.caller.may_act_for(agent):
            raise error_of(
                NodeCode.NOT_ALLOWED,
                "request refused",
                why=f"the token lacks the scope act:{agent.hex()}",
            )
        return agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer with another status than 200."""

    status: int
    content: msgspec.Struct


Answer: TypeAlias = msgspec.Struct | Reply | Response
Handler: TypeAlias = Callable[[Call], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One row of the table."""

    method: str
    path: str
    summary: str
    """One line, for the reference."""
    handler: Handler
    gives: type[msgspec.Struct] | None
    """What a success holds; None for pages and streams."""
    who: Who = Who.ANYBODY
    query: type[msgspec.Struct] = Nothing
    takes: type[msgspec.Struct] | None = None
    """What a body of JSON holds; None where there is no body."""
    types: Collection[str] = (JSON,)
    """Content types that a body may have."""
    produces: str = JSON
    most: int | None = None
    """Bytes of a body; None for the general limit."""
    says: str = ""
    """More than fits on a line, for the reference."""

    @property
    def name(self) -> str:
        """Name the route as people write it."""
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters in the path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))


def read_json(raw: bytes, kind: type[T]) -> T:
    """Read JSON strictly; raises NodeError BAD_REQUEST or BAD_FIELD, with the path at fault."""
    try:
        found = msgspec.json.decode(raw, type=kind)
        # Of two fields of one name the decoder takes the last, other readers take the first.
        json.loads(raw, object_pairs_hook=_once)
    except msgspec.ValidationError as error:
        raise error_of(NodeCode.BAD_FIELD, "request refused", why=str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise error_of(
            NodeCode.BAD_REQUEST, "request refused", why="its body is not JSON in UTF-8"
        ) from error
    return found


def _once(pairs: list[tuple[str, object]]) -> None:
    """Refuse an object in which a field stands twice; what it holds was read already."""
    if len({name for name, _ in pairs}) < len(pairs):
        raise error_of(
            NodeCode.BAD_FIELD, "request refused", why="a field stands twice in its body"
        )
