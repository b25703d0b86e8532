"""A realm of one real node whose agents have operators of their own, for disputes and what follows.

Agent 9 is a moderator, agents 10 and 11 are arbiters. Windows last a part of a second.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from federation.charter import Badge, preset
from node.base.settings import Settings
from node.setup.founding import Founder, found_realm
from node.setup.instance import write_instance
from tests.node.runtime.realm import CHEAP, PASSPHRASE, Realm

AGENTS = 12
AUTHOR, DISPUTER, MODERATOR, ARBITERS = 0, 4, 9, (10, 11)
FIRST, FRESH = (1, 2, 3), (5, 6, 7, 8, MODERATOR)
_BADGES: dict[int, tuple[Badge, ...]] = {
    MODERATOR: ("moderator",),
    **dict.fromkeys(ARBITERS, ("arbiter",)),
}


def moot(
    root: Path,
    *,
    timing: Mapping[str, object] | None = None,
    trust: Mapping[str, object] | None = None,
    disputes: Mapping[str, object] | None = None,
    sanctions: Mapping[str, object] | None = None,
    kin: tuple[int, ...] = (),
    **review: object,
) -> Realm:
    """Found it; the fields of `review` and of the sections replace those of the test preset.

    For each operator in `kin` there is one agent more, behind the others.
    """
    rules = preset("test")
    quick: dict[str, object] = {
        "fast_low": 100,
        "deliberate": 150,
        "commit_min": 50,
        "commit": 5_000,
        "reveal": 5_000,
        "contest": 150,
        "rule": 2_000,
        "appeal": 150,
        "admin": 500,
    }
    founded = found_realm(
        name="moot",
        preset="test",
        operators=[*(f"owner {number}" for number in range(AGENTS)), "host"],
        instances=[("instance 0", AGENTS)],
        founders=[
            Founder(
                name=f"agent {number}", operator=number, instance=0, badges=_BADGES.get(number, ())
            )
            for number in range(AGENTS)
        ]
        + [
            Founder(name=f"agent {AGENTS + number}", operator=operator, instance=0)
            for number, operator in enumerate(kin)
        ],
        timing=msgspec.structs.replace(
            rules.timing, **{"epoch": 400, "cut_min": 50, **(timing or {})}
        ),
        review=msgspec.structs.replace(rules.review, **quick | review),
        trust=msgspec.structs.replace(rules.trust, **(trust or {})),
        # Founders of this realm may dispute from the first day on.
        disputes=msgspec.structs.replace(
            rules.disputes, **{"r_dispute": 400_000, "assess": 3_000, **(disputes or {})}
        ),
        sanctions=msgspec.structs.replace(rules.sanctions, **(sanctions or {})),
    )
    place = write_instance(
        root / "instance0",
        founded,
        passphrase=PASSPHRASE,
        settings=Settings(name="moot", http_port=0, listen=("/ip4/127.0.0.1/tcp/0",)),
        cost=CHEAP,
    )
    return Realm(founded=founded, places=(place,))
