"""False proofs have their address banned, every attempt costs, and honest newcomers get through."""

import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
import trio

from federation.admission import Work
from federation.records import Kind, Role
from node.access.tokens import act
from node.api.limits import Limits, Rate
from tests.node.api.living import until
from tests.node.api.newcomers import body_of, newcomer, without_gate, without_work
from tests.node.api.registering import LIMITS, Town, answers_for, code_of, town

STRICT = replace(LIMITS, spares_loopback=False, idle_s=30.0)


async def say(here: Town, address: str, body: dict[str, object] | None = None) -> dict[str, object]:
    """Post a registration from an address, or ask for the health; on a plain socket.

    Gives what came back with the status and the head; an empty answer if the line was cut.
    """
    asked = request_of(body) if body else b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"
    came = b""
    try:
        line = await trio.open_tcp_stream("127.0.0.1", here.it.port, local_address=address)
        async with line:
            with contextlib.suppress(trio.BrokenResourceError):
                await line.send_all(asked)
            while not _is_whole(came) and (part := await line.receive_some()):
                came += part
    except (OSError, trio.BrokenResourceError):
        pass
    first, _, rest = came.partition(b"\r\n\r\n")
    if not rest:
        return {}
    return {"status": int(first.split()[1]), "head": first.decode(), **json.loads(rest)}


def request_of(body: dict[str, object]) -> bytes:
    """Write a registration as it travels."""
    raw = json.dumps(body).encode()
    told = (
        b"POST /v1/registration HTTP/1.1",
        b"host: localhost",
        b"content-type: application/json",
        b"content-length: %d" % len(raw),
    )
    return b"\r\n".join((*told, b"", raw))


def _is_whole(came: bytes) -> bool:
    first, end, rest = came.partition(b"\r\n\r\n")
    size = first.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
    return bool(end) and len(rest) >= int(size)


async def line_from(here: Town, address: str) -> trio.SocketStream:
    """Open a connection from an address, and have one request answered on it."""
    line = await trio.open_tcp_stream("127.0.0.1", here.it.port, local_address=address)
    await line.send_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
    while not (await line.receive_some()).endswith(b"}"):
        pass
    return line


@pytest.mark.trio
@pytest.mark.parametrize("spoil", [without_gate, without_work])
async def test_a_false_proof_has_its_address_banned_and_nobody_else(
    tmp_path: Path, spoil: Callable[[Work], Work]
) -> None:
    async with town(tmp_path, limits=STRICT) as here:
        agent, word = here.agent()
        good = await here.work(agent)
        idle, other = await line_from(here, "127.0.0.2"), await line_from(here, "127.0.0.3")
        told = await say(here, "127.0.0.2", body_of(agent, spoil(good), word))
        later = await say(here, "127.0.0.2", body_of(agent, good, word))
        with trio.fail_after(3):
            assert await idle.receive_some() == b""
        await other.send_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b" 200 " in await other.receive_some()
        honest = await here.post(agent, good, word)
        await other.aclose()
        await idle.aclose()

    assert str(told["code"]).startswith("PROOF_")
    assert "connection: close" in str(told["head"]).lower()
    assert (later["status"], later["code"]) == (403, "BANNED")
    assert int(str(later["retry_at"])) > here.it.node.clock.wall() + 500_000
    assert honest.status_code == 201


@pytest.mark.trio
async def test_what_stands_behind_a_false_proof_on_the_same_line_is_not_heard(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, limits=STRICT) as here:
        agent, word = here.agent()
        good = await here.work(agent)
        asked = [request_of(body_of(agent, one, word)) for one in (without_gate(good), good)]
        before = len(here.it.node.world.log)
        line = await trio.open_tcp_stream("127.0.0.1", here.it.port, local_address="127.0.0.2")
        async with line:
            await line.send_all(b"".join(asked))
            came = b""
            with contextlib.suppress(trio.BrokenResourceError):
                while part := await line.receive_some():
                    came += part

        assert len(here.it.node.world.log) == before
    assert came.count(b"HTTP/1.1 ") == 1
    assert b"PROOF_GATE" in came


