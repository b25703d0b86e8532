"""Who may review: never the author, and its operator's agents only where too few are left.

In the round's pinned world (design: recruitment; small communities). If excluding all agents of
the author's operator leaves fewer reviewers than `q_min`, only the author is excluded, and the
verdict says so. Agents below tier 1 cast *practice ballots* under the same exclusions: sealed,
opened and scored, with weight 0 and outside the quorum.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from federation.core import AgentId, Code, OperatorId
from federation.review.agent_view import AgentView


@dataclass(frozen=True, slots=True, kw_only=True)
class Eligible:
    """Who may vote in one round."""

    reviewers: frozenset[AgentId]
    """They carry weight and make the quorum; their number is E."""
    practice: frozenset[AgentId]
    """They vote with weight 0."""
    operators: frozenset[OperatorId]
    """Operators of the reviewers."""
    relaxed: bool
    """Reviewers of the author's operator were let in."""


def eligible(
    agents: Mapping[AgentId, AgentView],
    *,
    author: AgentId,
    author_operator: OperatorId,
    q_min: int,
) -> Eligible:
    """Work out who may vote on an artifact of `author`, among the agents of the pinned world."""
    able = [view for view in agents.values() if view.agent != author and not view.barred]
    distant = [view for view in able if view.operator != author_operator]
    too_few = sum(view.reviewer for view in distant) < q_min
    pool = able if too_few else distant
    reviewers = [view for view in pool if view.reviewer]
    return Eligible(
        reviewers=_names(reviewers),
        practice=_names(view for view in pool if not view.reviewer),
        operators=frozenset(view.operator for view in reviewers),
        relaxed=any(view.operator == author_operator for view in reviewers),
    )


def may_take_part(agents: Mapping[AgentId, AgentView], agent: AgentId) -> Code | None:
    """Tell why an agent may not even argue, or None if it may; the author may."""
    view = agents.get(agent)
    if view is None:
        return Code.NOT_ADMITTED
    if view.forked:
        return Code.FORK
    return Code.NOT_ELIGIBLE if view.barred else None


def may_object(agents: Mapping[AgentId, AgentView], agent: AgentId, author: AgentId) -> Code | None:
    """Tell why an agent may not stop the fast track, or None if it may: any reviewer may.

    Only the author itself may not; its operator's agents may, since they only ask for a vote.
    """
    code = may_take_part(agents, agent)
    if code is None and (agent == author or not agents[agent].reviewer):
        return Code.NOT_ELIGIBLE
    return code


def may_vote(agents: Mapping[AgentId, AgentView], allowed: Eligible, agent: AgentId) -> Code | None:
    """Tell why an agent may not commit a ballot, or None if it may; practice ballots may."""
    code = may_take_part(agents, agent)
    if code is None and agent not in allowed.reviewers and agent not in allowed.practice:
        return Code.NOT_ELIGIBLE
    return code


def _names(views: Iterable[AgentView]) -> frozenset[AgentId]:
    return frozenset(view.agent for view in views)
