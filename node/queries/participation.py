"""Whether who takes part in a round is what the topic is used to (§3.1).

A crowd that usually stays away and now fills a box may be a flood, or news that concerns many. So
this is a warning for people and moves nothing: weights and caps hold whoever comes. It looks at who
has committed, which is public, and never at what.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import msgspec

from federation.certificates import Phase
from federation.core import AgentId, OperatorId, Ppm
from federation.protocol import Round, World
from node.queries.live_rounds import artifact_of, held_in
from node.queries.names import Who, who
from node.queries.per_cut import PerCut

SAMPLE: Final = 5
"""Commitments from which a share of them says anything."""
USUAL: Final = 20
"""Ballots of a topic from which it is known what is usual there."""
TIMES: Final = 3
"""So many times its usual share is far above it; and half of the box at the least."""
_MILLION: Final = 1_000_000


class Crowd(StrEnum):
    """Who is there in unusual number."""

    OPERATOR = "operator"
    """Agents of one operator."""
    NEWCOMERS = "newcomers"
    """Agents below tier 1: their ballots are practice and weigh nothing."""


class Abnormal(msgspec.Struct, frozen=True, kw_only=True):
    """A share of the commitments that is far above what the topic is used to."""

    crowd: Crowd
    """Who is there in unusual number."""
    operator: Who | None
    """The operator; nil for newcomers."""
    topic: str
    """The topic whose past it is compared with."""
    commitments: int
    """Commitments of theirs."""
    of: int
    """Commitments in all."""
    usual: Ppm
    """Their share of the ballots on this topic so far, in ppm."""
    why: str
    """The same as a sentence."""


@dataclass(slots=True)
class _Past:
    """Ballots on one topic so far."""

    total: int = 0
    """Ballots of everybody."""
    newcomers: int = 0
    """Ballots of those who were no reviewers."""
    operators: Counter[OperatorId] = field(default_factory=Counter)
    """Ballots of each operator's agents."""


def abnormal(world: World, found: Round) -> tuple[Abnormal, ...]:
    """Tell who has committed to a round in unusual number; nothing where too little is known."""
    artifact = artifact_of(world, found)
    if artifact is None:
        return ()
    committed = committers(world, found)
    if len(committed) < SAMPLE:
        return ()
    agents = found.pin.agents
    operators = Counter(agents[one].operator for one in committed if one in agents)
    newcomers = sum(one not in found.pin.eligible.reviewers for one in committed)
    past = _past(world)
    shown: list[Abnormal] = []
    for topic in artifact.topics:
        usual = past.get(topic)
        if usual is None or usual.total < USUAL:
            continue
        for operator, count in sorted(operators.items()):
            if _is_far(count, len(committed), usual.operators[operator], usual.total):
                shown.append(
                    _told(world, topic, usual, operator=operator, count=count, of=len(committed))
                )
        if _is_far(newcomers, len(committed), usual.newcomers, usual.total):
            shown.append(
                _told(world, topic, usual, operator=None, count=newcomers, of=len(committed))
            )
    return tuple(shown)


def committers(world: World, found: Round) -> frozenset[AgentId]:
    """List who has committed to a ballot: listed, or held here while the box is open."""
    return frozenset(
        record.author
        for phase in (Phase.COMMIT, Phase.COMMIT2)
        for record in held_in(world, found, phase)
    )


def _is_far(count: int, of: int, usual: int, total: int) -> bool:
    return 2 * count >= of and count * total >= TIMES * usual * of


def _told(
    world: World, topic: str, past: _Past, *, operator: OperatorId | None, count: int, of: int
) -> Abnormal:
    before = past.newcomers if operator is None else past.operators[operator]
    usual = before * _MILLION // past.total
    called = who(world, operator) if operator is not None else None
    crowd = f"agents of {called.name or called.id}" if called else "newcomers"
    return Abnormal(
        crowd=Crowd.NEWCOMERS if called is None else Crowd.OPERATOR,
        operator=called,
        topic=topic,
        commitments=count,
        of=of,
        usual=usual,
        why=f"{count} of {of} commitments are by {crowd}, who cast {usual // 10_000} % of the "
        f"ballots on {topic} so far.",
    )


def _count(world: World) -> Mapping[str, _Past]:
    """Count the opened ballots of each topic; walks over all artifacts."""
    past: dict[str, _Past] = {}
    for artifact in world.state.artifacts.values():
        if artifact.verdict is None:
            continue
        for topic in artifact.topics:
            one = past.setdefault(topic, _Past())
            for opened in artifact.verdict.ballots:
                one.total += 1
                one.operators[opened.operator] += 1
                one.newcomers += opened.practice
    return past


_past: Final = PerCut(_count)
