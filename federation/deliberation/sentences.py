"""Sentences of a text, as places in it: what is quoted is in its source letter by letter.

There is no grammar here, only marks at which people stop. What has no marks is cut between words,
and where there are no words, after so many characters. Linear in the text whatever it holds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 300
"""Characters of the longest sentence; a longer one comes in parts."""
_CLOSING: Final = "\"')]\u201d\u2019\u00bb"
_WIDE_CLOSING: Final = "\u300d\u300f\u201d\u2019\uff09"
_STOP: Final = re.compile(
    rf"[.!?\u2026][{re.escape(_CLOSING)}]{{0,2}}(?=\s)"
    rf"|[\u3002\uff01\uff1f][{_WIDE_CLOSING}]{{0,2}}"
    r"|[\r\n\u2028\u2029]"
)
"""Where a sentence may end, also in scripts without blanks between words: every branch is of bounded length, so no text makes it slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A place in a text."""

    start: int
    """Index of its first character."""
    end: int
    """Index behind its last character."""
    part: bool
    """It is a part of a sentence that is too long."""

    def of(self, text: str) -> str:
        """Give its words."""
        return text[self.start : self.end]


def sentences(text: str) -> Iterator[Sentence]:
    """Go through the sentences of a text in order; blanks around them are left out."""
    start = 0
    for stop in _STOP.finditer(text):
        # "e.g. this" goes on: a small letter behind the blank begins no sentence.
        if text[stop.end() : stop.end() + 2].strip()[:1].islower() and stop.group()[0] == ".":
            continue
        yield from _parts(text, start, stop.end())
        start = stop.end()
    yield from _parts(text, start, len(text))


def _parts(text: str, start: int, end: int) -> Iterator[Sentence]:
    """Cut what is too long, between words where there are some."""
    start, end = _trimmed(text, start, end)
    whole = end - start <= LONGEST
    while start < end:
        stop = end
        if end - start > LONGEST:
            window = text[start : start + LONGEST + 1]
            # A cut in the first half would give scraps; then it is made within the word.
            blank = next((at for at in range(LONGEST, LONGEST // 2, -1) if window[at].isspace()), 0)
            stop = start + (blank or LONGEST)
        first, last = _trimmed(text, start, stop)
        if first < last:
            yield Sentence(start=first, end=last, part=not whole)
        start = stop


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return (first, start + len(piece.rstrip())) if piece.strip() else (end, end)
