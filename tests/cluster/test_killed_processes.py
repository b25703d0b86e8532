"""Three processes, killed with SIGKILL: no fork, nothing acknowledged lost, nothing seen early.

Slow: each process takes a second to start, and kills need some time to fall into every moment.
"""

import random
from pathlib import Path
from typing import cast

import httpx
import pytest
import trio

from federation.codec import encode
from federation.crypto import plain_hash
from federation.records import Kind, Reveal
from node.demo.instance import Instance
from node.demo.stores import common_digests, read_stores
from tests.cluster.crawl import crawl
from tests.cluster.needles import Needles, Secret, files_of
from tests.cluster.processes import is_ready, look, processes, until_all
from tests.cluster.test_concealment import PROPOSAL, traces
from tests.node.runtime.realm import Realm

KILLS = 12


async def post(one: Instance, path: str, body: object) -> dict[str, object]:
    answer = await one.post(path, body)
    assert answer.status_code == 201, answer.text
    one.acknowledged.add(answer.json()["id"])
    return cast("dict[str, object]", answer.json())


def voters_of(realm: Realm) -> list[tuple[int, bytes]]:
    author = realm.agents_of(0)[0]
    return [
        (place, agent) for place in range(3) for agent in realm.agents_of(place) if agent != author
    ]


async def vote(one: Instance, name: str, agent: bytes) -> None:
    body = {
        "agent": agent.hex(),
        "choice": "for",
        "reason": "accurate",
        "basis": "derivation",
        "evidence": [plain_hash(b"evidence of " + agent).hex()],
    }
    await post(one, f"/v1/rounds/{name}/vote", body)


def frozen(root: Path) -> dict[str, bytes]:
    """Read everything that stands on the disk of all instances, logs of the processes included."""
    return files_of(root)


@pytest.mark.slow
@pytest.mark.trio
async def test_no_vote_can_be_seen_while_processes_are_killed_and_come_back(tmp_path: Path) -> None:
    with trio.fail_after(200):
        async with processes(tmp_path) as (realm, running):
            author = realm.agents_of(0)[0]
            made = await post(running[0], "/v1/artifacts", {"agent": author.hex(), **PROPOSAL})
            await until_all(running, "/v1/rounds", lambda found: found.get("rounds"))
            rounds = cast("list[dict[str, str]]", (await look(running[0], "/v1/rounds"))["rounds"])
            name = rounds[0]["id"]
            await until_all(running, f"/v1/rounds/{name}", lambda f: f.get("phase") == "commit")
            *early, last = voters_of(realm)
            for place, agent in early:
                await vote(running[place], name, agent)
            await until_all(
                running, f"/v1/rounds/{name}", lambda f: count(f, "commitments") == len(early)
            )
            # The last one dialled the others, so it finds them again wherever it listens.
            running[2].kill()
            hay = frozen(tmp_path)
            await running[2].start()
            await is_ready(running[2])
            await until_all(
                running, f"/v1/rounds/{name}", lambda f: count(f, "commitments") == len(early)
            )
            assert {(await look(one, f"/v1/rounds/{name}"))["phase"] for one in running} == {
                "commit"
            }
            hay |= {f"later {path}": raw for path, raw in frozen(tmp_path).items()}
            ids = [bytes.fromhex(name), bytes.fromhex(str(made["id"])), author]
            for place, one in enumerate(running):
                async with httpx.AsyncClient(base_url=one.url, headers=one.headers) as client:
                    answers = await crawl(client, ids)
                hay |= {f"http {place} {path}": raw for path, raw in answers.items()}

            await vote(running[last[0]], name, last[1])
            await until_all(
                running, f"/v1/artifacts/{made['id']}", lambda found: found.get("verdict")
            )
        left = await read_stores(realm.places)
        found = frozen(tmp_path)

    opened = [
        record
        for record in left[0].world.log.by_round(bytes.fromhex(name))[Kind.REVEAL]
        if isinstance(record.body, Reveal)
    ]
    secrets = [
        secret
        for record in opened
        if isinstance(record.body, Reveal)
        for secret in (
            Secret(name="nonce", owner=record.author, raw=record.body.nonce),
            Secret(name="ballot", owner=record.author, raw=encode(record.body.ballot)),
            Secret(name="evidence", owner=record.author, raw=record.body.ballot.evidence[0]),
        )
    ]
    needles = Needles(secrets)
    assert {record.author for record in opened} == {agent for _, agent in voters_of(realm)}
    assert traces(needles, hay) == []
    for place in realm.places:
        store = {"all": b"".join(raw for path, raw in found.items() if str(place.root) in path)}
        assert {secret for secret, _ in needles.found_in(store)} == set(secrets)


def count(found: dict[str, object], what: str) -> int:
    return cast("dict[str, int]", found.get("counts") or {}).get(what, -1)


async def proposes(one: Instance, agents: tuple[bytes, ...]) -> None:
    """Let agents propose as fast as they may, through every death of their instance."""

    async def by(agent: bytes) -> None:
        number = 0
        while True:
            number += 1
            body = {"agent": agent.hex(), **PROPOSAL, "title": f"{agent.hex()[:6]} says {number}"}
            try:
                answer = await one.post("/v1/artifacts", body)
            except httpx.HTTPError:
                await trio.sleep(0.05)
                continue
            if answer.status_code == 201:
                one.acknowledged.add(answer.json()["id"])
            else:
                await trio.sleep(0.1)

    async with trio.open_nursery() as nursery:
        for agent in agents:
            nursery.start_soon(by, agent)


# A server that is killed in the middle of an answer leaves the client's reader half read.
@pytest.mark.filterwarnings(
    r"ignore:Exception ignored in. <async_generator object \w*ByteStream:"
    "pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.slow
@pytest.mark.trio
async def test_a_process_that_is_killed_at_any_moment_forks_nobody(tmp_path: Path) -> None:
    moments = random.Random(4)
    with trio.fail_after(300):
        async with processes(tmp_path) as (realm, running):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(proposes, running[2], realm.agents_of(2))
                for _ in range(KILLS):
                    await trio.sleep(moments.uniform(0.2, 1.5))
                    running[2].kill()
                    await running[2].start()
                nursery.cancel_scope.cancel()
            await is_ready(running[2])
            await all_hold(running, running[2].acknowledged)
            assert [await grudges(one) for one in running] == [[], [], []]
        left = await read_stores(realm.places)

    assert running[2].acknowledged
    for place, one in enumerate(left):
        log = one.world.log
        assert not [author for author in log.authors() if len(log.heads_of(author)) != 1]
        lost = {bytes.fromhex(name) for name in running[2].acknowledged} - one.records
        assert len(lost) == 0, f"instance {place} lacks {len(lost)} records"
    assert len(set(common_digests(left))) == 1


async def grudges(one: Instance) -> list[object]:
    """Give what an instance holds against its peers, who did nothing wrong."""
    peers = cast("list[dict[str, object]]", (await look(one, "/v1/peers"))["peers"])
    return [reason for peer in peers for reason in cast("list[object]", peer["why"])]


async def all_hold(running: list[Instance], names: set[str]) -> None:
    """Wait until every instance shows every one of these records."""
    with trio.move_on_after(60):
        for one in running:
            for name in sorted(names):
                while not await look(one, f"/v1/records/{name}"):  # noqa: ASYNC110 # as elsewhere
                    await trio.sleep(1)
