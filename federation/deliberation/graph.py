"""The arguments of a round as a graph: who answered what, in which turn, and what ballots cite.

Replies make trees, called threads: the id of a record is a hash of what it says, so it can only
name what was written before it, and no replies go round in a circle. A ballot's citations are
edges from outside; they are known once ballots are open. What is sealed is no part of the graph.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from federation.artifacts import OpenedBallot
from federation.certificates import Phase
from federation.core import AgentId, OperatorId, RecordId
from federation.records import Argue, Record, SealArgument, Stance
from federation.review import Finals, RoundPin, listed

DEBATE: Final = (
    Phase.UNSEAL,
    Phase.DELIBERATE,
    Phase.TURN2,
    Phase.TURN3,
    Phase.TURN4,
    Phase.TURN5,
)
"""Phases that list arguments, in the order in which they are held."""
DEEPEST: Final = 32
"""Depth from which on replies are shown as if they stood beside each other."""
_OPPOSED: Final = frozenset({Stance.FOR, Stance.AGAINST})


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One argument in its place."""

    id: RecordId
    author: AgentId
    operator: OperatorId
    phase: Phase
    """The phase that it was written for; of `unseal`: it was sealed before others were read."""
    turn: int
    """From 1; 0 for an assessment that was sealed."""
    certified: bool
    """The list of its phase is final and names it."""
    said: Argue
    """The body of its record."""
    replies_to: RecordId | None
    """The argument of this debate that it answers."""
    strays: bool
    """It answers something that is no argument of this debate, and so begins a thread."""
    thread: RecordId
    """The argument that its thread began with."""
    depth: int
    """Answers between it and that argument; at most `DEEPEST`."""
    replies: tuple[RecordId, ...]
    """Arguments that answer it, in reading order."""
    answered_by: tuple[OperatorId, ...]
    """Operators, other than its own, whose agents answered it; a set."""
    cited_by: tuple[OperatorId, ...]
    """Operators, other than its own, whose reviewers cite it in their ballots; a set."""
    stands: bool
    """No reply that stands takes the other side. It tells who spoke last, not who is right."""

    @property
    def heard(self) -> int:
        """Count the operators that answered or cited it."""
        return len({*self.answered_by, *self.cited_by})


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """An argument with all that answers it, and what answers that."""

    root: RecordId
    arguments: tuple[RecordId, ...]
    """In reading order: each behind what it answers."""
    operators: int
    """Operators whose agents speak in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Debate:
    """All arguments of one round."""

    arguments: Mapping[RecordId, Placed]
    """In reading order: thread by thread, each argument behind what it answers."""
    threads: tuple[Thread, ...]
    """In the order of the phases in which they began, then by id."""
    sealed: int
    """Assessments that the list of the phase `seal` names."""
    closed: tuple[AgentId, ...]
    """Who never opened a listed assessment, by id; empty before the list of openings is final."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spoken:
    """One argument before its place is known."""

    record: Record
    said: Argue
    phase: Phase
    certified: bool


def debate_of(
    pin: RoundPin,
    finals: Finals,
    *,
    held: Mapping[Phase, Iterable[Record]] | None = None,
    ballots: Sequence[OpenedBallot] = (),
) -> Debate:
    """Build the graph from the certified lists of a round.

    `held` are records of the open phase that no list names yet. Of the phase `unseal` they are left
    out: whoever has not opened its assessment must not weigh whether to, by what others found.
    `ballots` are those of a final `decide`; without them nothing is cited. The order in which
    records come changes nothing.
    """
    spoken = _spoken(pin, finals, held or {})
    replies = _replies(spoken)
    answered, cited = _answered(pin, spoken), _cited(pin, spoken, ballots)
    placed: dict[RecordId, Placed] = {}
    for name in _reading_order(spoken, replies):
        one = _behind(pin, spoken[name], placed)
        placed[name] = replace(
            one, replies=replies[name], answered_by=answered[name], cited_by=cited[name]
        )
    _settle(placed)
    return Debate(
        arguments=placed,
        threads=tuple(_threads(placed)),
        sealed=len(listed(finals, Phase.SEAL)),
        closed=_closed(finals),
    )


def unanswered(debate: Debate) -> tuple[RecordId, ...]:
    """Give the arguments that no agent of another operator has answered, in reading order."""
    return tuple(name for name, one in debate.arguments.items() if not one.answered_by)


