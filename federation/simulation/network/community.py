"""A small community to simulate: n operators with one instance each, and a few agents.

Everything is derived from names, so the same arguments give the same realm byte for byte. The
`test` preset counts in seconds of virtual time.
"""

from dataclasses import dataclass
from functools import cache

import msgspec

from federation.charter import Admission, Disputes, Review, Timing, Trust
from federation.charter.presets import preset
from federation.charter.units import Badge
from federation.core import IdentityId
from federation.crypto import KeySigner
from federation.protocol import FounderSpec, Founding, FoundingSpec, Keys, found


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """A founding with the keys of everybody in it."""

    founding: Founding
    instances: tuple[Keys, ...]
    """Keys of each instance, in founding order."""
    operators: tuple[Keys, ...]
    """Keys of each operator, in founding order."""
    agents: tuple[Keys, ...]
    homes: tuple[int, ...]
    """Per agent the index of its instance."""

    def signer(self, instance: IdentityId) -> KeySigner:
        """Give the current key of an instance: only the simulation knows everybody's."""
        index = self.founding.instances.index(instance)
        return KeySigner(self.instances[index].current)


@cache
def community(
    members: int,
    *,
    agents: int = 5,
    operators: int | None = None,
    badges: tuple[tuple[int, Badge], ...] = (),
    name: str = "simnet",
    three_available: bool = False,
    timing: Timing | None = None,
    review: Review | None = None,
    trust: Trust | None = None,
    admission: Admission | None = None,
    disputes: Disputes | None = None,
) -> Community:
    """Found a realm of `members` operators, one instance each; agents go round the instances.

    They belong to the operator of their instance, or go round `operators` if there are more. Of
    `badges` each is an agent's place and one badge.
    """
    count = operators or members
    instances = tuple(Keys.derived(f"{name}/instance/{one}".encode()) for one in range(members))
    answering = tuple(Keys.derived(f"{name}/operator/{one}".encode()) for one in range(count))
    minds = tuple(Keys.derived(f"{name}/agent/{one}".encode()) for one in range(agents))
    homes = tuple(one % members for one in range(agents))
    pace = timing or preset("test").timing
    if three_available:
        pace = msgspec.structs.replace(pace, three="available")
    spec = FoundingSpec(
        name=name,
        salt=bytes(32),
        preset="test",
        operators=[(f"operator-{one}", keys) for one, keys in enumerate(answering)],
        instances=[(f"i{one}", keys, one) for one, keys in enumerate(instances)],
        founders=[
            FounderSpec(
                name=f"a{one}",
                keys=keys,
                operator=one % count,
                instance=home,
                badges=tuple(badge for place, badge in badges if place == one),
            )
            for one, (keys, home) in enumerate(zip(minds, homes, strict=True))
        ],
        timing=pace,
        review=review,
        trust=trust,
        admission=admission,
        disputes=disputes,
    )
    return Community(
        founding=found(spec),
        instances=instances,
        operators=answering,
        agents=minds,
        homes=homes,
    )
