"""What may still happen to an artifact, and what ended it if no round did."""

from federation.artifacts import State
from federation.protocol import authoring
from federation.records import AdminReview, Decree, Role
from node.queries import artifacts, realm
from node.queries.artifacts import ArtifactState
from tests.federation.protocol.panel import AUTHOR, FIRST, SALT, Panel, evidence


def test_an_artifact_that_stands_shows_its_limits_and_what_rests_on_it() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    above = town.propose(AUTHOR, "It rests on it", cites=(artifact.id,))
    town.ended(town.vote(above, dict.fromkeys(FIRST, 1)))
    shown = artifacts.one(town.world(), artifact.id, town.now).curation

    assert shown is not None
    assert (shown.disputes_left, shown.resubmissions_left) == (3, 3)
    assert shown.cited_by == (above.id.hex(),)
    assert shown.rounds == shown.accepted_by
    assert len(shown.rounds) == 1
    assert (shown.open_rounds, shown.cooldown_until, shown.stale_until) == ((), None, None)


def test_a_proposal_that_no_cut_contains_has_no_limits_yet() -> None:
    town = Panel.seated()
    record = town.propose(AUTHOR)

    assert artifacts.one(town.world(), record.id, town.now).curation is None


def test_a_withdrawn_artifact_says_so_and_until_when_it_stays_away() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    town.take(
        authoring.withdraw(
            town.world(), town.keyring(AUTHOR), artifact.id, reason="I was wrong", now=town.now
        )
    )
    town.until(lambda _: town.world().state.artifacts[artifact.id].state is State.RETRACTED)
    page = artifacts.one(town.world(), artifact.id, town.now)

    assert page.state is ArtifactState.RETRACTED
    assert page.waits.sentence == "Its author has taken it back: I was wrong."
    assert page.curation is not None
    assert page.curation.retracted_at is not None
    cooldown = town.world().charter.disputes.cooldown
    assert page.curation.cooldown_until == page.curation.retracted_at + cooldown


def test_what_the_operators_retract_says_so() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    body = AdminReview(subject=artifact.id, decision=Decree.RETRACT, reason="It harms!")
    town.take(town.pen(Role.OPERATOR, 0).say(body))
    town.until(lambda _: town.world().state.artifacts[artifact.id].state is State.RETRACTED)
    page = artifacts.one(town.world(), artifact.id, town.now)

    assert page.waits.sentence == "A quorum of operators has retracted it by hand: It harms!"


def test_a_stale_artifact_shows_when_the_flag_lapses() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    town.take(
        authoring.flag_stale(
            town.world(),
            town.keyring(5),
            artifact.id,
            evidence=evidence("later"),
            note="",
            salt=SALT,
            now=town.now,
        )
    )
    town.until(lambda _: town.world().state.artifacts[artifact.id].stale_at is not None)
    shown = artifacts.one(town.world(), artifact.id, town.now).curation

    assert shown is not None
    assert shown.stale_at is not None
    assert shown.stale_until == shown.stale_at + town.world().charter.disputes.stale_window
    assert realm.counts(town.world()).active == 1
