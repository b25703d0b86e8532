"""What is played in the demo: which questions, who proposes, who reviews, and every ballot.

All of it follows from a seed by public lots, so a run can be repeated anywhere. The rule: a model
votes by its own real answer and nothing else. It votes for a claim that names the value it
answered itself, against one that names another, and abstains where it gave no readable answer.
The truth is not used here; `metrics` compares with it afterwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from federation.core import Lots
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.records import ArtifactText
from node.demo.cruxeval import CruxItem, CruxSet

BATCH: Final = 6
"""Items between two ticks (design: CRUXEval)."""
TOPIC: Final = "code/python"

_REASONS: Final[Mapping[Choice, Reason]] = {
    Choice.FOR: Reason.ACCURATE,
    Choice.AGAINST: Reason.INACCURATE,
    Choice.ABSTAIN: Reason.UNCLEAR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question as it will be played."""

    item: CruxItem
    proposer: int
    """Index of the model whose answer is proposed."""
    claimed: str
    """That answer."""
    reviewers: tuple[int, ...]
    """Indices of the models that vote, in the order in which they were drawn."""

    @property
    def is_true(self) -> bool:
        """Tell whether the claimed value is what executing the function gives."""
        return self.claimed == self.item.truth

    def choice(self, model: int) -> Choice:
        """Give a model's vote by its own answer."""
        answer = self.item.answers[model]
        if answer is None:
            return Choice.ABSTAIN
        return Choice.FOR if answer == self.claimed else Choice.AGAINST

    def ballot(self, model: int) -> Ballot:
        """Give a model's ballot; the models worked the value out without running the code."""
        choice = self.choice(model)
        return Ballot(choice=choice, reason=_REASONS[choice], basis=Basis.DERIVATION)

    def text(self) -> ArtifactText:
        """Give the artifact that is proposed: one claim, and what would show it false."""
        return ArtifactText(
            title=f"What {self.item.id} returns",
            prose=self.item.code,
            claims=(f"{self.item.call} returns {self.claimed}",),
            falsification=("executing the function gives another value",),
            sources=(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Everything that is played, in batches with a tick between them."""

    seed: str
    crux: CruxSet
    batches: tuple[tuple[Question, ...], ...]
    """Proposers without an answer are left out, so a batch may be smaller, even empty."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions in the order in which they are proposed."""
        return tuple(question for batch in self.batches for question in batch)


def draw(crux: CruxSet, *, seed: str, items: int, reviewers: int) -> Scenario:
    """Draw a scenario: the items' order, the rotation of proposers, reviewers for each item.

    `items` is at most the number of items, `reviewers` at most the number of models less one.
    """
    models = range(len(crux.models))
    drawn = Lots("demo", seed, "items").sample(range(len(crux.items)), items)
    rotation = Lots("demo", seed, "proposers").sample(models, len(models))
    played = [
        _question(crux.items[index], rotation[turn % len(rotation)], seed, reviewers)
        for turn, index in enumerate(drawn)
    ]
    return Scenario(
        seed=seed,
        crux=crux,
        batches=tuple(
            tuple(question for question in played[start : start + BATCH] if question)
            for start in range(0, len(played), BATCH)
        ),
    )


def _question(item: CruxItem, proposer: int, seed: str, reviewers: int) -> Question | None:
    """Let a model propose its answer to an item; None if it has none."""
    claimed = item.answers[proposer]
    if claimed is None:
        return None
    others = [model for model in range(len(item.answers)) if model != proposer]
    lots = Lots("demo", seed, "reviewers", item.id)
    return Question(
        item=item,
        proposer=proposer,
        claimed=claimed,
        reviewers=tuple(lots.sample(others, reviewers)),
    )
