"""Why: what a thing waits for at every moment of its life, and why it ended as it did."""

import pytest

from federation.certificates import Phase
from node.base.errors import NodeCode, RequestError
from node.queries.artifacts import ArtifactState
from node.queries.names import Thing
from node.queries.waits import WaitCode
from node.queries.why import why
from tests.federation.protocol.town import Town, rules
from tests.node.queries.scenes import here, opened, plain, voted


def test_a_proposal_waits_for_a_cut() -> None:
    town = Town.of(3, 6)
    record = town.propose(0)
    world, now = here(town)
    answer = why(world, record.id, now)

    assert (answer.thing, answer.state) == (Thing.ARTIFACT, ArtifactState.WAITING)
    assert (answer.round, answer.settled) == (None, False)
    assert answer.waits.code is WaitCode.NEXT_CUT
    assert answer.waits.remaining == 500
    assert isinstance(plain(answer), dict)


def test_a_proposal_whose_cut_lacks_a_member_says_who() -> None:
    town = Town.of(3, 6)
    town.take_down(1)
    record = town.propose(0)
    town.rest(1_000)
    world, now = here(town)
    answer = why(world, record.id, now)

    assert answer.waits.code is WaitCode.NEXT_CUT
    assert [one.name for one in answer.waits.missing] == ["instance 1"]
    assert answer.waits.needed == 1


def test_artifact_and_round_wait_for_the_same() -> None:
    town = Town.of(3, 6)
    record, name = opened(town, Phase.COMMIT)
    world, now = here(town)
    artifact, round_ = why(world, record.id, now), why(world, name, now)

    assert round_.thing is Thing.ROUND
    assert artifact.waits == round_.waits
    assert artifact.round == round_.round == name.hex()
    assert round_.artifact == record.id.hex()
    assert artifact.phase is round_.phase is Phase.COMMIT
    assert artifact.waits.code is WaitCode.WINDOW
    assert not artifact.settled
    assert not round_.settled


@pytest.mark.parametrize("choice", [1, -1])
def test_the_end_is_explained_before_and_after_a_cut_has_it(choice: int) -> None:
    town = Town.of(3, 6)
    record, name = voted(town, {1: choice, 2: choice, 4: choice})
    world, now = here(town)
    state = ArtifactState.ACTIVE if choice > 0 else ArtifactState.RETRACTED
    word = "Accepted" if choice > 0 else "Rejected"
    for thing in (record.id, name):
        answer = why(world, thing, now)
        assert (answer.state, answer.settled) == (state, False)
        assert answer.waits.code is WaitCode.NEXT_CUT
        assert answer.waits.sentence.startswith(f"{word} by vote")
        assert answer.verdict is not None
        assert answer.verdict.narrow
    town.settled()
    for thing in (record.id, name):
        answer = why(world, thing, town.now)
        assert (answer.state, answer.settled) == (state, True)
        assert answer.waits.code is WaitCode.NOTHING
        assert answer.waits.sentence.startswith(f"{word} by vote")


def test_a_round_that_came_too_late_is_explained() -> None:
    town = Town.of(1, 5, review=rules(deadline=20_000, commit=60_000, commit_min=60_000))
    record = town.propose(0)
    name = town.open_round(record)
    town.until(lambda one: one.world().rounds[name].closed, most=120_000)
    answer = why(town.world(), record.id, town.now)

    assert answer.state is ArtifactState.RETRACTED
    assert "deadline" in answer.waits.sentence


def test_what_is_neither_is_not_found() -> None:
    town = Town.of(1, 1)
    for name in (bytes(32), town.agent(0)):
        with pytest.raises(RequestError) as caught:
            why(town.world(), name, 0)
        assert caught.value.code is NodeCode.NOT_FOUND
        assert "artifact or round" in caught.value.why
