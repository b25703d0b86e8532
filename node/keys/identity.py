"""An identity whose keys are kept here: with its seeds, and without.

`Identity` is what goes in and holds secrets, so its text shows none. `Kept` is what anybody who
works here may see. Keys are numbered as in the key log: `key_index` is the number of rotations
before the key became current (design: identities and their keys).
"""

from dataclasses import dataclass, field
from typing import Final

from federation.core import IdentityId, ParameterError, PublicKey, Seed
from federation.identity import MOST_ROTATIONS
from federation.records import Role

_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """An identity and its seeds; raises ParameterError if one is no seed, or there is none."""

    id: IdentityId
    role: Role
    name: str
    """As in its inception; 1 to 128 characters."""
    seeds: tuple[Seed, ...] = field(repr=False)
    """By key_index; the last is current. Earlier ones open what was sealed before a rotation."""
    next: Seed | None = field(default=None, repr=False)
    """The key that its last key event committed to; None if it is kept elsewhere."""
    recovery: Seed | None = field(default=None, repr=False)
    """The key that undoes a theft; best kept elsewhere, and then None."""

    def __post_init__(self) -> None:
        """Refuse what could not be read back."""
        extra = tuple(seed for seed in (self.next, self.recovery) if seed is not None)
        if not 1 <= len(self.seeds) <= MOST_ROTATIONS + 1:
            raise _refused(f"it has {len(self.seeds)} seeds, not 1 to {MOST_ROTATIONS + 1}")
        if any(len(part) != _BYTES for part in (self.id, *self.seeds, *extra)):
            raise _refused("an id or a seed has another length than 32 bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What may be shown of an identity whose keys are kept here."""

    id: IdentityId
    role: Role
    name: str
    key_index: int
    public: PublicKey
    """Its current key."""
    next: PublicKey | None
    """The key of the next rotation; None if it is not kept here."""
    recovery: PublicKey | None
    """The recovery key; None if it is not kept here."""


def _refused(why: str) -> ParameterError:
    return ParameterError("identity not kept", why=why, fix="pass its seeds by key_index")
