"""The story of an artifact: complete, in order, and true to the cuts."""

import pytest
from msgspec.structs import replace

from federation.artifacts import Action
from federation.certificates import Phase
from federation.charter import preset
from node.base.errors import NodeCode, RequestError
from node.queries.history import Event, history
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import here, opened, plain, voted


def test_the_story_tells_every_step_with_who_and_when() -> None:
    town = Town.of(4, 8)
    record, name = voted(town, {1: 1, 2: 1, 3: 1})
    town.settled()
    world, _ = here(town)
    story = history(world, record.id)
    events = story.events

    assert [one.event for one in events] == [
        Event.PROPOSED,
        Event.OPENED,
        Event.CERTIFIED,
        Event.CERTIFIED,
        Event.CERTIFIED,
        Event.VERDICT,
    ]
    proposed, opened_, *certified, verdict = events
    assert [one.name for one in proposed.who] == ["agent 0"]
    assert (proposed.record, proposed.claimed_at) == (record.id.hex(), record.statement.at)
    assert [one.name for one in opened_.who] == ["instance 0"]
    assert (opened_.cut, opened_.round) == (1, name.hex())
    assert [one.phase for one in certified] == [Phase.DELIBERATE, Phase.COMMIT, Phase.DECIDE]
    for one in certified:
        assert one.seals == len(one.who) == 3
        assert one.fence == 0
        assert one.digest is not None
        assert one.record is not None
        assert one.cid is not None
    assert "3 opened ballots" in certified[-1].why
    assert {one.name for one in verdict.who} == {"agent 1", "agent 2", "agent 3"}
    assert verdict.verdict is not None
    assert verdict.why == verdict.verdict.why
    assert isinstance(plain(story), dict)


def test_steps_name_the_cut_that_first_contained_them() -> None:
    town = Town.of(3, 6)
    record = town.propose(0)
    name = town.open_round(record)
    world, _ = here(town)
    seen: dict[str, tuple[int, int]] = {}

    def watch(_: Town) -> bool:
        state = world.state
        for digest in state.decided[name]:
            seen.setdefault(digest.hex(), (state.cut, state.tick))
        return world.rounds[name].closed

    def pass_until(phase: Phase | None) -> None:
        town.until(
            lambda one: watch(one) or all(each.rounds[name].phase is phase for each in one.live())
        )

    pass_until(Phase.COMMIT)
    for voter in (1, 2, 4):
        town.cast(voter, name, 1)
    pass_until(Phase.DECIDE)
    for voter in (1, 2, 4):
        town.reveal(voter, name)
    town.until(watch)
    ended = (world.state.cut, world.state.tick)
    town.settled()
    events = history(world, record.id).events
    found = {one.digest: (one.cut, one.tick) for one in events if one.event is Event.CERTIFIED}

    assert found == seen
    assert len(set(seen.values())) > 1
    assert (events[-1].cut, events[-1].tick) == ended


def test_what_no_cut_has_yet_has_no_cut_in_the_story() -> None:
    town = Town.of(3, 6)
    record, _ = voted(town, {1: 1, 2: 1, 4: 1})
    events = history(town.world(), record.id).events

    assert events[-1].event is Event.VERDICT
    assert (events[-1].cut, events[-1].tick) == (None, None)
    assert events[-2].cut is None


def test_a_story_that_goes_on_has_no_verdict() -> None:
    town = Town.of(1, 5)
    record, _ = opened(town, Phase.COMMIT)
    events = history(town.world(), record.id).events

    assert [one.event for one in events] == [Event.PROPOSED, Event.OPENED, Event.CERTIFIED]


def test_a_proposal_before_any_cut_and_a_void_one() -> None:
    town = Town.of(1, 5, quotas=replace(preset("test").quotas, proposals_epoch=1))
    first, second = town.propose(0, "First"), town.propose(0, "Second")
    (only,) = history(town.world(), first.id).events
    assert (only.event, only.cut) == (Event.PROPOSED, None)

    town.open_round(first)
    proposed, refused = history(town.world(), second.id).events
    assert (proposed.event, refused.event) == (Event.PROPOSED, Event.REFUSED)
    assert "OVER_QUOTA" in refused.why


def test_a_box_that_was_void_is_told() -> None:
    town = Town.of(1, 5, review=rules(deadline=20_000, commit=60_000, commit_min=60_000))
    record = town.propose(0)
    name = town.open_round(record)
    town.until(lambda one: one.world().rounds[name].closed, most=120_000)
    *_, void, verdict = history(town.world(), record.id).events

    assert (void.phase, void.void) == (Phase.COMMIT, True)
    assert "too late" in void.why
    assert verdict.who == ()


def test_a_round_that_nobody_could_review_ends_with_its_opening() -> None:
    town = Town.of(1, 1)
    record = town.propose(0)
    town.open_round(record)
    events = history(town.world(), record.id).events

    assert [one.event for one in events] == [Event.PROPOSED, Event.OPENED, Event.VERDICT]
    assert events[-1].cut == 1


def test_a_story_without_its_round_in_memory_still_tells_how_the_artifact_moved() -> None:
    town = Town.of(1, 1)
    record = town.propose(0)
    name = town.open_round(record)
    del town.world().rounds[name]
    proposed, *moved = history(town.world(), record.id).events

    assert proposed.event is Event.PROPOSED
    assert {one.event for one in moved} == {Event.MOVED}
    assert [one.moves[0].action for one in moved] == [Action.BEGIN_REVIEW, Action.TIMEOUT]


def test_what_is_no_proposal_has_no_story() -> None:
    town = Town.of(1, 1)
    for name in (bytes(32), town.agent(0)):
        with pytest.raises(RequestError) as caught:
            history(town.world(), name)
        assert caught.value.code is NodeCode.NOT_FOUND
