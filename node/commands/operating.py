"""What the operator of this instance can do with others: charters, decisions by hand, and its agents.

An operator signs with its own key. The instances of a founding keep it beside their own; where it
is not kept, an operator signs elsewhere and posts the record like everybody who keeps its own keys.
"""

from federation.charter import Rules
from federation.core import AgentId, Digest, OperatorId, RecordId, RoundId, short
from federation.protocol import operating
from federation.records import Decree, Health, Record
from federation.records.bodies import Words
from node.base.errors import NodeCode, RequestError
from node.commands.fields import check, text
from node.runtime import Node

_REASON = 500


def operator_of(node: Node) -> OperatorId:
    """Give the operator that answers for this instance and whose key is kept here.

    Raises RequestError NOT_ALLOWED on an instance that is no member, NOT_IN_CUSTODY without the key.
    """
    operator = node.world.state.instances.get(node.instance)
    if operator is None:
        raise RequestError(
            "not signed",
            why="this instance is no member of the realm, so that its operator has no vote",
            fix="ask the operator of a member instance",
            code=NodeCode.NOT_ALLOWED,
        )
    if not node.keystore.has(operator):
        raise RequestError(
            "not signed",
            why=f"the key of operator {short(operator)}…, which answers for this instance, is not "
            "kept here",
            fix="use the instance that keeps it, or sign the record yourself and post it to "
            "/v1/records",
            code=NodeCode.NOT_IN_CUSTODY,
        )
    return operator


async def adopt_charter(node: Node, rules: Rules, *, from_tick: int, reason: str) -> Record:
    """Propose other rules, in force from the first tick that is at least `from_tick` (0: the next).

    Raises RequestError BAD_FIELD, RefusedError where the rules do not allow it (BAD_CHARTER names
    all faults), and as `operator_of` does; so do all of these.
    """
    why = check("$.reason", reason, Words)
    return await node.sign(
        operator_of(node),
        lambda world, keyring, now: operating.adopt(
            world, keyring, rules, from_tick=from_tick, reason=why, now=now
        ),
    )


async def cosign_act(node: Node, act: RecordId) -> Record:
    """Say the same as another operator; it cannot be taken back."""
    return await node.sign(
        operator_of(node),
        lambda world, keyring, now: operating.cosign(world, keyring, act, now=now),
    )


async def decide_by_hand(
    node: Node,
    subject: Digest,
    *,
    decision: Decree,
    reason: str,
    round_id: RoundId | None = None,
) -> Record:
    """Decide about an artifact or a sanction: with a round as one voice in it, else as an act."""
    why = text("$.reason", reason, least=1, most=_REASON)
    operator = operator_of(node)
    if round_id is None:
        return await node.sign(
            operator,
            lambda world, keyring, now: operating.decide(
                world, keyring, subject, decision=decision, reason=why, now=now
            ),
        )
    return await node.sign(
        operator,
        lambda world, keyring, now: operating.decide_in_round(
            world, keyring, round_id, decision=decision, reason=why, now=now
        ),
    )


async def tell_health(node: Node, agent: AgentId, *, state: Health, note: str) -> Record:
    """Say of an agent of this operator's own that it is broken, or repaired."""
    words = check("$.note", note, Words)
    return await node.sign(
        operator_of(node),
        lambda world, keyring, now: operating.tell_health(
            world, keyring, agent, state=state, note=words, now=now
        ),
    )
