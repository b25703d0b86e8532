"""`certificate.final`: certificates as records of the log (design: federation, certificates).

The first voice in leader order files a certificate at once; the others file it only if nobody did
within their turn, so that the log holds one copy in good times and still one when voices are down.
"""

from federation.certificates import (
    Certificate,
    Slot,
    certificate_from_plain,
    slot_key,
    value_plain,
    verify_certificate,
)
from federation.codec import decode_plain, encode
from federation.core import PeerError
from federation.protocol.turn import Turn
from federation.protocol.world import World
from federation.records import CertificateFinal, Record
from federation.records.bodies import Seal


def body_of(certificate: Certificate) -> CertificateFinal:
    """Give the record's body that stores a certificate."""
    return CertificateFinal(
        slot=slot_key(certificate.slot),
        value=encode(value_plain(certificate.value)),
        fence=certificate.fence,
        seals=tuple(Seal(one.voice, one.counter, one.signature) for one in certificate.seals),
    )


def certificate_in(body: CertificateFinal) -> Certificate:
    """Read the certificate of a record; raises PeerError NOT_CANONICAL. Verifies nothing."""
    seals: list[list[object]] = [[seal.voice, seal.counter, seal.signature] for seal in body.seals]
    slot = decode_plain(body.slot, what="slot")
    value = decode_plain(body.value, what="value")
    return certificate_from_plain([slot, value, body.fence, seals])


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


def schedule(turn: Turn, slot: Slot) -> None:
    """Plan to file a final certificate, after the voices that come before this one."""
    world = turn.world
    key = slot_key(slot)
    if world.me is None or key in world.filed or key in world.to_file:
        return
    pinned = world.pinned(slot)
    voices = [member.voice for member in pinned.members] if pinned else []
    me = world.me.instance
    rank = voices.index(me) if me in voices else len(voices)
    world.to_file[key] = turn.now + 2 * rank * world.charter.timing.leader_timer
    turn.wake_at(world.to_file[key])


def file_due(turn: Turn) -> None:
    """File the certificates whose turn has come and that nobody has filed."""
    world = turn.world
    for key, due in sorted(world.to_file.items()):
        if key in world.filed:
            del world.to_file[key]
        elif due <= turn.now:
            record = turn.say(body_of(world.certificates[key]))
            if record is None:
                return
            world.filed[key] = record.id
            del world.to_file[key]
