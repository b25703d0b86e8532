"""A digest quotes letter by letter, treats voices alike, and depends on nothing but the debate."""

import random
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import Phase
from federation.codec import encode
from federation.core import ParameterError
from federation.deliberation import (
    LONGEST,
    MOST,
    USUAL,
    Debate,
    DebateDigest,
    digest_of,
    worth_reading,
)
from federation.deliberation.digest import READ
from federation.records import Stance
from tests import strategies
from tests.builders import named
from tests.federation.deliberation.talk import Talk

NOTES = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(list(Stance)),
        strategies.texts(200)
        | st.text(alphabet="water is wet.!? \n", max_size=200)
        | st.sampled_from(["", "Same. Same. Same.", "水は濡れている。そうだ。"]),
        st.integers(0, 20),
    ),
    max_size=12,
)
Notes = list[tuple[int, Stance, str, int]]


def talked(notes: Notes) -> Talk:
    talk, names = Talk(), [named("no argument")]
    for who, stance, note, target in notes:
        above = names[target % len(names)] if target % 2 else None
        names.append(talk.say(who, note, stance=stance, replies_to=above))
    return talk


def spelled(digest: DebateDigest) -> bytes:
    """Give a digest as bytes."""
    return encode(
        [
            [[one.argument, one.start, one.words, one.part] for one in digest.quotes],
            [digest.quoted, digest.unquoted, digest.missing],
        ]
    )


def quoted(talk: Talk, most: int = USUAL) -> list[str]:
    return [one.words for one in digest_of(talk.debate(), talk.texts(), most=most).quotes]


def test_a_debate_without_words_has_an_empty_digest() -> None:
    nothing = DebateDigest(quotes=(), quoted=0, unquoted=0, missing=0)
    talk = Talk()
    talk.say(1)

    assert digest_of(Debate(arguments={}, threads=(), sealed=0, closed=()), {}) == nothing
    assert digest_of(talk.debate(), talk.texts()) == nothing


def test_a_short_debate_is_quoted_whole_with_the_argument_of_each_sentence() -> None:
    talk = Talk()
    one = talk.say(1, "It is wet. Water makes wet.", stance=Stance.AGAINST)
    two = talk.say(2, "Ice is dry.", replies_to=one)
    digest = digest_of(talk.debate(), talk.texts())

    assert [(each.argument, each.start, each.words) for each in digest.quotes] == [
        (one, 0, "It is wet."),
        (one, 11, "Water makes wet."),
        (two, 0, "Ice is dry."),
    ]
    assert (digest.quoted, digest.unquoted, digest.missing) == (2, 0, 0)


@pytest.mark.parametrize("most", [0, -1, MOST + 1])
def test_a_digest_of_another_length_is_refused(most: int) -> None:
    with pytest.raises(ParameterError, match="1 to 40 sentences"):
        digest_of(Talk().debate(), {}, most=most)


def test_texts_that_were_taken_down_are_counted_and_not_quoted() -> None:
    talk = Talk()
    gone, _ = talk.say(1, "Taken down."), talk.say(2, "Still here.")
    digest = digest_of(talk.debate(), talk.texts(without=[gone]))

    assert [one.words for one in digest.quotes] == ["Still here."]
    assert digest.missing == 1


def test_of_very_many_arguments_those_of_all_operators_are_read_and_the_most_heard() -> None:
    talk = Talk()
    flood = [talk.say(4, f"Number {number}.") for number in range(2 * READ)]
    others = [talk.say(who, "A word.") for who in (0, 1, 2, 3)]
    silent = talk.say(0)
    talk.cite(1, flood[150])
    debate = talk.debate()
    read = worth_reading(debate)

    assert len(read) == READ
    assert {*others, flood[150]} <= {*read}
    assert silent not in read
    assert [*read] == [name for name in debate.arguments if name in {*read}]


def test_texts_of_other_records_are_not_looked_at() -> None:
    talk = Talk()
    talk.say(1, "Of this debate.")
    texts = {**talk.texts(), named("elsewhere"): "Of another debate."}

    assert digest_of(talk.debate(), texts) == digest_of(talk.debate(), talk.texts())


def test_every_thread_is_quoted_before_any_is_quoted_again() -> None:
    talk = Talk()
    for who in (0, 1, 2, 3):
        root = talk.say(who, f"Opening {who} says this. Then {who} goes on. And on {who} again.")
        talk.say(who, f"Added {who} later.", replies_to=root)
    debate = talk.debate()
    digest = digest_of(debate, talk.texts(), most=4)

    assert len({debate.arguments[one.argument].thread for one in digest.quotes}) == 4


def test_a_thread_of_many_operators_waits_once_it_is_quoted() -> None:
    talk = Talk()
    busy = talk.say(1, "The busy thread begins.")
    replies = [talk.say(who, f"Reply of {who}.", replies_to=busy) for who in (2, 3, 4)]
    quiet = talk.say(0, "The quiet thread begins.")
    for name in (busy, *replies):
        talk.cite(2 if name == busy else 1, name)
    digest = digest_of(talk.debate(), talk.texts(), most=2)

    assert quiet in {one.argument for one in digest.quotes}


