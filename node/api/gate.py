"""What every request passes, whatever it asks: the one place where it can be refused early.

In order: the host it names, its size, its caller, the caller's bucket, its address, who may use
that address, its content type, its body. Only then does a handler run. Whatever goes wrong on the
way or in the handler becomes the one shape of errors. Before an answer leaves, everything that
it could have shown is durable.
"""

import ipaddress
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Final

import msgspec
import trio
from starlette.datastructures import Headers, QueryParams
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from federation.core import OperatorId
from node.access.tokens import ANYBODY, Caller
from node.api.bans import banned
from node.api.calls import JSON, Call, Nothing, Reply, Route, Service, Spend, Who
from node.api.errors import error_of, explain
from node.api.intake import ClientGoneError, Intake
from node.api.limits import Buckets, bucket_of
from node.base.errors import NodeCode, NodeError
from node.telemetry import log

_SAFE: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)
"""Headers of every answer."""
_CALLER: Final = "folkmoot.caller"
_SPEND: Final = "folkmoot.spend"
_INTAKE: Final = "folkmoot.intake"
_LOOPBACK: Final = "localhost"
_LONGEST_QUERY: Final = 2_048


class Gate:
    """The outermost application; `inside` finds the route."""

    def __init__(self, service: Service, inside: ASGIApp, *, names: frozenset[str]) -> None:
        """Let requests in that name this host by address, as localhost, or by one of `names`."""
        self._service = service
        self._inside = inside
        self._names = names
        limits = service.limits
        self._by_token = Buckets(limits.by_token, most=limits.buckets)
        self._by_address = Buckets(limits.by_address, most=limits.buckets)
        self._deaf = Buckets(limits.deaf, most=limits.buckets)
        self._by_operator = Buckets(limits.by_operator, most=limits.buckets)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        assert scope["type"] == "http", "the server hands on requests"  # noqa: S101 # our own
        answer = _Sending(self._service, send)
        # Only what is announced can come: the HTTP parser ends a request without a body at once.
        has_body = _announces_body(Headers(scope=scope))
        scope["app"] = self
        async with trio.open_nursery() as nursery:
            scope[_INTAKE] = intake = Intake(receive, nursery)
            try:
                scope[_CALLER], scope[_SPEND] = self._admit(scope)
                await self._inside(scope, receive, answer)
            except ClientGoneError:
                pass
            except Exception as error:  # noqa: BLE001 # whatever it is, the node must live on
                if has_body:
                    await intake.linger(most_s=self._service.limits.linger_s)
                await self._refuse(scope, receive, answer, error)
            nursery.cancel_scope.cancel()

    async def _refuse(
        self, scope: Scope, receive: Receive, answer: "_Sending", error: Exception
    ) -> None:
        status, problem = explain(error)
        if problem.code == NodeCode.INTERNAL:
            # The type tells where to look; the text could hold anything, a secret included.
            log.warning("api.internal", method=scope["method"], error=type(error).__name__)
        if answer.started:
            # Half an answer is out: all that is left is to end it where everybody sees that.
            raise error
        headers = dict(getattr(error, "headers", None) or {})
        if problem.retry_at is not None:
            wait = max(problem.retry_at - self._service.node.clock.wall(), 0)
            headers["retry-after"] = str(-(-wait // 1_000))
        if status == HTTPStatus.UNAUTHORIZED:
            headers["www-authenticate"] = "Bearer"
        if self._service.bans.until(_remote_of(scope)[0], self._service.node.clock.now()):
            headers["connection"] = "close"
        await json_response(problem, status, headers)(scope, receive, answer)

    def _admit(self, scope: Scope) -> tuple[Caller, Spend]:
        """Check what can be checked before the address is looked up."""
        remote, _ = _remote_of(scope)
        now = self._service.node.clock.now()
        until = self._service.bans.until(remote, now)
        if until:
            # Its other connections are ended; this one has begun while that happened.
            raise banned(self._service.node.clock.wall() + until - now)
        headers = Headers(scope=scope)
        self._check_host(headers.getlist("host"))
        if len(scope["query_string"]) > _LONGEST_QUERY:
            raise error_of(
                NodeCode.BAD_REQUEST,
                "request refused",
                why=f"its query has more than {_LONGEST_QUERY} bytes",
            )
        return self._charge(scope, headers)

    def _check_host(self, said: list[str]) -> None:
        """Refuse a name that is not this instance's.

        A page elsewhere could let a name of its own point here, and a browser would then take
        this instance for that page's own origin. An address cannot be taken over like that.
        """
        name = _host_of(said[0]) if len(said) == 1 else None
        if name is None or not (name == _LOOPBACK or name in self._names or _is_address(name)):
            raise error_of(NodeCode.WRONG_HOST, "request refused")

    def _charge(self, scope: Scope, headers: Headers) -> tuple[Caller, Spend]:
        """Tell who calls, take the request from that caller's bucket, and give the bucket."""
        limits = self._service.limits
        remote, port = _remote_of(scope)
        presented = headers.getlist("authorization")
        if not presented:
            spend = partial(self._take_of_address, remote, port)
            spend(1)
            return ANYBODY, spend
        # Compared before anything is paid: who holds a token must get in although others behind the
        # same proxy have emptied their address's bucket. Guessing gains nothing by that: comparing
        # is one hash, a token is 256 random bits, and a wrong one pays dearly before its answer.
        kind, _, token = presented[0].partition(" ")
        caller = None
        if len(presented) == 1 and kind.lower() == "bearer":
            caller = self._service.tokens.caller(token.strip())
        if caller is None:
            self._take_of_address(remote, port, limits.bad_token)
            raise error_of(
                NodeCode.NO_TOKEN, "request refused", why="its token is none of this instance's"
            )
        spend = partial(self._take_of_token, caller)
        spend(1)
        return caller, spend

    def _take_of_address(self, remote: str, port: int, cost: int) -> None:
        """Take from the bucket of an address; who asks on although it is empty is banned."""
        address, now = bucket_of(remote), self._service.node.clock.now()
        try:
            self._take(self._by_address, address, cost)
        except NodeError:
            limits = self._service.limits
            if self._deaf.take(address, 1, now):
                until = self._service.bans.ban(remote, now, spare=port, seconds=limits.deaf_s)
                if until:
                    raise banned(self._service.node.clock.wall() + until - now) from None
            raise

    def _take_of_token(self, caller: Caller, cost: int) -> None:
        """Take from a token's bucket, and from that of each operator whose agents it acts for."""
        agents = self._service.node.world.state.agents
        known = (agents.get(name) for name in caller.acts)
        for operator in sorted({agent.operator for agent in known if agent is not None}):
            self.take_of_operator(operator, cost)
        self._take(self._by_token, caller.token or "", cost)

    def take_of_operator(self, operator: OperatorId, cost: int) -> None:
        """Take from the bucket of an operator; raises NodeError TOO_MANY_REQUESTS."""
        self._take(self._by_operator, operator.hex(), cost)

    def _take(self, buckets: Buckets, name: str, cost: int) -> None:
        wait = buckets.take(name, cost, self._service.node.clock.now())
        if wait:
            raise error_of(
                NodeCode.TOO_MANY_REQUESTS,
                "request refused",
                retry_at=self._service.node.clock.wall() + wait,
            )


class _Sending:
    """Sends an answer, whole and safe: nothing leaves before what it shows is durable."""

    def __init__(self, service: Service, send: Send) -> None:
        """Nothing is sent yet."""
        self._service = service
        self._send = send
        self._flushes = True
        self.started = False

    async def __call__(self, message: Message) -> None:
        """Send one part."""
        if message["type"] == "http.response.start":
            await self._flush()
            message = {**message, "headers": [*message.get("headers", ()), *_SAFE]}
            self.started = True
        await self._send(message)

    async def _flush(self) -> None:
        """Wait until all that the answer could show is durable; raises NodeError BUSY."""
        if not self._flushes:
            return
        with trio.move_on_after(self._service.limits.flush_s) as patience:
            await self._service.node.flushed()
        if patience.cancelled_caught:
            self._flushes = False
            raise error_of(NodeCode.BUSY, "no answer", why="the disk does not keep up")


class Endpoint:
    """One path of the table: its routes by method."""

    def __init__(self, service: Service, routes: Mapping[str, Route]) -> None:
        """Answer by these routes."""
        self._service = service
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request that the gate let in."""
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        route = self._routes[method]
        caller: Caller = scope[_CALLER]
        check_right(route, caller)
        headers = Headers(scope=scope)
        given = await route.handler(
            Call(
                service=self._service,
                caller=caller,
                spend=scope[_SPEND],
                path=scope["path_params"],
                query=_query_of(scope, route),
                headers=headers,
                body=await _body_of(self._service, route, scope),
                content_type=_content_type(headers),
                remote=_remote_of(scope),
                spend_of=scope["app"].take_of_operator,
            )
        )
        await _response(given)(scope, receive, send)


def check_right(route: Route, caller: Caller) -> None:
    """Raise NodeError NO_TOKEN or NOT_ALLOWED unless a caller may use a route at all.

    For which agent it may act is told by the request's body: see `Call.agent`.
    """
    if route.who is Who.ANYBODY or caller.operates:
        return
    if caller.token is None:
        raise error_of(NodeCode.NO_TOKEN, "request refused")
    if route.who is Who.OPERATOR or not caller.acts:
        lacks = "operator" if route.who is Who.OPERATOR else "act:<agent>"
        raise error_of(
            NodeCode.NOT_ALLOWED, "request refused", why=f"the token lacks the scope {lacks}"
        )


def json_response(
    content: msgspec.Struct, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with a struct as JSON that nobody may keep."""
    return Response(
        msgspec.json.encode(content),
        status_code=status,
        headers={"cache-control": "no-store", **(headers or {})},
        media_type=JSON,
    )


def _response(given: msgspec.Struct | Reply | Response) -> Response:
    match given:
        case Response():
            return given
        case Reply():
            return json_response(given.content, given.status)
        case _:
            return json_response(given)


async def _body_of(service: Service, route: Route, scope: Scope) -> bytes:
    headers = Headers(scope=scope)
    if route.takes is None:
        if _announces_body(headers):
            raise error_of(
                NodeCode.BAD_REQUEST, "request refused", why="this address takes no body"
            )
        return b""
    # A form of another site cannot send these types, and for a script to do so the browser
    # first asks for a permission that is never given.
    if _content_type(headers) not in route.types:
        raise error_of(
            NodeCode.WRONG_CONTENT_TYPE,
            "request refused",
            why=f"this address takes {' or '.join(route.types)}",
        )
    intake: Intake = scope[_INTAKE]
    if not _announces_body(headers):
        return b""
    return await intake.body(most=route.most or service.limits.body, within_s=service.limits.body_s)


def _query_of(scope: Scope, route: Route) -> dict[str, str]:
    """Read the query; one that a route does not take is refused, as is a field that stands twice."""
    found: dict[str, str] = {}
    for name, value in QueryParams(scope["query_string"]).multi_items():
        if name in found:
            raise error_of(
                NodeCode.BAD_FIELD, "query refused", why="one of its fields stands twice"
            )
        found[name] = value
    if found and route.query is Nothing:
        raise error_of(NodeCode.BAD_FIELD, "query refused", why="this address takes no query")
    return found


def _content_type(headers: Headers) -> str:
    said = headers.getlist("content-type")
    return said[0].partition(";")[0].strip().lower() if len(said) == 1 else ""


def _remote_of(scope: Scope) -> tuple[str, int]:
    address, port = scope.get("client") or ("", 0)
    return address, port or 0


def _announces_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0").strip() != "0"


def _host_of(said: str) -> str | None:
    """Give the name in a Host header, without its port; None if it is none."""
    name, colon, port = said.rpartition(":")
    if colon and port.isascii() and port.isdigit():
        said = name
    elif colon and not said.endswith("]"):
        return None
    return said.removeprefix("[").removesuffix("]").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
