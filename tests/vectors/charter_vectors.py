"""charter.json: charters with the hashes that they fix, and charters that are refused."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from federation.charter import (
    PRESETS,
    Badge,
    Charter,
    Founder,
    Genesis,
    GenesisInstance,
    TopicClass,
    beacon0,
    build,
    charter_hash,
    cut0_digest,
    realm_of,
)
from federation.codec import encode
from federation.core import Code
from federation.crypto import public_key
from tests.vectors.agreement_rows import Row, shown
from tests.vectors.vector_bodies import fixed

BADGES: Final[tuple[Badge, ...]] = ("arbiter", "moderator")
BASE: Final = "preset test"
"""The good charter that the refused ones are changes of."""


def genesis() -> Genesis:
    """Two instances of two operators, three founders, one of them the seed of trust."""
    operators = [fixed(f"operator {index}") for index in range(2)]
    instances = [fixed(f"instance {index}") for index in range(2)]
    agents = [fixed(f"founder {index}") for index in range(3)]
    return Genesis(
        instances=tuple(
            GenesisInstance(
                instance=instances[index],
                operator=operators[index],
                key=public_key(fixed(f"instance seed {index}")),
            )
            for index in range(2)
        ),
        operators=tuple(operators),
        founders=tuple(
            Founder(
                agent=agent,
                operator=operators[index % 2],
                instance=instances[index % 2],
                tier=index,
                badges=BADGES[:index],
            )
            for index, agent in enumerate(agents)
        ),
        records=(*operators, *instances, *agents, fixed("delegate"), fixed("admission")),
        seeds=(agents[2],),
    )


def charters() -> dict[str, Charter]:
    """One charter of each preset, and a later one with other topics and no named seeds."""
    one = {
        f"preset {name}": build(name, name="Ålesund moot", salt=fixed("salt"), genesis=genesis())
        for name in sorted(PRESETS)
    }
    community = one["preset community"]
    later = msgspec.structs.replace(
        community,
        number=7,
        genesis=msgspec.structs.replace(community.genesis, seeds=None),
        timing=msgspec.structs.replace(community.timing, three="available"),
        review=msgspec.structs.replace(
            community.review,
            topics=(
                TopicClass(prefix="", sensitivity="low"),
                TopicClass(prefix="médecine", sensitivity="high"),
            ),
        ),
    )
    return {**one, "a later charter": later}


def vectors() -> Row:
    """Charters with their hashes, and bytes that are no charter."""
    return {
        "valid": [
            {
                "name": name,
                "charter": shown(msgspec.to_builtins(charter, builtin_types=(bytes,))),
                "bytes": encode(charter).hex(),
                "hash": charter_hash(charter).hex(),
                "realm": realm_of(charter).hex(),
                "cut0": cut0_digest(realm_of(charter), charter_hash(charter)).hex(),
                "beacon0": beacon0(realm_of(charter)).hex(),
            }
            for name, charter in charters().items()
        ],
        "invalid_changes_of": BASE,
        "invalid": [
            {"name": name, "code": Code.NOT_CANONICAL.value, **case}
            for name, case in (*_spellings(), *_changes())
        ],
    }


def _spellings() -> Iterator[tuple[str, Row]]:
    """Give bytes that are no charter, or a charter in other bytes than its own."""
    charter = charters()[BASE]
    good = encode(charter)
    listed = encode(list(msgspec.structs.astuple(charter)))
    unsorted = msgspec.msgpack.Encoder(order=None).encode(charter)
    yield "no bytes at all", {"bytes": ""}
    yield "a byte after the charter", {"bytes": good.hex() + "00"}
    yield "a list instead of a map", {"bytes": listed.hex()}
    yield "keys in the order of the reference page", {"bytes": unsorted.hex()}


def _changes() -> Iterator[tuple[str, Row]]:
    """Give changes of one field of the good charter; a number in a path is an index."""
    for name, path in _DROPPED.items():
        yield name, {"drop": path}
    for name, (path, value) in _CHANGES.items():
        yield name, {"set": path, "value": shown(value)}


_DROPPED: Final[Mapping[str, str]] = {
    "a field missing": "trust/hysteresis",
    "a section missing": "quotas",
    "no section about disputes": "disputes",
    "no section about sanctions": "sanctions",
}
_CHANGES: Final[Mapping[str, tuple[str, object]]] = {
    "an unknown field": ("motto", "hear both sides"),
    "an unknown field in a section": ("review/k_max", 9),
    "an unknown field of a founder": ("genesis/founders/0/name", "ann"),
    "a section that is nil": ("timing", None),
    "a share as a float": ("review/tau_accept", 0.3),
    "a whole number as a float": ("review/k", 7.0),
    "a count that is true": ("review/k", True),
    "a count as text": ("review/k", "7"),
    "k of 0": ("review/k", 0),
    "a threshold above one": ("review/tau_accept", 1_000_001),
    "a threshold below minus one": ("review/tau_reject", -1_000_001),
    "lists of 901": ("review/list_most", 901),
    "a commit window of 9 ms": ("review/commit", 9),
    "a window above 31 days": ("review/deadline", 31 * 86_400_000 + 1),
    "a decay above a half": ("trust/decay", 500_001),
    "a window of 0 ticks": ("trust/window", 0),
    "an edge of no seats": ("trust/kappa", 0),
    "an edge of 257 seats": ("trust/kappa", 257),
    "an approval heavier than an edge": ("trust/approval", 256),
    "a square that is a number": ("trust/squared", 1),
    "a vote by lot": ("trust/voting", "lot"),
    "liability above the whole": ("trust/evidence/liability", 1_000_001),
    "evidence below nothing": ("trust/evidence/rejected", -1),
    "witnesses of 63 ids": ("quotas/witness_ids", 63),
    "witnesses of 8,193 ids": ("quotas/witness_ids", 8_193),
    "a puzzle of 7 KiB": ("admission/memory_kib", 7),
    "a puzzle of more than 256 MiB": ("admission/memory_kib", 262_145),
    "a puzzle of no passes": ("admission/passes", 0),
    "a puzzle of 17 parts": ("admission/parts", 17),
    "a puzzle of 33 bits": ("admission/most_bits", 33),
    "a gate of 41 bits": ("admission/gate_bits", 41),
    "no admissions expected": ("admission/target", 0),
    "an instance that may admit nobody": ("admission/instance_least", 0),
    "a share of the admitted above the whole": ("admission/instance_share", 1_000_001),
    "an operator that may answer for nobody": ("admission/operator_agents", 0),
    "no vouches of an operator": ("quotas/vouches_operator", 0),
    "no vouches of a family": ("quotas/vouches_family", 0),
    "an unknown mode": ("review/mode", "sealed"),
    "no turns": ("review/turns", 0),
    "six turns": ("review/turns", 6),
    "a time to seal below nothing": ("review/seal", -1),
    "no time for operators": ("review/admin", 9),
    "a time to contest a ruling that is nil": ("review/appeal", None),
    "a dispute that nobody need vote on": ("disputes/q_dispute", 0),
    "a retraction at a tally of 0": ("disputes/tau_retract", 0),
    "a dispute that ends in arbitration": ("disputes/timeout", "arbitrate"),
    "no time for a moderator": ("disputes/assess", 9),
    "disputes over no ticks": ("disputes/window", 0),
    "a wait of 100,001 ticks": ("disputes/cooldown", 100_001),
    "no rounds of a cascade": ("disputes/cascade", 0),
    "a ban at 0 points": ("sanctions/ban", 0),
    "a divisor of 0": ("sanctions/divisor", 0),
    "a suspension of no windows": ("sanctions/suspended", 0),
    "more points than an operator's inherited": ("sanctions/inherited", 1_000_001),
    "points below nothing": ("sanctions/conduct", -1),
    "reports below nothing": ("quotas/reports_epoch", -1),
    "protocol 2": ("protocol", 2),
    "a number of 2^64 - 1": ("number", 2**64 - 1),
    "a tier of 3": ("genesis/founders/0/tier", 3),
    "an unknown badge": ("genesis/founders/0/badges", ["king"]),
    "three badges": ("genesis/founders/0/badges", ["arbiter"] * 3),
    "an unknown sensitivity": ("review/topics", [{"prefix": "", "sensitivity": "none"}]),
    "an unknown shortfall": ("review/shortfall_low", "accept"),
    "a salt of 31 bytes": ("salt", b"s" * 31),
    "a salt that is text": ("salt", "s" * 32),
    "a key of 33 bytes": ("genesis/instances/0/key", b"k" * 33),
    "no instances": ("genesis/instances", []),
    "no founders": ("genesis/founders", []),
    "no seeds instead of nil": ("genesis/seeds", []),
    "a name of 65 characters": ("name", "n" * 65),
    "no name": ("name", ""),
    "a name with a NUL character": ("name", "a\0b"),
    "a name in form NFD": ("name", "A\u030alesund moot"),
    "a name of a character that is not assigned": ("name", "moot \u0378"),
}