def test_of_one_thread_and_operator_every_argument_is_quoted_before_any_is_quoted_again() -> None:
    talk = Talk()
    root = talk.say(4, "One thing is so. Another thing is so. A third is so.")
    told = [root, *(talk.say(4, f"Reply {n} is this. And that.", replies_to=root) for n in "ab")]
    digest = digest_of(talk.debate(), talk.texts(), most=3)

    assert {one.argument for one in digest.quotes} == {*told}


def test_one_voice_against_many_is_quoted_among_the_first_two() -> None:
    talk = Talk()
    for who in (0, 1, 2, 4):
        talk.say(who, f"I am for it because of reason {who}.", stance=Stance.FOR)
    talk.say(3, "It is wrong.", stance=Stance.AGAINST)

    assert "It is wrong." in quoted(talk, 2)


def test_an_operator_that_argues_without_end_does_not_fill_a_digest() -> None:
    talk = Talk()
    for number in range(400):
        talk.say(4 + number % 2, f"Flood number {number} of words about {number}.")
    others = [talk.say(who, f"Agent {who} disagrees here.") for who in (1, 2, 3)]
    debate = talk.debate()
    digest = digest_of(debate, talk.texts(), most=8)
    counts = Counter(debate.arguments[one.argument].operator for one in digest.quotes)

    assert {*others} <= {one.argument for one in digest.quotes}
    assert max(counts.values()) == 5
    assert digest.unquoted == 400 - 5


def test_of_two_arguments_of_one_operator_the_one_that_others_heard_comes_first() -> None:
    for heard in range(2):
        talk = Talk()
        names = [talk.say(4, f"Word number {one} alone.") for one in range(2)]
        talk.cite(1, names[heard])

        assert quoted(talk, 1) == [f"Word number {heard} alone."]


def test_what_several_operators_say_weighs_more_than_what_one_repeats() -> None:
    talk = Talk()
    told = talk.say(4, "Blue cheese moves alone slowly. The second source contradicts this.")
    talk.say(4, "Blue cheese moves alone slowly, I say.")
    talk.say(5, "Blue cheese moves alone slowly, indeed.")
    talk.say(1, "The second source contradicts this, too.")
    talk.cite(3, told)

    assert quoted(talk, 1) == ["The second source contradicts this."]


def test_the_same_sentence_is_quoted_once() -> None:
    talk = Talk()
    for who in (0, 1, 2, 3, 4):
        talk.say(who, "Water is wet. Water is wet!")
    digest = digest_of(talk.debate(), talk.texts(), most=MOST)

    assert len(digest.quotes) == 1
    assert digest.unquoted == 4


@settings(max_examples=60)
@given(NOTES, st.integers(1, MOST), st.randoms(use_true_random=False))
def test_the_same_debate_gives_the_same_bytes_in_whatever_order_it_came(
    notes: Notes, most: int, chance: random.Random
) -> None:
    talk = talked(notes)
    before = spelled(digest_of(talk.debate(), talk.texts(), most=most))
    for records in talk.said.values():
        chance.shuffle(records)
    chance.shuffle(talk.cited)
    texts = [*talk.texts().items()]
    chance.shuffle(texts)

    assert spelled(digest_of(talk.debate(), dict(texts), most=most)) == before


@settings(max_examples=60)
@given(NOTES, st.integers(1, MOST))
def test_every_sentence_stands_in_its_argument_and_none_too_many(notes: Notes, most: int) -> None:
    talk = talked(notes)
    debate, texts = talk.debate(), talk.texts()
    digest = digest_of(debate, texts, most=most)
    order = [*debate.arguments]
    places = [(order.index(one.argument), one.start) for one in digest.quotes]

    assert len(digest.quotes) <= most
    assert places == sorted(set(places))
    for one in digest.quotes:
        assert texts[one.argument][one.start : one.start + len(one.words)] == one.words
        assert 0 < len(one.words) <= LONGEST
    assert digest.quoted == len({one.argument for one in digest.quotes})
    assert digest.quoted + digest.unquoted == len(texts)
    assert digest.missing == 0


HOSTILE = {
    "no marks": "word " * 2_400,
    "no blanks": "a" * 12_000,
    "marks only": ".!?" * 4_000,
    "tiny sentences": "a. b. c. " * 1_333,
    "distinct words": " ".join(f"w{n}" for n in range(2_000))[:12_000],
    "no letters": "😀" * 3_000,
    "turned around": "\u202eabc. " * 2_000,
    "another script": "水は濡れている。" * 600,
    "no stops in another script": "水" * 5_000,
    "blanks": "\u3000" * 5_000,
}


@pytest.mark.parametrize("note", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_quoted_within_bounds_and_in_time(note: str) -> None:
    talk = Talk()
    for number in range(2 * READ):
        talk.say(number % 6, f"{number} {note}"[:12_000].rstrip("\u3000"), phase=Phase.DELIBERATE)
    debate, texts = talk.debate(), talk.texts()
    began = time.process_time()
    digest = digest_of(debate, texts, most=MOST)

    assert time.process_time() - began < 2
    assert len(digest.quotes) <= MOST
    assert all(one.words in texts[one.argument] for one in digest.quotes)
    assert sum(len(one.words) for one in digest.quotes) <= MOST * LONGEST
