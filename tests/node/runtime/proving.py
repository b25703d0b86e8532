"""Proofs of work for the tests of what verifies them, and a part of a node that does so."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import trio

from federation import admission
from federation.protocol import effects as fx
from federation.protocol.inputs import Proven
from node.runtime.inbox import Inbox
from node.runtime.proofs import Proofs
from tests.builders import named
from tests.federation.admission.proofs import blank, proof, terms
from tests.node.runtime.problems import children_of

EASY = terms(bits=6)
TRUE = admission.work_bytes(proof(EASY))
FALSE = admission.work_bytes(blank(EASY))
SLOW = admission.work_bytes(blank(terms(memory_kib=16_384, passes=4, parts=16, bits=0)))
"""True, and a second of work."""
LONG = 120.0
"""Seconds for what includes the start of processes on a busy machine."""


def others(count: int) -> list[bytes]:
    """Give so many proofs that do nothing, each another."""
    return [
        admission.work_bytes(msgspec.structs.replace(blank(EASY), gate=number.to_bytes(8, "big")))
        for number in range(1, count + 1)
    ]


@asynccontextmanager
async def running(part: Proofs) -> AsyncIterator[Proofs]:
    """Run the part; its process ends with the block."""
    try:
        with trio.fail_after(LONG):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(part.run)
                yield part
                nursery.cancel_scope.cancel()
    finally:
        part.close()
    assert part.pids == ()
    assert children_of(os.getpid(), "prover.py") == []


def asked(name: str, *raws: bytes) -> fx.Prove:
    return fx.Prove(cut=named(name), proofs=raws)


async def answered(inbox: Inbox) -> Proven:
    with trio.fail_after(LONG):
        event, taken = await inbox.get()
    taken.set()
    assert isinstance(event, Proven)
    return event


def answer(name: str, *verdicts: bool) -> Proven:
    return Proven(cut=named(name), verdicts=verdicts)


def descriptors() -> int:
    """Count what this process has open."""
    return len([*Path("/proc/self/fd").iterdir()])
