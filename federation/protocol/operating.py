"""Sign for an operator: acts, words for acts of others, its voice in a round, health of its agents.

Like everything that is signed at the door (`custody`) these are judged before they are signed. What
an operator signs stands in its own chain, under its own key; no instance and no agent signs for it.
"""

from federation.certificates import Phase
from federation.charter import Rules, amended, faults_of, rules_bytes
from federation.charter.amendment import RULES_MOST
from federation.core import AgentId, Code, Digest, Millis, RecordId, RefusedError, RoundId
from federation.protocol.custody import Keyring, after_in, author, open_round
from federation.protocol.world import World
from federation.records import (
    ActCosign,
    AdminReview,
    AgentHealth,
    CharterAdopt,
    Decree,
    Health,
    Record,
)


def adopt(
    world: World, keyring: Keyring, rules: Rules, *, from_tick: int, reason: str, now: Millis
) -> Record:
    """Propose other rules, written for the newest charter that is adopted.

    It counts once a quorum of operators has cosigned, and is in force from the first tick that is
    at least `from_tick`. Raises RefusedError BAD_CHARTER with everything that is wrong with it, and
    TOO_LARGE for rules that no record can hold.
    """
    newest = world.state.acts.newest
    number = newest.charter.number + 1
    faults = faults_of(amended(newest.charter, rules, number))
    if faults:
        raise RefusedError(
            "charter refused",
            why="; ".join(faults),
            fix="`folkmoot charter check` explains each of them",
            code=Code.BAD_CHARTER,
        )
    raw = rules_bytes(rules)
    if len(raw) > RULES_MOST:
        raise RefusedError(
            "charter refused",
            why=f"its rules have {len(raw)} bytes, and a record holds {RULES_MOST} of them",
            fix="class fewer topics: a prefix stands for everything below it",
            code=Code.TOO_LARGE,
        )
    body = CharterAdopt(
        number=number, base=newest.hash, rules=raw, from_tick=from_tick, reason=reason
    )
    return author(world, keyring, body, now=now)


def cosign(world: World, keyring: Keyring, act: RecordId, *, now: Millis) -> Record:
    """Say the same as another operator's open act: once for each act, and for good."""
    return author(world, keyring, ActCosign(act=act), now=now)


def decide(
    world: World,
    keyring: Keyring,
    subject: Digest,
    *,
    decision: Decree,
    reason: str,
    now: Millis,
) -> Record:
    """Decide by hand about an artifact or a sanction, outside any round.

    It takes effect once a quorum of operators has said the same.
    """
    body = AdminReview(subject=subject, decision=decision, reason=reason)
    return author(world, keyring, body, now=now)


def decide_in_round(
    world: World,
    keyring: Keyring,
    round_id: RoundId,
    *,
    decision: Decree,
    reason: str,
    now: Millis,
) -> Record:
    """Give an operator's own voice in a round that has come to the operators.

    Raises RefusedError UNKNOWN_ROUND, or NOT_IN_PHASE.
    """
    one = open_round(world, round_id)
    body = AdminReview(
        subject=one.pin.artifact,
        decision=decision,
        reason=reason,
        round=round_id,
        after=after_in(one, Phase.ADMIN),
    )
    return author(world, keyring, body, now=now)


def tell_health(
    world: World, keyring: Keyring, agent: AgentId, *, state: Health, note: str, now: Millis
) -> Record:
    """Say of an agent of this operator's own that it is broken, or repaired."""
    return author(world, keyring, AgentHealth(agent=agent, state=state, note=note), now=now)
