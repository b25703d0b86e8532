"""Rule 6: q seals are final, at any fence and at any time.

Certificates of one slot may differ in fence and signers, never in digest. Once one is held, all
else of the slot is forgotten, and whoever still speaks is answered with it (design: federation,
member rules and finality).
"""

from dataclasses import replace

from federation.certificates.events import Final, KeepCertificate, Send
from federation.certificates.messages import Seal, Step
from federation.certificates.packets import CertificatePacket
from federation.certificates.parts import Part, PartKind
from federation.certificates.proofs import Certificate, endorsements
from federation.certificates.state import SlotState, agreeing
from federation.certificates.turn import Turn
from federation.certificates.values import Value, value_blobs


def certify(turn: Turn) -> None:
    """Rule 6: q seals of one fence and digest are final; tell everybody."""
    if turn.state.is_final:
        return
    for body, votes in agreeing(turn.state, turn.pinned, Step.SEAL, Seal):
        value = turn.value(body.digest, [heard.voice for heard in votes])
        if value is not None:
            certificate = Certificate(
                slot=turn.pinned.slot,
                value=value,
                fence=body.fence,
                seals=endorsements(votes, turn.pinned.quorum.q),
            )
            accept(turn, certificate, tell=True)
            return


def accept(turn: Turn, certificate: Certificate, *, tell: bool) -> None:
    """Make a verified certificate mine; `tell` sends it to all other members.

    The blobs of its value are held. Everything else of the slot is forgotten: from now on every
    message is answered with the certificate.
    """
    parts = blob_parts(turn.state, certificate.value)
    blobs = {name: turn.state.blobs[name] for name in value_blobs(certificate.value)}
    turn.state = replace(_bare(turn.state), certificate=certificate, blobs=blobs)
    turn.actions.append(KeepCertificate(certificate=certificate, parts=parts))
    if tell and turn.pinned.others(turn.me):
        turn.actions.append(Send(to=None, packet=CertificatePacket(certificate=certificate)))
    turn.actions.append(Final(certificate=certificate, parts=parts))


def blob_parts(state: SlotState, value: Value) -> tuple[Part, ...]:
    """Give the blobs of a value, all of which are held."""
    return tuple(Part(kind=PartKind.BLOB, content=state.blobs[name]) for name in value_blobs(value))


def _bare(state: SlotState) -> SlotState:
    """Keep of a state only what I signed."""
    return SlotState(
        fence=state.fence,
        witnessed=state.witnessed,
        proposed=state.proposed,
        cosigned=state.cosigned,
        sealed=state.sealed,
        lock=state.lock,
        counter=state.counter,
        muted=state.muted,
        window_ended=state.window_ended,
        faulty=state.faulty,
        diverged=state.diverged,
    )
