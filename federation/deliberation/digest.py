"""A digest of a debate for late readers: whole sentences, chosen by counting (paper 3.2.2).

Extractive: every line stands in an argument, letter by letter, and is shown with its author.
Deterministic: integers only, and the same arguments give the same digest in whatever order they
come. No sentence is written by anybody for the digest, and nothing of it enters any decision.

Turns of speech that several operators use weigh more, those of arguments that others answered or
cited still more; what has been said already weighs nothing. Operators and threads that have not
been quoted come first, then the stance that was quoted least. So one operator cannot fill a digest
by arguing often, nor one side by arguing more.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, TypeAlias

from federation.core import OperatorId, ParameterError, RecordId
from federation.deliberation.graph import Debate, Placed
from federation.deliberation.sentences import Sentence, sentences
from federation.records import Stance

MOST: Final = 40
"""Sentences of the longest digest."""
USUAL: Final = 12
"""Sentences of a digest unless somebody asks for more or fewer."""
READ: Final = 100
"""Arguments that are read for it; of more, each operator's most heard ones."""
CHARACTERS: Final = 80_000
"""Characters that are read of all arguments together, shared equally: it must cost little."""
_EACH: Final = 40
"""Sentences that are weighed of one argument."""
_HEARD: Final = 4
"""Operators beyond which being heard adds no weight."""
_SHORT: Final = 10
"""Words added to each sentence's length, so that a short one does not win by being short."""
_SCALE: Final = 1_000
_LONG_WORD: Final = 24
_WORD: Final = re.compile(r"\w+")

