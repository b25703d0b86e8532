"""Artifacts: pages that survive what comes later, filters, and proposals that no cut has."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from federation.artifacts import Flag, State
from federation.certificates import Phase
from federation.charter import preset
from federation.core import Code
from federation.records import Role
from node.base.errors import NodeCode, RequestError
from node.queries import artifacts
from node.queries.artifacts import ArtifactState
from node.queries.texts import TextState
from node.queries.waits import WaitCode
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import here, opened, plain, voted


def proposed(town: Town, *titles: str, topics: tuple[str, ...] = ("code",)) -> list[str]:
    """Propose some artifacts, each in a cut of its own; their ids in hex, oldest first."""
    found = []
    for title in titles:
        record = town.propose(0, title, topics=topics)
        town.open_round(record)
        found.append(record.id.hex())
    return found


def test_every_state_has_its_word() -> None:
    words = {state.value for state in ArtifactState}

    assert {state.value for state in State} < words
    assert words - {state.value for state in State} == {"waiting", "void"}


def test_pages_are_newest_first_and_a_cursor_survives_what_comes_later() -> None:
    town = Town.of(1, 5)
    names = proposed(town, "One", "Two", "Three", "Four", "Five")
    world = town.world()
    first = artifacts.listing(world, most=2)
    assert [one.id for one in first.items] == names[:2:-1]
    assert first.next == names[3]

    names += proposed(town, "Six", "Seven")
    second = artifacts.listing(world, after=bytes.fromhex(first.next), most=2)
    assert [one.id for one in second.items] == [names[2], names[1]]
    last = artifacts.listing(world, after=bytes.fromhex(second.next or ""), most=2)
    assert [one.id for one in last.items] == [names[0]]
    assert last.next is None
    assert isinstance(plain(first), dict)


def test_a_list_keeps_to_a_state_and_a_branch_of_topics() -> None:
    town = Town.of(1, 5)
    record, _ = voted(town, {1: 1, 2: 1, 3: 1})
    (other,) = proposed(town, "Other", topics=("code/python", "notes"))
    world = town.world()

    def listed(**wanted: object) -> list[str]:
        found = artifacts.listing(world, **wanted)  # type: ignore[arg-type]
        return [one.id for one in found.items]

    assert listed(state=ArtifactState.ACTIVE) == [record.id.hex()]
    assert listed(state=ArtifactState.UNDER_REVIEW) == [other]
    assert listed(state=ArtifactState.RETRACTED) == []
    assert listed(topic="code") == [other, record.id.hex()]
    assert listed(topic="code/python") == [other]
    assert listed(topic="cod") == []
    assert listed(topic="notes", state=ArtifactState.ACTIVE) == []


def test_a_list_shows_the_state_of_this_instance_before_a_cut_has_it() -> None:
    town = Town.of(3, 6)
    record, _ = voted(town, {1: 1, 2: 1, 4: 1})
    world, _ = here(town)
    (shown,) = artifacts.listing(world).items

    assert world.state.artifacts[record.id].state is State.UNDER_REVIEW
    assert (shown.state, shown.settled) == (ArtifactState.ACTIVE, False)
    assert shown.verdict is not None
    assert [one.reason for one in shown.verdict.narrow][-1] == "few_member_operators"
    town.settled()
    (later,) = artifacts.listing(world).items
    assert (later.state, later.settled) == (ArtifactState.ACTIVE, True)


def test_a_proposal_that_no_cut_has_is_listed_as_waiting_with_the_reason() -> None:
    town = Town.of(1, 5)
    town.in_cut(1)
    record = town.propose(0, "Not yet")
    world, now = here(town)
    found = artifacts.listing(world)
    (waiting,) = found.waiting

    assert found.items == ()
    assert (waiting.id, waiting.title) == (record.id.hex(), "Not yet")
    assert (waiting.state, waiting.code) == (ArtifactState.WAITING, Code.WAITS_FOR_CUT)
    page = artifacts.one(world, record.id, now)
    assert (page.state, page.cut, page.settled) == (ArtifactState.WAITING, None, False)
    assert page.code is Code.WAITS_FOR_CUT
    assert page.waits.code is WaitCode.NEXT_CUT
    assert "opens its round" in page.waits.sentence
    assert page.operator is not None
    assert page.home is not None
    assert (page.round, page.verdict, page.window) == (None, None, None)
    assert artifacts.listing(world, topic="code").waiting == (waiting,)
    assert artifacts.listing(world, topic="notes").waiting == ()
    assert artifacts.listing(world, state=ArtifactState.ACTIVE).waiting == ()
    assert artifacts.listing(world, state=ArtifactState.VOID).waiting == ()
    assert artifacts.listing(world, state=ArtifactState.WAITING).waiting == (waiting,)


def test_a_page_holds_no_more_proposals_that_wait_than_it_may_hold_artifacts() -> None:
    town = Town.of(1, 5)
    records = [town.propose(index, f"Claim {index}") for index in range(4)]
    world = town.world()

    assert len(artifacts.listing(world).waiting) == 4
    found = artifacts.listing(world, most=3).waiting
    assert [one.id for one in found] == sorted(one.id.hex() for one in records)[:3]


def test_what_calls_a_cut_and_is_no_proposal_is_not_listed() -> None:
    town = Town.of(1, 5)
    world = town.world()
    world.triggers |= {town.agent(0), bytes(32)}

    assert artifacts.listing(world).waiting == ()


def test_a_proposal_whose_guard_failed_is_void_with_its_code() -> None:
    town = Town.of(1, 5, quotas=changed(preset("test").quotas, proposals_epoch=1))
    first, second = town.propose(0, "First"), town.propose(0, "Second")
    town.open_round(first)
    world, now = here(town)
    page = artifacts.one(world, second.id, now)

    assert (page.state, page.code) == (ArtifactState.VOID, Code.OVER_QUOTA)
    assert page.waits.code is WaitCode.VOID
    assert "OVER_QUOTA" in page.waits.sentence
    assert [one.id for one in artifacts.listing(world).items] == [first.id.hex()]


def test_a_stranger_has_no_operator_and_no_home() -> None:
    town = Town.of(1, 5)
    stranger = town.stranger(Role.AGENT)
    body = town.propose(0).body
    assert body is not None
    record = stranger.say(body)
    world, now = here(town)
    town.arrive(world, *stranger.records)
    page = artifacts.one(world, record.id, now)

    assert (page.state, page.code) == (ArtifactState.VOID, Code.NOT_ADMITTED)
    assert page.operator is None
    assert page.home is None
    assert page.text is TextState.MISSING


def test_one_artifact_shows_its_text_its_verdict_and_how_narrow_it_is() -> None:
    town = Town.of(1, 5)
    record, name = voted(town, {1: 1, 2: 1, 3: -1})
    town.settled()
    world, now = here(town)
    page = artifacts.one(world, record.id, now)

    assert (page.title, page.text, page.lang) == ("A claim", TextState.HELD, "en")
    assert [(one.n, one.text) for one in page.claims] == [(1, "It holds.")]
    assert (page.state, page.settled, page.cut) == (ArtifactState.ACTIVE, True, 1)
    assert page.round == name.hex()
    assert page.verdict is not None
    # One operator keeps the keys of all three: they are one voice.
    assert (page.verdict.numerator, page.verdict.denominator) == (233_333, 699_999)
    assert {one.reason for one in page.verdict.narrow} == {
        "relaxed_exclusion",
        "few_operators_counted",
        "few_member_operators",
    }
    assert page.waits.code is WaitCode.NOTHING
    assert page.claimed_at == record.statement.at
    assert isinstance(plain(page), dict)


def test_a_text_that_was_taken_down_leaves_all_else() -> None:
    town = Town.of(1, 5)
    record, _ = voted(town, {1: 1, 2: 1, 3: 1})
    world, now = here(town)
    world.log.drop_text(record.id)
    page = artifacts.one(world, record.id, now)

    assert page.text is TextState.MISSING
    assert (page.title, page.prose, page.sources) == (None, None, ())
    assert [(one.n, one.text) for one in page.claims] == [(1, None)]
    assert page.verdict is not None
    assert artifacts.listing(world).items[0].title is None


def test_a_hidden_artifact_does_not_show_its_text() -> None:
    town = Town.of(1, 5)
    record, _ = voted(town, {1: 1, 2: 1, 3: 1})
    town.settled()
    world, now = here(town)
    artifact = world.state.artifacts[record.id]
    world.state.artifacts[record.id] = replace(artifact, flags=frozenset({Flag.HIDDEN}))
    page = artifacts.one(world, record.id, now)

    assert (page.text, page.title, page.flags) == (TextState.HIDDEN, None, (Flag.HIDDEN,))


def test_an_artifact_under_review_shows_the_window_of_its_phase() -> None:
    town = Town.of(1, 5)
    record, _ = opened(town, Phase.COMMIT)
    world, now = here(town)
    page = artifacts.one(world, record.id, now)

    assert page.phase is Phase.COMMIT
    assert page.window is not None
    assert page.verdict is None
    assert page.waits.code is WaitCode.WINDOW


def test_a_verdict_without_its_round_in_memory_is_still_explained() -> None:
    town = Town.of(1, 5, review=rules(tau_accept=250_000))
    record, name = voted(town, {1: 1, 2: 1, 3: 1})
    town.settled()
    world, now = here(town)
    del world.rounds[name]
    page = artifacts.one(world, record.id, now)

    assert page.verdict is not None
    assert page.verdict.tau_accept == 250_000
    assert page.waits.sentence == page.verdict.why


@pytest.mark.parametrize("most", [0, -1, 201])
def test_a_page_of_another_size_is_refused(most: int) -> None:
    with pytest.raises(RequestError) as caught:
        artifacts.listing(Town.of(1, 1).world(), most=most)

    assert caught.value.code is NodeCode.BAD_REQUEST


def test_unknown_names_are_not_found() -> None:
    world = Town.of(1, 1).world()
    for ask in (
        lambda: artifacts.listing(world, after=bytes(32)),
        lambda: artifacts.one(world, bytes(32), 0),
        lambda: artifacts.one(world, next(iter(world.positions)), 0),
    ):
        with pytest.raises(RequestError) as caught:
            ask()
        assert caught.value.code is NodeCode.NOT_FOUND
