"""Which rounds and records are violations; and what never is one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.artifacts import DecidedBy, RoundKind
from federation.core import Code
from federation.crypto import Choice, Reason
from federation.protocol import discipline
from federation.records import Health
from federation.sanctions import RuleId
from federation.trust import AuditOutcome, Decision, Evidence, EvidenceKind, Unrevealed, Vote
from tests.federation.protocol.docket import AGENTS, Docket, ballot

_HARMFUL, _UNSOURCED, _UNCLEAR = Reason.HARMFUL, Reason.UNSOURCED, Reason.UNCLEAR


def test_a_rejection_is_a_violation_if_most_weight_against_calls_it_harmful() -> None:
    docket = Docket()
    verdict = docket.rejected(0, [(_UNCLEAR, 400), (_HARMFUL, 600)])
    (one,) = docket.state.discipline.of(docket.name(0))

    assert (one.rule, one.points, one.tick) == (RuleId.HARMFUL, 1, 1)
    assert one.cause == verdict.round
    assert one.operator == docket.operator(0)
    assert docket.held(0).points == 0
    docket.tick()
    assert docket.held(0).points == 1


@pytest.mark.parametrize(
    "reasons",
    [
        [],
        [(_UNCLEAR, 600), (_HARMFUL, 600)],
        [(_UNCLEAR, 1_000), (_HARMFUL, 600)],
        # Practice ballots weigh nothing.
        [(_UNCLEAR, 1), (_HARMFUL, 0), (_HARMFUL, 0)],
        [(_HARMFUL, 0)],
    ],
)
def test_an_ordinary_rejection_is_none(reasons: list[tuple[Reason, int]]) -> None:
    docket = Docket()
    docket.rejected(0, reasons)

    assert not docket.state.discipline.violations


@pytest.mark.parametrize(
    ("by", "quorum", "counts"),
    [
        (DecidedBy.VOTE, True, True),
        (DecidedBy.VOTE, False, False),
        (DecidedBy.ARBITER, True, True),
        (DecidedBy.ADMIN, True, True),
        (DecidedBy.SIGN, True, False),
        (DecidedBy.TIMEOUT, True, False),
        (DecidedBy.SHORTFALL, True, False),
    ],
)
def test_only_a_clear_rejection_says_something_about_the_author(
    by: DecidedBy, quorum: bool, counts: bool
) -> None:
    docket = Docket()
    docket.rejected(0, [(_HARMFUL, 9)], by=by, quorum=quorum)

    assert docket.rules_of(0) == [RuleId.HARMFUL] * counts


def test_the_third_rejection_as_unsourced_in_a_window_is_a_violation_and_each_after_it() -> None:
    docket = Docket(window=10, unsourced_free=2)
    for _ in range(4):
        docket.rejected(0, [(_UNSOURCED, 9), (_HARMFUL, 1)])

    assert docket.rules_of(0) == [RuleId.UNSOURCED] * 2


def test_rejections_as_unsourced_that_lie_a_window_apart_are_none() -> None:
    docket = Docket(window=10, unsourced_free=2)
    for _ in range(6):
        docket.rejected(0, [(_UNSOURCED, 9)])
        docket.tick(by=5)

    assert docket.rules_of(0) == []


def test_the_third_ballot_left_sealed_in_a_window_is_a_violation() -> None:
    docket = Docket(window=10, unrevealed_free=2)
    docket.unrevealed(1, 2)
    docket.unrevealed(1)
    docket.tick(by=9)
    docket.unrevealed(1)
    docket.tick()
    docket.unrevealed(1)

    assert docket.rules_of(1) == [RuleId.UNREVEALED]
    assert docket.rules_of(2) == []


def test_a_frivolous_dispute_is_a_violation_and_a_lost_one_is_not() -> None:
    docket = Docket()
    pin = docket.pin(0, "dispute", disputer=1, cause=b"\7" * 32)
    for frivolous in (False, True):
        verdict = docket.verdict(pin, Decision.ACCEPT, frivolous=frivolous)
        discipline.observe(docket.state, pin, {}, verdict, None)
        assert docket.rules_of(1) == [RuleId.FRIVOLOUS] * frivolous

    (one,) = docket.state.discipline.of(docket.name(1))
    assert one.evidence == (b"\7" * 32,)


def test_a_dispute_that_the_rules_opened_is_nobodys_violation() -> None:
    docket = Docket()
    pin = docket.pin(0, "dispute")
    verdict = docket.verdict(pin, Decision.ACCEPT, frivolous=True)
    discipline.observe(docket.state, pin, {}, verdict, None)

    assert not docket.state.discipline.violations


@pytest.mark.parametrize(
    ("by", "counts"),
    [
        (DecidedBy.UNFOUNDED, True),
        (DecidedBy.LAPSED, False),
        (DecidedBy.ASSESSED, False),
        (DecidedBy.VOTE, False),
    ],
)
def test_only_a_report_that_a_moderator_found_unfounded_is_a_violation(
    by: DecidedBy, counts: bool
) -> None:
    docket = Docket()
    pin = docket.pin(0, "report", disputer=1, cause=b"\7" * 32)
    decision = Decision.ACCEPT if by is DecidedBy.VOTE else Decision.NONE
    # A moderator took it seriously, so it is not frivolous, whatever the panel says.
    verdict = docket.verdict(pin, decision, by=by, frivolous=by is DecidedBy.VOTE)
    discipline.observe(docket.state, pin, {}, verdict, None)

    assert docket.rules_of(1) == [RuleId.UNFOUNDED] * counts


def test_the_same_round_is_one_violation_however_often_it_is_seen() -> None:
    docket = Docket()
    pin = docket.pin(0, "dispute", disputer=1, cause=b"\7" * 32)
    verdict = docket.verdict(pin, Decision.ACCEPT, frivolous=True)
    for _ in range(3):
        discipline.observe(docket.state, pin, {}, verdict, None)
        docket.tick()

    assert len(docket.rules_of(1)) == 1


def test_a_class_without_points_is_switched_off() -> None:
    docket = Docket(content=0, conduct=0)
    docket.rejected(0, [(_HARMFUL, 9)])
    docket.frivolous(1, times=30)
    docket.tick()

    assert not docket.state.discipline.violations
    assert docket.held(1).level == 0


def test_a_proven_abuse_is_a_violation_of_an_admitted_agent_only() -> None:
    docket = Docket()
    discipline.abuse(docket.state, b"\x09" * 32, RuleId.ABUSE, b"\7" * 32)
    assert not docket.state.discipline.violations
    discipline.abuse(docket.state, docket.name(2), RuleId.ABUSE, b"\7" * 32)

    assert docket.rules_of(2) == [RuleId.ABUSE]
    assert docket.tick() == (docket.name(2),)


_BALLOTS = st.lists(
    st.tuples(
        st.integers(1, AGENTS - 1),
        st.sampled_from(Choice),
        st.sampled_from(Reason),
        st.integers(0, 1_000),
    ),
    unique_by=lambda one: one[0],
    min_size=1,
)
_KINDS: st.SearchStrategy[RoundKind] = st.sampled_from(["review", "dispute", "report", "appeal"])


@given(
    rounds=st.lists(
        st.tuples(
            _KINDS, st.sampled_from(Decision), st.sampled_from(DecidedBy), _BALLOTS, st.booleans()
        ),
        max_size=40,
    )
)
@settings(max_examples=60, deadline=None)
def test_a_vote_against_the_decision_is_never_a_violation(
    rounds: list[
        tuple[RoundKind, Decision, DecidedBy, list[tuple[int, Choice, Reason, int]], bool]
    ],
) -> None:
    docket = Docket(unsourced_free=0, unrevealed_free=0)
    for kind, decision, by, ballots, frivolous in rounds:
        # Agent 0 alone writes and disputes; everybody else only votes, and reveals.
        pin = docket.pin(0, kind, disputer=0 if kind != "review" else None, cause=docket.round_id())
        opened = [
            ballot(docket.name(who), docket.operator(who), choice, reason, weight=weight)
            for who, choice, reason, weight in ballots
        ]
        verdict = docket.verdict(pin, decision, opened, by=by, frivolous=frivolous)
        discipline.observe(docket.state, pin, {}, verdict, None)
        docket.tick()

    for one in docket.state.discipline.violations.values():
        assert one.agent == docket.name(0)
    # Nor do they say anything about a voter: only what is found out later does.
    assert not docket.state.discipline.samples
    assert all(docket.held(who).level == 0 for who in range(1, AGENTS))


def test_what_a_fresh_panel_lets_stand_and_what_falls_tells_of_votes() -> None:
    docket = Docket()
    votes = [(1, Choice.FOR), (2, Choice.AGAINST), (3, Choice.ABSTAIN)]
    name = docket.upheld(votes)
    docket.reversed(votes)
    samples = docket.state.discipline.samples

    assert {
        docket.name(1): [(Choice.FOR, True), (Choice.FOR, False)],
        docket.name(2): [(Choice.AGAINST, True), (Choice.AGAINST, False)],
    } == {who: [(one.choice, one.stood) for one in kept.values()] for who, kept in samples.items()}

    # What falls after it was upheld corrects what was noted, and nothing stands twice.
    docket.reversed(votes, name)
    docket.reversed(votes, name)
    assert not samples[docket.name(1)][name].stood
    assert len(samples[docket.name(1)]) == 2


def test_only_a_vote_of_a_fresh_panel_with_a_quorum_upholds() -> None:
    docket = Docket()
    docket.rejected(0, [(_UNCLEAR, 9)])
    docket.unrevealed(3)

    assert not docket.state.discipline.settled


def test_an_audit_tells_of_votes_and_one_that_could_not_tell_does_not() -> None:
    docket = Docket()
    vote = Vote(
        voter=docket.name(1), operator=docket.operator(1), choice=Choice.FOR, practice=False
    )
    for number, right in enumerate(Choice):
        audit = AuditOutcome(
            audit=bytes([number]) * 32,
            tick=1,
            author_operator=docket.operator(0),
            right=right,
            votes=(vote,),
        )
        discipline.audited(docket.state, audit, bytes([number]) * 32)

    kept = docket.state.discipline.samples[docket.name(1)].values()
    assert sorted(one.stood for one in kept) == [False, True]


def test_what_fell_says_more_than_that_it_once_stood() -> None:
    docket = Docket()
    name = docket.round_id()
    docket.reversed([(1, Choice.FOR)], name)
    vote = Vote(
        voter=docket.name(1), operator=docket.operator(1), choice=Choice.FOR, practice=False
    )
    audit = AuditOutcome(
        audit=bytes(32),
        tick=1,
        author_operator=docket.operator(0),
        right=Choice.FOR,
        votes=(vote,),
    )
    discipline.audited(docket.state, audit, name)

    assert not docket.state.discipline.samples[docket.name(1)][name].stood
    assert not docket.state.discipline.settled[name]


def test_an_operator_speaks_for_its_own_agents_only() -> None:
    docket = Docket()

    assert docket.says(1, Health.BROKEN) is None
    assert docket.says(1, Health.BROKEN, operator=docket.operator(2)) is Code.NOT_ELIGIBLE
    assert docket.says(1, Health.BROKEN, operator=b"\x09" * 32) is Code.REVOKED


def test_an_appeal_is_the_agents_own_and_there_is_one() -> None:
    docket = Docket()
    docket.frivolous(1)
    (one,) = docket.state.discipline.of(docket.name(1))

    assert docket.appeal(1, bytes(32)) is Code.UNKNOWN_SANCTION
    assert docket.appeal(2, one.id) is Code.NOT_AUTHOR
    assert docket.appeal(1, one.id) is None
    assert docket.appeal(1, one.id) is Code.APPEALED


def test_a_banned_agent_may_still_appeal_and_what_is_void_cannot_be_appealed() -> None:
    docket = Docket()
    docket.frivolous(1, times=16)
    docket.tick()
    first, second, *_ = docket.state.discipline.of(docket.name(1))
    assert discipline.refusal(docket.state, docket.name(1)) is Code.AGENT_BANNED

    assert docket.appeal(1, first.id) is None
    discipline.reclassify(docket.state, second.id)
    assert docket.appeal(1, second.id) is Code.APPEALED


def test_what_an_unfounded_report_brought_is_withdrawn_with_it() -> None:
    docket = Docket()
    report = b"\7" * 32
    pin = docket.pin(0, "report", disputer=1, cause=report)
    verdict = docket.verdict(pin, Decision.NONE, by=DecidedBy.UNFOUNDED)
    discipline.observe(docket.state, pin, {}, verdict, None)
    row = Evidence(
        tick=1,
        cause=report,
        kind=EvidenceKind.UNFOUNDED_REPORT,
        subject=docket.name(1),
        source=docket.operator(0),
        positive=0,
        negative=2_000_000,
        practice=False,
    )
    docket.tick(row)
    assert docket.state.ledger.rows(docket.name(1)) == (row,)
    (one,) = docket.state.discipline.of(docket.name(1))
    discipline.reclassify(docket.state, one.id)

    assert docket.state.ledger.rows(docket.name(1)) == ()


def test_practice_ballots_left_sealed_are_promises_too() -> None:
    docket = Docket(unrevealed_free=0)
    pin = docket.pin(0)
    verdict = docket.verdict(pin, Decision.ACCEPT)
    object.__setattr__(verdict, "unrevealed", (Unrevealed(voter=docket.name(3), practice=True),))
    discipline.observe(docket.state, pin, {}, verdict, None)

    assert docket.rules_of(3) == [RuleId.UNREVEALED]
