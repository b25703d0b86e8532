"""Hashes under a domain, strict Ed25519, sealed ballots and arguments, commitments.

`hashing`     `digest(domain, …)`: every hash of the protocol names what it is a hash of
`signatures`  sign, verify (PyNaCl only: libraries disagree on odd signatures), the signers
`ballots`     the ballot, its commitment, and the sealed copy that only its key can open
`arguments`   the same for an assessment that is written before any other is read
"""

from federation.crypto.arguments import (
    Argued,
    Argument,
    SealedArgument,
    argument_commitment,
    argument_of,
    argument_opens,
    open_argument,
    seal_argument,
)
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
    argument_key,
    ballot_key,
    is_signed_by,
    keyed_hash,
    public_key,
    sign,
)

__all__ = [
    "SEALED_BYTES",
    "Argued",
    "Argument",
    "Ballot",
    "BallotSigner",
    "Basis",
    "Choice",
    "Domain",
    "KeySigner",
    "Reason",
    "SealedArgument",
    "Signer",
    "Verify",
    "argument_commitment",
    "argument_key",
    "argument_of",
    "argument_opens",
    "ballot_key",
    "commitment",
    "digest",
    "is_signed_by",
    "keyed_hash",
    "open_argument",
    "open_sealed",
    "opens",
    "plain_hash",
    "public_key",
    "seal",
    "seal_argument",
    "sign",
]
