"""Other rules for the same realm: what an adopted charter changes, and what it can never change.

Timing, review, disputes, trust, admission, quotas and sanctions may change (`Rules`). Name, salt,
preset, protocol and genesis stay what they were, and with them the realm, its founders and seeds.
"""

from typing import Final

import msgspec

from federation.charter.conduct import Disputes, Sanctions
from federation.charter.schema import Admission, Charter, Quotas, Review, Timing, Trust
from federation.codec import LIMITS, decode, encode

RULES_MOST: Final = 32 * 1024
"""Largest canonical bytes of rules that an act can carry."""


class Rules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The sections of a charter that may change; a preset fixes all of them."""

    timing: Timing
    """Cuts, ticks and timers."""
    review: Review
    """Rounds."""
    disputes: Disputes
    """Disputes, reports, resubmissions."""
    trust: Trust
    """Reputation and weight."""
    admission: Admission
    """Joining."""
    quotas: Quotas
    """Limits per author."""
    sanctions: Sanctions
    """What violations bring."""


def rules_of(charter: Charter) -> Rules:
    """Give the sections of a charter that may change."""
    return Rules(
        timing=charter.timing,
        review=charter.review,
        disputes=charter.disputes,
        trust=charter.trust,
        admission=charter.admission,
        quotas=charter.quotas,
        sanctions=charter.sanctions,
    )


def rules_bytes(rules: Rules) -> bytes:
    """Give the canonical bytes of rules, as `charter.adopt` carries them."""
    return encode(rules)


def read_rules(raw: bytes) -> Rules:
    """Read rules from their canonical bytes; raises PeerError if they are none, or out of range."""
    return decode(raw, Rules, what="rules of a charter", most=min(RULES_MOST, LIMITS.blob))


def amended(charter: Charter, rules: Rules, number: int) -> Charter:
    """Give the charter of the same realm under other rules, as number `number`."""
    return Charter(
        number=number,
        protocol=charter.protocol,
        preset=charter.preset,
        name=charter.name,
        salt=charter.salt,
        genesis=charter.genesis,
        timing=rules.timing,
        review=rules.review,
        disputes=rules.disputes,
        trust=rules.trust,
        admission=rules.admission,
        quotas=rules.quotas,
        sanctions=rules.sanctions,
    )