Gram: TypeAlias = str | tuple[str, str]
"""One word, or two that follow each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """One sentence of the digest."""

    argument: RecordId
    """Whose words these are."""
    start: int
    """Index of its first character in the argument's text."""
    words: str
    """The sentence, letter by letter."""
    part: bool
    """It is a part of a sentence that is too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DebateDigest:
    """Some sentences of a debate; never all that was said."""

    quotes: tuple[Quote, ...]
    """In reading order of the debate."""
    quoted: int
    """Arguments that are quoted."""
    unquoted: int
    """Arguments with a text that are not."""
    missing: int
    """Arguments that would have been read, and whose text is not here: taken down, or not
    received."""


@dataclass(slots=True, kw_only=True)
class _Candidate:
    """An argument with the sentences that may still be taken from it."""

    place: Placed
    weight: int
    """From 1: more if others heard it."""
    left: list[tuple[Sentence, str, frozenset[Gram], int]]
    """Sentence, its words, its grams, its length in words."""
    quoted: int = 0
    """Sentences that were taken from it."""


def digest_of(debate: Debate, texts: Mapping[RecordId, str], *, most: int = USUAL) -> DebateDigest:
    """Choose at most `most` sentences, 1 to `MOST`, from the texts of a debate's arguments.

    `texts` are those held here of what is `worth_reading`, by argument; others are not looked at.
    Raises ParameterError for another number of sentences.
    """
    if not 1 <= most <= MOST:
        raise ParameterError(
            "digest refused",
            why=f"it has 1 to {MOST} sentences, not {most}",
            fix="ask for a number between these",
        )
    read = worth_reading(debate)
    candidates = [
        _Candidate(
            place=debate.arguments[name],
            weight=_weight(debate.arguments[name]),
            left=_sentences(texts[name], CHARACTERS // len(read)),
        )
        for name in read
        if name in texts
    ]
    quotes = _chosen(candidates, _weights(candidates), most)
    order = {name: place for place, name in enumerate(debate.arguments)}
    quotes.sort(key=lambda one: (order[one.argument], one.start))
    quoted = len({one.argument for one in quotes})
    missing = len(read) - len(candidates)
    return DebateDigest(
        quotes=tuple(quotes),
        quoted=quoted,
        unquoted=sum(map(_has_text, debate.arguments.values())) - quoted - missing,
        missing=missing,
    )


def worth_reading(debate: Debate) -> tuple[RecordId, ...]:
    """Give the arguments that a digest reads: at most `READ`, in reading order.

    All operators in turn, of each the most heard first: whoever argues often is not read alone.
    """
    by_operator: dict[OperatorId, list[Placed]] = {}
    for one in sorted(debate.arguments.values(), key=lambda one: (-_weight(one), one.id)):
        if _has_text(one):
            by_operator.setdefault(one.operator, []).append(one)
    ranked = sorted(
        (rank, -_weight(one), one.id)
        for those in by_operator.values()
        for rank, one in enumerate(those)
    )
    read = {name for _, _, name in ranked[:READ]}
    return tuple(name for name in debate.arguments if name in read)


def _has_text(one: Placed) -> bool:
    return one.said.text_hash is not None


def _weight(one: Placed) -> int:
    return 1 + min(one.heard, _HEARD)


def _sentences(text: str, share: int) -> list[tuple[Sentence, str, frozenset[Gram], int]]:
    """Read the beginning of a text; a sentence that goes on behind it is left out."""
    found: list[tuple[Sentence, str, frozenset[Gram], int]] = []
    for one in islice(sentences(text), _EACH):
        if one.end > share and found:
            break
        words = _words(one.of(text))
        if words:
            found.append((one, one.of(text), frozenset((*words, *pairwise(words))), len(words)))
    return found


def _words(text: str) -> list[str]:
    """Split into words; of a script without blanks, into pairs of characters."""
    words: list[str] = []
    for word in _WORD.findall(text.casefold()):
        if len(word) <= _LONG_WORD:
            words.append(word)
        else:
            words.extend(one + two for one, two in pairwise(word))
    return words


def _weights(candidates: Iterable[_Candidate]) -> Counter[Gram]:
    """Weigh each gram: each operator that uses it counts once, as heard as its argument was."""
    heaviest: dict[tuple[Gram, OperatorId], int] = {}
    for one in candidates:
        for _, _, grams, _ in one.left:
            for gram in grams:
                key = (gram, one.place.operator)
                heaviest[key] = max(heaviest.get(key, 0), one.weight)
    weights: Counter[Gram] = Counter()
    for (gram, _), weight in heaviest.items():
        weights[gram] += weight
    return weights


def _chosen(candidates: list[_Candidate], weights: Counter[Gram], most: int) -> list[Quote]:
    """Take sentence after sentence, each time from the argument whose turn it is."""
    quotes: list[Quote] = []
    operators: Counter[OperatorId] = Counter()
    threads: Counter[RecordId] = Counter()
    stances: Counter[Stance] = Counter()
    covered: set[Gram] = set()

    def turn(one: _Candidate) -> tuple[int, int, int, int, RecordId]:
        place = one.place
        quoted = operators[place.operator] + threads[place.thread]
        return quoted, stances[place.said.stance], one.quoted, -one.weight, place.id

    waiting = list(candidates)
    while waiting and len(quotes) < most:
        one = min(waiting, key=turn)
        best = _best(one, weights, covered)
        if best is None:
            waiting.remove(one)
            continue
        sentence, words, grams, _ = one.left.pop(best)
        covered |= grams
        one.quoted += 1
        operators[one.place.operator] += 1
        threads[one.place.thread] += 1
        stances[one.place.said.stance] += 1
        quotes.append(
            Quote(argument=one.place.id, start=sentence.start, words=words, part=sentence.part)
        )
    return quotes


def _best(one: _Candidate, weights: Counter[Gram], covered: set[Gram]) -> int | None:
    """Give the place of the sentence that adds most for its length; None if none adds anything."""
    best, most = None, 0
    for place, (_, _, grams, length) in enumerate(one.left):
        gain = sum(weights[gram] for gram in grams - covered) * _SCALE // (length + _SHORT)
        if gain > most:
            best, most = place, gain
    return best
