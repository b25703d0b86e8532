"""The rows of the certified world: the same on every node, and nothing in them twice."""

from federation.codec import encode
from federation.protocol import World
from federation.protocol.certified import Rows, _Table, rows_of
from tests.federation.protocol.town import Town
from tests.federation.protocol.trial import Trial


def written(world: World) -> Rows:
    return rows_of(world.state, world.rounds, world.certificates.contained)


def test_rows_say_only_what_the_cut_contains() -> None:
    town = Trial.of(3, 6, operators=6)
    round_id = town.vote(town.propose(0), {1: 1, 2: 1, 4: 1})
    before = [written(world) for world in town.live()]

    # The round has ended here, but no cut contains that yet.
    assert all(world.rounds[round_id].verdict for world in town.live())
    assert {rows.rounds[0].closed for rows in before} == {False}
    (listed,) = {len(rows.rounds[0].lists) for rows in before}
    assert listed < len(town.world().rounds[round_id].finals)
    assert len({encode(rows) for rows in before}) == 1
    town.settled()
    after = [written(world) for world in town.live()]

    assert {rows.rounds[0].closed for rows in after} == {True}
    assert [one.digest for one in after[0].rounds[0].lists] == list(
        town.world().state.decided[round_id]
    )
    assert len({encode(rows) for rows in after}) == 1


def test_agents_and_seats_are_written_once_however_many_rounds_pinned_them() -> None:
    town = Town.of(1, 4)
    for title in ("a", "b", "c"):
        town.open_round(town.propose(0, title))
    world = town.world()
    rows = written(world)

    assert len(rows.rounds) == 3
    assert (len(rows.worlds), len(rows.seats), len(rows.views)) == (1, 1, 4)


def test_each_round_is_written_with_the_agents_that_it_pinned() -> None:
    # Several cuts between two ticks give their rounds equal agents in maps of their own; what is
    # made and dropped for these while writing must not be taken for what comes after.
    town = Trial.of(3, 6, operators=6)
    for number in range(5):
        for title in ("one", "two", "three"):
            town.vote(town.propose(0, f"{title} {number}"), {1: 1, 2: 1, 4: -1})
        tick = town.world().state.tick
        town.until(lambda now, tick=tick: now.world().state.tick > tick)  # type: ignore[misc]
    world = town.world()
    rows = written(world)
    read = [tuple(rows.views[place] for place in rows.worlds[one.agents]) for one in rows.rounds]

    assert read == [tuple(world.rounds[one.round].pin.agents.values()) for one in rows.rounds]
    assert 1 < len(rows.worlds) < len(rows.rounds)


def test_a_row_that_was_dropped_is_not_taken_for_one_that_is_made_in_its_place() -> None:
    table = _Table()
    places = [table.place(tuple([number // 2])) for number in range(2_000)]  # noqa: C409 # made anew each time

    assert places == [number // 2 for number in range(2_000)]
