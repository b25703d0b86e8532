"""The agreement of the vectors: four members, one slot of each kind, and one good thing of each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from federation.certificates import (
    VOID,
    Body,
    Certificate,
    CertificatePacket,
    Cosign,
    CutSlot,
    CutValue,
    CutWitness,
    Endorsement,
    ListValue,
    ListWitness,
    Lock,
    Member,
    MessagePacket,
    Opened,
    Packet,
    Part,
    PartKind,
    PartsPacket,
    Phase,
    Pinned,
    Position,
    Promise,
    Propose,
    RoundSlot,
    Seal,
    Slot,
    Value,
    WantPacket,
    blob_hash,
    chains_blob,
    message_for,
    packet_bytes,
    pin,
    positions_blob,
    signing_payload,
    value_bytes,
    value_digest,
)
from federation.certificates.proofs import lock_bytes, lock_hash
from federation.core import InstanceId, OperatorId, Seed
from federation.crypto import plain_hash, public_key, sign
from tests.vectors.vector_bodies import REALM, ROUND, fixed

CHARTER: Final = fixed("charter")
MOST: Final = 2**63 - 1
MOST_COUNTER: Final = 2**53 - 1
N: Final = 4
ROUND_SLOTS: Final = tuple(RoundSlot(round_id=ROUND, phase=phase) for phase in Phase)
CUT_SLOT: Final = CutSlot(number=41, previous=fixed("cut 40"))
SLOTS: Final[tuple[Slot, ...]] = (*ROUND_SLOTS, CUT_SLOT)
BOX: Final = RoundSlot(round_id=ROUND, phase=Phase.COMMIT)
"""The commit slot, where most of the vectors are."""
IDS: Final = tuple(sorted(fixed(f"record {index}") for index in range(3)))


def voice(index: int) -> InstanceId:
    """Name a member's voice."""
    return fixed(f"voice {index}")


def slot_name(slot: Slot) -> str:
    """Name a slot in the file: its phase, or `cut`."""
    return slot.phase.value if isinstance(slot, RoundSlot) else "cut"


def operator(index: int) -> OperatorId:
    """Name a member."""
    return fixed(f"member {index}")


def seed(index: int) -> Seed:
    """Give the signing seed of a member's voice."""
    return fixed(f"voice seed {index}")


def pinned(slot: Slot, *, home: InstanceId | None = None) -> Pinned:
    """Pin a slot of four members; the home of its round is voice 2 unless said otherwise."""
    return pin(
        realm=REALM,
        charter_hash=CHARTER,
        slot=slot,
        members=[
            Member(operator=operator(index), voice=voice(index), key=public_key(seed(index)))
            for index in range(N)
        ],
        home=home or voice(2),
        three_available=False,
    )


def said(index: int, slot: Slot, counter: int, body: Body) -> tuple[bytes, bytes]:
    """Give message and signature of what a voice says."""
    raw = message_for(pinned(slot), voice(index), counter, body)
    return raw, sign(seed(index), signing_payload(raw))


def votes(
    slot: Slot, step: type[Cosign | Seal], fence: int, digest: bytes, who: Sequence[int]
) -> tuple[Endorsement, ...]:
    """Give the compact signatures of some voices, by voice."""
    rows = [
        Endorsement(
            voice=voice(index),
            counter=100 + index,
            signature=said(index, slot, 100 + index, step(fence=fence, digest=digest))[1],
        )
        for index in who
    ]
    return tuple(sorted(rows, key=lambda one: one.voice))


def values() -> dict[str, tuple[Slot, Value]]:
    """One or more values of every kind of slot."""
    secrets = sorted((operator(index), index) for index in range(3))
    cut = CutValue(
        number=41,
        tick=True,
        positions=blob_hash(positions()),
        world=fixed("world 40"),
        secrets=tuple(
            Opened(
                member=name,
                secret=None if index == 1 else fixed(f"secret {index}"),
                next_hash=plain_hash(fixed(f"next secret {index}")),
            )
            for name, index in secrets
        ),
    )
    lists = {slot.phase.value: (slot, ListValue(records=IDS)) for slot in ROUND_SLOTS}
    return {
        **lists,
        "an empty list": (ROUND_SLOTS[0], ListValue(records=())),
        "a void box": (BOX, VOID),
        "a cut": (CUT_SLOT, cut),
        "a cut without a quorum's secrets": (
            CUT_SLOT,
            msgspec.structs.replace(cut, tick=False, secrets=()),
        ),
    }


