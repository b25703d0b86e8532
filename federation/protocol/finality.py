"""`certificate.final`: certificates as records of the log (design: federation, certificates).

The first voice in leader order files a certificate at once; the others file it only if nobody did
within their turn, so that the log holds one copy in good times and still one when voices are down.
"""

from typing import Final

from federation.certificates import (
    Certificate,
    Slot,
    slot_from_plain,
    slot_key,
    value_plain,
    verify_certificate,
)
from federation.codec import decode_plain, encode
from federation.core import PeerError
from federation.protocol.shelf import certificate_in
from federation.protocol.turn import Turn
from federation.protocol.world import Filing, World
from federation.records import CertificateFinal, Record
from federation.records.bodies import Seal

PATIENCE: Final = 2
"""Cuts that may pass without a copy of a certificate that the log holds."""


def body_of(certificate: Certificate) -> CertificateFinal:
    """Give the record's body that stores a certificate."""
    return CertificateFinal(
        slot=slot_key(certificate.slot),
        value=encode(value_plain(certificate.value)),
        fence=certificate.fence,
        seals=tuple(Seal(one.voice, one.counter, one.signature) for one in certificate.seals),
    )


def slot_in(body: CertificateFinal) -> Slot:
    """Read the slot of a record's certificate; raises PeerError NOT_CANONICAL."""
    return slot_from_plain(decode_plain(body.slot, what="slot"))


def proven(world: World, record: Record) -> Certificate | None:
    """Give the verified certificate of a record, or None if it does not prove one here.

    A slot whose pinned world is not known here proves nothing yet.
    """
    if not isinstance(record.body, CertificateFinal):
        return None
    try:
        certificate = certificate_in(record.body)
        pinned = world.pinned(certificate.slot)
        if pinned is None:
            return None
        verify_certificate(certificate, pinned, verify=world.verify)
    except PeerError:
        return None
    return certificate


def proven_once(world: World, record: Record) -> Certificate | None:
    """Give what `proven` gives, and remember it until a cut contains the record.

    A cut that waits for its closure looks at each of its certificates again and again.
    """
    known = world.proofs.get(record.id)
    if known is None:
        known = proven(world, record)
        if known is not None:
            world.proofs[record.id] = known
    return known


def schedule(turn: Turn, slot: Slot) -> None:
    """Plan to file a final certificate, after the voices that come before this one."""
    world = turn.world
    key = slot_key(slot)
    if world.me is None or key in world.certificates.contained or key in world.to_file:
        return
    pinned = world.pinned(slot)
    voices = [member.voice for member in pinned.members] if pinned else []
    me = world.me.instance
    rank = voices.index(me) if me in voices else len(voices)
    due = turn.now + 2 * rank * world.charter.timing.leader_timer
    world.to_file[key] = Filing(due=due, cut=world.state.cut)
    turn.wake_at(due)


def file_due(turn: Turn) -> None:
    """File the certificates whose turn has come and that nobody has filed for good.

    A copy in the log is not enough: a home could file its certificates on a branch that no cut
    will ever contain, and its rounds would never end. So the duty ends when a *cut* contains a
    copy; if that takes longer than two cuts, whoever waits files its own.
    """
    world = turn.world
    for key, filing in sorted(world.to_file.items()):
        others = key in world.filed and world.state.cut < filing.cut + PATIENCE
        if key in world.certificates.contained:
            del world.to_file[key]
        elif filing.due <= turn.now and not others:
            record = turn.say(body_of(world.certificates[key]))
            if record is None:
                return
            world.filed[key] = record.id
            del world.to_file[key]
