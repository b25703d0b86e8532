"""The worked cases of the design as whole rounds: small communities decide, and say what they lack."""

import pytest

from federation.artifacts import DecidedBy, Narrow, State, Verdict
from federation.certificates import Phase
from federation.charter import TopicClass
from federation.crypto import Reason
from federation.protocol import World, custody
from federation.records import AgentSubscribe, Custody, Record
from federation.review import DecidedBy as By
from federation.review import quorum_needed
from tests.builders import contest
from tests.federation.protocol.hostile import say
from tests.federation.protocol.town import rules
from tests.federation.protocol.trial import Trial, checked, ended, state_of, verdict_of

LOW = (TopicClass(prefix="code", sensitivity="low"),)


def only_world(town: Trial) -> World:
    (world,) = town.live()
    return world


# The worked cases -------------------------------------------------------------------------------


def test_one_instance_one_operator_five_founders_decide_by_three_of_four() -> None:
    town = Trial.of(1, 5, operators=1)
    record = town.propose(0)
    round_id = town.open_round(record)
    pin = only_world(town).rounds[round_id].pin
    verdict = ended(town, record, {1: 1, 2: 1, 3: 1})

    assert len(pin.eligible.reviewers) == 4
    assert town.agent(0) not in pin.eligible.reviewers
    assert quorum_needed(pin) == verdict.quorum_needed == 3
    assert (verdict.by, verdict.accepted, verdict.v_ppm) == (By.VOTE, True, 1_000_000)
    assert verdict.narrow == (Narrow.RELAXED, Narrow.FEW_OPERATORS, Narrow.FEW_MEMBERS)
    assert state_of(town, record) is State.ACTIVE


def test_two_of_the_five_are_too_few_and_the_policy_decides() -> None:
    town = Trial.of(1, 5, operators=1)
    record = town.propose(0)
    verdict = ended(town, record, {1: 1, 2: 1})

    assert (verdict.by, verdict.quorum) == (DecidedBy.SHORTFALL, False)
    assert state_of(town, record) is State.RETRACTED


@pytest.mark.parametrize(
    ("votes", "state", "by"),
    [
        ({1: 1, 2: 1}, State.ACTIVE, DecidedBy.VOTE),
        ({1: -1, 2: -1}, State.RETRACTED, DecidedBy.VOTE),
        ({1: 1, 2: -1}, State.RETRACTED, DecidedBy.SIGN),
        ({1: 1, 2: 0}, State.ACTIVE, DecidedBy.VOTE),
    ],
)
def test_three_operators_with_one_agent_each_decide_by_two(
    votes: dict[int, int], state: State, by: DecidedBy
) -> None:
    town = Trial.of(3, 3)
    record = town.propose(0)
    verdict = ended(town, record, votes)

    assert (verdict.quorum_needed, verdict.by) == (2, by)
    assert state_of(town, record) is state
    assert Narrow.QUORUM in verdict.narrow
    assert (Narrow.BY_SIGN in verdict.narrow) is (by is DecidedBy.SIGN)
    assert Narrow.RELAXED not in verdict.narrow


def test_fifty_one_founders_on_three_instances_start_with_equal_weights() -> None:
    town = Trial.of(3, 51, operators=51)
    record = town.propose(0)
    votes = {index: 1 if index < 6 else -1 for index in range(1, 8)}
    agents = list(town.world().state.agents.values())
    verdict = ended(town, record, votes)

    assert {agent.weight for agent in agents} == {700_000}
    assert {agent.competence for agent in agents} == {700_000}
    assert len(verdict.ballots) == 7
    assert len({one.weight for one in verdict.ballots}) == 1
    assert verdict.v_ppm == 3 * 1_000_000 // 7
    assert verdict.narrow == (Narrow.FEW_MEMBERS,)
    assert state_of(town, record) is State.ACTIVE


def test_with_seven_operators_none_carries_more_than_two_sevenths() -> None:
    # Agent i is of operator i mod 8: agents 0, 8 and 16 are of one, agent 7 proposes.
    town = Trial.of(3, 24, operators=8, custody_=Custody.SELF)
    record = town.propose(7)
    votes = dict.fromkeys((0, 8, 16), 1) | dict.fromkeys(range(1, 7), -1)
    verdict = ended(town, record, votes)
    heavy = town.founding.operators[0]
    of_heavy = sum(one.weight for one in verdict.ballots if one.operator == heavy)

    assert (verdict.operators, len(verdict.ballots)) == (7, 9)
    assert 2 * verdict.denominator - 7 * 10 < of_heavy * 7 <= 2 * verdict.denominator
    assert of_heavy < 3 * 666_666