@pytest.mark.trio
async def test_who_hangs_up_again_and_again_from_many_addresses_is_admitted_once(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, limits=STRICT) as here:
        agent, word = here.agent()
        asked = request_of(body_of(agent, await here.work(agent), word))
        for number in range(2, 22):
            line = await trio.open_tcp_stream(
                "127.0.0.1", here.it.port, local_address=f"127.0.0.{number}"
            )
            await line.send_all(asked)
            await line.aclose()
        log = here.it.node.world.log
        await until(
            lambda: any(one.body.agent == agent.id for one in log.by_kind(Kind.AGENT_ADMIT))
        )
        last = await say(here, "127.0.0.30", body_of(agent, None, word))
        named = [one.body.agent for one in log.by_kind(Kind.AGENT_ADMIT)]

        assert not log.forks()
    assert named.count(agent.id) == 1
    assert last["status"] == 201


@pytest.mark.trio
async def test_a_ban_ends(tmp_path: Path) -> None:
    async with town(tmp_path, limits=replace(STRICT, ban_s=0.5)) as here:
        agent, word = here.agent()
        good = await here.work(agent)
        await say(here, "127.0.0.2", body_of(agent, without_gate(good), word))
        banned = await say(here, "127.0.0.2")
        await trio.sleep(0.6)
        answer = await say(here, "127.0.0.2", body_of(agent, good, word))

    assert banned["status"] == 403
    assert answer["status"] == 201


@pytest.mark.trio
async def test_loopback_is_not_banned_where_a_proxy_may_speak_for_many(tmp_path: Path) -> None:
    async with town(tmp_path, limits=LIMITS) as here:
        agent, word = here.agent()
        good = await here.work(agent)
        await here.post(agent, without_gate(good), word)

        assert (await here.post(agent, good, word)).status_code == 201


@pytest.mark.trio
async def test_of_many_false_proofs_of_an_address_at_once_only_the_first_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[str] = []
    verified: list[bytes] = []
    async with town(tmp_path, limits=STRICT, gate_bits=1) as here:
        agent, word = here.agent()
        good = await here.work(agent)
        false = [without_work(replace_first(good, number)) for number in range(6)]
        verify = here.it.node.proofs.verify

        async def slowly(raw: bytes) -> bool:
            verified.append(raw)
            # Time enough for all of them to be at the door.
            await trio.sleep(0.5)
            return await verify(raw)

        monkeypatch.setattr(here.it.node.proofs, "verify", slowly)

        async def lie(work: Work) -> None:
            told = await say(here, "127.0.0.2", body_of(agent, work, word))
            codes.append(str(told.get("code", "cut off")))

        async with trio.open_nursery() as nursery:
            for work in false:
                nursery.start_soon(lie, work)

    assert codes.count("PROOF_WORK") == 1
    assert set(codes) <= {"PROOF_WORK", "BANNED", "cut off"}
    assert len(verified) == 1


def replace_first(work: Work, number: int) -> Work:
    """Give a proof another last solution, so that no two are the same."""
    return msgspec.structs.replace(
        work, solutions=(*work.solutions[:-1], number.to_bytes(8, "big"))
    )


@pytest.mark.trio
async def test_every_attempt_costs_its_address(tmp_path: Path) -> None:
    slow = Rate(per_second=1, burst=100)
    async with town(tmp_path, limits=replace(LIMITS, by_address=slow)) as here:
        answers = [
            await here.client.post("/v1/registration", json={"role": "agent"}) for _ in range(7)
        ]

    assert [code_of(one) for one in answers] == ["BAD_FIELD"] * 5 + ["TOO_MANY_REQUESTS"] * 2
    assert answers[-1].json()["retry_at"]


