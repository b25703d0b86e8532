"""What one guess at a passphrase costs: Argon2id, with its bounds (design: custody).

The cost stands in every key file, where whoever can write the file can change it. So it has
bounds on load: below, a file could be made cheap to guess before its owner changes the
passphrase; above, it could keep a node from starting for hours. No setting reaches these numbers.
"""

from dataclasses import dataclass
from typing import Final

from nacl.exceptions import CryptoError
from nacl.pwhash import argon2id

from node.base.errors import KeystoreError, NodeCode

_KEY_BYTES: Final = 32
_MIB: Final = 1024  # KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Memory and passes of one Argon2id run."""

    memory: int
    """KiB; Argon2id in libsodium needs at least 8."""
    passes: int
    """How often the memory is walked."""


LEAST: Final = Cost(memory=64 * _MIB, passes=3)
"""A key file that asks for less is refused: ~.1 s and 64 MiB a guess."""
DEFAULT: Final = LEAST
"""Of new keystores. More memory would be the node's peak: 250 MB is what an instance may use."""
MOST: Final = Cost(memory=1024 * _MIB, passes=16)
"""A key file that asks for more is refused: it would take 1 GiB for many seconds."""


def check_cost(cost: Cost, *, least: Cost) -> None:
    """Raise KeystoreError KEY_COST unless `cost` lies between `least` and MOST."""
    memory = least.memory <= cost.memory <= MOST.memory
    passes = least.passes <= cost.passes <= MOST.passes
    if not (memory and passes):
        raise KeystoreError(
            "keys not unlocked",
            why=f"a key file asks for {cost.memory} KiB and {cost.passes} passes of Argon2id; "
            f"allowed are {least.memory} to {MOST.memory} KiB and {least.passes} to "
            f"{MOST.passes} passes",
            fix="put back the backup of the key files; somebody has changed them",
            code=NodeCode.KEY_COST,
        )


def derive(passphrase: bytes, salt: bytes, cost: Cost) -> bytes:
    """Derive the 32-byte key of a keystore; takes as long as `cost` says.

    Raises KeystoreError KEYSTORE_FAILED if the machine has not that much memory.
    """
    try:
        return argon2id.kdf(
            _KEY_BYTES, passphrase, salt, opslimit=cost.passes, memlimit=cost.memory * 1024
        )
    except (CryptoError, MemoryError) as error:
        raise KeystoreError(
            "key not derived",
            why=f"Argon2id did not get its {cost.memory} KiB of memory",
            fix="give the process more memory",
            code=NodeCode.KEYSTORE_FAILED,
        ) from error
