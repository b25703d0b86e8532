"""Certificates of a round as readers see them: what was made final, at which fence, by whom."""

import msgspec

from federation.certificates import Certificate, ListValue, Phase, RoundSlot, VoidValue, slot_key
from federation.protocol import Round, World
from federation.review import course
from node.queries.names import Who, who


class Certified(msgspec.Struct, frozen=True, kw_only=True):
    """One phase that a quorum has made final."""

    phase: Phase
    """The phase that ended."""
    digest: str
    """Digest of slot and list, in hex: what the records of the next phase name in `after`."""
    fence: int
    """At which try the members agreed, from 0."""
    seals: int
    """Signatures under it."""
    voices: tuple[Who, ...]
    """Instances that sealed it."""
    listed: int
    """Records that it lists."""
    void: bool
    """The phase ended too late: nothing counts and nothing was opened."""
    held: bool
    """All records that it lists are held here: only then does it act here."""
    contained: bool
    """A cut contains it: it is part of the certified world and never undone."""


def certified_of(world: World, one: Round) -> tuple[Certified, ...]:
    """List the certificates of a round that are held here, in the order of its phases."""
    order = list(course(one.pin, one.finals).after)
    order += [phase for phase in Phase if phase not in order]
    found = ((phase, certificate_of(world, one, phase)) for phase in order)
    return tuple(
        _shown(world, one, phase, certificate) for phase, certificate in found if certificate
    )


def certificate_of(world: World, one: Round, phase: Phase) -> Certificate | None:
    """Give the verified certificate of one phase; None if it is not held here."""
    return world.certificates.get(slot_key(RoundSlot(round_id=one.pin.round, phase=phase)))


def _shown(world: World, one: Round, phase: Phase, certificate: Certificate) -> Certified:
    value, digest = certificate.value, certificate.digest
    return Certified(
        phase=phase,
        digest=digest.hex(),
        fence=certificate.fence,
        seals=len(certificate.seals),
        voices=tuple(who(world, seal.voice) for seal in certificate.seals),
        listed=len(value.records) if isinstance(value, ListValue) else 0,
        void=isinstance(value, VoidValue),
        held=phase in one.finals,
        contained=digest in world.state.decided.get(one.pin.round, ()),
    )
