"""What a flood of false registrations costs an instance, and whether honest ones get through.

An instance runs as a process with its usual limits and asks for proofs of real memory; only their
bits are few, so that an honest newcomer's search takes no time from the measurement. Another
process sends 1,000 false registrations a second, each on a connection of its own:

    gate        from one address, the gate is wrong
    work        from one address, the gate holds and the work is wrong
    addresses   from fresh addresses, as fast as one core finds gates that hold
    junk        from one address, what is no registration

Meanwhile an honest operator registers one agent after the other from an address of its own. Floods
come twice: as usual, where a false proof has its address banned, and as it is behind a proxy on the
same machine, where nobody can be banned and the buckets have to do.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec

from benchmarks.joining.flood_crowd import Plan
from benchmarks.joining.flood_newcomers import (
    Honest,
    blank,
    coded,
    false_gates,
    false_work,
    search,
)
from benchmarks.joining.flood_town import CHEAP, PASSPHRASE
from federation.admission import Work, work_bytes
from federation.charter import preset
from federation.crypto import KeySigner
from federation.protocol import Keys, incept
from federation.records import Delegate, Role, wire
from node.base.entropy import random_bytes
from node.base.settings import Settings
from node.setup import Founded, found_solo, write_instance

GOAL_SHARE: Final = 0.3
"""Of a core, all processes of the instance together, that a flood costs while it bans."""
GOAL_POST_S: Final = 2.0
"""In which an honest newcomer, whose proof is found, has its answer; nineteen of twenty."""
_LIAR: Final = "127.0.0.2"
_HONEST: Final = "127.0.0.3"
_GATE_BITS: Final = 14
"""Less than a community's 18, so that thousands of false gates are found soon; what a gate costs an
instance does not depend on it."""
_GATES_A_SECOND: Final = 20
"""Gates of a community that one core finds in a second."""
_EPOCH_MS: Final = 3_600_000
"""No tick comes while this measures."""
_REST_S: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """The instance, running."""

    url: str
    pid: int
    founded: Founded

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def cpu_s(self) -> float:
        """Give the processor time that all its processes have used, in seconds."""
        return sum(map(_cpu_s, _family(self.pid)))


@contextmanager
def town(root: Path, *, bits: int, bans: bool) -> Iterator[Town]:
    """Found a realm that asks for real memory and few bits, and run its one instance."""
    rules = preset("test")
    founded = found_solo(
        name="flooded",
        preset="test",
        agents=("alice",),
        timing=msgspec.structs.replace(rules.timing, epoch=_EPOCH_MS),
        admission=msgspec.structs.replace(
            preset("community").admission,
            agent_bits=bits,
            operator_bits=bits,
            gate_bits=_GATE_BITS,
            instance_least=1_000_000,
            operator_agents=1_000_000,
        ),
    )
    settings = Settings(http_port=0, listen=("/ip4/127.0.0.1/tcp/0",))
    write_instance(root, founded, passphrase=PASSPHRASE, settings=settings, cost=CHEAP)
    command = [sys.executable, "-m", "benchmarks.joining.flood_town", str(root)]
    if not bans:
        command.append("--spare-loopback")
    with (root.parent / f"{root.name}.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 # our own program
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
    assert process.stdout is not None, "it was asked for"  # noqa: S101 # our own invariant
    assert process.stdin is not None, "it was asked for"  # noqa: S101 # our own invariant
    try:
        url = process.stdout.readline().decode().strip()
        if not url:
            raise RuntimeError(f"the instance does not start; see {root.name}.log")
        yield Town(url=url, pid=process.pid, founded=founded)
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


def _family(pid: int) -> list[int]:
    """Name a process and all that it has started."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text(encoding="ascii").split():
            found += _family(int(child))
    return found


