"""Making an instance: a realm from the operating system's randomness, and its data directory.

`founding`  found a realm: fresh keys, signed genesis records, a charter
`genesis`   genesis.msgpack: written once, and read strictly
`instance`  write the data directory of one founding instance
`directory` a directory that appears whole, or not at all
`passphrase` the passphrase that a new instance makes for itself where nobody gives it one
"""

from node.setup.founding import Founded, Member, found_realm, found_solo
from node.setup.genesis import GenesisFile, genesis_bytes, read_genesis
from node.setup.instance import write_instance

__all__ = [
    "Founded",
    "GenesisFile",
    "Member",
    "found_realm",
    "found_solo",
    "genesis_bytes",
    "read_genesis",
    "write_instance",
]
