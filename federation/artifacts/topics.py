"""Who watches what: topics and keywords of standing offers to review (paper 3.1).

A subscription reaches an artifact by a topic, where a subscribed topic stands for its whole
branch, or by a keyword. The fold reads no prose, so what *counts* (`watches`: the fast track's
watchers) looks at topics alone; whom to *notify* (`concerns`) may look at the text as well.
How sensitive a topic is stands in the charter (`federation.charter.sensitivity_of`).
"""

import re
from collections.abc import Iterable
from typing import Final

from federation.records import AgentSubscribe, ArtifactText

_WORD: Final = re.compile(r"\w+")


def covers(branch: str, topic: str) -> bool:
    """Tell whether `topic` is `branch` or lies below it; parts of a path are never split."""
    return topic == branch or topic.startswith(branch + "/")


def watches(offer: AgentSubscribe, topics: Iterable[str]) -> bool:
    """Tell whether an offer that is on matches an artifact by its topics alone.

    A keyword matches when it is one whole part of a topic path.
    """
    paths = tuple(topics)
    parts = {part for path in paths for part in path.split("/")}
    return offer.on and (
        any(covers(branch, path) for branch in offer.topics for path in paths)
        or any(keyword.casefold() in parts for keyword in offer.keywords)
    )


def concerns(offer: AgentSubscribe, topics: Iterable[str], words: frozenset[str]) -> bool:
    """Tell whom to notify: those who watch, and those whose keyword stands in the text.

    `words` is what `words_of` gave; a keyword of several words matches when all are there.
    """
    return watches(offer, topics) or (
        offer.on and any(_split(keyword) <= words for keyword in offer.keywords)
    )


def words_of(text: ArtifactText) -> frozenset[str]:
    """List the words of a text, caseless."""
    return _split("\n".join((text.title, text.prose, *text.claims)))


def _split(line: str) -> frozenset[str]:
    return frozenset(_WORD.findall(line.casefold()))