def test_agents_whose_keys_one_operator_keeps_are_one_voice() -> None:
    town = Trial.of(3, 24, operators=8)
    record = town.propose(7)
    votes = dict.fromkeys((0, 8, 16), 1) | dict.fromkeys(range(1, 7), -1)
    verdict = ended(town, record, votes)
    heavy = town.founding.operators[0]

    assert [one.weight for one in verdict.ballots if one.operator == heavy] == [233_333] * 3
    assert {one.weight for one in verdict.ballots if one.operator != heavy} == {700_000}


def test_seven_equal_voters_are_not_touched_by_a_cap_of_two_sevenths() -> None:
    town = Trial.of(3, 51, operators=51)
    record = town.propose(0)
    verdict = ended(town, record, dict.fromkeys(range(1, 8), 1))

    assert all(7 * one.weight <= 2 * verdict.denominator for one in verdict.ballots)
    assert verdict.denominator == sum(one.weight for one in verdict.ballots)


@pytest.mark.parametrize(
    ("topics", "state"), [((), State.RETRACTED), (LOW, State.ACTIVE)], ids=["high", "low"]
)
def test_with_nobody_to_review_the_policy_decides_at_once(
    topics: tuple[TopicClass, ...], state: State
) -> None:
    town = Trial.of(1, 1, review=rules(topics=topics, shortfall_low="fast_track"))
    record = town.propose(0)
    round_id = town.open_round(record)
    verdict = verdict_of(town, round_id)

    assert only_world(town).rounds[round_id].finals == {}
    assert (verdict.by, verdict.quorum_needed) == (DecidedBy.SHORTFALL, 0)
    assert Narrow.SHORTFALL in verdict.narrow
    assert checked(town, round_id) == verdict
    assert state_of(town, record) is state


# Shortfall policies -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "votes", "state", "signed"),
    [
        ("arbitrate", {1: 1, 2: 1}, State.ACTIVE, True),
        ("arbitrate", {1: -1, 2: -1}, State.RETRACTED, True),
        ("arbitrate", {1: 1, 2: -1}, State.RETRACTED, True),
        ("fast_track", {1: 1, 2: 1}, State.ACTIVE, False),
        ("fast_track", {1: 1, 2: -1}, State.RETRACTED, False),
        ("reject", {1: 1, 2: 1}, State.RETRACTED, False),
    ],
)
def test_too_few_ballots_leave_the_decision_to_the_charters_policy(
    policy: str, votes: dict[int, int], state: State, signed: bool
) -> None:
    town = Trial.of(1, 5, operators=5, review=rules(shortfall_high=policy))
    record = town.propose(0)
    verdict = ended(town, record, votes)

    assert (verdict.by, verdict.quorum, verdict.strong) == (DecidedBy.SHORTFALL, False, False)
    assert Narrow.SHORTFALL in verdict.narrow
    assert (Narrow.BY_SIGN in verdict.narrow) is signed
    assert state_of(town, record) is state


@pytest.mark.parametrize(
    ("policy", "state"), [("fast_track", State.ACTIVE), ("arbitrate", State.RETRACTED)]
)
def test_a_round_in_which_nobody_votes_is_left_to_the_policy(policy: str, state: State) -> None:
    town = Trial.of(3, 5, operators=5, review=rules(shortfall_high=policy))
    record = town.propose(0)
    round_id = town.open_round(record)
    town.in_phase(round_id, None)

    assert checked(town, round_id).by is DecidedBy.SHORTFALL
    assert [len(one.records) for one in town.world().rounds[round_id].finals.values()] == [0] * 4
    assert state_of(town, record) is state


def test_each_sensitivity_has_its_own_shortfall_policy() -> None:
    town = Trial.of(
        1,
        5,
        operators=5,
        review=rules(topics=LOW, shortfall_low="fast_track", shortfall_high="reject"),
    )
    low = town.propose(0, "Low", topics=("code",))
    high = town.propose(1, "High", topics=("other",))
    rounds = [town.open_round(record) for record in (low, high)]
    for round_id in rounds:
        town.in_phase(round_id, None)
        checked(town, round_id)

    assert state_of(town, low) is State.ACTIVE
    assert state_of(town, high) is State.RETRACTED


# Timeouts, widening -----------------------------------------------------------------------------


