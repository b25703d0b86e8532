"""What hostile reporters, authors and resubmitters cannot gain by the rounds that they open."""

from federation.artifacts import DecidedBy, Flag
from federation.artifacts import State as ArtifactState
from federation.certificates import Phase
from federation.core import ArtifactId, Code, RoundId
from federation.protocol import authoring
from federation.protocol.invariants import broken
from federation.records import Ruled
from federation.review import drawn_arbiters
from federation.trust import EvidenceKind
from tests.federation.protocol.acts import next_tick
from tests.federation.protocol.curating import (
    SALT,
    code_of,
    curating,
    file_dispute,
    file_report,
    newest_round,
    poll,
    resubmit,
    standing,
    until_state,
    withdraw,
)
from tests.federation.protocol.town import Town, rules

_MODERATOR = 8


def _assess(town: Town, name: RoundId, *, credible: bool = True, by: int = _MODERATOR) -> None:
    town.in_phase(name, Phase.ASSESS)
    record = authoring.assess(
        town.home(by), town.keyring(by), name, credible=credible, note="", salt=SALT, now=town.now
    )
    town.arrive(town.home(by), record)


def _flags(town: Town, artifact: ArtifactId) -> frozenset[Flag]:
    return town.world().state.artifacts[artifact].flags


def test_one_report_after_the_other_does_not_keep_disputes_away() -> None:
    town = curating()
    artifact = standing(town)
    file_report(town, 3, artifact)
    newest_round(town, artifact, 2)
    town.until(lambda town: town.world().state.artifacts[artifact].reports == 0)

    # It lapsed and has cost nobody anything; the next one waits, and a dispute need not.
    assert code_of(lambda: file_report(town, 4, artifact)) == Code.COOLDOWN
    file_dispute(town, 5, artifact)
    until_state(town, artifact, ArtifactState.DISPUTED)
    next_tick(town, 2)
    assert code_of(lambda: file_report(town, 4, artifact)) == "passed"


def test_what_was_reported_is_hidden_though_its_author_withdraws_it_first() -> None:
    town = curating(badges={_MODERATOR: ("moderator",)}, disputes={"assess": 30_000})
    artifact = standing(town)
    file_report(town, 3, artifact)
    name = newest_round(town, artifact, 2)
    withdraw(town, 0, artifact)
    until_state(town, artifact, ArtifactState.RETRACTED)
    _assess(town, name)
    town.until(lambda town: Flag.HIDDEN in _flags(town, artifact))

    assert town.world().state.artifacts[artifact].state is ArtifactState.RETRACTED
    assert broken(town.world()) == []


def test_what_one_word_has_hidden_and_no_round_decides_about_comes_before_a_panel() -> None:
    town = curating(badges={_MODERATOR: ("moderator",)}, disputes={"assess": 60_000})
    record = town.propose(0)
    name = town.open_round(record)
    file_report(town, 3, record.id)
    report = newest_round(town, record.id, 2)
    assert town.world().rounds[report].pin.assess_only
    poll(town, name, {1: 1, 2: 1})
    until_state(town, record.id, ArtifactState.ACTIVE)
    # Its own round is over: nothing else would ever lift the flag again.
    _assess(town, report)
    panel = newest_round(town, record.id, 3)
    assert Flag.HIDDEN in _flags(town, record.id)
    assert town.world().rounds[panel].pin.disputer is None
    poll(town, panel, {4: 1, 5: 1})
    until_state(town, record.id, ArtifactState.ACTIVE)

    assert Flag.HIDDEN not in _flags(town, record.id)
    assert town.world().state.artifacts[record.id].disputes == 0
    assert broken(town.world()) == []


def test_a_rerun_of_a_report_that_never_took_its_artifact_leaves_the_round_that_decides() -> None:
    town = curating(
        agents=11,
        badges={_MODERATOR: ("moderator",), 9: ("arbiter",), 10: ("arbiter",)},
        review=rules(k=2, q_min=2, commit=2_000, contest=1_000, rule=40_000, admin=2_000),
        disputes={"assess": 30_000},
    )
    artifact = standing(town)
    file_report(town, 3, artifact)
    report = newest_round(town, artifact, 2)
    withdraw(town, 0, artifact)
    until_state(town, artifact, ArtifactState.RETRACTED)
    _assess(town, report)
    poll(town, report, {4: 1, 5: 1})
    town.in_phase(report, Phase.CONTEST)
    contest = authoring.contest(
        town.home(3),
        town.keyring(3),
        report,
        ground="not_heard",
        note="",
        salt=SALT,
        now=town.now,
    )
    town.arrive(town.home(3), contest)
    town.in_phase(report, Phase.RULE)
    next_tick(town, 2)
    resubmit(town, 0, artifact, "new")
    review = newest_round(town, artifact, 3)
    one = town.world().rounds[report]
    drawn = drawn_arbiters(one.pin, one.finals)[0]
    index = next(index for index in (9, 10) if town.agent(index) == drawn)
    ruled = authoring.rule(
        town.home(index),
        town.keyring(index),
        report,
        ruling=Ruled.RERUN,
        ground="not_heard",
        note="",
        salt=SALT,
        now=town.now,
    )
    town.arrive(town.home(index), ruled)
    town.until(lambda town: town.world().rounds[report].closed)
    verdict = town.world().rounds[report].verdict

    assert verdict is not None
    assert verdict.by is DecidedBy.RERUN
    assert town.world().state.artifacts[artifact].round == review
    assert len(town.world().state.rounds_of[artifact]) == 3
    assert broken(town.world()) == []


def test_who_brings_back_what_another_wrote_answers_for_it_and_does_not_vote_on_it() -> None:
    town = curating(disputes={"cooldown": 0})
    artifact = standing(town)
    withdraw(town, 0, artifact)
    until_state(town, artifact, ArtifactState.RETRACTED)
    next_tick(town)
    ledger = town.world().state.ledger
    before = ledger.rows(town.agent(0))
    resubmit(town, 3, artifact, "junk")
    name = newest_round(town, artifact, 2)
    assert town.agent(3) not in town.world().rounds[name].pin.eligible.reviewers
    poll(town, name, {4: -1, 5: -1})
    town.until(lambda town: town.world().rounds[name].closed)
    next_tick(town)

    assert ledger.rows(town.agent(0)) == before
    rows = ledger.rows(town.agent(3))
    assert {row.kind for row in rows} == {EvidenceKind.CONTRIBUTION}
    assert all(row.negative for row in rows)
    assert broken(town.world()) == []
