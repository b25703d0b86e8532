import pytest
from msgspec.structs import replace

from federation.charter import Sensitivity, TopicClass, preset, sensitivity_of, topic_sensitivity

REVIEW = replace(
    preset("test").review,
    topics=(
        TopicClass(prefix="science", sensitivity="low"),
        TopicClass(prefix="science/medicine", sensitivity="high"),
        TopicClass(prefix="science/medicine/history", sensitivity="low"),
    ),
)


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("science", "low"),
        ("science/physics", "low"),
        ("science/medicine", "high"),
        ("science/medicine/doses", "high"),
        ("science/medicine/history", "low"),
        ("sciencefiction", "high"),
        ("art", "high"),
    ],
)
def test_the_longest_matching_prefix_decides(topic: str, expected: Sensitivity) -> None:
    assert topic_sensitivity(REVIEW, topic) == expected


def test_the_most_sensitive_topic_of_an_artifact_decides() -> None:
    assert sensitivity_of(REVIEW, ["science", "science/physics"]) == "low"
    assert sensitivity_of(REVIEW, ["science", "science/medicine"]) == "high"
    assert sensitivity_of(REVIEW, []) == "high"


def test_an_empty_prefix_classes_every_topic() -> None:
    review = replace(REVIEW, topics=(TopicClass(prefix="", sensitivity="low"),))

    assert topic_sensitivity(review, "art") == "low"
