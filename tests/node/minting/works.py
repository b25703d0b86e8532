"""Proofs to search for: with real puzzles that are solved in milliseconds, or never."""

from federation.admission import Terms, Work, blank_work
from federation.records import Role
from tests.builders import named


def blank(
    *,
    bits: int = 3,
    parts: int = 3,
    gate_bits: int = 4,
    memory_kib: int = 8,
    epoch: int = 7,
    key: int = 1,
) -> Work:
    """Write a proof that is to be searched for."""
    return blank_work(
        realm=named("realm"),
        role=Role.AGENT,
        instance=named("instance"),
        key=named("key", key),
        epoch=epoch,
        beacon=named("beacon", epoch),
        terms=Terms(memory_kib=memory_kib, passes=1, parts=parts, bits=bits, gate_bits=gate_bits),
    )


def endless() -> Work:
    """Write one whose parts nobody finds while a test lasts, although a try takes microseconds."""
    return blank(bits=32)
