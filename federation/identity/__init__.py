"""Who may speak, and with which key: the key event log of an identity, and proofs of forks.

`key_state`  the keys of an identity after each of its records; which key must have signed one
`forks`      two signed statements at one place of one chain: make the proof, check the proof

Every judgement here depends on one author's own chain only, so that all nodes store the same
records whatever else they have seen (design: records, identities and their keys).
"""

from federation.identity.forks import Fork, KeyOf, fork_proof, verify_fork
from federation.identity.key_state import (
    MOST_ROTATIONS,
    KeyState,
    advanced,
    incepted,
    signing_key,
    statement_key,
)

__all__ = [
    "MOST_ROTATIONS",
    "Fork",
    "KeyOf",
    "KeyState",
    "advanced",
    "fork_proof",
    "incepted",
    "signing_key",
    "statement_key",
    "verify_fork",
]