def _spoken(
    pin: RoundPin, finals: Finals, held: Mapping[Phase, Iterable[Record]]
) -> dict[RecordId, _Spoken]:
    """Collect all arguments by id, in the order of their phases and then of their ids."""
    found: dict[RecordId, _Spoken] = {}
    for phase in DEBATE:
        certified = phase in finals
        records = listed(finals, phase) if certified else held.get(phase, ())
        if phase is Phase.UNSEAL and not certified:
            continue
        for record in sorted(records, key=lambda one: one.id):
            if isinstance(record.body, Argue) and record.author in pin.agents:
                found[record.id] = _Spoken(
                    record=record, said=record.body, phase=phase, certified=certified
                )
    return found


def _replies(spoken: Mapping[RecordId, _Spoken]) -> dict[RecordId, tuple[RecordId, ...]]:
    found: dict[RecordId, list[RecordId]] = {name: [] for name in spoken}
    for name, one in spoken.items():
        if one.said.replies_to in found:
            found[one.said.replies_to].append(name)
    return {name: tuple(those) for name, those in found.items()}


def _reading_order(
    spoken: Mapping[RecordId, _Spoken], replies: Mapping[RecordId, tuple[RecordId, ...]]
) -> list[RecordId]:
    """Walk thread by thread; without recursion, because a thread may be as long as a list."""
    names: list[RecordId] = []
    waiting = [name for name, one in spoken.items() if one.said.replies_to not in spoken][::-1]
    while waiting:
        name = waiting.pop()
        names.append(name)
        waiting.extend(reversed(replies[name]))
    assert len(names) == len(spoken), "an id is a hash, so replies make no circle"  # noqa: S101 # ours
    return names


def _answered(
    pin: RoundPin, spoken: Mapping[RecordId, _Spoken]
) -> dict[RecordId, tuple[OperatorId, ...]]:
    """Collect, for each argument, the other operators whose agents answered it."""
    heard: dict[RecordId, set[OperatorId]] = {name: set() for name in spoken}
    for one in spoken.values():
        if one.said.replies_to in heard:
            heard[one.said.replies_to].add(pin.agents[one.record.author].operator)
    return _others(pin, spoken, heard)


def _cited(
    pin: RoundPin, spoken: Mapping[RecordId, _Spoken], ballots: Sequence[OpenedBallot]
) -> dict[RecordId, tuple[OperatorId, ...]]:
    """Collect, for each argument, the other operators whose reviewers cite it."""
    heard: dict[RecordId, set[OperatorId]] = {name: set() for name in spoken}
    for one in ballots:
        # Practice ballots decide nothing, and whoever makes many newcomers could cite itself.
        if one.practice:
            continue
        for name in one.ballot.arguments:
            if name in heard:
                heard[name].add(one.operator)
    return _others(pin, spoken, heard)


def _others(
    pin: RoundPin,
    spoken: Mapping[RecordId, _Spoken],
    heard: Mapping[RecordId, set[OperatorId]],
) -> dict[RecordId, tuple[OperatorId, ...]]:
    return {
        name: tuple(sorted(those - {pin.agents[spoken[name].record.author].operator}))
        for name, those in heard.items()
    }


def _behind(pin: RoundPin, one: _Spoken, placed: Mapping[RecordId, Placed]) -> Placed:
    """Place an argument behind what it answers, which has its place already."""
    record, target = one.record, one.said.replies_to
    above = None if target is None else placed.get(target)
    return Placed(
        id=record.id,
        author=record.author,
        operator=pin.agents[record.author].operator,
        phase=one.phase,
        turn=DEBATE.index(one.phase),
        certified=one.certified,
        said=one.said,
        replies_to=above.id if above else None,
        strays=target is not None and above is None,
        thread=above.thread if above else record.id,
        depth=min(above.depth + 1, DEEPEST) if above else 0,
        replies=(),
        answered_by=(),
        cited_by=(),
        stands=True,
    )


def _settle(placed: dict[RecordId, Placed]) -> None:
    """Work out what stands, from the last replies up: replies come behind what they answer."""
    for name in [*placed][::-1]:
        one = placed[name]
        opposed = any(
            placed[reply].stands and {one.said.stance, placed[reply].said.stance} == _OPPOSED
            for reply in one.replies
        )
        if opposed:
            placed[name] = replace(one, stands=False)


def _threads(placed: Mapping[RecordId, Placed]) -> Iterator[Thread]:
    members: dict[RecordId, list[Placed]] = {}
    for one in placed.values():
        members.setdefault(one.thread, []).append(one)
    for root, those in members.items():
        yield Thread(
            root=root,
            arguments=tuple(one.id for one in those),
            operators=len({one.operator for one in those}),
        )


def _closed(finals: Finals) -> tuple[AgentId, ...]:
    if Phase.UNSEAL not in finals:
        return ()
    sealed = {
        one.author for one in listed(finals, Phase.SEAL) if isinstance(one.body, SealArgument)
    }
    return tuple(sorted(sealed - {one.author for one in listed(finals, Phase.UNSEAL)}))
