"""Propose: a new piece of knowledge, or a revision of one, for an agent whose key is kept here."""

from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Meta

from federation.core import AgentId, ArtifactId, Digest
from federation.protocol import World, authoring, custody
from federation.records import ArtifactText, Propose, Record, text_id
from federation.records.bodies import Topic
from node.commands.fields import bad_field, check, text
from node.runtime import Node

TEXT_SALT: Final = 16
"""Bytes that keep a short text from being guessed from its hash after a takedown."""
_LINES: Final = 16
_Topics = Annotated[tuple[Topic, ...], Meta(min_length=1, max_length=4)]
_Lang = Annotated[str, Meta(pattern=r"\A[a-z]{2,3}(-[a-z0-9]{2,8})?\Z")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What an agent proposes."""

    title: str
    """One line, 1 to 300 characters."""
    topics: tuple[str, ...]
    """1 to 4 paths in the topic tree, each once."""
    prose: str = ""
    """At most 12,000 characters."""
    claims: tuple[str, ...] = ()
    """At most 16 lines of 2,000 characters."""
    falsification: tuple[str, ...] = ()
    """For each claim, what would show it false."""
    sources: tuple[str, ...] = ()
    """Where it comes from, in words."""
    cites: tuple[ArtifactId, ...] = ()
    """At most 64 artifacts that it rests on."""
    source_digests: tuple[Digest, ...] = ()
    """At most 16 digests of sources."""
    lang: str = "en"
    """Two or three letters, with a region or script after a dash."""


async def propose(
    node: Node, agent: AgentId, proposal: Proposal, *, revises: ArtifactId | None = None
) -> Record:
    """Sign and store a proposal; the next cut opens its round.

    With `revises` it supersedes that artifact if it is accepted. The same text by the same agent,
    said again before it is decided, is the same proposal: a program that got no answer may simply
    repeat itself. Raises RequestError BAD_FIELD that names the field, RefusedError where the rules
    do not allow it, and NodeError NOT_IN_CUSTODY.
    """
    content = _content(proposal)
    topics = check("$.topics", proposal.topics, _Topics)
    for name, members in (
        ("topics", proposal.topics),
        ("cites", proposal.cites),
        ("source_digests", proposal.source_digests),
    ):
        if len(set(members)) != len(members):
            raise bad_field(f"$.{name}", "a member stands twice")
    lang = check("$.lang", proposal.lang, _Lang)
    # Before anything is looked at: from there to the signature nothing may come in between.
    near = await node.near(content)
    said = _undecided(node.world, agent, text_id(content), revises)
    if said is not None:
        await node.flushed()
        return said
    salt = node.entropy(TEXT_SALT)
    if revises is not None:
        return await node.sign(
            agent,
            lambda world, keyring, now: authoring.revise(
                world,
                keyring,
                revises,
                content,
                topics=topics,
                salt=salt,
                now=now,
                cites=proposal.cites,
                sources=proposal.source_digests,
                lang=lang,
            ),
            near=near,
        )
    return await node.sign(
        agent,
        lambda world, keyring, now: custody.propose(
            world,
            keyring,
            content,
            topics=topics,
            salt=salt,
            now=now,
            cites=proposal.cites,
            sources=proposal.source_digests,
            lang=lang,
        ),
        near=near,
    )


def _undecided(
    world: World, agent: AgentId, content: Digest, revises: ArtifactId | None
) -> Record | None:
    """Give the agent's own proposal of a text, if it waits for a cut or for its verdict."""
    known = world.state.texts.get(content)
    artifact = world.state.artifacts.get(known) if known is not None else None
    if (
        artifact is not None
        and artifact.author == agent
        and artifact.verdict is None
        and artifact.revises == revises
    ):
        return world.log.get(artifact.id)
    waiting = (world.log.get(name) for name in world.triggers)
    return next(
        (
            record
            for record in waiting
            if record is not None
            and record.author == agent
            and isinstance(record.body, Propose)
            and record.body.text_id == content
            and getattr(record.body, "revises", None) == revises
        ),
        None,
    )


def _content(proposal: Proposal) -> ArtifactText:
    return ArtifactText(
        title=text("$.title", proposal.title, least=1, most=300),
        prose=text("$.prose", proposal.prose, most=12_000),
        claims=_lines("$.claims", proposal.claims),
        falsification=_lines("$.falsification", proposal.falsification),
        sources=_lines("$.sources", proposal.sources),
    )


def _lines(field: str, values: tuple[str, ...]) -> tuple[str, ...]:
    if len(values) > _LINES:
        raise bad_field(field, f"it has {len(values)} members, not 0 to {_LINES}")
    return tuple(
        text(f"{field}[{index}]", value, least=1, most=2_000) for index, value in enumerate(values)
    )