def bodies() -> Iterator[tuple[str, Slot, Body]]:
    """Every kind of message in both kinds of slots."""
    digest = value_digest(*values()["commit"])
    lock_name = lock_hash(lock())
    named = tuple(sorted(fixed(f"message {index}") for index in range(3)))
    yield "a witness of nothing", BOX, ListWitness(ids=(), late=False)
    yield "a late witness", BOX, ListWitness(ids=IDS, late=True)
    yield (
        "a fresh proposal",
        BOX,
        Propose(fence=0, digest=digest, witnesses=named, promises=(), lock=None),
    )
    yield (
        "a fresh proposal above fence 0",
        BOX,
        Propose(fence=1, digest=digest, witnesses=named, promises=named, lock=None),
    )
    yield (
        "a proposal under a lock",
        BOX,
        Propose(fence=5, digest=digest, witnesses=(), promises=named, lock=lock_name),
    )
    yield "a cosign", BOX, Cosign(fence=0, digest=digest)
    yield "a seal", BOX, Seal(fence=2**31, digest=digest)
    yield "a promise", BOX, Promise(fence=1, lock_fence=None, lock_digest=None)
    yield "a promise with a lock", BOX, Promise(fence=MOST, lock_fence=3, lock_digest=digest)
    yield (
        "a witness of a cut",
        CUT_SLOT,
        CutWitness(
            chains=blob_hash(chains()),
            tick=True,
            world=fixed("world 40"),
            secret=fixed("secret 0"),
            next_hash=plain_hash(fixed("next secret 0")),
        ),
    )
    yield (
        "a seal of a cut",
        CUT_SLOT,
        Seal(fence=1, digest=value_digest(*values()["a cut"])),
    )
    for slot in ROUND_SLOTS:
        yield f"a witness of {slot.phase.value}", slot, ListWitness(ids=IDS[:1], late=False)


def lock() -> Lock:
    """Three cosigns of the box at fence 3."""
    digest = value_digest(*values()["commit"])
    return Lock(fence=3, digest=digest, cosigns=votes(BOX, Cosign, 3, digest, (0, 1, 3)))


def certificates() -> dict[str, Certificate]:
    """One certificate of every value, and one that all members sealed."""
    found = {
        name: Certificate(
            slot=slot,
            value=value,
            fence=index,
            seals=votes(slot, Seal, index, value_digest(slot, value), (0, 2, 3)),
        )
        for index, (name, (slot, value)) in enumerate(values().items())
    }
    slot, value = values()["commit"]
    every = votes(slot, Seal, MOST, value_digest(slot, value), range(N))
    found["all seals, at the last fence"] = Certificate(
        slot=slot, value=value, fence=MOST, seals=every
    )
    return found


def parts() -> dict[str, Part]:
    """One part of every kind."""
    return {
        "value": Part(kind=PartKind.VALUE, content=value_bytes(*values()["commit"])),
        "lock": Part(kind=PartKind.LOCK, content=lock_bytes(lock())),
        "chains": Part(kind=PartKind.BLOB, content=chains()),
        "positions": Part(kind=PartKind.BLOB, content=positions()),
    }


def packets() -> Mapping[str, tuple[Slot, bytes]]:
    """One packet of every kind."""
    one = parts()
    raw, signature = said(1, BOX, 7, Cosign(fence=3, digest=lock().digest))
    kinds: dict[str, tuple[Slot, Packet]] = {
        "message": (BOX, MessagePacket(raw=raw, signature=signature)),
        "message with parts": (
            BOX,
            MessagePacket(raw=raw, signature=signature, parts=(one["lock"], one["value"])),
        ),
        "parts": (CUT_SLOT, PartsPacket(parts=(one["chains"],))),
        "want": (BOX, WantPacket(hashes=IDS)),
        "final": (BOX, CertificatePacket(certificate=certificates()["commit"])),
        "final cut": (
            CUT_SLOT,
            CertificatePacket(certificate=certificates()["a cut"], parts=(one["positions"],)),
        ),
    }
    return {
        name: (slot, packet_bytes(pinned(slot), packet)) for name, (slot, packet) in kinds.items()
    }


def chains() -> bytes:
    """Give the blob of what a member holds above cut 40."""
    held: dict[bytes, Sequence[Sequence[bytes]]] = {
        fixed("author 0"): [IDS[:1], IDS[1:]],
        fixed("author 1"): [[fixed("record 3")]],
    }
    return chains_blob(held, beacon=fixed("beacon 40"))


def positions() -> bytes:
    """Give the blob of where cut 41 stands."""
    return positions_blob(
        {
            fixed("author 0"): Position(seq=12, head=IDS[0]),
            fixed("author 1"): Position(seq=MOST, head=fixed("record 3")),
            fixed("author 2"): Position(seq=0, head=fixed("author 2")),
        }
    )
