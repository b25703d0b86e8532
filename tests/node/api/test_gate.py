"""Every route refuses whoever may not use it, in the one shape; each kind of early refusal."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import trio

from node.access.tokens import act
from node.api.calls import Route, Who
from node.api.limits import Rate
from node.api.routes import ROUTES
from node.base.errors import NodeCode
from tests.node.api.living import QUICK, Background, background, living

OPEN = replace(
    QUICK,
    by_address=Rate(per_second=10**6, burst=10**6),
    by_token=Rate(per_second=10**6, burst=10**6),
)
SHAPE = {"code", "what", "why", "fix", "retry_at"}
CALLERS = ("nobody", "read", "alice", "bert", "operator", "wrong")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Background]:
    with background(tmp_path_factory.mktemp("gate"), limits=OPEN) as it:
        yield it


@pytest.fixture(scope="module")
def tokens(town: Background) -> dict[str, str | None]:
    alice, bert, *_ = town.it.agents
    return {
        "nobody": None,
        "read": town.it.token("read"),
        "alice": town.it.token(act(alice)),
        "bert": town.it.token(act(bert)),
        "operator": town.it.operator,
        "wrong": "fm_" + "A" * 43,
    }


def path_of(route: Route) -> str:
    name = bytes(32).hex()
    return route.path.replace("{id}", name).replace("{instance}", name).replace("{name}", "live.js")


def ask(
    town: Background, method: str, path: str, *, token: str | None = None, **more: object
) -> httpx.Response:
    headers = dict(more.pop("headers", {}))  # type: ignore[call-overload]
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    with httpx.Client(base_url=town.it.url, trust_env=False, timeout=10) as client:
        return client.request(method, path, headers=headers, **more)  # type: ignore[arg-type]


def problem(answer: httpx.Response) -> dict[str, object]:
    found = answer.json()
    assert set(found) == SHAPE, found
    assert found["what"]
    assert found["why"]
    assert found["fix"]
    assert answer.headers["content-type"] == "application/json"
    return dict(found)


def expected(route: Route, caller: str) -> str | None:
    """Give the code by which a caller is refused whatever the request says; None if not."""
    if caller == "wrong":
        return "NO_TOKEN"
    if route.who is Who.ANYBODY or caller == "operator":
        return None
    if caller == "nobody":
        return "NO_TOKEN"
    return "NOT_ALLOWED" if route.who is Who.OPERATOR or caller == "read" else None


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_only_who_has_the_right_comes_through(
    town: Background, tokens: dict[str, str | None], route: Route, caller: str
) -> None:
    body = {"json": {}} if route.takes else {}
    # HEAD of the stream of events ends; GET would not.
    method = "HEAD" if route.path == "/v1/events" else route.method
    answer = ask(town, method, path_of(route), token=tokens[caller], **body)
    code = expected(route, caller)

    if code is None:
        assert answer.status_code not in {401, 403}, answer.text
    else:
        assert answer.status_code == {"NO_TOKEN": 401, "NOT_ALLOWED": 403}[code]
        if method != "HEAD":
            assert problem(answer)["code"] == code
        assert (answer.headers.get("www-authenticate") == "Bearer") == (code == "NO_TOKEN")


ACTIONS = [route for route in ROUTES if route.who is Who.AGENT]


@pytest.mark.parametrize("route", ACTIONS, ids=lambda route: route.name)
def test_a_token_for_one_agent_does_not_act_for_another(
    town: Background, tokens: dict[str, str | None], route: Route
) -> None:
    bert = town.it.agents[1].hex()
    bodies: dict[str, dict[str, object]] = {
        "artifacts": {"title": "t", "topics": ["a"]},
        "object": {"reason": "unclear"},
        "argue": {"stance": "for", "note": "n"},
        "vouch": {"weight": 1, "reason": "r"},
        "unvouch": {"reason": "r"},
        "vote": {"choice": "for", "reason": "novel", "basis": "tool"},
        "dispute": {"ground": "inaccurate"},
        "report": {"category": "harmful", "note": "n"},
        "withdraw": {"reason": "r"},
        "revise": {"title": "t", "topics": ["a"]},
        "resubmit": {"evidence": ["ab" * 32]},
        "flag-stale": {"evidence": ["ab" * 32]},
        "assess": {"credible": True},
        "rule": {"ruling": "by_sign", "ground": "fair"},
        "contest": {"ground": "unheard"},
        "seal": {"stance": "for", "note": "n"},
        "appeal": {},
    }
    what = route.path.rpartition("/")[2]
    given: dict[str, dict[str, object]] = {
        "invites": {},
        "subscribe": {"topics": ["a"]},
        "ack": {"cursor": 1},
        "webhooks": {"url": "https://a.example"},
    }
    if what in given or what in {"notices", "stream", "dead", "retry", "{webhook}"}:
        # For whom it is, is named by the address.
        path, body = route.path.replace("{id}", bert), given.get(what, {})
    elif what == "material":
        path, body = f"{path_of(route)}?agent={bert}", {}
    else:
        path, body = path_of(route), bodies[what] | {"agent": bert}
    before = town.authored
    sent = {"json": body} if route.takes else {}
    answer = ask(town, route.method, path, token=tokens["alice"], **sent)

    assert answer.status_code == 403
    assert bert in str(problem(answer)["why"])
    assert town.authored == before


def test_a_token_for_two_agents_must_say_for_which(town: Background) -> None:
    alice, bert, *_ = town.it.agents
    answer = ask(
        town,
        "POST",
        "/v1/artifacts",
        token=town.it.token(act(alice), act(bert)),
        json={"title": "t", "topics": ["a"]},
    )

    assert answer.status_code == 422
    assert "$.agent" in str(problem(answer)["why"])


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_another_method_is_refused_and_the_right_ones_are_named(
    town: Background, route: Route
) -> None:
    answer = ask(town, "PATCH", path_of(route))

    assert answer.status_code == 405
    assert problem(answer)["code"] == "NO_SUCH_METHOD"
    assert route.method in answer.headers["allow"].split(", ")


@pytest.mark.parametrize("path", ["/nothing", "/v1", "/v1/", "/health/", "/static/..%2fapp.py"])
def test_an_unknown_address_is_refused_in_the_same_shape(town: Background, path: str) -> None:
    answer = ask(town, "GET", path)

    assert answer.status_code == 404
    assert problem(answer)["code"] == "NOT_FOUND"


TAKES_BODY = [route for route in ROUTES if route.takes is not None]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
@pytest.mark.parametrize("route", TAKES_BODY, ids=lambda route: route.name)
def test_what_a_form_of_a_browser_can_send_is_refused(
    town: Background, tokens: dict[str, str | None], route: Route, kind: str
) -> None:
    answer = ask(
        town,
        route.method,
        path_of(route),
        token=tokens["operator"],
        content=b"{}",
        headers={"content-type": kind},
    )

    assert answer.status_code == 415
    assert problem(answer)["code"] == "WRONG_CONTENT_TYPE"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"nul", b"\xff", b"[" * 12_000, b"{} {}", b'{"a":NaN}']
)
@pytest.mark.parametrize("route", TAKES_BODY, ids=lambda route: route.name)
def test_what_is_no_json_is_refused(
    town: Background, tokens: dict[str, str | None], route: Route, body: bytes
) -> None:
    answer = ask(
        town,
        route.method,
        path_of(route),
        token=tokens["operator"],
        content=body,
        headers={"content-type": "application/json; charset=utf-8"},
    )

    assert answer.status_code in {400, 422}
    assert problem(answer)["code"] in {"BAD_REQUEST", "BAD_FIELD"}


@pytest.mark.parametrize("route", TAKES_BODY, ids=lambda route: route.name)
def test_an_unknown_field_is_refused_by_name(
    town: Background, tokens: dict[str, str | None], route: Route
) -> None:
    answer = ask(
        town, route.method, path_of(route), token=tokens["operator"], json={"titel": "mistyped"}
    )

    assert answer.status_code == 422
    assert "titel" in str(problem(answer)["why"])


LOOKS = [route for route in ROUTES if route.takes is None and route.who is Who.ANYBODY]


@pytest.mark.parametrize("route", LOOKS, ids=lambda route: route.name)
def test_an_unknown_or_double_query_is_refused(town: Background, route: Route) -> None:
    for query in ("?nonsense=1", "?most=1&most=1"):
        answer = ask(town, route.method, path_of(route) + query)

        assert answer.status_code == 422
        assert problem(answer)["code"] == "BAD_FIELD"


def test_a_body_where_none_belongs_is_refused(
    town: Background, tokens: dict[str, str | None]
) -> None:
    path = f"/v1/admin/peers/{bytes(32).hex()}"

    assert ask(town, "GET", "/health", content=b"x").status_code == 400
    assert ask(town, "DELETE", path, token=tokens["operator"], content=b"x").status_code == 400


def test_a_long_query_is_refused(town: Background) -> None:
    assert ask(town, "GET", "/v1/artifacts?topic=" + "a" * 3_000).status_code == 400


@pytest.mark.parametrize(
    ("host", "let_in"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("LOCALHOST:80", True),
        ("[::1]:8420", True),
        ("192.0.2.7:8420", True),
        ("moot.example", False),
        ("localhost.evil.example", False),
        ("evil.example:8420", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
        ("localhost:x", False),
        ("a:b:c", False),
    ],
)
def test_only_names_of_this_host_are_answered(town: Background, host: str, let_in: bool) -> None:
    answer = ask(town, "GET", "/health", headers={"host": host})

    assert answer.status_code == (200 if let_in else 403)
    if not let_in:
        assert answer.json()["code"] == NodeCode.WRONG_HOST
        assert "http_names" in answer.json()["fix"]
    if not let_in and host:
        assert host not in answer.text


@pytest.mark.parametrize("value", ["Basic YTpi", "Bearer", "fm_x", "Bearer a b", ""])
def test_an_odd_authorization_is_refused(town: Background, value: str) -> None:
    answer = ask(town, "GET", "/health", headers={"authorization": value})

    assert answer.status_code == 401


def test_every_answer_carries_headers_that_keep_browsers_careful(town: Background) -> None:
    for path in ("/", "/health", "/nothing", "/static/style.css"):
        headers = ask(town, "GET", path).headers

        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


@pytest.mark.trio
async def test_a_host_name_can_be_allowed(tmp_path: Path) -> None:
    with trio.fail_after(15):
        async with living(tmp_path, names=frozenset({"moot.example"})) as it, it.client() as client:
            answer = await client.get("/health", headers={"host": "moot.example:8420"})

    assert answer.status_code == 200


@pytest.mark.trio
async def test_a_caller_over_its_rate_is_told_when_to_come_back(tmp_path: Path) -> None:
    limits = replace(
        QUICK,
        by_address=Rate(per_second=1, burst=3),
        by_token=Rate(per_second=1, burst=5),
        bad_token=2,
    )
    with trio.fail_after(15):
        async with living(tmp_path, limits=limits) as it:
            async with it.client() as client, it.client(it.token("read")) as known:
                answers = [await client.get("/health") for _ in range(4)]
                with_token = [(await known.get("/health")).status_code for _ in range(6)]
            wall = it.node.clock.wall()

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert with_token == [200] * 5 + [429]
    assert answers[3].json()["code"] == NodeCode.TOO_MANY_REQUESTS
    assert wall - 2_000 < answers[3].json()["retry_at"] <= wall + 1_000
    assert answers[3].headers["retry-after"] in {"0", "1"}


@pytest.mark.trio
async def test_a_token_is_good_although_others_have_emptied_its_address_s_bucket(
    tmp_path: Path,
) -> None:
    limits = replace(QUICK, by_address=Rate(per_second=1, burst=5), bad_token=2)
    with trio.fail_after(15):
        async with living(tmp_path, limits=limits) as it:
            async with it.client("fm_wrong") as guesser:
                guessed = [(await guesser.get("/health")).status_code for _ in range(4)]
            async with it.client(it.token("read")) as known:
                answer = await known.get("/health")

    assert guessed[-1] == 429
    assert answer.status_code == 200


@pytest.mark.trio
async def test_guessing_tokens_costs_more_than_asking(tmp_path: Path) -> None:
    limits = replace(QUICK, by_address=Rate(per_second=1, burst=5), bad_token=2)
    with trio.fail_after(15):
        async with living(tmp_path, limits=limits) as it, it.client("fm_wrong") as client:
            found = [(await client.get("/health")).status_code for _ in range(3)]

    assert found == [401, 401, 429]


@pytest.mark.trio
async def test_an_unforeseen_error_is_answered_and_told_by_its_type_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client:
            monkeypatch.setattr(it.node, "health", lambda: 1 / 0)
            broken = await client.get("/health")
            alive = await client.get("/v1/realm")

    assert (broken.status_code, broken.json()["code"]) == (500, "INTERNAL")
    assert alive.status_code == 200
    assert "ZeroDivisionError" in caplog.text
    assert "division" not in caplog.text + broken.text


@pytest.mark.trio
async def test_an_answer_waits_until_what_it_shows_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    durable = trio.Event()
    answered = []

    async def ask_it(client: httpx.AsyncClient) -> None:
        answered.append(await client.get("/v1/realm"))

    with trio.fail_after(15):
        async with living(tmp_path) as it, it.client() as client, trio.open_nursery() as nursery:
            monkeypatch.setattr(it.node, "flushed", durable.wait)
            nursery.start_soon(ask_it, client)
            await trio.sleep(0.2)
            waited = not answered
            durable.set()

    assert waited
    assert answered[0].status_code == 200


@pytest.mark.trio
async def test_a_disk_that_does_not_keep_up_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with trio.fail_after(15):
        async with living(tmp_path, limits=replace(QUICK, flush_s=0.05)) as it, it.client() as c:
            monkeypatch.setattr(it.node, "flushed", trio.sleep_forever)
            answer = await c.get("/v1/realm")
            monkeypatch.undo()

    assert (answer.status_code, answer.json()["code"]) == (503, "BUSY")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"address":"x","address":"x"}', 422),
        (b'{"address":"x","\\u0061ddress":"x"}', 422),
    ],
)
def test_a_field_that_stands_twice_is_refused(
    town: Background, tokens: dict[str, str], body: bytes, status: int
) -> None:
    answer = ask(
        town,
        "POST",
        "/v1/admin/peers",
        token=tokens["operator"],
        content=body,
        headers={"content-type": "application/json"},
    )

    assert (answer.status_code, answer.json()["code"]) == (status, "BAD_FIELD")
    assert "twice" in answer.json()["why"]