@pytest.mark.parametrize("instances", [1, 3, 4])
def test_a_box_that_is_shut_too_late_is_void_and_retracts(instances: int) -> None:
    # The deadline ends while commitments are still collected, so every witness says late.
    town = Trial.of(instances, 5, operators=5, review=rules(deadline=3_000))
    record = town.propose(0)
    round_id = town.open_round(record)
    town.in_phase(round_id, Phase.COMMIT)
    town.cast(1, round_id, 1)
    town.in_phase(round_id, None)
    verdict = checked(town, round_id)

    assert verdict.by is DecidedBy.TIMEOUT
    assert town.world().rounds[round_id].finals[Phase.COMMIT].void
    assert verdict.ballots == ()
    assert state_of(town, record) is State.RETRACTED


def test_a_box_without_a_quorum_is_opened_once_more_before_anything_is_revealed() -> None:
    town = Trial.of(3, 6, operators=6)
    record = town.propose(0)
    round_id = town.open_round(record)
    town.in_phase(round_id, Phase.COMMIT)
    for index in (1, 2):
        town.cast(index, round_id, 1)
    town.in_phase(round_id, Phase.COMMIT2)
    assert custody.may_reveal(town.home(1), round_id, town.agent(1)) is None
    for index in (3, 4):
        town.cast(index, round_id, 1)
    town.in_phase(round_id, Phase.DECIDE)
    for index in (1, 2, 3, 4):
        town.reveal(index, round_id)
    town.in_phase(round_id, None)
    verdict = checked(town, round_id)
    finals = town.world().rounds[round_id].finals

    assert [len(finals[phase].records) for phase in (Phase.COMMIT, Phase.COMMIT2)] == [2, 2]
    assert (verdict.by, verdict.quorum, len(verdict.ballots)) == (DecidedBy.VOTE, True, 4)
    assert state_of(town, record) is State.ACTIVE


def test_a_widened_box_that_stays_short_ends_in_a_shortfall_never_in_a_void() -> None:
    town = Trial.of(3, 6, operators=6, review=rules(deadline=14_000))
    record = town.propose(0)
    round_id = town.open_round(record)
    town.in_phase(round_id, Phase.COMMIT)
    town.cast(1, round_id, 1)
    town.in_phase(round_id, Phase.DECIDE)
    assert Phase.COMMIT2 in town.world().rounds[round_id].finals
    town.reveal(1, round_id)
    town.in_phase(round_id, None)

    assert checked(town, round_id).by is DecidedBy.SHORTFALL


# Fast track -------------------------------------------------------------------------------------


def watched(town: Trial, *watchers: int) -> None:
    """Let these agents subscribe to what the tests propose, and let a cut contain it."""
    for index in watchers:
        offer = AgentSubscribe(topics=("code",), keywords=(), on=True)
        record = custody.author(town.home(index), town.keyring(index), offer, now=town.now)
        town.arrive(town.home(index), record)
    town.in_cut(town.world().state.cut + 1)


def test_silence_of_enough_watchers_is_consent() -> None:
    town = Trial.of(3, 6, operators=6, review=rules(topics=LOW))
    watched(town, 1, 2, 3)
    record = town.propose(0)
    round_id = town.open_round(record)
    opened = town.now
    assert town.world().rounds[round_id].phase is Phase.FAST
    town.in_phase(round_id, None)
    took = town.now - opened
    verdict = checked(town, round_id)

    assert verdict.by is DecidedBy.FAST_TRACK
    # A trusted author waits half the window, and not a moment less.
    assert 500 <= took < 800
    assert state_of(town, record) is State.ACTIVE


def test_silence_of_nobody_is_no_consent() -> None:
    town = Trial.of(3, 6, operators=6, review=rules(topics=LOW))
    watched(town, 1, 2)
    record = town.propose(0)
    verdict = ended(town, record, {1: 1, 2: 1, 3: 1})

    assert verdict.by is DecidedBy.VOTE
    assert state_of(town, record) is State.ACTIVE


def test_one_objection_sends_a_watched_artifact_to_a_vote() -> None:
    town = Trial.of(3, 6, operators=6, review=rules(topics=LOW))
    watched(town, 1, 2, 3)
    record = town.propose(0)
    round_id = town.open_round(record)
    objected = custody.object_to(
        town.home(4), town.keyring(4), round_id, reason=Reason.UNSOURCED, now=town.now
    )
    town.arrive(town.home(4), objected)
    verdict = ended(town, record, {1: -1, 2: -1, 3: -1})

    assert (verdict.by, verdict.objections) == (DecidedBy.VOTE, 1)
    assert state_of(town, record) is State.RETRACTED


