"""Who watches what: topics and keywords of standing offers to review (paper 3.1).

A subscription reaches an artifact by a topic, where a subscribed topic stands for its whole
branch, or by a keyword. The fold reads no prose, so what counts looks at topics alone.
How sensitive a topic is stands in the charter (`federation.charter.sensitivity_of`).
"""

from collections.abc import Iterable

from federation.records import AgentSubscribe


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
