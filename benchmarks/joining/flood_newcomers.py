"""Newcomers of the flood: an honest operator with its agents, and proofs that are false on purpose."""

import base64
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from msgspec.structs import replace

from federation.admission import Mint, Terms, Work, blank_work, does_work, passes_gate, work_bytes
from federation.crypto import KeySigner
from federation.protocol import Keys, incept
from federation.records import Body, Delegate, Record, Role, sign_record, wire
from node.base.entropy import random_bytes

_PAUSE_S: Final = 0.5
_TRIES: Final = 20
_CREATED: Final = 201
_GATES: Final = 10_000
_NOT_NOW: Final = frozenset({429, 503})


@dataclass(kw_only=True)
class Honest:
    """An operator that registers agents, one after the other."""

    realm: bytes
    keys: Keys
    last: Record
    """The newest record of its chain."""
    posted_s: list[float] = field(default_factory=list)
    """How long each registration took, its search not counted."""
    put_off: Counter[str] = field(default_factory=Counter)
    """Answers that said: not now."""
    failed: list[str] = field(default_factory=list)
    _count: int = 0

    def register(self, client: httpx.Client) -> None:
        """Register one agent; a refusal to be heard now is tried again, as any client would."""
        self._count += 1
        keys = Keys(current=random_bytes(32), next=random_bytes(32), recovery=random_bytes(32))
        first = incept(self.realm, f"honest {self._count}", Role.AGENT, keys)
        word = self.say(Delegate(agent=first.id, scope=()))
        page = self._ask(lambda: client.get("/v1/registration")).json()
        work = search(blank(page, KeySigner(keys.current).public))
        body = {
            "role": "agent",
            "records": [coded(wire(first)), coded(wire(word))],
            "proof": coded(work_bytes(work)),
        }
        began = time.perf_counter()
        answer = self._ask(lambda: client.post("/v1/registration", json=body))
        self.posted_s.append(time.perf_counter() - began)
        if answer.status_code != _CREATED:
            self.failed.append(answer.text)

    def _ask(self, ask: Callable[[], httpx.Response]) -> httpx.Response:
        answer = ask()
        for _ in range(_TRIES):
            if answer.status_code not in _NOT_NOW:
                break
            self.put_off[f"{answer.status_code} {answer.json()['code']}"] += 1
            time.sleep(_PAUSE_S)
            answer = ask()
        return answer

    def say(self, body: Body) -> Record:
        """Sign the next record of its chain."""
        self.last = sign_record(
            body,
            realm=self.realm,
            signer=KeySigner(self.keys.current),
            author=self.last.author,
            key_index=0,
            seq=self.last.seq + 1,
            prev=self.last.id,
            at=0,
        )
        return self.last


def blank(page: dict[str, Any], key: bytes) -> Work:
    """Write the proof that an agent has to search for."""
    asked = dict(page["agents"])
    del asked["left"]
    return blank_work(
        realm=bytes.fromhex(page["realm"]),
        role=Role.AGENT,
        instance=bytes.fromhex(page["instance"]),
        key=key,
        epoch=page["epoch"],
        beacon=bytes.fromhex(page["beacon"]),
        terms=Terms(**asked),
    )


def search(work: Work) -> Work:
    """Search for a proof."""
    mint = Mint(blank=work)
    progress = mint.start()
    while not progress.is_over:
        progress = mint.advance(progress, _GATES if progress.at_gate else 1)
    return mint.finish(progress)


def false_gates(good: Work) -> Iterator[Work]:
    """Spoil the gate of a proof, each time otherwise."""
    while True:
        work = replace(good, gate=random.randbytes(8))  # nothing secret
        if not passes_gate(work):
            yield work


def false_work(good: Work) -> Iterator[Work]:
    """Give proofs whose gate holds and whose work does not, all different."""
    mint = Mint(blank=good)
    while True:
        solutions = (random.randbytes(8), *good.solutions[1:])
        if does_work(replace(good, solutions=solutions)):
            continue
        # A search that takes its parts for found is left with the gate alone.
        progress = replace(mint.start(), found=solutions)
        while progress.gate is None:
            progress = mint.advance(progress, _GATES)
        yield replace(good, solutions=solutions, gate=progress.gate)


def coded(raw: bytes) -> str:
    """Write bytes in base64."""
    return base64.b64encode(raw).decode()
