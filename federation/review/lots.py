"""The lot: which arbiters rule in a round, drawn so that nobody can choose them (§3.2.3).

The lot is SHA-256 of the first beacon after the round opened, the round and the agent, lowest
first: whoever opens a round cannot know the beacon, so nobody can wait for a friendly arbiter. An
arbiter holds the badge and tier 2, may act, has delegation to rule, and stands apart: neither a
side of the round nor of a side's operator, neither a voter in it nor of the operator of a counted
ballot, and on no panel of this artifact before.
"""

import hashlib
from typing import Final

from federation.certificates import Phase
from federation.core import AgentId, Digest, RoundId
from federation.records import Kind, Reveal
from federation.review.agent_view import AgentView
from federation.review.eligibility import is_delegated
from federation.review.finals import Finals, box, listed
from federation.review.pin import RoundPin
from federation.trust import TRUSTED

_BENCH: Final = 3
"""Arbiters of a round of high sensitivity; the first in lot order that rules is heard."""


def lot(beacon: Digest, round_id: RoundId, agent: AgentId) -> bytes:
    """Give an agent's lot in a round: the lowest comes first."""
    return hashlib.sha256(beacon + round_id + agent).digest()


def moderator_lot(round_id: RoundId, agent: AgentId) -> bytes:
    """Give a moderator's place in a round; the round's id holds the digest of the opening cut."""
    return hashlib.sha256(round_id + agent).digest()


def arbiters(pin: RoundPin, finals: Finals) -> frozenset[AgentId]:
    """Give who could be drawn, by the lists of the vote; no beacon is needed for that.

    `finals` must be lists that the plan reached (`course`).
    """
    voters = {record.author for record in box(finals)}
    opened = {
        record.author
        for record in listed(finals, Phase.DECIDE)
        if isinstance(record.body, Reveal) and record.author in voters
    }
    counted = opened & pin.eligible.reviewers
    near = pin.side_operators.union(pin.agents[one].operator for one in counted)
    apart = pin.voted | pin.sides | voters
    return frozenset(
        view.agent
        for view in pin.agents.values()
        if _holds_office(view) and view.agent not in apart and view.operator not in near
    )


def drawn_arbiters(pin: RoundPin, finals: Finals) -> tuple[AgentId, ...]:
    """Draw the arbiters, first in lot order first; none without a beacon or without a candidate."""
    beacon = pin.beacon
    if beacon is None:
        return ()
    order = sorted(arbiters(pin, finals), key=lambda agent: lot(beacon, pin.round, agent))
    return tuple(order[: _BENCH if pin.sensitivity == "high" else 1])


def _holds_office(view: AgentView) -> bool:
    return (
        "arbiter" in view.badges
        and view.tier >= TRUSTED
        and not view.barred
        and not view.quarantined
        and is_delegated(view.scope, Kind.RULE)
    )
