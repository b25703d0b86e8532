"""How fast a node takes in records of its peers: decoded, checked, and durable on disk.

    python -m benchmarks ingest --json

Peers send their authors' records frame by frame. They go the way they go in a node: duplicates,
form, signatures, and the store, which acknowledges under `synchronous=FULL`. Beside it, in the
same run, stand what two threads verify that do nothing else (`raw_verify_per_s`), the whole way of
a running node, inbox and `step` included (`with_step`), and what a 2 ms ticker on the node's own
event loop felt meanwhile.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import trio
from nacl.bindings import crypto_sign_open

from benchmarks.traffic import Traffic, make
from federation.core import Digest, InstanceId, RecordId
from federation.protocol import World, begin, start
from federation.protocol import effects as fx
from federation.records import Record
from node.base.clock import SteadyClock
from node.runtime.collector import calm_collector
from node.runtime.driver import Driver
from node.runtime.events import EventFeed
from node.runtime.inbox import Inbox
from node.runtime.ingest import Ingest
from node.runtime.intake import PeerIntake
from node.runtime.performers import Performers
from node.runtime.snapshots import Snapshots
from node.runtime.timers import Timers
from node.store import Store, open_store

THREADS: Final = 2
BATCH: Final = 64
"""Signatures in one job of the raw measurement."""
TICK: Final = 0.002
"""Seconds between two ticks."""
MICRO: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What is measured."""

    records: int
    authors: int
    peers: int
    frame: int
    """Records in one frame."""
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One pass over all records."""

    per_second: float
    node_us: float
    """Processor time of the node's own process for one record, in µs."""
    checkers_us: float
    """Processor time of the processes that check signatures, for one record."""
    late: tuple[float, ...]
    """How late each tick was, in seconds."""


class Nowhere:
    """A network with nobody in it."""

    def relay(self, records: tuple[Record, ...]) -> None:
        """Send to nobody."""

    def send_packet(self, to: InstanceId | None, packet: bytes) -> None:
        """Send to nobody."""

    def reconcile(self, slot: bytes, voices: tuple[InstanceId, ...]) -> None:
        """Compare with nobody."""

    def fetch_records(self, records: tuple[RecordId, ...], voices: tuple[InstanceId, ...]) -> None:
        """Ask nobody."""

    def fetch_blob(self, blob: Digest, voices: tuple[InstanceId, ...]) -> None:
        """Ask nobody."""

    def refused(self, effect: fx.Refused) -> None:
        """Fail: all records are good."""
        raise AssertionError(effect.why)


def main() -> int:
    """Measure and print; human text to stderr, data to stdout."""
    asked = _arguments()
    settings = Settings(
        records=asked.records,
        authors=asked.authors,
        peers=asked.peers,
        frame=asked.frame,
        runs=asked.runs,
    )
    print(f"signing {settings.records} records", file=sys.stderr)
    traffic = make(settings.records, authors=settings.authors)
    calm_collector()
    result = measured(settings, traffic)
    print(json.dumps(result, indent=2) if asked.json else _shown(result))
    return 0


