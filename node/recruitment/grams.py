"""How near a phrase is to a text: cosine over hashed runs of 3 to 5 characters, in integers.

A keyword finds its word as it is written. Nearness finds the word in another form ("vaccines"), or
with a slip of the pen. It is for notices only: no rule of the protocol asks for it, and two nodes
need not agree about it.

A phrase has a few dozen runs and a text thousands, so a cosine between the two would be small
whatever they say. The text is therefore looked at in windows of as many words as the phrase has, at
most three. Only its title and its claims are: they say what it is about, and the work for one
artifact stays bounded.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import isqrt
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Whole: TypeAlias = npt.NDArray[np.int64]

SIZES: Final = (3, 4, 5)
"""Characters of a run."""
BITS: Final = 16
"""Runs are hashed to so many bits; two that meet in one place count as the same."""
NEAR: Final = 57
"""Percent of a full cosine from which a phrase is near.

Set by trying 3,000 words and pairs of words on 300 lines that were not written for them: below it
nearly all is chance (shared endings: "consequences" and "differences"), above it nearly all is the
same word in another form ("vaccine" and "vaccines" 77, "salt" and "salts" 57).
"""
WIDEST: Final = 3
"""Words of the widest window."""
WINDOWS: Final = 256
"""Windows of one text that are looked at, the first ones."""
LONGEST: Final = 40
"""Characters of a word that are looked at."""
TOGETHER: Final = 50_000
"""Phrases that are read at once: their runs take some 100 bytes each while they are sorted."""
_WORD: Final = re.compile(r"[^\W_]+")
_FULL: Final = 100
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
"""Odd, and without a pattern in its bits: spreads the hash over its highest bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Counted runs of several texts, in order of text and place."""

    texts: Whole
    """Which text."""
    places: Whole
    """Hash of the run."""
    counts: Whole
    """How often it stands there."""


def words_in(text: str) -> list[str]:
    """Give the words of a text, without case and without what stands between them."""
    return [word[:LONGEST] for word in _WORD.findall(text.casefold())]


def runs_of(texts: Sequence[Sequence[str]]) -> Runs:
    """Count the runs of texts, each of some words; each word stands between spaces."""
    spelt = [f" {' '.join(words)} " for words in texts]
    letters = np.frombuffer("".join(spelt).encode("utf-32-le", "replace"), dtype="<u4")
    owners = np.repeat(np.arange(len(spelt)), [len(one) for one in spelt])
    keys = []
    for size in SIZES:
        last = max(len(letters) - size + 1, 0)
        hashed = np.full(last, size, dtype=np.uint64)
        for step in range(size):
            hashed = (hashed + letters[step : step + last]) * _FACTOR
            hashed ^= hashed >> np.uint64(32)
        whole = owners[:last] == owners[size - 1 : size - 1 + last]
        places = (hashed * _FACTOR >> np.uint64(64 - BITS)).astype(np.int64)
        keys.append((owners[:last] << BITS | places)[whole])
    found, counts = np.unique(np.concatenate(keys), return_counts=True)
    return Runs(texts=found >> BITS, places=found & ((1 << BITS) - 1), counts=counts)


def windows_of(lines: Iterable[str]) -> list[tuple[str, ...]]:
    """Cut lines into windows of one to three words, each once, at most 256."""
    found: dict[tuple[str, ...], None] = {}
    for line in lines:
        words = words_in(line)
        for start, size in product(range(len(words)), range(1, WIDEST + 1)):
            if start + size <= len(words):
                found[tuple(words[start : start + size])] = None
            if len(found) >= WINDOWS:
                return list(found)
    return list(found)


class Nearness:
    """Phrases, kept by their runs: a text costs what its runs have in common with them."""

    def __init__(self, phrases: Sequence[str]) -> None:
        """Take phrases, each once; a phrase without a letter is near to nothing."""
        spelt = [words_in(one) for one in phrases]
        parts = [
            (start, runs_of(spelt[start : start + TOGETHER]))
            for start in range(0, len(spelt), TOGETHER)
        ]
        none = np.zeros(0, dtype=np.int64)
        texts = np.concatenate([none, *(start + part.texts for start, part in parts)])
        counts = np.concatenate([none, *(part.counts for _, part in parts)])
        places = np.concatenate([none, *(part.places for _, part in parts)])
        order = np.argsort(places, kind="stable")
        self._count: Final = len(phrases)
        self._widths = np.array([min(len(words), WIDEST) for words in spelt], dtype=np.int8)
        self._norms = np.bincount(texts, weights=counts**2, minlength=len(phrases)).astype(np.int64)
        # A little less than enough: whether it is enough is told in whole numbers.
        self._least = np.sqrt(self._norms) * (NEAR / _FULL * 0.999)
        self._phrases = texts[order].astype(np.int32)
        self._counts = counts[order].astype(np.uint8)
        self._starts = np.searchsorted(places[order], np.arange((1 << BITS) + 1))

    def near(self, lines: Iterable[str]) -> dict[int, int]:
        """Give the phrases that are near some window, by place, with the percent of their cosine."""
        windows = windows_of(lines)
        if not self._count or not windows:
            return {}
        runs = runs_of(windows)
        edges = np.searchsorted(runs.texts, np.arange(len(windows) + 1))
        best: dict[int, int] = {}
        for words, (first, last) in zip(windows, pairwise(edges), strict=True):
            part = slice(first, last)
            for phrase, percent in self._near(len(words), runs.places[part], runs.counts[part]):
                best[phrase] = max(best.get(phrase, 0), percent)
        return best

    def _near(self, width: int, places: Whole, counts: Whole) -> Iterable[tuple[int, int]]:
        """Give the phrases that are near one window of so many words."""
        norm = int(np.sum(counts**2))
        parts = [slice(self._starts[place], self._starts[place + 1]) for place in places]
        phrases = np.concatenate([self._phrases[part] for part in parts])
        weights = np.concatenate(
            [self._counts[part] * count for part, count in zip(parts, counts, strict=True)]
        )
        # Sums of whole numbers below 2^53 are exact as floats, too.
        dots = np.bincount(phrases, weights=weights, minlength=self._count)
        # Few are left to be told exactly.
        may = (dots > self._least * norm**0.5) & (self._widths == width)
        for phrase in np.nonzero(may)[0]:
            dot, size = int(dots[phrase]), int(self._norms[phrase])
            percent = isqrt(dot * dot * _FULL * _FULL // (norm * size))
            if percent >= NEAR:
                yield int(phrase), percent
