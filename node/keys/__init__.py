"""The keystore: the secret keys of the identities that this instance keeps.

`identity`    an identity with its seeds, and what may be shown of one that is kept
`cost`        what a guess at the passphrase costs: Argon2id, its bounds
`key_file`    one identity as the bytes of one file: format, encryption, faults
`directory`   the files on disk: permissions, atomic replacement, a change of all of them
`keystore`    create, unlock, add, rotate, change the passphrase; gives signers
`openssh`     Ed25519 keys from and to the files of OpenSSH
`passphrase`  where a passphrase may come from

Seeds leave the files only into signers, which sign, seal and open, and never give them away. Two
doors are marked: an export to OpenSSH, and the seed of the instance for its libp2p host.
"""

from node.keys.cost import DEFAULT, LEAST, Cost
from node.keys.identity import Identity, Kept
from node.keys.keystore import Keystore
from node.keys.openssh import read_key, write_key
from node.keys.passphrase import obtain

__all__ = [
    "DEFAULT",
    "LEAST",
    "Cost",
    "Identity",
    "Kept",
    "Keystore",
    "obtain",
    "read_key",
    "write_key",
]