@pytest.mark.trio
async def test_an_operator_pays_for_the_agents_that_register_by_its_word_and_for_no_other(
    tmp_path: Path,
) -> None:
    slow = Rate(per_second=1, burst=45)
    async with town(tmp_path, limits=replace(LIMITS, by_operator=slow)) as here:
        agent, word = here.agent()
        good = await here.work(agent)
        # What a stranger sends in its name costs it nothing.
        for _ in range(4):
            await here.post(agent, without_gate(good), word)
        made = [await here.post(agent, good, word)]
        again = await here.post(agent, good, word)
        made += [(await here.register_agent(f"robin {number}"))[1] for number in range(2)]
        operator = await here.register(newcomer(here.realm, Role.OPERATOR))

    assert [one.status_code for one in made] == [201, 201, 429]
    assert code_of(made[-1]) == "TOO_MANY_REQUESTS"
    assert again.status_code == operator.status_code == 201


@pytest.mark.trio
async def test_tokens_of_one_operator_share_a_bucket(tmp_path: Path) -> None:
    slow = Rate(per_second=1, burst=10)
    async with town(tmp_path, limits=replace(LIMITS, by_operator=slow)) as here:
        tokens = [here.it.token(act(agent)) for agent in here.it.agents]
        codes = []
        # None of them alone asks for more than the bucket holds.
        for _ in range(8):
            for token in tokens:
                async with here.it.client(token) as client:
                    codes.append((await client.get("/health")).status_code)
        reads = [await here.client.get("/health") for _ in range(20)]
        async with here.it.client(here.it.token("read")) as client:
            reads += [await client.get("/health") for _ in range(20)]

    assert codes[:10] == [200] * 10
    assert 429 in codes
    assert {one.status_code for one in reads} == {200}


@pytest.mark.trio
async def test_an_honest_registration_finishes_under_a_flood_of_false_ones(
    tmp_path: Path,
) -> None:
    usual = Limits()
    limits = replace(
        STRICT, by_address=usual.by_address, by_operator=usual.by_operator, connections=64
    )
    async with town(tmp_path, limits=limits, epoch=4_000) as here:
        world = here.it.node.world
        agent, word = here.agent()
        good = await here.work(agent)
        bodies: list[dict[str, object]] = [
            body_of(agent, without_gate(good), word),
            body_of(agent, without_work(good), word),
            {"role": "agent", "records": ["?"]},
        ]
        tried = 0

        async def flood(address: str) -> None:
            nonlocal tried
            while True:
                for body in bodies:
                    await say(here, address, body)
                    tried += 1

        async with trio.open_nursery() as nursery:
            for number in range(12):
                nursery.start_soon(flood, f"127.0.1.{number}")
            operator = newcomer(here.realm, Role.OPERATOR, "owner")
            first = await here.register(operator)
            await until(lambda: operator.id in world.state.operators)
            robin = newcomer(here.realm, Role.AGENT, "robin")
            second = await here.register(robin, answers_for(operator, robin))
            await until(lambda: robin.id in world.state.agents)
            nursery.cancel_scope.cancel()

    assert first.status_code == second.status_code == 201
    assert tried > 100


@pytest.mark.trio
async def test_who_goes_on_when_told_to_wait_is_not_heard_for_a_while(tmp_path: Path) -> None:
    slow = Rate(per_second=1, burst=2)
    limits = replace(STRICT, by_address=slow, deaf=Rate(per_second=1, burst=3), deaf_s=600.0)
    codes: list[object] = []
    async with town(tmp_path, limits=limits) as here:
        while codes[-1:] != ["BANNED"]:
            told = await say(here, "127.0.0.2")
            codes.append(told.get("code", told["status"]))
        again = await say(here, "127.0.0.2")
        other = await say(here, "127.0.0.3")

    assert codes[:2] == [200, 200]
    assert codes.count("TOO_MANY_REQUESTS") >= 3
    assert again["code"] == "BANNED"
    assert other["status"] == 200
