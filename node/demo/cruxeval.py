"""Real answers of 51 language models to 800 questions with a known truth: the demo's agents.

CRUXEval asks what a short Python function returns. Each model is one agent of the demo, each
question one topic of discussion, and the truth comes from running the code, so that a verdict
of the community can be compared with what is so. The rule of this module: two answers are equal
exactly when their texts are equal. `make_cruxeval` brought every spelling of one Python value
to one text, so nobody here evaluates what a model wrote.

Sources and licences stand in `data/NOTICE`. Not part of the protocol: a real agent brings its
own answers.
"""

import lzma
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

DATA: Final = Path(__file__).parent / "data" / "cruxeval.msgpack.xz"
"""The compact set that ships with the package."""


class PackedItem(msgspec.Struct, frozen=True, array_like=True):
    """One question as it lies in the file: every distinct answer once, models by index."""

    id: str
    code: str
    call: str
    answers: tuple[str, ...]
    truth: int
    """Index into `answers`."""
    picks: bytes
    """One byte a model: 0 for no answer, else 1 + the index into `answers`."""


class PackedSet(msgspec.Struct, frozen=True, array_like=True):
    """The whole file."""

    models: tuple[tuple[str, str], ...]
    """Name and family."""
    items: tuple[PackedItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CruxModel:
    """One language model; in the demo, one agent."""

    name: str
    family: str
    """Models of one family share much of their training, and many of their errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CruxItem:
    """One question: what `call` returns once `code` has been run."""

    id: str
    code: str
    call: str
    """An expression such as `f([1, 1, 3])`."""
    truth: str
    answers: tuple[str | None, ...]
    """In the order of the models; None where no answer could be read from the output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CruxSet:
    """All models and all questions."""

    models: tuple[CruxModel, ...]
    items: tuple[CruxItem, ...]


@cache
def load() -> CruxSet:
    """Read the set that ships with the package, once; callers share it."""
    packed = msgspec.msgpack.decode(lzma.decompress(DATA.read_bytes()), type=PackedSet)
    return CruxSet(
        models=tuple(CruxModel(name=name, family=family) for name, family in packed.models),
        items=tuple(_unpack(item) for item in packed.items),
    )


def plurality(answers: Sequence[str | None]) -> str | None:
    """Give the most frequent answer; of several, the one that stands first. None if none."""
    counts = Counter(answer for answer in answers if answer is not None)
    # A Counter keeps the order of first appearance, and `max` takes the first of equals.
    return max(counts, key=lambda answer: counts[answer], default=None)


def plurality_right(crux: CruxSet) -> int:
    """Count the items whose plurality answer is the truth."""
    return sum(plurality(item.answers) == item.truth for item in crux.items)


def right_by_model(crux: CruxSet) -> tuple[int, ...]:
    """Count each model's true answers, in the order of the models."""
    return tuple(
        sum(item.answers[index] == item.truth for item in crux.items)
        for index in range(len(crux.models))
    )


def _unpack(item: PackedItem) -> CruxItem:
    spellings = (None, *item.answers)
    return CruxItem(
        id=item.id,
        code=item.code,
        call=item.call,
        truth=item.answers[item.truth],
        answers=tuple(spellings[pick] for pick in item.picks),
    )
