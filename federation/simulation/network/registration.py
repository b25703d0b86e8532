"""Instances that newcomers ask for admission: honest ones, and some that admit without cost.

A `Registrar` admits somebody at every pulse, in the next of its ways. An honest one searches for a
proof and asks the door; another signs with its real key what no other node may let count: that
costs it nothing, so it has to gain it nothing, and everybody has to see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from federation.admission import Mint, Work, blank_work, does_work, passes_gate, work_bytes
from federation.charter import Admission
from federation.charter.presets import preset
from federation.core import Code, IdentityId, InstanceId, RecordId, RefusedError
from federation.crypto import KeySigner, public_key
from federation.protocol import Keys, World, custody, incept
from federation.protocol import inputs as ins
from federation.protocol.custody import Keyring
from federation.records import (
    AgentAdmit,
    Body,
    Custody,
    Delegate,
    OperatorAdmit,
    Record,
    Role,
    sign_record,
)
from federation.simulation.network.community import Community
from federation.simulation.network.conduct import Conduct

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode

RULES: Final[Admission] = replace(
    preset("test").admission,
    memory_kib=8,
    parts=1,
    agent_bits=1,
    operator_bits=2,
    most_bits=3,
    gate_bits=4,
    target=4,
    instance_least=3,
    operator_agents=40,
)
"""Proofs that take no time, and quotas that a busy registrar reaches."""
_TRIES: Final = 100_000


class Way(StrEnum):
    """How a registrar admits somebody."""

    PROVEN = "proven"
    OPERATOR = "operator"
    """An operator, by a good proof."""
    CROWDED = "crowded"
    """By a good proof, but without a look at the quotas."""
    UNPROVEN = "unproven"
    """Without any proof."""
    WORTHLESS = "worthless"
    """By a proof whose gate holds and whose parts do not."""
    SHUT = "shut"
    """By a proof whose gate does not hold."""
    REPLAYED = "replayed"
    """By the proof of the newcomer before, under its key and another name."""
    FOREIGN = "foreign"
    """By a proof that was made for another instance."""


HONEST_WAYS: Final = frozenset({Way.PROVEN, Way.OPERATOR})


@dataclass(slots=True)
class Registrar(Conduct):
    """An instance that admits one newcomer after the other; honest if all its ways are."""

    there: Community
    place: int
    """Its own place in the founding."""
    ways: Sequence[Way]
    at_once: int = 1
    """How many it admits at one pulse."""
    said: dict[RecordId, Way] = field(default_factory=dict)
    """Its admissions, in order."""
    turned_away: list[Code] = field(default_factory=list)
    """Why its own door refused, each time."""
    is_honest: bool = field(init=False)
    _count: int = 0
    _last: tuple[Keys, bytes] | None = None
    """Keys and proof of the newest agent that came by a good one."""

    def __post_init__(self) -> None:
        """See whether all its ways are honest."""
        self.is_honest = set(self.ways) <= HONEST_WAYS

    def pulse(self, node: "SimNode") -> None:
        """Admit the next ones, unless this instance has to be silent."""
        for _ in range(self.at_once):
            world = node.world
            # Taking in what it signs may end in a crash.
            if world is not None and world.me is not None and world.me.settled:
                self._admit(node, world, self.ways[self._count % len(self.ways)])
                self._count += 1

    def _admit(self, node: "SimNode", world: World, way: Way) -> None:
        role = Role.OPERATOR if way is Way.OPERATOR else Role.AGENT
        name = f"newcomer {self.place}/{self._count}"
        keys = Keys.derived(name.encode())
        if way is Way.REPLAYED:
            if self._last is None:
                return
            keys, raw = self._last
        else:
            raw = self._proof(world, way, role, keys)
        first = incept(world.realm, name, role, keys)
        body: Body
        if role is Role.OPERATOR:
            body = OperatorAdmit(operator=first.id, proof=raw)
            arriving: tuple[Record, ...] = (first,)
        else:
            grant = self._grant(world, first.id)
            body = AgentAdmit(
                agent=first.id,
                operator=grant.author,
                delegate=grant.id,
                custody=Custody.SELF,
                proof=None if way is Way.UNPROVEN else raw,
            )
            arriving = (grant, first)
        node.take(ins.Arrived(records=arriving, peer=None))
        if node.world is world:
            self._sign(node, world, way, body)
        if way is Way.PROVEN:
            self._last = (keys, raw)

    def _sign(self, node: "SimNode", world: World, way: Way, body: Body) -> None:
        ring = Keyring(agent=node.instance, keys=(node.signer,))
        try:
            record = (
                custody.author(world, ring, body, now=node.local())
                if self.is_honest
                else _after(world, node.instance, body, node.signer)
            )
        except RefusedError as error:
            self.turned_away.append(error.code)
            return
        self.said[record.id] = way
        node.take(ins.Arrived(records=(record,), peer=None))

    def _grant(self, world: World, agent: IdentityId) -> Record:
        """Let the instance's operator answer for a newcomer."""
        signer = KeySigner(self.there.operators[self.place].current)
        operator = self.there.founding.operators[self.place]
        return _after(world, operator, Delegate(agent=agent, scope=()), signer)

    def _proof(self, world: World, way: Way, role: Role, keys: Keys) -> bytes:
        places = len(self.there.instances)
        place = (self.place + 1) % places if way is Way.FOREIGN else self.place
        work = _searched(world, role, self.there.founding.instances[place], keys)
        match way:
            case Way.WORTHLESS:
                work = _worthless(work)
            case Way.SHUT:
                work = _gated(work, holds=False)
            case _:
                pass
        return work_bytes(work)


def _searched(world: World, role: Role, instance: InstanceId, keys: Keys) -> Work:
    state = world.state
    asked = state.joining.in_force(state.tick, role)(state.tick)
    assert asked is not None, "every epoch asks for something"  # noqa: S101 # our own invariant
    mint = Mint(
        blank=blank_work(
            realm=state.realm,
            role=role,
            instance=instance,
            key=public_key(keys.current),
            epoch=state.tick,
            beacon=asked.beacon,
            terms=asked.terms,
        )
    )
    progress = mint.start()
    while not progress.is_over:
        progress = mint.advance(progress, _TRIES)
    return mint.finish(progress)


def _worthless(work: Work) -> Work:
    """Give the proof other solutions, which are none, and a gate that holds."""
    changed = (
        replace(work, solutions=(number.to_bytes(8, "big"),) * len(work.solutions))
        for number in range(_TRIES)
    )
    return _gated(next(one for one in changed if not does_work(one)), holds=True)


def _gated(work: Work, *, holds: bool) -> Work:
    gates = (replace(work, gate=number.to_bytes(8, "big")) for number in range(_TRIES))
    return next(one for one in gates if passes_gate(one) is holds)


def _after(world: World, author: IdentityId, body: Body, signer: KeySigner) -> Record:
    """Sign the next record of a chain, past the door."""
    seq, prev = world.log.heads_of(author)[0]
    return sign_record(
        body,
        realm=world.realm,
        signer=signer,
        author=author,
        key_index=0,
        seq=seq + 1,
        prev=prev,
        at=0,
    )
