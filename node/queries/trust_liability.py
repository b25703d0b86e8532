"""For whom an agent answers: those it vouched for, itself or through others, that were found bad."""

from collections.abc import Collection
from typing import Final

import msgspec

from federation.core import AgentId, Digest, Micro
from federation.protocol import World
from federation.protocol.state import State
from federation.trust import EvidenceKind
from node.queries.names import Who, who

MOST_ANSWERS: Final = 50
"""Agents found bad that one answers for, the newest first."""


class AnswerPage(msgspec.Struct, frozen=True, kw_only=True):
    """One agent that was found bad, and what that brings against who stood behind it."""

    agent: Who
    """The agent that was found bad."""
    tick: int
    """When it was."""
    vouched: bool
    """This one vouched for it itself; else for somebody who stood behind it."""
    negative: Micro
    """Against this one, in millionths of one outcome, as the charter prices it."""
    counts_negative: Micro
    """What is left of that now."""


def answers_of(
    world: World, name: AgentId, pairs: Collection[tuple[AgentId, AgentId]]
) -> tuple[AnswerPage, ...]:
    """Tell for whom an agent answers, the newest first, at most `MOST_ANSWERS`.

    `pairs` holds who vouched for whom, ever.
    """
    state = world.state
    rows = [
        one
        for one in state.ledger.explain(name, state.tick)
        if one.evidence.kind is EvidenceKind.LIABILITY
    ]
    return tuple(
        AnswerPage(
            agent=who(world, found_bad_by(state, one.evidence.cause)),
            tick=one.evidence.tick,
            vouched=(name, found_bad_by(state, one.evidence.cause)) in pairs,
            negative=one.evidence.negative,
            counts_negative=one.negative,
        )
        for one in reversed(rows[-MOST_ANSWERS:])
    )


def found_bad_by(state: State, cause: Digest) -> AgentId:
    """Give the agent for which a row of liability answers: a ban is named by its violation."""
    ban = state.discipline.find(cause)
    return ban.agent if ban is not None else cause


def found_bad(state: State, name: AgentId) -> int | None:
    """Give the tick at which an agent was last found bad; None if it never was, or is no agent."""
    agent = state.agents.get(name)
    return agent.found_bad if agent is not None else None
