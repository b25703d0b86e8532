"""Rounds as readers see them, phase by phase, and ballots only at the end."""

import pytest

from federation.certificates import Phase
from federation.crypto import Reason
from federation.protocol import custody
from node.base.errors import NodeCode, RequestError
from node.queries import realm, rounds
from node.queries.waits import WaitCode
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import here, opened, plain, voted
from tests.node.queries.test_acts import FAST


def test_an_open_round_shows_its_phase_its_window_and_who_may_vote() -> None:
    town = Town.of(3, 6)
    record, name = opened(town, Phase.DELIBERATE)
    world, now = here(town)
    page = rounds.one(world, name, now)

    assert (page.id, page.artifact, page.title) == (name.hex(), record.id.hex(), "A claim")
    assert page.phase is Phase.DELIBERATE
    assert page.after == name.hex(), "its first phase follows the round itself"
    assert page.window is not None
    assert page.deadline == page.opened_at + 60_000
    assert page.waits.code is WaitCode.WINDOW
    assert (page.reviewers, page.practice, page.quorum, page.k) == (4, 0, 3, 7)
    assert (page.members, page.member_quorum, page.reviewer_operators) == (3, 3, 2)
    assert (page.cut, page.sensitivity, page.relaxed, page.settled) == (1, "high", False, False)
    assert page.author.name == "agent 0"
    assert page.home.name == "instance 0"
    assert page.certificates == ()
    assert isinstance(plain(page), dict)


def test_objections_are_counted_in_the_fast_track() -> None:
    town = Town.of(1, 5, review=FAST)
    record = town.propose(0, topics=("notes",))
    name = town.open_round(record)
    world = town.world()
    town.arrive(
        world,
        custody.object_to(world, town.keyring(1), name, reason=Reason.UNCLEAR, now=town.now),
    )

    assert rounds.one(world, name, town.now).counts.objections == 1
    town.in_phase(name, Phase.DELIBERATE)
    assert rounds.one(world, name, town.now).counts.objections == 1


def test_before_decide_is_final_no_ballot_is_shown_and_then_all_are() -> None:
    town = Town.of(3, 6)
    _, name = opened(town, Phase.COMMIT)
    for voter, choice in ((1, 1), (2, -1), (4, 0)):
        town.cast(voter, name, choice)
    town.rest(10)
    world, _ = here(town)
    assert rounds.one(world, name, town.now).counts.commitments == 3
    town.in_phase(name, Phase.DECIDE)
    for voter in (1, 2):
        town.reveal(voter, name)
    town.rest(30)
    sealed = rounds.one(world, name, town.now)

    assert (sealed.tally, sealed.ballots, sealed.unrevealed) == (None, (), ())
    assert sealed.verdict is None
    assert sealed.deadline is None, "the box is shut"
    assert sealed.counts.commitments == 3
    town.in_phase(name, None)
    page = rounds.one(world, name, town.now)
    votes = {one.voter.name: (one.choice, one.practice) for one in page.ballots}
    assert votes == {"agent 1": ("for", False), "agent 2": ("against", False)}
    assert [one.voter.name for one in page.unrevealed] == ["agent 4"]
    assert page.tally is not None
    assert (page.tally.numerator, page.tally.v, page.tally.quorum) == (0, 0, False)
    assert page.verdict is not None
    assert (page.verdict.unrevealed, page.verdict.revealed) == (1, 2)
    assert page.phase is None
    assert page.window is None
    assert page.after is None


def test_ballots_are_shown_while_the_result_may_be_contested() -> None:
    town = Town.of(1, 5, review=rules(contest=2_000))
    _, name = opened(town, Phase.COMMIT)
    for voter in (1, 2, 3):
        town.cast(voter, name, 1)
    town.in_phase(name, Phase.DECIDE)
    for voter in (1, 2, 3):
        town.reveal(voter, name)
    town.in_phase(name, Phase.CONTEST)
    page = rounds.one(town.world(), name, town.now)

    assert len(page.ballots) == 3
    assert page.tally is not None
    assert page.tally.v == 1_000_000
    assert page.verdict is None