def measured(settings: Settings, traffic: Traffic) -> dict[str, object]:
    """Measure all, each run of the path between two of the raw measurement."""
    used = time.process_time()
    raws = [raw_rate(traffic)]
    raw_us = (time.process_time() - used) * MICRO / settings.records
    whole: list[Run] = []
    bare: list[Run] = []
    for number in range(settings.runs):
        print(f"run {number + 1} of {settings.runs}", file=sys.stderr)
        whole.append(trio.run(one_run, settings, traffic, through_core))
        raws.append(raw_rate(traffic))
        bare.append(trio.run(one_run, settings, traffic, past_core))
        raws.append(raw_rate(traffic))
    # A neighbour on the machine slows both; the ratio to what was measured just before and just
    # after moves least.
    shares = [run.per_second / _mean(raws[2 * at : 2 * at + 2]) for at, run in enumerate(whole)]
    bare_shares = [
        run.per_second / _mean(raws[2 * at + 1 : 2 * at + 3]) for at, run in enumerate(bare)
    ]
    late = sorted(1_000 * one for run in whole for one in run.late)
    return {
        "records_per_s": round(statistics.median(run.per_second for run in bare)),
        "raw_verify_per_s": round(statistics.median(raws)),
        "share": round(statistics.median(bare_shares), 3),
        "shares": [round(one, 3) for one in bare_shares],
        "with_step": {
            "records_per_s": round(statistics.median(run.per_second for run in whole)),
            "share": round(statistics.median(shares), 3),
            "shares": [round(one, 3) for one in shares],
        },
        "cpu_us_per_record": {
            "node": round(statistics.median(run.node_us for run in bare), 1),
            "checkers": round(statistics.median(run.checkers_us for run in bare), 1),
            "node_with_step": round(statistics.median(run.node_us for run in whole), 1),
            "checkers_with_step": round(statistics.median(run.checkers_us for run in whole), 1),
            "raw_verify": round(raw_us, 1),
        },
        "stalls_ms": {
            "ticks": len(late),
            "p50": round(_quantile(late, 0.5), 2),
            "p99": round(_quantile(late, 0.99), 2),
            "p99.9": round(_quantile(late, 0.999), 2),
            "worst": round(late[-1], 2),
        },
        "bytes_per_record": round(_mean([len(raw) for raw in traffic.wires])),
        **asdict(settings),
    }


def raw_rate(traffic: Traffic) -> float:
    """Verify all signatures on two threads that do nothing else; give signatures per second."""
    signed = [(signature + payload, key) for key, payload, signature in traffic.checks]
    batches = [signed[at : at + BATCH] for at in range(0, len(signed), BATCH)]

    def check(batch: list[tuple[bytes, bytes]]) -> None:
        for message, key in batch:
            crypto_sign_open(message, key)

    with ThreadPoolExecutor(THREADS) as threads:
        began = time.perf_counter()
        for _ in threads.map(check, batches):
            pass
        return len(signed) / (time.perf_counter() - began)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A node around one store, without a network."""

    world: World
    ingest: Ingest
    store: Store
    traffic: Traffic
    clock: SteadyClock


Feed = Callable[[Sequence[bytes], int], Awaitable[None]]
"""Takes a frame of a peer, by the peer's number; returns when the peer may send the next."""
Path_ = Callable[[Stage, Callable[[Feed], Awaitable[None]]], Awaitable[None]]
"""A way from frames to the disk; returns when all is durable."""


async def one_run(settings: Settings, traffic: Traffic, path: Path_) -> Run:
    """Take all records in, by one path, into a fresh store."""
    late: list[float] = []
    frames = list(_frames(settings, traffic))
    clock = SteadyClock(None)
    founding = traffic.founding
    ingest = Ingest(founding.realm, lambda: world.log)
    world = begin(
        founding.charter,
        founding.records,
        instance=founding.instances[0],
        signer=traffic.signer,
        verify=ingest.verify,
    )

    async def feed(take: Feed) -> None:
        async def one_peer(number: int) -> None:
            for frame in frames[number]:
                await take(frame, number)

        async with trio.open_nursery() as peers:
            for number in range(settings.peers):
                peers.start_soon(one_peer, number)

    with tempfile.TemporaryDirectory() as directory:
        async with open_store(Path(directory) / "store.db", realm=founding.realm) as store:
            stage = Stage(world=world, ingest=ingest, store=store, traffic=traffic, clock=clock)
            # The first long batch starts processes, once in the life of a node.
            await ingest.read(traffic.strangers)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_tick, late)
                used, beside = time.process_time(), _used_by(ingest.pids)
                began = time.perf_counter()
                await path(stage, feed)
                took, spent = time.perf_counter() - began, time.process_time() - used
                checked = _used_by(ingest.pids) - beside
                nursery.cancel_scope.cancel()
            stored = (await store.counts()).records
    ingest.close()
    if stored < settings.records:
        raise AssertionError(f"{stored} records are stored, {settings.records} were sent")
    return Run(
        per_second=settings.records / took,
        node_us=spent * MICRO / settings.records,
        checkers_us=checked * MICRO / settings.records,
        late=tuple(late),
    )


