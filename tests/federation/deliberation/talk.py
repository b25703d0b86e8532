"""A debate made by hand: five operators, six agents, and lists that name what they said.

talk = Talk()
first = talk.say(1, "It does not hold.", stance=Stance.AGAINST)
talk.say(0, "It does.", replies_to=first)
debate = talk.debate()
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from federation.artifacts import OpenedBallot
from federation.certificates import Phase
from federation.core import RecordId
from federation.crypto import Choice
from federation.deliberation import Debate, debate_of
from federation.records import Argue, Note, Record, SealArgument, read_text
from federation.review import FinalList
from tests.builders import argue, ballot, named
from tests.federation.review.scene import ROUND, Scene, final

OPERATORS = (1, 1, 1, 1, 2)
"""Agents 4 and 5 are of one operator."""


@dataclass(slots=True)
class Talk:
    """What was said in one round."""

    scene: Scene = field(default_factory=lambda: Scene.of(*OPERATORS))
    said: dict[Phase, list[Record]] = field(default_factory=dict)
    cited: list[OpenedBallot] = field(default_factory=list)

    def say(
        self, who: int, note: str = "", *, phase: Phase = Phase.DELIBERATE, **changes: object
    ) -> RecordId:
        """Let an agent argue; `changes` are fields of the body."""
        record = self.scene.agents[who].say(*argue(ROUND, note, **changes))  # type: ignore[arg-type]
        self.said.setdefault(phase, []).append(record)
        return record.id

    def seal(self, who: int) -> None:
        body = SealArgument(
            round=ROUND, after=ROUND, commitment=named("sealed", who), sealed=bytes(40)
        )
        self.said.setdefault(Phase.SEAL, []).append(self.scene.agents[who].say(body))

    def cite(self, who: int, *names: RecordId, practice: bool = False) -> None:
        """Let an agent's opened ballot cite arguments."""
        vote = msgspec.structs.replace(ballot(Choice.FOR), arguments=tuple(sorted(names)))
        view = self.scene.pin.agents[self.scene.agents[who].id]
        self.cited.append(
            OpenedBallot(
                voter=view.agent,
                operator=view.operator,
                ballot=vote,
                weight=0 if practice else view.weight,
                practice=practice,
            )
        )

    def finals(self) -> dict[Phase, FinalList]:
        return {phase: final(phase, *records) for phase, records in self.said.items()}

    def debate(self) -> Debate:
        """Give the graph of all of it, certified."""
        return debate_of(self.scene.pin, self.finals(), ballots=self.cited)

    def texts(self, *, without: Iterable[RecordId] = ()) -> Mapping[RecordId, str]:
        """Give the words of all arguments that have some."""
        gone = set(without)
        return {
            record.id: text.note
            for records in self.said.values()
            for record in records
            if record.id not in gone and record.text_raw is not None
            if (text := read_text(record.text_raw, Note)) is not None
        }

    def body(self, name: RecordId) -> Argue:
        for records in self.said.values():
            for record in records:
                if record.id == name and isinstance(record.body, Argue):
                    return record.body
        raise KeyError(name)
