"""Which topics are sensitive: the charter's classes decide, the author does not (§3.2.1).

For one topic the longest matching prefix decides; of an artifact's topics the highest class
counts; a topic that no class names is high.
"""

from collections.abc import Iterable

from federation.charter.schema import Review
from federation.charter.units import Sensitivity


def topic_sensitivity(review: Review, topic: str) -> Sensitivity:
    """Classify one topic path such as `science/physics`; prefixes match whole parts only."""
    matching = [row for row in review.topics if _covers(row.prefix, topic)]
    if not matching:
        return "high"
    return max(matching, key=lambda row: len(row.prefix)).sensitivity


def sensitivity_of(review: Review, topics: Iterable[str]) -> Sensitivity:
    """Classify an artifact by all its topics; one without topics is high."""
    classes = {topic_sensitivity(review, topic) for topic in topics}
    return "low" if classes == {"low"} else "high"


def _covers(prefix: str, topic: str) -> bool:
    return prefix in ("", topic) or topic.startswith(prefix + "/")
