"""What asks for a look comes in the order of its urgency, and to each agent only what it may do."""

from dataclasses import replace

import pytest

from federation.artifacts import Flag, State
from federation.certificates import Phase
from federation.core import ArtifactId
from federation.protocol import World
from node.base.errors import NodeCode, RequestError
from node.queries.coverage import coverage_of
from node.queries.queue import QueueRow, Urgency, queue
from tests.federation.protocol.panel import AUTHOR, DISPUTER, MODERATOR, Panel
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import here, opened, plain


def rows(town: Town, index: int | None = None) -> tuple[QueueRow, ...]:
    agent = None if index is None else town.agent(index)
    world = town.world() if index is None else town.home(index)
    return queue(world, town.now, agent=agent).rows


def flag(world: World, name: ArtifactId, *flags: Flag) -> None:
    """Let a cut have set flags on an artifact that stands."""
    artifact = world.state.artifacts[name]
    world.state.artifacts[name] = replace(artifact, flags=frozenset(flags))
    # As a cut would: what was counted for the last one is counted again.
    world.state.tick += 1


def standing(town: Town, author: int = 0) -> ArtifactId:
    record = town.propose(author, f"Stands {author}")
    voters = [one for one in range(5) if one != author][:3]
    town.vote(record, dict.fromkeys(voters, 1))
    town.settled()
    assert town.world().state.artifacts[record.id].state is State.ACTIVE
    return record.id


def test_a_round_says_what_is_lacking_and_until_when() -> None:
    town = Town.of(3, 6, review=rules(k=3))
    record, name = opened(town, Phase.COMMIT)
    (row,) = rows(town)

    assert (row.artifact, row.round) == (record.id.hex(), name.hex())
    assert (row.phase, row.kind, row.title) == (Phase.COMMIT, "review", "A claim")
    assert row.act is None
    assert row.window is not None
    assert row.coverage is not None
    assert (row.coverage.committed, row.coverage.operators_wanted) == (0, 2)
    assert row.missing > row.coverage.quorum
    assert "0 of the" in row.why
    assert "2 more operators" in row.why
    town.cast(1, name, 1)
    after = queue(town.home(1), town.now).rows[0]
    assert after.coverage is not None
    assert (after.coverage.committed, after.coverage.operators) == (1, 1)
    assert after.missing == row.missing - (3 if after.coverage.families_wanted else 2)
    assert isinstance(plain(queue(*here(town))), dict)


def test_an_agent_is_shown_what_it_may_do_until_it_has_done_it() -> None:
    town = Town.of(3, 6)
    _, name = opened(town, Phase.COMMIT)

    assert [row.act for row in rows(town, 1)] == ["vote"]
    assert rows(town, 0) == (), "the author never reviews"
    town.cast(1, name, 1)
    assert rows(town, 1) == ()
    assert [row.act for row in rows(town, 2)] == ["vote"]


def test_a_phase_that_closes_soon_and_lacks_voices_comes_first() -> None:
    town = Town.of(1, 5)
    opened(town, Phase.COMMIT)
    (early,) = rows(town)
    assert early.window is not None
    world, _ = here(town)
    late = queue(world, early.window.submit_by - 1).rows[0]

    assert early.urgency in {Urgency.WANTED, Urgency.SANDBOX}
    assert late.urgency is Urgency.CLOSING


def test_what_lost_its_support_comes_before_what_is_stale_and_what_is_sensitive_before_both() -> (
    None
):
    town = Town.of(1, 6)
    names = [standing(town, author) for author in range(4)]
    world = town.world()
    flag(world, names[0], Flag.STALE)
    flag(world, names[3], Flag.STALE)
    world.state.artifacts[names[0]] = replace(world.state.artifacts[names[0]], sensitivity="low")
    assert world.state.artifacts[names[3]].sensitivity == "high"
    flag(world, names[1], Flag.SUPPORT_LOST)
    flag(world, names[2], Flag.REREVIEW, Flag.STALE)
    found = rows(town)

    assert [(row.urgency, row.artifact) for row in found] == [
        (Urgency.REREVIEW, names[2].hex()),
        (Urgency.SUPPORT_LOST, names[1].hex()),
        (Urgency.STALE, names[3].hex()),
        (Urgency.STALE, names[0].hex()),
    ]
    assert all(row.round is None for row in found)
    # Nobody reviews what it wrote itself.
    assert names[0].hex() not in [row.artifact for row in rows(town, 0)]
    assert len(rows(town, 0)) == len(found) - 1


