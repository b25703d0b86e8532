"""Lying members, each a small class with the real keys (design: federation, adversaries).

`liar`        what they share: read, rewrite, withhold, sign anything
`twins`       two faces under one key; the home that shows a quorum to one victim
`leaders`     ignore locks, invent them, propose to a few, stall
`promisers`   withhold or deny locks, raise fences out of reach
`witnesses`   name records that do not exist
`whisperers`  certificates for one, forgeries for one, late votes for one
`authors`     disown, vote late, vote twice, fork
`rollback`    restored from an old backup
"""

from federation.simulation.network.adversaries.authors import (
    Disowner,
    DoubleVoter,
    LateForker,
    LateVoter,
)
from federation.simulation.network.adversaries.leaders import (
    LockIgnorer,
    LockInventor,
    SelectiveLeader,
    StallingLeader,
)
from federation.simulation.network.adversaries.liar import Liar
from federation.simulation.network.adversaries.promisers import (
    FenceRaiser,
    LockDenier,
    LockWithholder,
)
from federation.simulation.network.adversaries.rollback import RolledBack
from federation.simulation.network.adversaries.twins import EquivocatingHome, Twins
from federation.simulation.network.adversaries.whisperers import (
    CertificateWithholder,
    ForgedMembers,
    LateFeeder,
)
from federation.simulation.network.adversaries.witnesses import InventedIds

__all__ = [
    "CertificateWithholder",
    "Disowner",
    "DoubleVoter",
    "EquivocatingHome",
    "FenceRaiser",
    "ForgedMembers",
    "InventedIds",
    "LateFeeder",
    "LateForker",
    "LateVoter",
    "Liar",
    "LockDenier",
    "LockIgnorer",
    "LockInventor",
    "LockWithholder",
    "RolledBack",
    "SelectiveLeader",
    "StallingLeader",
    "Twins",
]
