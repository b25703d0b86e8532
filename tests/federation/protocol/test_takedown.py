"""A takedown drops words, on any node, at any time; nothing that is agreed on reads words."""

import functools

from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import Phase
from federation.core import RoundId
from federation.protocol import World, judge, rebuild
from federation.records import Record
from tests.builders import argue
from tests.federation.protocol.hostile import limited_town, say, staged
from tests.federation.protocol.town import verify
from tests.federation.protocol.trial import Trial, durable_of, records_of

STEPS = 6
"""Moments of the play at which texts can be taken down."""


def play(takedowns: dict[int, list[tuple[int, int]]]) -> Trial:
    """Play two rounds with many words; at each step drop the texts named by (node, place)."""
    town = limited_town()
    first = town.propose(0, "A")
    _drop(town, takedowns.get(0, []))
    round_id = town.open_round(first)
    for index in (1, 2, 3):
        say(town, index, *argue(round_id, f"words of {index}"))
    _drop(town, takedowns.get(1, []))
    _vote(town, round_id, takedowns, 2)
    second = town.propose(1, "B")
    assert first.body is not None
    say(town, 2, first.body, first.text_raw)
    _drop(town, takedowns.get(4, []))
    round_id = town.open_round(second)
    say(town, 4, *argue(round_id, "more words"))
    town.vote(second, {3: -1, 4: -1, 5: -1})
    _drop(town, takedowns.get(5, []))
    return town.settled()  # type: ignore[return-value]


def _vote(
    town: Trial, round_id: RoundId, takedowns: dict[int, list[tuple[int, int]]], step: int
) -> None:
    town.in_phase(round_id, Phase.COMMIT)
    for index in (1, 2, 3, 4):
        town.cast(index, round_id, 1)
    _drop(town, takedowns.get(step, []))
    town.in_phase(round_id, Phase.DECIDE)
    for index in (1, 2, 3, 4):
        town.reveal(index, round_id)
    _drop(town, takedowns.get(step + 1, []))
    town.in_phase(round_id, None)


def _drop(town: Trial, which: list[tuple[int, int]]) -> None:
    for node, place in which:
        world = town.world(node)
        records = records_of(world)
        world.log.drop_text(records[place % len(records)].id)


@functools.cache
def untouched() -> Trial:
    return play({})


def facts(world: World) -> tuple[object, ...]:
    """List what must not change: digests, certificates to the last seal, verdicts, fates."""
    return (
        world.state.cut,
        world.digest,
        world.state.digest,
        world.state.beacon,
        world.certificates,
        {name: one.verdict for name, one in world.rounds.items()},
        world.state.artifacts,
        {record.id: judge(world, record) for record in records_of(world)},
    )


DROPS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 200)), max_size=60)


@settings(max_examples=12)
@given(takedowns=st.dictionaries(st.integers(0, STEPS - 1), DROPS, max_size=STEPS))
def test_a_takedown_of_any_text_on_any_node_changes_no_digest_verdict_or_certificate(
    takedowns: dict[int, list[tuple[int, int]]],
) -> None:
    town = play(takedowns)

    for one, other in zip(town.live(), untouched().live(), strict=True):
        assert facts(one) == facts(other)


def test_dropping_every_text_everywhere_really_drops_them_and_changes_nothing() -> None:
    everything = [(node, place) for node in range(3) for place in range(200)]
    town = play(dict.fromkeys(range(STEPS), everything))
    held = [record.text_raw for world in town.live() for record in records_of(world)]
    before = [record.text_raw for record in records_of(untouched().world())]

    assert sum(text is not None for text in before) >= 5
    assert set(held) == {None}
    assert [facts(one) for one in town.live()] == [facts(one) for one in untouched().live()]


def test_a_text_that_comes_again_after_its_takedown_stays_away() -> None:
    town = limited_town()
    record = town.propose(0, "A")
    town.rest(50)
    world = town.world(1)
    assert world.log.drop_text(record.id)
    town.arrive(world, record, peer=town.founding.instances[0])
    held = world.log.get(record.id)

    assert held is not None
    assert held.text_raw is None


@settings(max_examples=10)
@given(kept=st.sets(st.integers(0, 200), max_size=40))
def test_a_world_rebuilt_without_words_is_the_same_world(kept: set[int]) -> None:
    stage = staged()
    known = stage.town.world()
    bare: list[Record] = [
        record if place in kept else record.with_text(None)
        for place, record in enumerate(records_of(known))
    ]
    world = rebuild(
        stage.town.founding.charter,
        stage.town.founding.records,
        bare,
        durable_of(stage.town.stored[stage.town.founding.instances[0]]).blobs,
        verify=verify,
    )

    assert world.digest == _whole().digest
    assert world.state.refused == _whole().state.refused


@functools.cache
def _whole() -> World:
    stage = staged()
    return rebuild(
        stage.town.founding.charter,
        stage.town.founding.records,
        records_of(stage.town.world()),
        durable_of(stage.town.stored[stage.town.founding.instances[0]]).blobs,
        verify=verify,
    )
