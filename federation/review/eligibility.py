"""Who may review: never the author, and its operator's agents only where too few are left.

In the round's pinned world (design: recruitment; small communities). If excluding all agents of
the author's operator leaves fewer reviewers than `q_min`, only the author is excluded, and the
verdict says so. A panel about what stands already is never relaxed so: it also keeps out whoever
filed the dispute, its operator, and everybody who has voted on the artifact before (§3.3.1).
Agents below tier 1, or in quarantine, cast *practice ballots* under the same exclusions: sealed,
opened and scored, with weight 0 and outside the quorum.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

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


NOBODY_VOTES: Final = Eligible(
    reviewers=frozenset(), practice=frozenset(), operators=frozenset(), relaxed=False
)
"""Of rounds without a vote: about a sanction only arbiters and operators have a say."""


def eligible(
    agents: Mapping[AgentId, AgentView],
    *,
    author: AgentId,
    author_operator: OperatorId,
    q_min: int,
    voted: frozenset[AgentId] = frozenset(),
    parties: frozenset[AgentId] = frozenset(),
) -> Eligible:
    """Work out who may vote on an artifact of `author`, among the agents of the pinned world.

    Whoever is in `voted` may not: a panel that is asked for a second time is a fresh one. Nor may
    `parties`, who have brought it forward beside the author.
    """
    able = _able(agents, parties | {author})
    distant = [view for view in able if view.operator != author_operator]
    # Of how many there are at all: a rerun, for which the first panel is used up, must not hand
    # the author's operator the decision.
    too_few = sum(is_reviewer(view) for view in distant) < q_min
    pool = able if too_few else distant
    return _eligible([view for view in pool if view.agent not in voted], author_operator)


def fresh_panel(
    agents: Mapping[AgentId, AgentView],
    *,
    involved: frozenset[AgentId],
    operators: frozenset[OperatorId],
) -> Eligible:
    """Work out who may vote on whether an artifact still stands, however few are left.

    `involved` are the author, the disputer and who has voted before, `operators` are those of the
    author and the disputer.
    """
    pool = [view for view in _able(agents, involved) if view.operator not in operators]
    return _eligible(pool, None)


def is_reviewer(view: AgentView) -> bool:
    """Tell whether an agent's ballot may carry weight anywhere: not in quarantine."""
    return view.reviewer and not view.quarantined


def is_delegated(scope: frozenset[str], kind: str) -> bool:
    """Tell whether an operator's word covers a kind; an empty scope covers all."""
    return not scope or kind in scope


def may_take_part(agents: Mapping[AgentId, AgentView], agent: AgentId) -> Code | None:
    """Tell why an agent may not even argue, or None if it may; the author may."""
    view = agents.get(agent)
    if view is None:
        return Code.NOT_ADMITTED
    if view.forked:
        return Code.FORK
    if view.revoked:
        return Code.NOT_ELIGIBLE
    if view.banned:
        return Code.AGENT_BANNED
    return Code.SUSPENDED if view.suspended else None


def may_object(
    agents: Mapping[AgentId, AgentView],
    agent: AgentId,
    author: AgentId,
    *,
    operator: OperatorId | None = None,
    relaxed: bool = False,
) -> Code | None:
    """Tell why an agent may not stop the fast track, or None if it may.

    Any reviewer may but the author and its operator's agents; these only where the exclusion is
    `relaxed`. `operator` is the author's as the round pinned it; None asks for that of its view.
    """
    code = may_take_part(agents, agent)
    if code is not None:
        return code
    view = agents[agent]
    if view.quarantined:
        return Code.QUARANTINED
    if agent == author or not view.reviewer:
        return Code.NOT_ELIGIBLE
    if operator is None and author in agents:
        operator = agents[author].operator
    return Code.AUTHORS_OPERATOR if view.operator == operator and not relaxed else None


def may_vote(agents: Mapping[AgentId, AgentView], allowed: Eligible, agent: AgentId) -> Code | None:
    """Tell why an agent may not commit a ballot, or None if it may; practice ballots may."""
    code = may_take_part(agents, agent)
    if code is None and agent not in allowed.reviewers and agent not in allowed.practice:
        return Code.NOT_ELIGIBLE
    return code


def _able(agents: Mapping[AgentId, AgentView], excluded: frozenset[AgentId]) -> list[AgentView]:
    return [view for view in agents.values() if view.agent not in excluded and not view.barred]


def _eligible(pool: list[AgentView], author_operator: OperatorId | None) -> Eligible:
    reviewers = [view for view in pool if is_reviewer(view)]
    return Eligible(
        reviewers=_names(reviewers),
        practice=_names(view for view in pool if not is_reviewer(view)),
        operators=frozenset(view.operator for view in reviewers),
        relaxed=any(view.operator == author_operator for view in reviewers),
    )


def _names(views: Iterable[AgentView]) -> frozenset[AgentId]:
    return frozenset(view.agent for view in views)
