"""Small proofs for the tests of this package: claims from fixed names, terms that take no time."""

from collections.abc import Callable
from typing import Final, TypedDict

from msgspec.structs import replace

from federation.admission import InForce, Mint, Terms, Work, blank_work, passes_gate
from federation.core import Digest, InstanceId, PublicKey, Realm
from federation.records import Role
from tests.builders import named


class Claims(TypedDict):
    """What a proof is bound to beside what its epoch asks for."""

    realm: Realm
    role: Role
    instance: InstanceId
    key: PublicKey


CLAIMS: Final[Claims] = {
    "realm": named("realm of a proof"),
    "role": Role.AGENT,
    "instance": named("instance of a proof"),
    "key": named("key of a proof"),
}
EPOCH: Final = 7


def terms(
    *, memory_kib: int = 8, passes: int = 1, parts: int = 3, bits: int = 3, gate_bits: int = 4
) -> Terms:
    return Terms(memory_kib=memory_kib, passes=passes, parts=parts, bits=bits, gate_bits=gate_bits)


def beacon(epoch: int) -> Digest:
    return named(f"beacon of tick {epoch}")


def asks(under: Terms, epoch: int = EPOCH) -> InForce:
    return InForce(terms=under, beacon=beacon(epoch))


def always(under: Terms) -> Callable[[int], InForce]:
    """Give the same terms for every epoch, each with its own beacon."""
    return lambda epoch: asks(under, epoch)


def blank(under: Terms, epoch: int = EPOCH) -> Work:
    return blank_work(**CLAIMS, epoch=epoch, beacon=beacon(epoch), terms=under)


def proof(under: Terms, epoch: int = EPOCH) -> Work:
    """Search for a proof to its end."""
    mint = Mint(blank=blank(under, epoch))
    progress = mint.start()
    while not progress.is_over:
        progress = mint.advance(progress, 100_000)
    return mint.finish(progress)


def gated(work: Work, *, opens: bool = True) -> Work:
    """Give a proof, good or bad, a gate that passes; or one that does not."""
    gates = (replace(work, gate=nonce.to_bytes(8, "big")) for nonce in range(2**24))
    return next(one for one in gates if passes_gate(one) is opens)
