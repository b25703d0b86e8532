"""Agents that keep their own keys, and how an instance admits them; a clock that a test sets."""

from dataclasses import dataclass

import msgspec
import pytest

from federation.charter import presets
from federation.core import AgentId, Millis, Realm
from federation.protocol import Keys, custody, incept
from federation.protocol.inputs import Arrived
from federation.records import (
    AgentAdmit,
    AgentUnvouch,
    AgentVouch,
    Custody,
    Delegate,
    Kind,
    Record,
    Role,
)
from node.runtime import Node
from tests.builders import named


@dataclass(kw_only=True)
class Hands:
    """A clock that stands where a test has put its hands."""

    steady: Millis = 0
    said: Millis = 1_800_000_000_000

    def now(self) -> Millis:
        """Give this instance's own time."""
        return self.steady

    def wall(self) -> Millis:
        """Give Unix time."""
        return self.said

    def pass_by(self, ms: int) -> None:
        """Let time pass on both."""
        self.steady += ms
        self.said += ms


def newcomer(realm: Realm, number: int, *, role: Role = Role.AGENT) -> Record:
    """Give the inception of an agent whose keys no instance keeps."""
    keys = Keys(
        current=named("newcomer", number, "current"),
        next=named("newcomer", number, "next"),
        recovery=named("newcomer", number, "recovery"),
    )
    return incept(realm, f"newcomer {number}", role, keys, at=1)


async def answer_for(node: Node, first: Record) -> Record:
    """Let the node's operator answer for a newcomer, whose inception is stored then."""
    promise = await node.sign(
        node.world.state.instances[node.instance],
        lambda world, ring, now: custody.author(
            world, ring, Delegate(agent=first.id, scope=()), now=now
        ),
    )
    node.driver.take(Arrived(records=(first,), peer=None))
    return promise


async def sign_admission(node: Node, first: Record, promise: Record) -> Record:
    """Let the instance admit a newcomer; it is signed before anything else happens."""
    body = AgentAdmit(
        agent=first.id, operator=promise.author, delegate=promise.id, custody=Custody.SELF
    )
    return await node.sign(
        node.instance, lambda world, ring, now: custody.author(world, ring, body, now=now)
    )


async def admit(node: Node, first: Record) -> Record:
    """Let the node's operator answer for a newcomer and its instance admit it."""
    return await sign_admission(node, first, await answer_for(node, first))


async def join(node: Node, code: str, number: int) -> AgentId:
    """Do what registration does with an invite: redeem, note, admit."""
    first = newcomer(node.world.realm, number)
    await node.invites.note(node.invites.redeem(code, first.id), first.id)
    await admit(node, first)
    return first.id


def words(node: Node, inviter: AgentId, agent: AgentId) -> list[Record]:
    """List what an agent has said about another, by vouches, in the order of its chain."""
    said = [
        one
        for kind in (Kind.AGENT_VOUCH, Kind.AGENT_UNVOUCH)
        for one in node.world.log.by_kind(kind)
        if isinstance(one.body, AgentVouch | AgentUnvouch)
        and (one.author, one.body.agent) == (inviter, agent)
    ]
    return sorted(said, key=lambda one: one.seq)


def weight(node: Node, inviter: AgentId, agent: AgentId) -> int:
    """Give the weight of a standing vouch, 0 without."""
    return node.world.state.graph.edge(inviter, agent).vouch


def strict_quotas(monkeypatch: pytest.MonkeyPatch, **quotas: int) -> None:
    """Let realms that are founded from now on allow so many vouches."""
    rules = presets.PRESETS["test"]
    changed = msgspec.structs.replace(rules, quotas=msgspec.structs.replace(rules.quotas, **quotas))
    monkeypatch.setattr(presets, "PRESETS", {**presets.PRESETS, "test": changed})


async def admission_of(node: Node, first: Record, proof: bytes | None) -> AgentAdmit:
    """Let the instance's operator answer for a newcomer; give the admission that is to be signed."""
    operator = node.world.state.instances[node.instance]
    promise = await node.sign(
        operator,
        lambda world, ring, now: custody.author(
            world, ring, Delegate(agent=first.id, scope=()), now=now
        ),
    )
    node.driver.take(Arrived(records=(first,), peer=None))
    return AgentAdmit(
        agent=first.id,
        operator=operator,
        delegate=promise.id,
        custody=Custody.SELF,
        proof=proof,
    )
