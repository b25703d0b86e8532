"""Newcomers that keep their own keys: they sign, search for a proof, and register over HTTP."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx
from msgspec.structs import replace

from federation.admission import Mint, Terms, Work, blank_work, does_work, passes_gate, work_bytes
from federation.crypto import KeySigner
from federation.protocol import Keys, custody, incept
from federation.records import Body, Delegate, Record, Role, sign_record, wire
from node.base.entropy import random_bytes
from node.runtime import Node
from node.runtime.revealing import keyring_of

MANY = 10_000


@dataclass(kw_only=True)
class Newcomer:
    """An identity and its chain, as its owner has them."""

    role: Role
    realm: bytes
    keys: Keys
    chain: list[Record] = field(default_factory=list)

    @property
    def id(self) -> bytes:
        return self.chain[0].id

    @property
    def key(self) -> bytes:
        return KeySigner(self.keys.current).public

    def say(self, body: Body, *, after: Record | None = None) -> Record:
        """Sign the next record, or one after another that is given; the chain grows."""
        last = after or self.chain[-1]
        record = sign_record(
            body,
            realm=self.realm,
            signer=KeySigner(self.keys.current),
            author=self.id,
            key_index=0,
            seq=last.seq + 1,
            prev=last.id,
            at=0,
        )
        self.chain.append(record)
        return record


def newcomer(realm: bytes, role: Role, name: str = "new", *, keys: Keys | None = None) -> Newcomer:
    """Make an identity of its own keys; with given ones, another identity of the same keys."""
    keys = keys or Keys(current=random_bytes(32), next=random_bytes(32), recovery=random_bytes(32))
    one = Newcomer(role=role, realm=realm, keys=keys)
    one.chain.append(incept(realm, name, role, keys, at=len(name)))
    return one


def delegated(node: Node, agent: Newcomer) -> Record:
    """Let the operator of an instance, whose key it keeps, answer for an agent; nothing is stored."""
    operator = node.world.state.instances[node.instance]
    ring = keyring_of(node.world, node.keystore, operator)
    assert ring is not None
    return custody.author(
        node.world, ring, Delegate(agent=agent.id, scope=()), now=node.clock.wall()
    )


def blank(page: dict[str, Any], one: Newcomer) -> Work:
    """Write the proof that a newcomer has to search for, by what an instance has shown."""
    asked = dict(page["agents" if one.role is Role.AGENT else "operators"])
    del asked["left"]
    return blank_work(
        realm=bytes.fromhex(page["realm"]),
        role=one.role,
        instance=bytes.fromhex(page["instance"]),
        key=one.key,
        epoch=page["epoch"],
        beacon=bytes.fromhex(page["beacon"]),
        terms=Terms(**asked),
    )


def found(work: Work) -> Work:
    """Search for a proof."""
    mint = Mint(blank=work)
    progress = mint.start()
    while not progress.is_over:
        progress = mint.advance(progress, MANY)
    return mint.finish(progress)


def without_gate(work: Work) -> Work:
    """Spoil the gate of a proof."""
    spoiled = (replace(work, gate=bytes([1, number]) + bytes(6)) for number in range(256))
    return next(one for one in spoiled if not passes_gate(one))


def without_work(work: Work) -> Work:
    """Give a proof whose gate holds and whose work does not."""
    for number in range(MANY):
        solutions = (number.to_bytes(8, "big"), *work.solutions[1:])
        for gate in range(MANY):
            tried = replace(work, solutions=solutions, gate=gate.to_bytes(8, "big"))
            if passes_gate(tried):
                if not does_work(tried):
                    return tried
                break
    raise AssertionError("nearly every such proof is false")


def coded(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def body_of(one: Newcomer, work: Work | None, *others: Record, **more: object) -> dict[str, object]:
    """Give the body of a registration."""
    return {
        "role": str(one.role),
        "records": [coded(wire(record)) for record in (one.chain[0], *others)],
        "proof": None if work is None else coded(work_bytes(work)),
        **more,
    }


async def register(
    client: httpx.AsyncClient, one: Newcomer, *others: Record, **more: object
) -> httpx.Response:
    """Ask for the terms, search, and register."""
    page = (await client.get("/v1/registration")).json()
    work = None if page["free"] else found(blank(page, one))
    return await client.post("/v1/registration", json=body_of(one, work, *others, **more))


def codes(answers: Sequence[httpx.Response]) -> list[str]:
    return [answer.json().get("code", "") for answer in answers]
