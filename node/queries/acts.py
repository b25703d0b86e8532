"""In which rounds an agent may act now, and how: its own list of things to do.

The answer follows the pinned world of each round by the same functions that judge the records
afterwards (`federation.review`), so what is offered here is not refused at the door. Whether an
agent has opened its ballot shows here as the act `reveal` going away, and nowhere else.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

from federation.certificates import Phase, RoundSlot
from federation.core import AgentId, Code, Millis
from federation.protocol import LiveSlot, Round, World
from federation.protocol.agreement import is_over
from federation.protocol.authoring import may_unseal
from federation.protocol.custody import TURNS, may_reveal
from federation.records import Assess, Kind, Record
from federation.review import (
    box,
    course,
    drawn_arbiters,
    is_delegated,
    may_assess,
    may_object,
    may_speak_for_process,
    may_take_part,
    may_vote,
    most_arguments,
)
from node.queries.live_rounds import title_of
from node.queries.names import Thing, cid_of, unknown
from node.queries.windows import Window, window_of


class Act(StrEnum):
    """What an agent can do in a round."""

    OBJECT = "object"
    """Stop the fast track and ask for a vote."""
    ARGUE = "argue"
    """Say something for or against before the vote."""
    VOTE = "vote"
    """Commit to a sealed ballot."""
    PRACTICE = "practice"
    """Commit to a practice ballot: scored, but with weight 0."""
    REVEAL = "reveal"
    """Open its listed ballot; an instance that keeps the agent's key does it by itself."""
    CONTEST = "contest"
    """Contest the process of a result, or a ruling."""
    SEAL = "seal"
    """Argue sealed, before any other argument is read."""
    UNSEAL = "unseal"
    """Open its listed argument; an instance that keeps the agent's key does it by itself."""
    ASSESS = "assess"
    """Say as a moderator whether a report is credible."""
    RULE = "rule"
    """Rule as a drawn arbiter."""


class MayAct(msgspec.Struct, frozen=True, kw_only=True):
    """One round in which the agent may act now."""

    round: str
    """Id of the round, in hex."""
    artifact: str
    """Id of the artifact, in hex; of an appeal, of the violation."""
    artifact_cid: str
    """The same as a CIDv1."""
    title: str | None
    """Title of the artifact; nil if its text is not readable here."""
    topics: tuple[str, ...]
    """Topics of the artifact; none of an appeal."""
    phase: Phase
    """The open phase."""
    act: Act
    """What the agent may do in it."""
    after: str
    """What the record must name in `after`, in hex."""
    window: Window
    """The phase's window; act before its `submit_by`."""
    matches: bool
    """The agent's subscription matched the artifact when the round opened."""


def to_review(world: World, agent: AgentId, now: Millis) -> tuple[MayAct, ...]:
    """List the rounds in which an agent may act now, those that close first at the top.

    A phase whose window is over here is left out, but for reveals: these are wanted until the
    certificate. Raises RequestError NOT_FOUND unless a cut has admitted the agent.
    """
    if agent not in world.state.agents:
        raise unknown(agent, {Thing.AGENT})
    found: list[MayAct] = []
    for live in world.slots.values():
        slot = live.slot
        if not isinstance(slot, RoundSlot) or live.state.is_final:
            continue
        one = world.rounds[slot.round_id]
        act = _act(world, one, live, agent, now) if one.phase is slot.phase else None
        if act is not None:
            found.append(_offer(world, one, agent, act, window_of(world, live, now)))
    return tuple(sorted(found, key=lambda offer: (offer.window.submit_by, offer.round)))


