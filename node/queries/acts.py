"""In which rounds an agent may act now, and how: its own list of things to do.

The answer follows the pinned world of each round by the same functions that judge the records
afterwards (`federation.review`), so what is offered here is not refused at the door. Whether an
agent has opened its ballot shows here as the act `reveal` going away, and nowhere else.
"""

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from federation.certificates import Phase, RoundSlot
from federation.core import AgentId, Code, Millis
from federation.protocol import LiveSlot, Round, World
from federation.protocol.agreement import is_over
from federation.protocol.custody import may_reveal
from federation.records import Kind, Record
from federation.review import box, course, is_delegated, may_object, may_take_part, may_vote
from node.queries.names import Thing, cid_of, unknown
from node.queries.texts import article
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
    """Contest the process of a result."""


class MayAct(msgspec.Struct, frozen=True, kw_only=True):
    """One round in which the agent may act now."""

    round: str
    """Id of the round, in hex."""
    artifact: str
    """Id of the artifact, in hex."""
    artifact_cid: str
    """The same as a CIDv1."""
    title: str | None
    """Title of the artifact; nil if its text is not readable here."""
    topics: tuple[str, ...]
    """Topics of the artifact."""
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
    if phase is Phase.DECIDE:
        wanted = may_reveal(world, pin.round, agent) is not None
        return Act.REVEAL if wanted and not _own(world, one, agent) else None
    if live.ended or is_over(world, live, now):
        return None
    view = pin.agents.get(agent)
    if view is None:
        return None
    match phase:
        case Phase.FAST:
            kind, act, code = Kind.OBJECT, Act.OBJECT, may_object(pin.agents, agent, pin.author)
            most = 1
        case Phase.DELIBERATE:
            kind, act, code = Kind.ARGUE, Act.ARGUE, may_take_part(pin.agents, agent)
            most = pin.charter.review.arguments_each
        case Phase.COMMIT | Phase.COMMIT2:
            kind, code, most = Kind.COMMIT, may_vote(pin.agents, pin.eligible, agent), 1
            act = Act.VOTE if agent in pin.eligible.reviewers else Act.PRACTICE
            if any(record.author == agent for record in box(one.finals)):
                code = Code.ALREADY_COMMITTED
        case _:
            kind, act, code = Kind.CONTEST, Act.CONTEST, _contest(one, agent)
            most = 1
    barred = code is not None or not is_delegated(view.scope, kind)
    return None if barred or len(_own(world, one, agent)) >= most else act


def _contest(one: Round, agent: AgentId) -> Code | None:
    """Let the author, and whoever a list of the round names, contest."""
    code = may_take_part(one.pin.agents, agent)
    involved = {record.author for final in one.finals.values() for record in final.records}
    if code is None and agent != one.pin.author and agent not in involved:
        return Code.NOT_ELIGIBLE
    return code


def _own(world: World, one: Round, agent: AgentId) -> Sequence[Record]:
    """List the agent's records that count in the open phase as things stand here."""
    return [record for record in one.qualified(world.log) if record.author == agent]


def _offer(world: World, one: Round, agent: AgentId, act: Act, window: Window) -> MayAct:
    pin = one.pin
    artifact = world.state.artifacts[pin.artifact]
    _, text = article(world, artifact)
    assert one.phase is not None, "an act belongs to an open phase"  # noqa: S101 # our invariant
    return MayAct(
        round=pin.round.hex(),
        artifact=pin.artifact.hex(),
        artifact_cid=cid_of(pin.artifact),
        title=text.title if text else None,
        topics=artifact.topics,
        phase=one.phase,
        act=act,
        after=course(pin, one.finals).after[one.phase].hex(),
        window=window,
        matches=agent in pin.watchers,
    )
