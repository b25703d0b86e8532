"""What a debate amounts to in numbers: arguments by stance and level, and by who made them."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from federation.core import AgentId, OperatorId
from federation.deliberation.graph import Debate, Placed
from federation.records import Level, Stance


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The arguments of one stance on one level."""

    stance: Stance
    level: Level
    arguments: int
    """All of them."""
    standing: int
    """Of these, those that no standing reply of the other side answers."""
    answered: int
    """Of these, those that an agent of another operator answered."""
    operators: int
    """Operators whose agents made them: many arguments of one are one voice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """What one agent did in a debate."""

    agent: AgentId
    operator: OperatorId
    arguments: int
    """Arguments of it."""
    replies: int
    """Of these, answers to arguments of other operators."""
    answered: int
    """Of these, those that an agent of another operator answered."""
    cited: int
    """Of these, those that a reviewer of another operator cites in its ballot."""


def sides(debate: Debate) -> tuple[Side, ...]:
    """Count arguments by stance and level, in the order of these; what has none is left out."""
    found: dict[tuple[Stance, Level], list[Placed]] = {}
    for one in debate.arguments.values():
        found.setdefault((one.said.stance, one.said.level), []).append(one)
    return tuple(
        Side(
            stance=stance,
            level=level,
            arguments=len(those),
            standing=sum(one.stands for one in those),
            answered=sum(bool(one.answered_by) for one in those),
            operators=len({one.operator for one in those}),
        )
        for stance in Stance
        for level in Level
        if (those := found.get((stance, level)))
    )


def speakers(debate: Debate) -> tuple[Speaker, ...]:
    """Count what each agent did, by id."""
    everybody = {one.author: one.operator for one in debate.arguments.values()}
    arguments = _count(debate, lambda _: True)
    replies = _count(debate, lambda one: _answers_another(debate, one))
    answered = _count(debate, lambda one: bool(one.answered_by))
    cited = _count(debate, lambda one: bool(one.cited_by))
    return tuple(
        Speaker(
            agent=agent,
            operator=operator,
            arguments=arguments[agent],
            replies=replies[agent],
            answered=answered[agent],
            cited=cited[agent],
        )
        for agent, operator in sorted(everybody.items())
    )


def _answers_another(debate: Debate, one: Placed) -> bool:
    above = one.replies_to
    return above is not None and debate.arguments[above].operator != one.operator


def _count(debate: Debate, holds: Callable[[Placed], bool]) -> Counter[AgentId]:
    return Counter(one.author for one in debate.arguments.values() if holds(one))