def _act(world: World, one: Round, live: LiveSlot, agent: AgentId, now: Millis) -> Act | None:
    """Tell what an agent may do in the open phase; None if nothing."""
    pin, phase = one.pin, one.phase
    if phase in _OPENING:
        act, may = _OPENING[phase]
        wanted = may(world, pin.round, agent) is not None
        return act if wanted and not _own(world, one, agent) else None
    if phase is None or live.ended or is_over(world, live, now):
        return None
    view = pin.agents.get(agent)
    if view is None:
        return None
    kind, act, most = _offered(one, phase, agent)
    barred = _code(one, phase, agent) is not None or not is_delegated(view.scope, kind)
    return None if barred or len(_own(world, one, agent)) >= most else act


_OPENING: Final = {
    Phase.DECIDE: (Act.REVEAL, may_reveal),
    Phase.UNSEAL: (Act.UNSEAL, may_unseal),
}
"""Phases in which an agent opens what it has sealed: wanted until the certificate, window or not."""
_ONCE: Final = {
    Phase.FAST: (Kind.OBJECT, Act.OBJECT),
    Phase.SEAL: (Kind.SEAL, Act.SEAL),
    Phase.CONTEST: (Kind.CONTEST, Act.CONTEST),
    Phase.APPEAL: (Kind.CONTEST, Act.CONTEST),
    Phase.RULE: (Kind.RULE, Act.RULE),
    Phase.ASSESS: (Kind.ASSESS, Act.ASSESS),
}


def _offered(one: Round, phase: Phase, agent: AgentId) -> tuple[Kind, Act, int]:
    """Name what a phase is for: the kind of record, the act, and how many of them count."""
    if phase in TURNS:
        return Kind.ARGUE, Act.ARGUE, most_arguments(one.pin)
    if phase in {Phase.COMMIT, Phase.COMMIT2}:
        is_reviewer = agent in one.pin.eligible.reviewers
        return Kind.COMMIT, Act.VOTE if is_reviewer else Act.PRACTICE, 1
    kind, act = _ONCE.get(phase, (Kind.ADMIN, Act.CONTEST))
    # No agent decides by hand: operators do.
    return kind, act, 0 if kind is Kind.ADMIN else 1


def _code(one: Round, phase: Phase, agent: AgentId) -> Code | None:
    """Tell why an agent may not do that, or None if it may."""
    pin, lists = one.pin, course(one.pin, one.finals).lists
    match phase:
        case Phase.FAST:
            return may_object(
                pin.agents,
                agent,
                pin.author,
                operator=pin.author_operator,
                relaxed=pin.eligible.relaxed,
            )
        case Phase.SEAL:
            return may_vote(pin.agents, pin.eligible, agent)
        case Phase.COMMIT | Phase.COMMIT2:
            if any(record.author == agent for record in box(one.finals)):
                return Code.ALREADY_COMMITTED
            return may_vote(pin.agents, pin.eligible, agent)
        case Phase.CONTEST | Phase.APPEAL:
            return may_speak_for_process(pin, lists, agent)
        case Phase.RULE:
            return None if agent in drawn_arbiters(pin, lists) else Code.NOT_DRAWN
        case Phase.ASSESS:
            report = pin.cause or pin.round
            said = Assess(round=pin.round, after=pin.round, report=report, credible=False)
            return may_assess(pin, agent, said)
        case _:
            return may_take_part(pin.agents, agent)


def _own(world: World, one: Round, agent: AgentId) -> Sequence[Record]:
    """List the agent's records that count in the open phase as things stand here."""
    return [record for record in one.qualified(world.log) if record.author == agent]


def _offer(world: World, one: Round, agent: AgentId, act: Act, window: Window) -> MayAct:
    pin = one.pin
    artifact = world.state.artifacts.get(pin.artifact)
    assert one.phase is not None, "an act belongs to an open phase"  # noqa: S101 # our invariant
    return MayAct(
        round=pin.round.hex(),
        artifact=pin.artifact.hex(),
        artifact_cid=cid_of(pin.artifact),
        title=title_of(world, one),
        topics=artifact.topics if artifact else (),
        phase=one.phase,
        act=act,
        after=course(pin, one.finals).after[one.phase].hex(),
        window=window,
        matches=agent in pin.watchers,
    )
