import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.artifacts import covers, watches
from federation.records import AgentSubscribe

PARTS = st.lists(st.sampled_from(["a", "ab", "b", "c-d"]), min_size=1, max_size=4)


def offer(*topics: str, keywords: tuple[str, ...] = (), on: bool = True) -> AgentSubscribe:
    return AgentSubscribe(topics=topics, keywords=keywords, on=on)


@pytest.mark.parametrize(
    ("branch", "topic", "expected"),
    [
        ("science", "science", True),
        ("science", "science/physics", True),
        ("science/physics", "science", False),
        ("sci", "science", False),
        ("science/phys", "science/physics", False),
    ],
)
def test_a_branch_covers_itself_and_what_lies_below(
    branch: str, topic: str, *, expected: bool
) -> None:
    assert covers(branch, topic) is expected


@given(PARTS, PARTS)
def test_a_branch_covers_exactly_the_paths_that_start_with_its_parts(
    branch: list[str], topic: list[str]
) -> None:
    assert covers("/".join(branch), "/".join(topic)) is (topic[: len(branch)] == branch)


def test_one_matching_topic_is_enough_to_watch() -> None:
    assert watches(offer("history", "science"), ["notes", "science/physics"])
    assert not watches(offer("history"), ["notes", "science/physics"])


def test_an_offer_that_is_off_watches_nothing() -> None:
    assert not watches(offer("science", on=False), ["science"])


def test_an_empty_offer_watches_nothing() -> None:
    assert not watches(offer(), ["science"])


def test_a_keyword_watches_a_whole_part_of_a_topic() -> None:
    assert watches(offer(keywords=("Physics",)), ["science/physics"])
    assert not watches(offer(keywords=("phys",)), ["science/physics"])
