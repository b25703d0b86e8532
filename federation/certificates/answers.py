"""What a member hands over: on request, again and again, and after the end.

Nothing here is a rule of agreement; it repairs losses. Requests are answered from what is held,
my latest messages are repeated until the slot is final, and afterwards everybody who speaks gets
the certificate (design: federation, rule 6).
"""

from collections.abc import Iterator

from federation.certificates.events import Send, Wanted
from federation.certificates.messages import Heard, Promise, Propose, Step
from federation.certificates.packets import (
    MOST_PARTS,
    MOST_WANTED,
    CertificatePacket,
    MessagePacket,
    PartsPacket,
)
from federation.certificates.parts import Part, PartKind
from federation.certificates.proofs import Certificate, lock_hash
from federation.certificates.state import said_by
from federation.certificates.turn import Turn, lock_part, value_part
from federation.core import Digest, InstanceId


def answer(turn: Turn, event: Wanted) -> None:
    """Hand over what was asked for and is held; once final, the certificate comes first."""
    names = event.hashes[:MOST_WANTED]
    parts = tuple(part for name in names for part in _part(turn, name))[:MOST_PARTS]
    if turn.state.certificate is not None:
        send_certificate(turn, turn.state.certificate, event.sender, parts)
        return
    for name in names:
        for heard in _message(turn, name):
            packet = MessagePacket(raw=heard.raw, signature=heard.signature)
            turn.actions.append(Send(to=event.sender, packet=packet))
    for part in parts:
        # One packet each: a blob alone may be larger than a frame.
        turn.actions.append(Send(to=event.sender, packet=PartsPacket(parts=(part,))))


def repeat(turn: Turn) -> None:
    """Repeat my latest message of each kind: any of them may have been lost."""
    if turn.me is None or not turn.pinned.others(turn.me):
        return
    for kind in Step:
        for heard in said_by(turn.state, kind, turn.me)[-1:]:
            packet = MessagePacket(
                raw=heard.raw, signature=heard.signature, parts=_companions(turn, heard)
            )
            turn.actions.append(Send(to=None, packet=packet))


def send_certificate(
    turn: Turn, certificate: Certificate, to: InstanceId, parts: tuple[Part, ...]
) -> None:
    """Answer somebody who still speaks in a slot that is final here."""
    packet = CertificatePacket(certificate=certificate, parts=parts)
    turn.actions.append(Send(to=to, packet=packet))


def _message(turn: Turn, name: Digest) -> Iterator[Heard]:
    for kept in (*turn.state.said.values(), tuple(turn.state.cited.values())):
        yield from (heard for heard in kept if heard.hash == name)


def _part(turn: Turn, name: Digest) -> Iterator[Part]:
    yield from value_part(turn, name)
    if name in turn.state.blobs:
        yield Part(kind=PartKind.BLOB, content=turn.state.blobs[name])
    if name in turn.state.locks:
        yield lock_part(turn.state.locks[name])
    elif turn.state.lock is not None and name == lock_hash(turn.state.lock):
        yield lock_part(turn.state.lock)


def _companions(turn: Turn, heard: Heard) -> tuple[Part, ...]:
    """Give the small parts that travel with a message; blobs are sent on request."""
    match heard.body:
        case Promise(lock_fence=int(fence), lock_digest=bytes(digest)):
            lock = turn.lock_for(fence, digest)
            return (*(() if lock is None else (lock_part(lock),)), *value_part(turn, digest))
        case Propose(digest=digest, lock=bytes(name)):
            lock = turn.state.locks.get(name)
            return (*(() if lock is None else (lock_part(lock),)), *value_part(turn, digest))
        case _:
            return ()