async def through_core(stage: Stage, feed: Callable[[Feed], Awaitable[None]]) -> None:
    """Go the whole way, through the node's own inbox, driver and performers."""
    inbox, timers = Inbox(), Timers(stage.clock.now)
    driver = Driver(
        stage.world,
        now=stage.clock.now,
        inbox=inbox,
        timers=timers,
        snapshot=Snapshots(0).take,
    )
    events = EventFeed(stage.store, recent=(), wall=stage.clock.wall)
    outside = Nowhere()
    performers = Performers(
        driver,
        stage.store,
        outside,
        told=events.number,
        announce=events.announce,
        # No graph of this traffic is large: the core computes trust itself.
        reckon=lambda _effect: None,
        prove=lambda _effect: None,
    )
    intake = PeerIntake(
        stage.ingest, inbox, refused=outside.refused, heard_from=lambda _peer, _names: None
    )
    voices = stage.traffic.founding.instances
    driver.carry_out(start(stage.world, stage.clock.now()))
    everything = len(stage.traffic.founding.records) + len(stage.traffic.wires)

    async def take(frame: Sequence[bytes], number: int) -> None:
        await intake.records(frame, voices[1 + number % (len(voices) - 1)], wait=False)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(driver.run)
        nursery.start_soon(driver.run_timers)
        nursery.start_soon(performers.run)
        await feed(take)
        # What the driver has taken from the inbox may still wait for room on its way to the core.
        while len(stage.world.log) < everything:  # noqa: ASYNC110 # nothing tells of it
            await trio.sleep(TICK)
        await driver.flushed()
        nursery.cancel_scope.cancel()


async def past_core(stage: Stage, feed: Callable[[Feed], Awaitable[None]]) -> None:
    """Check the records and store them, without asking the core what they mean."""
    async with trio.open_nursery() as nursery:
        room = trio.CapacityLimiter(64)

        async def store(records: tuple[Record, ...]) -> None:
            async with room:
                await stage.store.write([fx.StoreRecord(record=record) for record in records])

        async def take(frame: Sequence[bytes], number: int) -> None:
            del number
            nursery.start_soon(store, (await stage.ingest.read(frame)).records)

        await feed(take)


def _used_by(pids: Sequence[int]) -> float:
    """Give the processor time that processes have used, in seconds."""
    used = 0
    for pid in pids:
        # What stands before the last bracket is the program's name, which may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used += int(fields[11]) + int(fields[12])
    return used / os.sysconf("SC_CLK_TCK")


async def _tick(late: list[float]) -> None:
    while True:
        due = trio.current_time() + TICK
        await trio.sleep_until(due)
        late.append(trio.current_time() - due)


def _frames(settings: Settings, traffic: Traffic) -> Iterator[list[tuple[bytes, ...]]]:
    """Give each peer the records of its authors, frame by frame."""
    for number in range(settings.peers):
        wires = [
            raw
            for at, raw in enumerate(traffic.wires)
            if at % settings.authors % settings.peers == number
        ]
        yield [
            tuple(wires[at : at + settings.frame]) for at in range(0, len(wires), settings.frame)
        ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _quantile(ascending: Sequence[float], share: float) -> float:
    return ascending[min(len(ascending) - 1, int(len(ascending) * share))]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=40_000)
    parser.add_argument("--authors", type=int, default=200)
    parser.add_argument("--peers", type=int, default=6, help="peers that send at the same time")
    parser.add_argument("--frame", type=int, default=256, help="records in one frame of a peer")
    parser.add_argument("--runs", type=int, default=3, help="the figures are medians of so many")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    return parser.parse_args()


def _shown(result: dict[str, object]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in result.items())


if __name__ == "__main__":
    sys.exit(main())