def test_an_objection_forbids_the_fast_track_as_shortfall_policy_too() -> None:
    town = Trial.of(1, 6, operators=6, review=rules(topics=LOW, shortfall_low="fast_track"))
    watched(town, 1, 2, 3)
    record = town.propose(0)
    round_id = town.open_round(record)
    objected = custody.object_to(
        town.home(4), town.keyring(4), round_id, reason=Reason.UNSOURCED, now=town.now
    )
    town.arrive(town.home(4), objected)
    town.in_phase(round_id, None)

    assert checked(town, round_id).by is DecidedBy.SHORTFALL
    assert state_of(town, record) is State.RETRACTED


# Contest ----------------------------------------------------------------------------------------


def contested(votes: dict[int, int], *, by: int | None) -> tuple[Trial, Record, Verdict]:
    """Hold a round with a contest window; agent `by` contests."""
    town = Trial.of(3, 6, operators=6, review=rules(contest=1_000))
    record = town.propose(0)
    round_id = town.open_round(record)
    town.in_phase(round_id, Phase.COMMIT)
    for index, choice in votes.items():
        town.cast(index, round_id, choice)
    town.in_phase(round_id, Phase.DECIDE)
    for index in votes:
        town.reveal(index, round_id)
    town.in_phase(round_id, Phase.CONTEST)
    if by is not None:
        decided = town.home(by).rounds[round_id].finals[Phase.DECIDE].digest
        say(town, by, *contest(round_id, "The list came late.", after=decided))
    town.in_phase(round_id, None)
    return town, record, checked(town, round_id)


def test_a_result_that_nobody_contests_stands_after_the_window() -> None:
    town, record, verdict = contested({1: 1, 2: 1, 3: 1}, by=None)

    assert verdict.by is DecidedBy.VOTE
    assert state_of(town, record) is State.ACTIVE


@pytest.mark.parametrize("who", [0, 1])
def test_a_contested_result_stands_while_nobody_can_rule(who: int) -> None:
    town, record, verdict = contested({1: 1, 2: 1, 3: 1}, by=who)

    assert verdict.by is DecidedBy.VOTE
    assert verdict.contested
    assert state_of(town, record) is State.ACTIVE


def test_a_contest_by_somebody_who_took_no_part_changes_nothing() -> None:
    _, _, verdict = contested({1: 1, 2: 1, 3: 1}, by=5)

    assert verdict.by is DecidedBy.VOTE


def test_a_result_between_the_thresholds_needs_no_window() -> None:
    town = Trial.of(3, 6, operators=6, review=rules(contest=1_000))
    record = town.propose(0)
    verdict = ended(town, record, {1: 1, 2: -1, 3: 0})

    assert verdict.by is DecidedBy.SIGN
    assert state_of(town, record) is State.RETRACTED


# Evidence ---------------------------------------------------------------------------------------


def test_a_commitment_that_is_not_opened_counts_like_a_strong_vote_against_the_decision() -> None:
    town = Trial.of(3, 6, operators=6)
    record = town.propose(0)
    round_id = town.open_round(record)
    town.in_phase(round_id, Phase.COMMIT)
    for index in (1, 2, 3, 4):
        town.cast(index, round_id, 1)
    town.in_phase(round_id, Phase.DECIDE)
    before = {i: town.world().state.agents[town.agent(i)] for i in range(6)}
    for index in (1, 2, 3):
        town.reveal(index, round_id)
    town.in_phase(round_id, None)
    verdict = checked(town, round_id)
    town.in_cut(town.world().state.cut + 2)
    after = {i: town.world().state.agents[town.agent(i)] for i in range(6)}

    assert [one.voter for one in verdict.unrevealed] == [town.agent(4)]
    assert after[4].r < before[4].r
    assert all(after[i].r > before[i].r for i in (0, 1, 2, 3))
    assert after[5].r == before[5].r
    assert after[4].interactions == before[4].interactions + 1


def test_a_decided_round_teaches_trust_at_the_next_tick_and_not_before() -> None:
    town = Trial.of(1, 5, operators=5)
    record = town.propose(0)
    before = {agent.agent: agent.r for agent in only_world(town).state.agents.values()}
    round_id = town.vote(record, {1: 1, 2: 1, 3: -1})
    tick = only_world(town).state.tick
    assert {agent.agent: agent.r for agent in only_world(town).state.agents.values()} == before
    town.until(lambda one: one.world().state.tick > tick + 1)
    after = {agent.agent: agent.r for agent in only_world(town).state.agents.values()}

    assert verdict_of(town, round_id).accepted
    assert after[town.agent(1)] > before[town.agent(1)]
    assert after[town.agent(3)] < before[town.agent(3)]
