"""Assess, rule, contest, seal an argument: an agent's part in the phases beside the vote.

A sealed argument is opened by the node itself once the certificate of the seals is held, also
across restarts: the sealed copy in the log is its only store until then.
"""

from federation.core import AgentId, Digest, RoundId
from federation.protocol import authoring
from federation.records import Level, Record, Ruled, Stance
from federation.records.bodies import Tag
from node.commands.artifacts import TEXT_SALT
from node.commands.curation import evidence_of
from node.commands.fields import bad_field, check
from node.commands.review import NONCE, SEAL_SALT
from node.runtime import Node


async def assess(
    node: Node, agent: AgentId, round_id: RoundId, *, credible: bool, note: str
) -> Record:
    """Say as a moderator whether a report is credible; `note` may be empty.

    Raises RefusedError where the rules do not allow it, TOO_LARGE for more than 12,000 characters,
    and NodeError NOT_IN_CUSTODY; so do all of these.
    """
    salt = node.entropy(TEXT_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.assess(
            world, keyring, round_id, credible=credible, note=note, salt=salt, now=now
        ),
    )


async def rule(
    node: Node, agent: AgentId, round_id: RoundId, *, ruling: Ruled, ground: str, note: str
) -> Record:
    """Rule as a drawn arbiter; `ground` is a word of small letters, digits and underscores.

    Raises also RequestError BAD_FIELD.
    """
    check("$.ground", ground, Tag)
    salt = node.entropy(TEXT_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.rule(
            world,
            keyring,
            round_id,
            ruling=ruling,
            ground=ground,
            note=note,
            salt=salt,
            now=now,
        ),
    )


async def contest(
    node: Node, agent: AgentId, round_id: RoundId, *, ground: str, note: str
) -> Record:
    """Contest the process of a result, or a ruling: whichever can be contested now.

    Raises also RequestError BAD_FIELD.
    """
    check("$.ground", ground, Tag)
    salt = node.entropy(TEXT_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.contest(
            world, keyring, round_id, ground=ground, note=note, salt=salt, now=now
        ),
    )


async def seal_argument(
    node: Node,
    agent: AgentId,
    round_id: RoundId,
    *,
    stance: Stance,
    note: str,
    level: Level = Level.CONTENT,
    evidence: tuple[Digest, ...] = (),
) -> Record:
    """Seal an assessment before any other is read; it cannot be replaced.

    Raises also RequestError BAD_FIELD.
    """
    if not note:
        raise bad_field("$.note", "it is empty")
    brought = evidence_of(evidence)
    nonce, salt, seal_salt = node.entropy(NONCE), node.entropy(TEXT_SALT), node.entropy(SEAL_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.seal_argument(
            world,
            keyring,
            round_id,
            stance=stance,
            note=note,
            level=level,
            evidence=brought,
            nonce=nonce,
            salt=salt,
            seal_salt=seal_salt,
            now=now,
        ),
    )