def test_what_is_hidden_asks_for_no_look_and_shows_no_title() -> None:
    town = Town.of(1, 6)
    name = standing(town)
    flag(town.world(), name, Flag.STALE, Flag.HIDDEN)

    assert rows(town) == ()


def test_a_round_whose_box_is_shut_is_nobody_s_but_its_voters() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.COMMIT)
    for index in (1, 2, 3, 4):
        town.cast(index, name, 1)
    town.in_phase(name, Phase.DECIDE)

    assert rows(town) == ()
    assert [(row.act, row.urgency) for row in rows(town, 1)] == [("reveal", Urgency.CLOSING)]
    assert rows(town, 0) == ()


def test_only_so_many_rows_are_shown_and_the_rest_is_counted() -> None:
    town = Town.of(1, 5)
    for author in range(3):
        town.propose(author, f"Claim {author}")
    town.in_cut(1)
    world, now = here(town)
    page = queue(world, now, most=2)

    assert len(page.rows) == 2
    assert page.more == 1


@pytest.mark.parametrize("most", [0, 201])
def test_a_page_has_its_bounds(most: int) -> None:
    town = Town.of(1, 5)
    with pytest.raises(RequestError) as caught:
        queue(town.world(), town.now, most=most)

    assert caught.value.code is NodeCode.BAD_REQUEST


def test_whom_no_cut_has_admitted_has_no_queue() -> None:
    town = Town.of(1, 5)
    with pytest.raises(RequestError) as caught:
        queue(town.world(), town.now, agent=bytes(32))

    assert caught.value.code is NodeCode.NOT_FOUND


def test_a_report_comes_before_all_else_and_is_a_moderator_s_only() -> None:
    town = Panel.seated()
    name = town.accepted().id
    town.open_round(town.propose(DISPUTER, "Another claim"))
    town.report(name)
    round_ = town.newest(name, "report")
    town.in_phase(round_, Phase.ASSESS)
    found = rows(town)
    first = found[0]

    assert (first.urgency, first.kind, first.phase) == (Urgency.REPORT, "report", Phase.ASSESS)
    assert (first.round, first.artifact) == (round_.hex(), name.hex())
    assert len(found) == 2
    assert "assess" in [row.act for row in rows(town, MODERATOR)]
    assert round_.hex() not in [row.round for row in rows(town, AUTHOR)]
    assert round_.hex() not in [row.round for row in rows(town, DISPUTER)]
    town.assess(round_, credible=True, index=MODERATOR)
    assert "assess" not in [row.act for row in rows(town, MODERATOR)]
    assert first.title == "A claim"
    assert next(row for row in rows(town) if row.artifact == name.hex()).title is None


def test_a_drawn_arbiter_finds_its_round() -> None:
    town = Panel.seated()
    record = town.propose(AUTHOR, "A close claim")
    name = town.open_round(record)
    town.judged(name, {1: 1, 2: -1, 3: 0})
    town.in_phase(name, Phase.RULE)
    drawn = {town.agent(index) for index in town.drawn(name)}
    acts = {index: [row.act for row in rows(town, index)] for index in range(12)}

    assert drawn
    assert {town.agent(index) for index, one in acts.items() if one == ["rule"]} == drawn
    (row,) = rows(town)
    assert row.missing == 1
    assert row.coverage is None


def test_of_two_rounds_the_one_that_lacks_more_comes_first() -> None:
    town = Town.of(1, 12, operators=4, review=rules(k=4))
    names = [town.open_round(town.propose(0, f"Claim {number}")) for number in range(2)]
    for name in names:
        town.in_phase(name, Phase.COMMIT)
    for order in (names, names[::-1]):
        town.cast(1 if order is names else 5, order[0], 1)
        town.cast(2 if order is names else 6, order[0], 1)
        shown = [row.round for row in rows(town)]
        if order is names:
            assert shown == [names[1].hex(), names[0].hex()]
    assert {row.missing for row in rows(town)} == {rows(town)[0].missing}


def test_practice_ballots_are_no_voices_of_a_quorum() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.COMMIT)
    town.cast(1, name, 1)
    town.cast(2, name, 1)
    found = town.world().rounds[name]
    below = found.pin.agents[town.agent(1)]
    agents = dict(found.pin.agents) | {
        town.agent(1): replace(below, tier=0, weight=0, reviewer=False)
    }
    found.pin = replace(found.pin, agents=agents)
    coverage = coverage_of(town.world(), found)

    assert (coverage.committed, coverage.practice) == (1, 1)