def test_a_round_in_which_nothing_was_opened_has_no_v() -> None:
    town = Town.of(1, 5)
    _, name = opened(town, Phase.COMMIT)
    town.in_phase(name, None)
    page = rounds.one(town.world(), name, town.now)

    assert page.tally is not None
    assert page.tally.v is None
    assert page.verdict is not None
    assert page.verdict.v is None


def test_an_ended_round_waits_for_the_cut_that_settles_it() -> None:
    town = Town.of(3, 6)
    _, name = voted(town, {1: 1, 2: 1, 4: 1})
    world, now = here(town)
    page = rounds.one(world, name, now)
    (waiting,) = rounds.open_rounds(world, now).rounds

    assert page.waits.code is WaitCode.NEXT_CUT
    assert page.waits.sentence.startswith("Accepted by vote")
    assert not page.settled
    assert (waiting.id, waiting.phase, waiting.window) == (name.hex(), None, None)
    assert waiting.verdict == page.verdict
    town.settled()
    done = rounds.one(world, name, town.now)
    assert done.settled
    assert done.waits.code is WaitCode.NOTHING
    assert rounds.open_rounds(world, town.now).rounds == ()


def test_open_rounds_stand_oldest_first_with_what_they_wait_for() -> None:
    town = Town.of(3, 6)
    first, _ = opened(town, Phase.DELIBERATE)
    later = town.propose(1, "Another")
    town.open_round(later)
    found = rounds.open_rounds(town.world(), town.now).rounds

    assert [one.artifact for one in found] == [first.id.hex(), later.id.hex()]
    assert [one.cut for one in found] == [1, 2]
    assert all(one.waits.sentence and one.window for one in found)
    assert isinstance(plain(found), list)


def test_open_rounds_come_in_pages_whose_cursors_outlive_their_rounds() -> None:
    town = Town.of(3, 6)
    first, name = opened(town, Phase.DELIBERATE)
    others = [town.propose(index, f"Another {index}") for index in (1, 2, 3)]
    for other in others:
        town.open_round(other)
    world = town.world()
    whole = rounds.open_rounds(world, town.now)
    pages, after = [], None
    while not pages or after is not None:
        page = rounds.open_rounds(world, town.now, after=after, most=3)
        pages.append(page)
        after = bytes.fromhex(page.next) if page.next else None

    assert [len(page.rounds) for page in pages] == [3, 1]
    assert sum((page.rounds for page in pages), ()) == whole.rounds
    assert whole.next is None
    assert realm.overview(world, town.now, most=1).open == whole.rounds[:1]
    assert realm.overview(world, town.now, most=1).rounds == 4
    town.until(lambda _: rounds.is_settled(world.rounds[name]))
    rest = rounds.open_rounds(world, town.now, after=name, most=200)
    assert first.id.hex() not in {one.artifact for one in rest.rounds}


@pytest.mark.parametrize("most", [0, 201])
def test_a_page_of_rounds_has_a_bound(most: int) -> None:
    with pytest.raises(RequestError) as caught:
        rounds.open_rounds(Town.of(1, 1).world(), 0, most=most)

    assert caught.value.code is NodeCode.BAD_REQUEST


def test_a_cursor_of_no_round_is_not_found() -> None:
    with pytest.raises(RequestError) as caught:
        rounds.open_rounds(Town.of(1, 1).world(), 0, after=bytes(32))

    assert caught.value.code is NodeCode.NOT_FOUND


def test_a_round_that_nobody_may_review_is_settled_at_once() -> None:
    town = Town.of(1, 1)
    record = town.propose(0)
    name = town.open_round(record)
    page = rounds.one(town.world(), name, town.now)

    assert page.settled
    assert page.deadline is None
    assert page.waits.code is WaitCode.NOTHING
    assert page.verdict is not None
    assert page.verdict.by == "shortfall"
    assert page.tally is None
    assert rounds.open_rounds(town.world(), town.now).rounds == ()


def test_an_unknown_round_is_not_found() -> None:
    with pytest.raises(RequestError) as caught:
        rounds.one(Town.of(1, 1).world(), bytes(32), 0)

    assert caught.value.code is NodeCode.NOT_FOUND


def test_before_a_node_has_started_no_cut_is_open() -> None:
    town = Town.of(1, 1)
    world = town.world()
    world.slots.clear()

    assert rounds.next_cut(world, 0).code is WaitCode.NEXT_CUT
