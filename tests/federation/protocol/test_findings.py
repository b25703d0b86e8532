"""Findings that an artifact nearly repeats an earlier one: when they count, and what they do."""

import pytest

from federation.artifacts import Flag
from federation.artifacts import State as ArtifactState
from federation.certificates import Phase
from federation.charter import TopicClass
from federation.core import ArtifactId, Code
from federation.protocol import Fate, judge
from federation.protocol import findings as findings_module
from federation.protocol.invariants import broken, disagreements
from federation.protocol.snapshot import digest, read, take
from federation.records import AgentSubscribe, Body, NearDuplicate, Record, Role
from tests.builders import named
from tests.federation.protocol.curating import revise
from tests.federation.protocol.town import Town, rules

LOW = (TopicClass(prefix="code", sensitivity="low"),)


def watched(instances: int = 2) -> tuple[Town, ArtifactId]:
    """Give a town whose low topics are watched, with an artifact that stands by the fast track."""
    town = Town.of(instances, 6, review=rules(topics=LOW, fast_low=2_000, fast_min_watchers=3))
    for index in (2, 3, 4, 5):
        offer = town.sign(index, AgentSubscribe(topics=("code",), keywords=(), on=True))
        town.arrive(town.home(index), offer)
    town.settled()
    first = town.propose(0, "A claim about water")
    town.until(lambda town: town.world().state.artifacts.get(first.id) is not None)
    until(town, first, ArtifactState.ACTIVE)
    return town, first.id


def until(town: Town, record: Record, state: ArtifactState) -> None:
    """Let time pass until an artifact has come to a state on every instance."""
    town.until(
        lambda town: all(one.state.artifacts[record.id].state is state for one in town.live())
    )


def near(artifact: ArtifactId, of: ArtifactId, likeness: int = 960_000) -> NearDuplicate:
    """Say that an artifact nearly repeats another."""
    return NearDuplicate(artifact=artifact, of=of, likeness=likeness)


def test_without_a_finding_a_near_copy_is_accepted_in_silence() -> None:
    town, _ = watched()
    copy = town.propose(0, "A claim about waters")
    town.open_round(copy)
    until(town, copy, ArtifactState.ACTIVE)

    assert not town.world().state.artifacts[copy.id].flags


def test_a_finding_of_the_same_cut_sends_a_proposal_to_a_vote() -> None:
    town, first = watched()
    copy = town.propose(0, "A claim about waters")
    said = town.say(0, near(copy.id, first))
    assert judge(town.world(), said).code is Code.WAITS_FOR_CUT
    name = town.open_round(copy)
    town.in_phase(name, Phase.COMMIT)
    artifact = town.world().state.artifacts[copy.id]

    assert town.world().rounds[name].pin.flags == {Flag.NEAR_DUPLICATE}
    assert artifact.near == (town.founding.instances[0],)
    assert judge(town.world(), said).fate is Fate.COUNTS
    assert broken(town.world()) == []
    until(town, copy, ArtifactState.UNDER_REVIEW)


def test_a_later_finding_flags_and_changes_no_round() -> None:
    town, first = watched()
    copy = town.propose(0, "A claim about waters")
    name = town.open_round(copy)
    town.say(0, near(copy.id, first))
    town.settled()
    until(town, copy, ArtifactState.ACTIVE)

    assert town.world().rounds[name].pin.flags == frozenset()
    assert town.world().state.artifacts[copy.id].flags == {Flag.NEAR_DUPLICATE}


def test_findings_that_do_not_fit_do_not_count_and_say_why() -> None:
    town, first = watched()
    second = town.propose(0, "A claim about waters")
    town.open_round(second)
    until(town, second, ArtifactState.ACTIVE)
    new = revise(town, 0, second.id, "A claim about rain")
    wrong = {
        town.say(0, near(named("nothing"), first)).id: Code.UNKNOWN_ARTIFACT,
        town.say(0, near(second.id, named("nothing"))).id: Code.UNKNOWN_ARTIFACT,
        town.say(0, near(first, second.id)).id: Code.GUARD_FAILED,
        town.say(0, near(second.id, first, 949_999)).id: Code.GUARD_FAILED,
        town.say(0, near(new.id, second.id)).id: Code.GUARD_FAILED,
    }
    town.settled()
    state = town.world().state

    assert {name: state.refused.get(name) for name in wrong} == wrong
    assert state.found == {}
    assert not any(one.flags or one.near for one in state.artifacts.values())


def test_a_finding_about_a_proposal_that_is_refused_does_not_count() -> None:
    town, first = watched()
    again = town.sign(1, *_copied(town, first))
    town.arrive(town.home(1), again)
    said = town.say(1, near(again.id, first))
    town.settled()

    assert town.world().state.refused[again.id] is Code.DUPLICATE
    assert town.world().state.refused[said.id] is Code.UNKNOWN_ARTIFACT


def _copied(town: Town, first: ArtifactId) -> tuple[Body, bytes]:
    record = town.world().log.get(first)
    assert record is not None
    assert record.body is not None
    assert record.text_raw is not None
    return record.body, record.text_raw


def test_a_stranger_may_write_a_finding_and_it_does_nothing() -> None:
    town, first = watched()
    stranger = town.stranger(Role.INSTANCE)
    copy = town.propose(0, "A claim about waters")
    said = stranger.say(near(copy.id, first))
    town.arrive(town.world(), *stranger.records)
    judgement = judge(town.world(), said)
    town.settled()

    assert judgement.code is Code.NOT_MEMBER
    assert not town.world().state.artifacts[copy.id].near
    assert not town.world().state.artifacts[copy.id].flags


def test_one_instance_is_heard_once_on_an_artifact_and_another_beside_it() -> None:
    town, first = watched()
    copy = town.propose(0, "A claim about waters")
    town.say(0, near(copy.id, first))
    again = town.say(0, near(copy.id, first, 970_000))
    town.say(1, near(copy.id, first))
    town.settled()
    state = town.world().state

    assert state.refused == {again.id: Code.DUPLICATE}
    assert state.artifacts[copy.id].near == tuple(sorted(town.founding.instances))
    assert {count for _, count in state.found.values()} == {1}


def test_who_flags_everything_runs_out_of_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings_module, "MOST_FINDINGS", 2)
    town, first = watched()
    copies = [town.propose(index, f"A claim about waters {index}") for index in (0, 2, 4)]
    said = [town.say(0, near(copy.id, first)) for copy in copies]
    town.settled()
    state = town.world().state

    assert [state.refused.get(one.id) for one in said].count(Code.OVER_QUOTA) == 1
    assert sum(bool(state.artifacts[copy.id].flags) for copy in copies) == 2
    # Who ran out is refused nothing: the third takes the way that every proposal takes.
    assert len([copy for copy in copies if copy.id in state.artifacts]) == 3


def test_all_nodes_count_alike_and_a_snapshot_keeps_the_count() -> None:
    town, first = watched()
    copy = town.propose(0, "A claim about waters")
    town.say(0, near(copy.id, first))
    town.settled()
    one, other = town.live()

    assert one.state.found
    assert disagreements([one, other]) == []
    assert digest(take(one)) == digest(take(other))
    kept = read(take(one), charter=town.founding.charter, log=one.log).certified.state
    assert kept.found == one.state.found
    assert kept.artifacts == one.state.artifacts
