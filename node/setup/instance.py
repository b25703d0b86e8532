"""The data directory of one founding instance: genesis, settings, keys, the operator's token.

It appears whole or not at all, so an interrupted `folkmoot init` leaves nothing half made. Before
it appears, everything that was written is read back by the functions that a running node uses.
"""

from collections.abc import Iterable
from pathlib import Path

from federation.core import Millis
from node.access.tokens import write_operator_token
from node.base.entropy import Entropy, random_bytes
from node.base.paths import DataDir, make_private, write_private
from node.base.settings import Settings, load, spell
from node.keys import DEFAULT, Cost, Identity, Keystore
from node.setup.directory import whole
from node.setup.founding import Founded, Member
from node.setup.genesis import genesis_bytes, read_genesis


def write_instance(
    place: Path,
    founded: Founded,
    *,
    passphrase: bytes,
    settings: Settings,
    instance: int = 0,
    keep: Iterable[Member] | None = None,
    entropy: Entropy = random_bytes,
    cost: Cost = DEFAULT,
    now: Millis = 0,
) -> DataDir:
    """Write the data directory of one instance of a new realm.

    `instance` is its index in the founding. `keep` are those whose keys it keeps; left out, they
    are its operator, itself and its agents. `cost` is what one try at the passphrase costs, `now`
    Unix time in ms for the operator's token. Raises NodeError ALREADY_INITIALISED or NOT_WRITTEN,
    and leaves nothing half made.
    """
    members = founded.kept_by(instance) if keep is None else tuple(keep)
    with whole(place) as scratch:
        data = DataDir(scratch)
        write_private(data.genesis, genesis_bytes(founded.founding))
        write_private(data.settings, spell(settings).encode())
        make_private(data.keys)
        keystore = Keystore.create(data.keys, passphrase, entropy=entropy, cost=cost)
        for member in members:
            keystore.add(_identity(member))
        write_operator_token(data, entropy, now=now)
        read_genesis(data.genesis)
        load(data.settings, {})
    return DataDir(place)


def _identity(member: Member) -> Identity:
    return Identity(
        id=member.id,
        role=member.role,
        name=member.name,
        seeds=(member.keys.current,),
        next=member.keys.next,
        recovery=member.keys.recovery,
    )