def _cpu_s(pid: int) -> float:
    """Give the processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def measure(
    kind: str, *, seconds: float, per_second: int, bits: int, bans: bool
) -> dict[str, object]:
    """Flood a new instance in one way, or leave it alone, while honest newcomers register."""
    with (
        tempfile.TemporaryDirectory() as place,
        town(Path(place) / "instance", bits=bits, bans=bans) as here,
    ):
        honest = _operator(here)
        with httpx.Client(base_url=here.url, trust_env=False) as client:
            plan = _plan(honest, here.port, client, kind, seconds=seconds, per_second=per_second)
        time.sleep(_REST_S)
        before, began = here.cpu_s(), time.monotonic()
        crowd = _begin(plan) if plan else None
        transport = httpx.HTTPTransport(local_address=_HONEST)
        with httpx.Client(
            base_url=here.url, transport=transport, trust_env=False, timeout=20
        ) as client:
            try:
                while time.monotonic() < began + seconds:
                    honest.register(client)
            except BaseException:
                if crowd is not None:
                    crowd.kill()
                raise
        # It ends a little later: what it has sent is still being answered.
        answers = _end(crowd) if crowd else {}
        took = time.monotonic() - began
        share = (here.cpu_s() - before) / took
    posted = sorted(honest.posted_s)
    return {
        "flood": kind,
        "bans": bans,
        "sent": sum(answers.values()),
        "answers": answers,
        "core_share": round(share, 3),
        "seconds": round(took, 1),
        "honest": {
            "registered": len(posted) - len(honest.failed),
            "failed": honest.failed[:3],
            "put_off": honest.put_off,
            "p50_s": round(statistics.median(posted), 3),
            "p95_s": round(posted[max(0, -(-len(posted) * 95 // 100) - 1)], 3),
            "longest_s": round(posted[-1], 3),
        },
    }


def _operator(here: Town) -> Honest:
    """Give the operator of the realm, which keeps its own keys here."""
    operator = here.founded.operators[0]
    chain = [one for one in here.founded.founding.records if one.author == operator.id]
    return Honest(
        realm=here.founded.founding.realm,
        keys=operator.keys,
        last=max(chain, key=lambda record: record.seq),
    )


def _plan(
    honest: Honest,
    port: int,
    client: httpx.Client,
    kind: str,
    *,
    seconds: float,
    per_second: int,
) -> Plan | None:
    """Write what the crowd sends; None if there is no crowd."""
    if kind == "none":
        return None
    if kind == "junk":
        bodies: Sequence[str] = [json.dumps({"role": "agent", "records": ["AAAA", "AAAA"]})]
    else:
        bodies = _false(honest, client, kind, count=int(seconds * _GATES_A_SECOND))
    fresh = [f"127.1.{number // 250}.{number % 250 + 1}" for number in range(len(bodies))]
    return Plan(
        port=port,
        addresses=tuple(fresh) if kind == "addresses" else (_LIAR,),
        bodies=tuple(bodies),
        per_second=_GATES_A_SECOND if kind == "addresses" else per_second,
        seconds=seconds,
    )


def _false(honest: Honest, client: httpx.Client, kind: str, *, count: int) -> list[str]:
    """Write registrations in which everything is right but the proof.

    They repeat an operator's word that everybody can read: it is stored, as such words are.
    """
    keys = Keys(current=random_bytes(32), next=random_bytes(32), recovery=random_bytes(32))
    first = incept(honest.realm, "liar", Role.AGENT, keys)
    word = honest.say(Delegate(agent=first.id, scope=()))
    client.post("/v1/records", json={"records": [coded(wire(word))]}).raise_for_status()
    good = search(blank(client.get("/v1/registration").json(), KeySigner(keys.current).public))
    false: Iterator[Work] = false_gates(good) if kind == "gate" else false_work(good)
    records = [coded(wire(first)), coded(wire(word))]
    return [
        json.dumps({"role": "agent", "records": records, "proof": coded(work_bytes(one))})
        for one in islice(false, count)
    ]


def _begin(plan: Plan) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(  # our own program
        [sys.executable, "-m", "benchmarks.joining.flood_crowd"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None, "it was asked for"  # noqa: S101 # our own invariant
    process.stdin.write(msgspec.json.encode(plan))
    process.stdin.close()
    return process


def _end(crowd: subprocess.Popen[bytes]) -> dict[str, int]:
    assert crowd.stdout is not None, "it was asked for"  # noqa: S101 # our own invariant
    with crowd.stdout as told:
        counts: dict[str, int] = json.loads(told.read())
    crowd.wait()
    return counts


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="of each flood")
    parser.add_argument("--rate", type=int, default=1_000, help="registrations a second")
    parser.add_argument("--bits", type=int, default=1, help="of an honest agent's parts")
    parser.add_argument("--only", choices=("none", "gate", "work", "addresses", "junk"))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    floods = [
        ("none", True),
        *((kind, bans) for bans in (True, False) for kind in ("gate", "work", "addresses", "junk")),
    ]
    rows = [
        measure(
            kind,
            seconds=arguments.seconds,
            per_second=arguments.rate,
            bits=arguments.bits,
            bans=bans,
        )
        for kind, bans in floods
        if arguments.only in {None, kind} or kind == "none"
    ]
    for row in rows:
        row["flood_share"] = flood_share(row, rows[0])
    met = all(is_fine(row) for row in rows if row["bans"])
    if arguments.json:
        print(json.dumps({"floods": rows, "goals_met": met}))
    else:
        for row in rows:
            print(json.dumps(row))
        print("goals met" if met else "goals missed")
    return 0 if met else 1


def flood_share(row: Mapping[str, Any], alone: Mapping[str, Any]) -> float:
    """Give what a flood itself costs of a core: without what its honest newcomers cost alone."""
    each = alone["core_share"] * alone["seconds"] / max(1, alone["honest"]["registered"])
    honest = each * row["honest"]["registered"] / row["seconds"]
    return round(row["core_share"] - honest, 3)


def is_fine(row: Mapping[str, Any]) -> bool:
    """Tell whether a flood was as cheap, and honest newcomers as quick, as they should be."""
    honest = row["honest"]
    return (
        not honest["failed"] and honest["p95_s"] <= GOAL_POST_S and row["flood_share"] <= GOAL_SHARE
    )


if __name__ == "__main__":
    sys.exit(main())
