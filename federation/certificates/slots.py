"""Slots: the names of the small agreements, one for every phase of a round and one for every cut.

A slot's plain form is part of every message, digest and leader order, so it has exactly one
spelling: `[round, "commit"]` or `["cut", E, digest of the cut before]` (design: federation, certificates).
The digest of the cut before is inside, so that two histories never share a slot.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from federation.codec import encode
from federation.core import Code, Digest, PeerError, RoundId

_CUT: Final = "cut"
_HASH: Final = 32
_MOST: Final = 2**63


class Phase(StrEnum):
    """The phases of a round that end in a certified list."""

    FAST = "fast"
    SEAL = "seal"
    """Assessments are sealed: of the mode `sealed_first` only."""
    UNSEAL = "unseal"
    """They are opened."""
    DELIBERATE = "deliberate"
    TURN2 = "turn2"
    """Further turns of the mode `rounds`."""
    TURN3 = "turn3"
    TURN4 = "turn4"
    TURN5 = "turn5"
    COMMIT = "commit"
    COMMIT2 = "commit2"
    DECIDE = "decide"
    CONTEST = "contest"
    RULE = "rule"
    APPEAL = "appeal"
    """A ruling is contested."""
    ADMIN = "admin"
    """Operators decide by hand."""
    ASSESS = "assess"


VOIDABLE: Final = frozenset({Phase.COMMIT, Phase.RULE, Phase.ASSESS})
"""Phases that f+1 late witnesses make void: nothing is opened before them."""


_NAMES: Final = frozenset(phase.value for phase in Phase)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSlot:
    """The agreement on what counted when one phase of one round closed."""

    round_id: RoundId
    phase: Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class CutSlot:
    """The agreement on how far every author's chain had come."""

    number: int
    """E, from 1: cut 0 is the charter itself."""
    previous: Digest
    """Digest of the cut before's value."""


Slot: TypeAlias = RoundSlot | CutSlot
SlotPlain: TypeAlias = tuple[bytes, str] | tuple[str, int, bytes]


def slot_plain(slot: Slot) -> SlotPlain:
    """Give the plain form that goes into messages, digests and records."""
    if isinstance(slot, RoundSlot):
        return (slot.round_id, slot.phase.value)
    return (_CUT, slot.number, slot.previous)


def slot_from_plain(plain: object) -> Slot:
    """Read a slot's plain form; raises PeerError NOT_CANONICAL for anything else."""
    match plain:
        case (bytes(round_id), str(phase)) if len(round_id) == _HASH and phase in _NAMES:
            return RoundSlot(round_id=round_id, phase=Phase(phase))
        case (str(word), int(number), bytes(previous)) if (
            word == _CUT
            and not isinstance(number, bool)
            and 0 < number < _MOST
            and len(previous) == _HASH
        ):
            return CutSlot(number=number, previous=previous)
        case _:
            raise PeerError(
                "slot refused",
                why="it is neither [round, phase] nor ['cut', number, digest]",
                fix="name one phase of one round, or one cut after its predecessor",
                code=Code.NOT_CANONICAL,
            )


def slot_key(slot: Slot) -> bytes:
    """Give the canonical bytes of a slot: a key for maps and journals."""
    return encode(slot_plain(slot))
