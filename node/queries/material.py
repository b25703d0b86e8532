"""What a panel judges: the text of the artifact of a running round, hidden or not.

What the realm hides is absent from every other read. Who must decide whether it stays so has to read
it all the same: reviewers of the round, arbiters that were drawn, moderators of a report, and the two
sides. What this node's operator hides stays hidden here from them too.
"""

import msgspec

from federation.core import AgentId, RoundId
from federation.protocol import Round, World
from federation.records import Propose
from node.base.errors import NodeCode, RequestError
from node.queries.names import Thing, unknown
from node.queries.proceedings import drawn_now
from node.queries.texts import (
    Claim,
    HiddenBy,
    HiddenPage,
    TextState,
    claims_of,
    hidden,
    readable,
)


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to judge in a round."""

    round: str
    """Id of the round, in hex."""
    artifact: str
    """Id of the artifact, in hex."""
    hidden: HiddenPage | None
    """That it is hidden from everybody else, and why; nil if it is not."""
    text: TextState
    """Whether its text can be read here."""
    title: str | None
    """One line; nil without its text."""
    prose: str | None
    """What it says; nil without its text."""
    claims: tuple[Claim, ...]
    """What it claims, and what would show it false."""
    sources: tuple[str, ...]
    """Where it comes from, in words."""


def material(world: World, round_id: RoundId, agent: AgentId) -> Material:
    """Show what an agent has to judge in a running round.

    Raises RequestError NOT_FOUND, and NOT_ALLOWED if the agent judges nothing there.
    """
    found = world.rounds.get(round_id)
    artifact = world.state.artifacts.get(found.pin.artifact) if found is not None else None
    if found is None or artifact is None:
        raise unknown(round_id, {Thing.ROUND})
    if not may_read(found, agent):
        raise _judges_nothing()
    record = world.log.get(artifact.id)
    veiled = hidden(world, artifact.id, artifact)
    state, text = readable(record)
    if veiled is not None and veiled.by is HiddenBy.NODE:
        state, text = TextState.HIDDEN, None
    body = record.body if record is not None else None
    return Material(
        round=round_id.hex(),
        artifact=artifact.id.hex(),
        hidden=veiled,
        text=state,
        title=text.title if text else None,
        prose=text.prose if text else None,
        claims=claims_of(body, text) if isinstance(body, Propose) else (),
        sources=text.sources if text else (),
    )


def may_read(found: Round, agent: AgentId) -> bool:
    """Tell whether an agent has to read what a round is about, as long as it runs."""
    pin = found.pin
    view = pin.agents.get(agent)
    if found.verdict is not None or view is None or view.barred:
        return False
    moderates = pin.kind == "report" and "moderator" in view.badges
    judges = agent in pin.eligible.reviewers or agent in drawn_now(found)
    return judges or moderates or agent in pin.sides


def _judges_nothing() -> RequestError:
    return RequestError(
        "text not shown",
        why="the round is over, or the agent has nothing to judge in it",
        fix="ask for a round that runs, for a reviewer, a drawn arbiter, a moderator or a side of it",
        code=NodeCode.NOT_ALLOWED,
    )
