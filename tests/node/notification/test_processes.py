"""Real processes that are killed: what they told goes on, and nothing is lost or told twice."""

import base64
import json
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
from cryptography.hazmat.primitives import serialization

from node.cli.client import Client, Target
from tests.node.api.living import in_thread
from tests.node.cli.running import folkmoot, started
from tests.node.notification.receiver import Receiver, receiving
from tests.node.outbound.authority import Authority


def set_up(folder: Path) -> tuple[Path, Authority]:
    """Found a realm whose node may call receivers on loopback, signed by an authority of tests."""
    data, authority = folder / "data", Authority()
    made = folkmoot(
        f"init --data {data} --preset test --http-port 0 --listen /ip4/127.0.0.1/tcp/0 "
        "--agents ada,brahe,curie,dirac"
    )
    assert made.code == 0, made.people
    own = authority._signed(authority.key.public_key(), (), ca=True, days=1)
    (data / "roots.pem").write_bytes(own.public_bytes(serialization.Encoding.PEM))
    with (data / "folkmoot.toml").open("a", encoding="utf-8") as file:
        file.write('\nwebhook_addresses = ["127.0.0.1", "::1"]\nwebhook_roots = "roots.pem"\n')
    return data, authority


def told(data: Path, line: str) -> dict[str, object]:
    session = folkmoot(f"{line} --json --data {data}")
    assert session.code == 0, session.people
    found: dict[str, object] = json.loads(session.data)
    return found


@pytest.mark.slow
def test_a_node_that_is_killed_again_and_again_tells_everything_once(tmp_path: Path) -> None:
    data, authority = set_up(tmp_path)

    async def receive(show: Callable[[Receiver], None], over: trio.Event) -> None:
        async with receiving(tmp_path, names=("localhost",), authority=authority) as receiver:
            show(receiver)
            await over.wait()

    with in_thread(receive, within=10) as receiver:
        keys: dict[str, bytes] = {}
        notices: list[dict[str, object]] = []
        for turn in range(5):
            with started(f"run --data {data}", tmp_path / f"log{turn}") as running:
                url = str(running.told["url"])
                where = Target(
                    url=url.rstrip("/"),
                    token=(data / "operator.token").read_text(encoding="ascii").strip(),
                )
                if not turn:
                    for agent in ("ada", "brahe"):
                        line = f"webhook add {agent} https://localhost:{receiver.port}/moot"
                        made = told(data, line)
                        keys[str(made["keyid"])] = base64.b64decode(str(made["public_key"]))
                if turn < 4:
                    with Client(where) as client:
                        agents: Any = client.get("v1", "agents")
                        ada = next(row["id"] for row in agents["items"] if row["name"] == "ada")
                        client.post(
                            "v1",
                            "artifacts",
                            body={"agent": ada, "title": f"Water {turn}", "topics": ["water"]},
                        )
                    # A little later each time: between a cut, its round, its phases, their notices.
                    time.sleep(0.9 + turn * 0.35)
                    running.process.send_signal(signal.SIGKILL)
                    running.process.wait(10)
                    continue
                deadline = time.monotonic() + 60
                while time.monotonic() < deadline:
                    notices = [
                        {**one, "whose": agent}
                        for agent in ("ada", "brahe")
                        for one in told(data, f"notice list {agent} --most 200")["notices"]  # type: ignore[attr-defined]
                    ]
                    came = {one.told["notice"]["cursor"] for one in receiver.got}
                    verdicts = [one for one in notices if one["kind"] == "verdict"]
                    if len(verdicts) == 4 and {one["cursor"] for one in notices} <= came:
                        break
                    time.sleep(0.5)
                assert running.stop(signal.SIGTERM) == 0

        names = Counter(
            (one["whose"], one["kind"], one["subject"], one["phase"]) for one in notices
        )
        assert set(names.values()) == {1}
        assert Counter(one["kind"] for one in notices if one["whose"] == "ada")["verdict"] == 4
        assert Counter(one["phase"] for one in notices if one["whose"] == "brahe")["commit"] == 4
        assert {one["cursor"] for one in notices} == {
            one.told["notice"]["cursor"] for one in receiver.got
        }
        by_hook: dict[str, list[int]] = {}
        for one in receiver.got:
            keyid = str(one.told["webhook"])
            receiver.check(one, keys[keyid], keyid, host="localhost")
            by_hook.setdefault(keyid, []).append(int(str(one.told["notice"]["cursor"])))
        for cursors in by_hook.values():
            assert cursors == sorted(cursors), "in order, repetitions next to each other"
    assert folkmoot(f"doctor --data {data}").code == 0
