"""Dispute, report, withdraw, revise, resubmit, flag as stale, appeal: for agents kept here.

All of them wait for the cut that contains them. The same thing said again while it waits is the
same record: a program that got no answer may simply repeat itself, and its quota pays once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from federation.artifacts import Flag
from federation.codec import as_set
from federation.core import AgentId, ArtifactId, Digest
from federation.protocol import Fate, authoring, judge
from federation.records import (
    Appeal,
    Body,
    Category,
    DisputeFile,
    DisputeReport,
    FlagStale,
    Ground,
    Kind,
    Record,
    Resubmit,
    Withdraw,
)
from federation.records.bodies import Words
from node.commands.artifacts import TEXT_SALT
from node.commands.fields import bad_field, check
from node.runtime import Node

B = TypeVar("B", bound=Body)
_CLAIMS = 16
_EVIDENCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Filing:
    """What an agent says against an artifact that stands."""

    ground: Ground
    note: str = ""
    """At most 12,000 characters; empty for none."""
    claim: int | None = None
    """Number of the claim that it is about, 1 to 16; None for the whole."""
    evidence: tuple[Digest, ...] = ()
    """At most 16 digests, each once."""


async def dispute(node: Node, agent: AgentId, artifact: ArtifactId, filing: Filing) -> Record:
    """File a dispute; the next cut opens its round, or lets it join one as a ground.

    Raises RequestError BAD_FIELD that names the field, RefusedError where the rules do not allow
    it (TOO_LARGE for too long a note), and NodeError NOT_IN_CUSTODY; so do all of these.
    """
    if filing.claim is not None and not 1 <= filing.claim <= _CLAIMS:
        raise bad_field("$.claim", f"it is {filing.claim}, not 1 to {_CLAIMS}")
    evidence = evidence_of(filing.evidence)

    def is_same(body: DisputeFile) -> bool:
        return (body.artifact, body.ground, body.claim, body.evidence) == (
            artifact,
            filing.ground,
            filing.claim,
            evidence,
        )

    said = _said(node, agent, DisputeFile, is_same)
    if said is not None:
        await node.flushed()
        return said
    salt = node.entropy(TEXT_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.dispute(
            world,
            keyring,
            artifact,
            ground=filing.ground,
            claim=filing.claim,
            evidence=evidence,
            note=filing.note,
            salt=salt,
            now=now,
        ),
    )


async def report(
    node: Node, agent: AgentId, artifact: ArtifactId, *, category: Category, note: str
) -> Record:
    """Ask for an artifact to be hidden at once; a moderator looks first."""

    def is_same(body: DisputeReport) -> bool:
        return (body.artifact, body.category) == (artifact, category)

    said = _said(node, agent, DisputeReport, is_same)
    if said is not None:
        await node.flushed()
        return said
    salt = node.entropy(TEXT_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.report(
            world, keyring, artifact, category=category, note=note, salt=salt, now=now
        ),
    )


async def withdraw(node: Node, agent: AgentId, artifact: ArtifactId, *, reason: str) -> Record:
    """Take an own artifact back; `reason` has at most 500 characters."""
    check("$.reason", reason, Words)
    said = _said(node, agent, Withdraw, lambda body: body.artifact == artifact)
    if said is not None:
        await node.flushed()
        return said
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.withdraw(
            world, keyring, artifact, reason=reason, now=now
        ),
    )


async def resubmit(
    node: Node, agent: AgentId, artifact: ArtifactId, *, evidence: tuple[Digest, ...], note: str
) -> Record:
    """Propose a retracted artifact again, with 1 to 16 digests of evidence."""
    brought = evidence_of(evidence, least=1)
    said = _said(
        node, agent, Resubmit, lambda body: (body.artifact, body.evidence) == (artifact, brought)
    )
    if said is not None:
        await node.flushed()
        return said
    salt = node.entropy(TEXT_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.resubmit(
            world, keyring, artifact, evidence=brought, note=note, salt=salt, now=now
        ),
    )


async def flag_stale(
    node: Node, agent: AgentId, artifact: ArtifactId, *, evidence: tuple[Digest, ...], note: str
) -> Record:
    """Show with 1 to 16 digests of evidence that an artifact may be out of date.

    The same while the flag stands is the same record too: there is nothing left for it to do.
    """
    brought = evidence_of(evidence, least=1)

    def is_same(body: FlagStale) -> bool:
        return (body.artifact, body.evidence) == (artifact, brought)

    said = _said(node, agent, FlagStale, is_same) or _standing(node, agent, artifact, is_same)
    if said is not None:
        await node.flushed()
        return said
    salt = node.entropy(TEXT_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.flag_stale(
            world, keyring, artifact, evidence=brought, note=note, salt=salt, now=now
        ),
    )


async def appeal(node: Node, agent: AgentId, sanction: Digest, *, note: str) -> Record:
    """Say that a sanction is wrong; `sanction` is the id of the violation that it rests on."""
    said = _said(node, agent, Appeal, lambda body: body.sanction == sanction)
    if said is not None:
        await node.flushed()
        return said
    salt = node.entropy(TEXT_SALT)
    return await node.sign(
        agent,
        lambda world, keyring, now: authoring.appeal(
            world, keyring, sanction, note=note, salt=salt, now=now
        ),
    )


def evidence_of(members: tuple[Digest, ...], *, least: int = 0) -> tuple[Digest, ...]:
    """Hold evidence to its number, each once; raises RequestError BAD_FIELD."""
    if not least <= len(members) <= _EVIDENCE:
        raise bad_field("$.evidence", f"it has {len(members)} members, not {least} to {_EVIDENCE}")
    if len(set(members)) != len(members):
        raise bad_field("$.evidence", "a member stands twice")
    return as_set(members)


def _standing(
    node: Node, agent: AgentId, artifact: ArtifactId, is_same: Callable[[FlagStale], bool]
) -> Record | None:
    """Give the agent's own flag that says the same and stands."""
    world = node.world
    known = world.state.artifacts.get(artifact)
    if known is None or Flag.STALE not in known.flags:
        return None
    return next(
        (
            record
            for record in world.log.by_kind(Kind.FLAG_STALE)
            if record.author == agent
            and isinstance(record.body, FlagStale)
            and is_same(record.body)
            and judge(world, record).fate is Fate.COUNTS
        ),
        None,
    )


def _said(node: Node, agent: AgentId, kind: type[B], is_same: Callable[[B], bool]) -> Record | None:
    """Give the agent's own record that says the same and that no cut contains yet."""
    world = node.world
    known = world.positions.get(agent)
    if known is None:
        return None
    for names in world.log.above(agent, known.seq, head=known.head):
        for name in names:
            record = world.log.get(name)
            body = record.body if record is not None else None
            if (
                record is not None
                and isinstance(body, kind)
                and is_same(body)
                and judge(world, record).fate is not Fate.VOID
            ):
                return record
    return None
