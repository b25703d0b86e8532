"""How near two texts are to each other, in integers (paper 3.1; design: duplicates).

Equal texts are told by their hash. What somebody copied and changed a little is told by the cosine
of the runs of 3 to 5 characters that both consist of. No rule asks for it while a cut is folded:
an instance works it out once and says so in a signed finding (`artifact.near`).
"""

from collections import Counter
from math import isqrt
from typing import Final
from zlib import crc32

from federation.core import MILLION, Ppm
from federation.records import ArtifactText

SIZES: Final = (3, 4, 5)
"""Characters of a run."""
MOST: Final = 16 * 1024
"""Characters of a text that are read, the first ones: as many as a proposal's text has bytes."""


def whole(text: ArtifactText) -> str:
    """Give what of an artifact's text is compared: title, claims and prose."""
    return "\n".join((text.title, *text.claims, text.prose))


def runs_of(text: str) -> Counter[int]:
    """Count the runs of a text by their hash; case and kind of white space make no difference.

    Only the first 16,384 characters are read. A text without a letter has no run.
    """
    words = text[:MOST].casefold().split()
    if not words:
        return Counter()
    # Casefolding can triple a character: the bound holds for what is counted, too.
    spelt = f" {' '.join(words)[:MOST]} "
    return Counter(
        crc32(spelt[start : start + size].encode("utf-32-le", "surrogatepass"))
        for size in SIZES
        for start in range(len(spelt) - size + 1)
    )


def cosine(first: Counter[int], second: Counter[int]) -> Ppm:
    """Give the cosine of two counts in ppm, rounded down; 0 if one of them is empty."""
    few, many = sorted((first, second), key=len)
    dot = sum(count * many[run] for run, count in few.items())
    norm = sum(n * n for n in first.values()) * sum(n * n for n in second.values())
    return isqrt(dot * dot * MILLION * MILLION // norm) if norm else 0


def likeness(a: str, b: str) -> Ppm:
    """Tell how near two texts are: 0 for nothing in common, 1,000,000 for the same runs."""
    return cosine(runs_of(a), runs_of(b))
