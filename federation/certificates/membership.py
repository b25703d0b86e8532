"""Who takes part in one slot, how many must agree, and who leads which fence.

`quorum` is where n becomes f and q for an agreement; the arithmetic is the charter's (design:
federation, membership and the table of what each n survives). `Pinned` is everything about a slot
that the world fixes when the slot opens; it never changes until the slot ends, whoever joins,
leaves or rotates meanwhile.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from federation.certificates.slots import CutSlot, Slot, slot_plain
from federation.charter import quorum_of
from federation.codec import encode
from federation.core import Digest, InstanceId, OperatorId, ParameterError, PublicKey, Realm
from federation.crypto import Domain, plain_hash

MOST_MEMBERS: Final = 256
"""Largest membership: bounds every list of voices in a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """n members, f of which may lie, q of which must agree."""

    n: int
    f: int
    q: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One operator and the instance that speaks for it in this slot."""

    operator: OperatorId
    voice: InstanceId
    key: PublicKey
    """The voice's signing key in the pinned world; good until the slot ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """What the pinned world fixes for one slot."""

    realm: Realm
    charter_hash: Digest
    slot: Slot
    members: tuple[Member, ...]
    """In leader order: the member at index k mod n leads fence k."""
    quorum: Quorum

    def leader(self, fence: int) -> InstanceId:
        """Name the voice that leads a fence; the home leads fence 0 of a round."""
        return self.members[fence % len(self.members)].voice

    def member(self, voice: InstanceId) -> Member | None:
        """Find the member that `voice` speaks for, or None if it speaks for nobody here."""
        for member in self.members:
            if member.voice == voice:
                return member
        return None

    def others(self, me: InstanceId | None) -> tuple[InstanceId, ...]:
        """List all voices but mine, in leader order."""
        return tuple(member.voice for member in self.members if member.voice != me)


def quorum(n: int, *, three_available: bool) -> Quorum:
    """Turn a head count into f and q.

    Three operators agree unanimously, unless the charter says `three: available`: then two of
    them suffice and nobody may lie. Raises ParameterError unless 1 ≤ n ≤ 256.
    """
    if not 1 <= n <= MOST_MEMBERS:
        raise ParameterError(
            "membership refused",
            why=f"{n} members, the range is 1 to {MOST_MEMBERS}",
            fix="found the realm with at least one operator, or split it",
        )
    found = quorum_of(n, three="available" if three_available else "strict")
    return Quorum(n=n, f=found.f, q=found.q)


def leader_order(
    realm: Realm, slot: Slot, members: Iterable[Member], home: InstanceId | None
) -> tuple[Member, ...]:
    """Order members as leaders: the home first, then by SHA-256 of realm, slot and voice.

    A cut has no home; `home` is ignored there, and wherever it is nobody's voice.
    """
    first = None if isinstance(slot, CutSlot) else home

    def place(member: Member) -> tuple[bool, bytes]:
        words = [Domain.ORDER.value.decode(), realm, slot_plain(slot), member.voice]
        return member.voice != first, plain_hash(encode(words))

    return tuple(sorted(members, key=place))


def pin(
    *,
    realm: Realm,
    charter_hash: Digest,
    slot: Slot,
    members: Iterable[Member],
    home: InstanceId | None,
    three_available: bool,
) -> Pinned:
    """Put a slot's pinned world together: leader order and quorum follow from the members.

    `members` holds each operator and each voice once. Raises ParameterError otherwise, or if
    there are none.
    """
    ordered = leader_order(realm, slot, members, home)
    operators = {member.operator for member in ordered}
    voices = {member.voice for member in ordered}
    if len(operators) != len(ordered) or len(voices) != len(ordered):
        raise ParameterError(
            "membership refused",
            why="an operator or a voice stands in it twice",
            fix="list every operator once, with one voice",
        )
    return Pinned(
        realm=realm,
        charter_hash=charter_hash,
        slot=slot,
        members=ordered,
        quorum=quorum(len(ordered), three_available=three_available),
    )
