"""Members and agents that lie in their chains: disown, vote late, fork.

Nothing that arrives later changes what a certificate lists (design: federation, finality). Each of
these waits for the moment at which its lie would pay, and is then only stored, or proven.
"""

from typing import TYPE_CHECKING

from federation.certificates import Phase, slot_key
from federation.certificates.slots import RoundSlot
from federation.core import AgentId, InstanceId, RoundId
from federation.crypto import (
    Ballot,
    Basis,
    Choice,
    Domain,
    KeySigner,
    Reason,
    commitment,
    digest,
    plain_hash,
    public_key,
)
from federation.protocol import Keys, World
from federation.protocol import inputs as ins
from federation.records import (
    AgentSubscribe,
    Body,
    Commit,
    Record,
    Reveal,
    Rotate,
    RotateBy,
    sign_record,
)
from federation.review import course
from federation.simulation.network.adversaries.liar import Liar
from federation.simulation.network.letters import Gossip, Letter

if TYPE_CHECKING:
    from federation.simulation.network.node import SimNode


class Disowner(Liar):
    """Rotates its key once its seal stands in a certificate, and disowns all that it ever said."""

    def __init__(self, keys: Keys) -> None:
        """Hold the keys of the member: it rotates to the next one, as anybody may."""
        super().__init__()
        self._keys = keys
        self.disowned: Record | None = None

    def pulse(self, node: "SimNode") -> None:
        """Disown after the first box is shut."""
        world = node.world
        if world is None or self.disowned is not None or not _is_certified(world, Phase.COMMIT):
            return
        heads = world.log.heads_of(node.instance)
        signer = KeySigner(self._keys.next)
        body = Rotate(
            key=signer.public,
            next=digest(Domain.KEY, public_key(plain_hash(self._keys.next))),
            recovery=digest(Domain.KEY, public_key(self._keys.recovery)),
            by=RotateBy.NEXT,
            reason="a thief sealed in my name",
            disown_after=0,
        )
        self.disowned = _after(world, node.instance, heads[0], body, signer, key_index=1)
        node.take(ins.Arrived(records=(self.disowned,), peer=None))


class _Bad(Liar):
    """A member with a bad agent; keys are the agent's."""

    def __init__(self, agent: AgentId, keys: Keys) -> None:
        """Name the agent and hold its keys."""
        super().__init__()
        self._agent = agent
        self._signer = KeySigner(keys.current)
        self.said: Record | None = None
        """What it said when it thought that it would pay."""


class LateVoter(_Bad):
    """Its agent waits for the first reveal of a round, and only then commits."""

    def incoming(self, node: "SimNode", sender: InstanceId, letter: Letter) -> Letter | None:
        """Commit, dated into the closed phase, as soon as a reveal can be read."""
        world = node.world
        if isinstance(letter, Gossip) and world is not None and self.said is None:
            for record in letter.records:
                if isinstance(record.body, Reveal) and self.said is None:
                    self._commit(node, world, record.body.round, record.body.ballot)
        return super().incoming(node, sender, letter)

    def _commit(self, node: "SimNode", world: World, name: RoundId, copied: Ballot) -> None:
        one = world.rounds.get(name)
        after = course(one.pin, one.finals).after.get(Phase.COMMIT) if one else None
        if after is None:
            return
        heads = world.log.heads_of(self._agent)
        nonce = plain_hash(name)
        body = Commit(
            round=name,
            after=after,
            commitment=commitment(
                realm=world.realm, round_id=name, voter=self._agent, ballot=copied, nonce=nonce
            ),
            sealed=self._signer.seal(world.realm, name, copied, nonce=nonce, salt=bytes(24)),
        )
        self.said = _after(world, self._agent, heads[0], body, self._signer)
        for peer in node.peers:
            self.whisper(node, peer, Gossip(records=(self.said,)))


class LateForker(_Bad):
    """Its agent forks its chain below its own reveal once `decide` is certified."""

    def pulse(self, node: "SimNode") -> None:
        """Show everybody a second branch."""
        world = node.world
        if world is None or self.said is not None or not _is_certified(world, Phase.DECIDE):
            return
        (seq, _), *_ = world.log.heads_of(self._agent)
        if seq == 0:
            # An inception has no rival: its agent has not said anything yet.
            return
        below = world.log.ids_at(self._agent, seq - 1)[0]
        body = AgentSubscribe(topics=(), keywords=("doubt",), on=True)
        self.said = _after(world, self._agent, (seq - 1, below), body, self._signer)
        for peer in node.peers:
            self.whisper(node, peer, Gossip(records=(self.said,)))


class DoubleVoter(_Bad):
    """Its agent commits twice at one place of its chain, and shows each half of the others one."""

    def outgoing(self, node: "SimNode", to: InstanceId, letter: Letter) -> Letter | None:
        """Swap the agent's commitment for another one on the way to half of the others."""
        world = node.world
        if isinstance(letter, Gossip) and world is not None and node.peers.index(to) % 2:
            swapped = tuple(self._other(world, record) for record in letter.records)
            return Gossip(records=swapped)
        return super().outgoing(node, to, letter)

    def _other(self, world: World, record: Record) -> Record:
        body = record.body
        if record.author != self._agent or not isinstance(body, Commit) or record.prev is None:
            return record
        ballot = Ballot(Choice.AGAINST, Reason.HARMFUL, Basis.MEMORY)
        nonce = plain_hash(record.id)
        twin = Commit(
            round=body.round,
            after=body.after,
            commitment=commitment(
                realm=world.realm,
                round_id=body.round,
                voter=self._agent,
                ballot=ballot,
                nonce=nonce,
            ),
            sealed=body.sealed,
        )
        self.said = _after(world, self._agent, (record.seq - 1, record.prev), twin, self._signer)
        return self.said


def _is_certified(world: World, phase: Phase) -> bool:
    """Tell whether any round's list of a phase is final here."""
    return any(
        slot_key(RoundSlot(round_id=name, phase=phase)) in world.certificates
        for name in world.rounds
    )


def _after(
    world: World,
    author: bytes,
    head: tuple[int, bytes],
    body: Body,
    signer: KeySigner,
    *,
    key_index: int = 0,
) -> Record:
    seq, prev = head
    return sign_record(
        body,
        realm=world.realm,
        signer=signer,
        author=author,
        key_index=key_index,
        seq=seq + 1,
        prev=prev,
        at=0,
    )
