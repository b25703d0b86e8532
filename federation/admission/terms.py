"""How much work a registration takes, what no proof may exceed, and how the work adapts.

A charter says the terms; the number of bits moves by a public rule with the number of admissions,
so that every node knows it. The limits stand here, and neither a charter nor a proof may pass
them: they bound what a stranger can make a verifier compute.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from federation.charter import Admission
from federation.core import Digest, ParameterError
from federation.records import Role

LEAST_MEMORY_KIB: Final = 8
"""Less memory Argon2 does not take with one lane."""
MOST_MEMORY_KIB: Final = 262_144
"""256 MiB: what a small machine can spare for one verification."""
MOST_PASSES: Final = 4
MOST_PARTS: Final = 16
MOST_BITS: Final = 32
MOST_GATE_BITS: Final = 40

_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "memory_kib": (LEAST_MEMORY_KIB, MOST_MEMORY_KIB),
    "passes": (1, MOST_PASSES),
    "parts": (1, MOST_PARTS),
    "bits": (0, MOST_BITS),
    "gate_bits": (0, MOST_GATE_BITS),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a proof has to show. Raises ParameterError if a field is outside its limits."""

    memory_kib: int
    """Memory of one Argon2id hash in KiB, 8 to 262,144."""
    passes: int
    """Passes of Argon2id over that memory, 1 to 4."""
    parts: int
    """Sub-puzzles, 1 to 16: the more, the less luck decides how long a search takes."""
    bits: int
    """Leading zero bits of each sub-puzzle, 0 to 32: one more doubles the work."""
    gate_bits: int
    """Leading zero bits of the SHA-256 gate, 0 to 40: what junk costs before Argon2 runs."""

    def __post_init__(self) -> None:
        """Hold each field to its limits."""
        for name, (least, most) in _RANGES.items():
            value: int = getattr(self, name)
            if not least <= value <= most:
                raise ParameterError(
                    "terms of the puzzle refused",
                    why=f"{name} is {value}",
                    fix=f"choose {name} from {least} to {most}",
                )

    def are_met_by(self, offer: "Terms") -> bool:
        """Tell whether a proof under `offer` has at least the work that is asked for here.

        More zero bits are welcome, for they cost a verifier nothing. Memory, passes and parts are
        what it pays with, so they have to be those that were asked for: otherwise a stranger would
        choose how long each junk proof keeps it busy.
        """
        return (
            offer.memory_kib == self.memory_kib
            and offer.passes == self.passes
            and offer.parts == self.parts
            and offer.bits >= self.bits
            and offer.gate_bits >= self.gate_bits
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """What an epoch asks of a proof."""

    terms: Terms
    """The work it has to show."""
    beacon: Digest
    """The beacon it has to be bound to, that of the tick which began the epoch; 32 bytes.

    Nobody knows it before that tick, so no proof can be computed ahead. Only the first beacon of a
    realm is public from the start.
    """


def asks_nothing(admission: Admission) -> bool:
    """Tell whether a charter asks for no proof at all, as only one of the preset `test` may."""
    return not (admission.agent_bits or admission.operator_bits or admission.gate_bits)


def terms_of(admission: Admission, role: Role, bits: int) -> Terms:
    """Give what a charter asks of an agent or an operator while agents' parts have `bits` zeros.

    An operator's parts have as many more as the charter puts between the two, and neither more than
    any proof can show: also under a charter that breaks its own rules.
    """
    extra = admission.operator_bits - admission.agent_bits if role is Role.OPERATOR else 0
    return Terms(
        memory_kib=admission.memory_kib,
        passes=admission.passes,
        parts=admission.parts,
        bits=min(MOST_BITS, max(0, bits + extra)),
        gate_bits=admission.gate_bits,
    )


def next_bits(bits: int, admitted: int, *, base: int, target: int, most: int) -> int:
    """Give the bits of the next epoch from those of the one that ended (design: registration).

    One more if over twice `target` were admitted, one less if under half of it, else the same;
    always from `base` to `most`, also after a charter moved these. Raises ParameterError unless
    0 <= base <= most <= 32, target >= 1 and admitted >= 0.
    """
    if not 0 <= base <= most <= MOST_BITS:
        raise _refused(
            f"it runs from {base} to {most} bits", f"let 0 <= base <= most <= {MOST_BITS}"
        )
    if target < 1 or admitted < 0:
        raise _refused(
            f"{admitted} were admitted where {target} are expected",
            "expect at least 1 admission an epoch, and count from 0",
        )
    if admitted > 2 * target:
        bits += 1
    elif 2 * admitted < target:
        bits -= 1
    return min(most, max(base, bits))


def _refused(why: str, fix: str) -> ParameterError:
    return ParameterError("bits of the puzzle not adapted", why=why, fix=fix)
