"""Ids, integer quantities, errors and seeded draws: what every other package speaks in.

`ids`         the 32-byte names of identities, records, rounds and digests
`quantities`  Ppm, Micro, Weight, Millis: integers with their unit in the name
`errors`      FederationError and its tree: what, why, fix, code
`lots`        seeded draws for simulations and demos
"""

from federation.core.errors import (
    CallerError,
    Code,
    FederationError,
    ParameterError,
    PeerError,
    RefusedError,
)
from federation.core.ids import (
    NOBODY,
    AgentId,
    ArtifactId,
    Digest,
    IdentityId,
    InstanceId,
    OperatorId,
    PublicKey,
    Realm,
    RecordId,
    RoundId,
    Seed,
    Signature,
    short,
)
from federation.core.lots import Lots
from federation.core.quantities import MILLION, Micro, Millis, Ppm, Weight

__all__ = [
    "MILLION",
    "NOBODY",
    "AgentId",
    "ArtifactId",
    "CallerError",
    "Code",
    "Digest",
    "FederationError",
    "IdentityId",
    "InstanceId",
    "Lots",
    "Micro",
    "Millis",
    "OperatorId",
    "ParameterError",
    "PeerError",
    "Ppm",
    "PublicKey",
    "Realm",
    "RecordId",
    "RefusedError",
    "RoundId",
    "Seed",
    "Signature",
    "Weight",
    "short",
]
