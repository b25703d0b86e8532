"""Hashes under a domain, strict Ed25519, sealed ballots and commitments.

`hashing`     `digest(domain, …)`: every hash of the protocol names what it is a hash of
`signatures`  sign, verify (PyNaCl only: libraries disagree on odd signatures), the signers
`ballots`     the ballot, its commitment, and the sealed copy that only its key can open
"""

from federation.crypto.ballots import (
    SEALED_BYTES,
    Ballot,
    Basis,
    Choice,
    Reason,
    commitment,
    open_sealed,
    opens,
    seal,
)
from federation.crypto.hashing import Domain, digest, plain_hash
from federation.crypto.signatures import (
    BallotSigner,
    KeySigner,
    Signer,
    Verify,
    ballot_key,
    is_signed_by,
    keyed_hash,
    public_key,
    sign,
)

__all__ = [
    "SEALED_BYTES",
    "Ballot",
    "BallotSigner",
    "Basis",
    "Choice",
    "Domain",
    "KeySigner",
    "Reason",
    "Signer",
    "Verify",
    "ballot_key",
    "commitment",
    "digest",
    "is_signed_by",
    "keyed_hash",
    "open_sealed",
    "opens",
    "plain_hash",
    "public_key",
    "seal",
    "sign",
]
