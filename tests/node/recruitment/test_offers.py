"""Who is told of an artifact, and by which word of his own."""

import random
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.artifacts import watches
from federation.records import AgentSubscribe, ArtifactText
from node.recruitment.matches import Match, Why
from node.recruitment.offers import Offers
from node.recruitment.tokens import Tokens
from tests.builders import artifact_text, named


def offer(
    topics: tuple[str, ...] = (), keywords: tuple[str, ...] = (), *, on: bool = True
) -> AgentSubscribe:
    return AgentSubscribe(
        topics=tuple(sorted(set(topics))), keywords=tuple(sorted(set(keywords))), on=on
    )


@pytest.fixture
def offers() -> Iterator[Offers]:
    tokens = Tokens()
    yield Offers(tokens)
    tokens.close()


def text(title: str = "T", *, claims: tuple[str, ...] = (), prose: str = "") -> ArtifactText:
    return artifact_text(title=title, claims=claims, prose=prose)


ONE, TWO = named("agent", 1), named("agent", 2)


def told(found: tuple[Match, ...]) -> list[tuple[bytes, Why, str]]:
    return [(one.agent, one.why, one.what) for one in found]


def test_a_topic_stands_for_its_branch_and_never_for_a_part_of_a_word(offers: Offers) -> None:
    offers.change({ONE: offer(("science",)), TWO: offer(("sci", "science/physics/optics"))})

    assert told(offers.matching(("science/physics",), None)) == [(ONE, Why.TOPIC, "science")]


def test_a_keyword_is_found_in_title_claims_and_prose(offers: Offers) -> None:
    offers.change({ONE: offer(keywords=("Boiling point",))})
    for words in (
        text("The boiling point of water"),
        text(claims=("A boiling-point is a number.",)),
        text(prose="It has no BOILING POINT at all."),
    ):
        assert told(offers.matching(("x",), words)) == [(ONE, Why.KEYWORD, "Boiling point")]
    assert offers.matching(("x",), text(prose="A point of boiling.")) == ()
    assert offers.matching(("x",), text("A", prose="a boiling", claims=("point",))) == ()


def test_another_form_of_a_word_is_near_in_title_and_claims_only(offers: Offers) -> None:
    offers.change({ONE: offer(keywords=("vaccine",))})

    assert told(offers.matching(("x",), text("On vaccines"))) == [(ONE, Why.NEAR, "vaccine")]
    assert offers.matching(("x",), text(prose="On vaccines")) == ()
    assert offers.matching(("x",), None) == ()


def test_an_agent_is_told_once_by_its_strongest_reason(offers: Offers) -> None:
    offers.change(
        {
            ONE: offer(("science",), ("water", "waters")),
            TWO: offer(keywords=("water",)),
        }
    )

    assert told(offers.matching(("science",), text("water"))) == [
        (ONE, Why.TOPIC, "science"),
        (TWO, Why.KEYWORD, "water"),
    ]


def test_an_offer_that_changes_or_goes_matches_no_more(offers: Offers) -> None:
    offers.change({ONE: offer(("a",), ("water",)), TWO: offer(("a",), ("water",))})
    offers.change({ONE: offer(("b",), ("salt",)), TWO: offer(on=False)})

    assert offers.matching(("a",), text("water waters")) == ()
    assert told(offers.matching(("b",), text("salt"))) == [(ONE, Why.TOPIC, "b")]
    assert told(offers.matching(("x",), text("salts"))) == [(ONE, Why.NEAR, "salt")]
    offers.change({ONE: None, TWO: offer(keywords=("water",))})
    assert len(offers) == 1
    assert told(offers.matching(("b",), text("salt water"))) == [(TWO, Why.KEYWORD, "water")]


def test_phrases_that_come_one_by_one_are_found_like_those_that_came_at_once(
    offers: Offers,
) -> None:
    words = [f"{number}ology" for number in range(600)]
    for number, word in enumerate(words):
        offers.change({named("agent", number): offer(keywords=(word,))})
        if number % 150 == 0:
            offers.matching(("x",), text("y"))
    for number in (0, 151, 599):
        found = offers.matching(("x",), text(f"{number}ologys"))

        assert (named("agent", number), Why.NEAR, words[number]) in told(found)


_part = st.sampled_from(["a", "b", "ab", "c"])
_topics = st.lists(
    st.lists(_part, min_size=1, max_size=3).map("/".join), max_size=3, unique=True
).map(tuple)


@given(
    st.lists(st.tuples(_topics, st.lists(_part, max_size=2).map(tuple), st.booleans()), max_size=5),
    _topics.filter(bool),
)
def test_by_topic_it_matches_exactly_whom_the_rules_count(
    asked: list[tuple[tuple[str, ...], tuple[str, ...], bool]], topics: tuple[str, ...]
) -> None:
    tokens = Tokens()
    offers = Offers(tokens)
    every = {
        named("agent", number): offer(topics_, keywords, on=on)
        for number, (topics_, keywords, on) in enumerate(asked)
    }
    offers.change(every)
    found = {one.agent for one in offers.matching(topics, None)}
    tokens.close()

    assert found == {agent for agent, one in every.items() if watches(one, topics)}


def test_keywords_that_share_their_beginning_cost_no_more_than_one(offers: Offers) -> None:
    # Every place of the text is the beginning of all of them.
    long = tuple(" ".join(["a"] * 30 + [f"x{number}"]) for number in range(32))
    offers.change({named("agent", number): offer(keywords=long) for number in range(50)})
    began = time.perf_counter()
    offers.matching(("x",), text(prose="a " * 6_000))

    assert time.perf_counter() - began < 2


@pytest.mark.slow
def test_ten_thousand_agents_with_32_keywords_cost_an_artifact_little(offers: Offers) -> None:
    chance = random.Random(1)
    syllables = ["ra", "to", "mi", "ne", "sol", "ver", "tan", "ka", "pho", "stra", "gen", "bio"]

    def word() -> str:
        return "".join(chance.choice(syllables) for _ in range(chance.randrange(2, 5)))

    known = [word() for _ in range(30_000)]
    offers.change(
        {
            named("agent", number): offer((f"t{number % 500}",), tuple(chance.sample(known, 32)))
            for number in range(10_000)
        }
    )
    long = text(
        " ".join(chance.sample(known, 10)),
        claims=tuple(" ".join(chance.sample(known, 12)) for _ in range(4)),
        prose=" ".join(chance.choice(known) for _ in range(1_500)),
    )
    offers.matching(("t1",), long)
    began = time.perf_counter()
    found = offers.matching(("t1",), long)

    assert found
    assert time.perf_counter() - began < 3
