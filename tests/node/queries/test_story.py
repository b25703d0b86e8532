"""The story across all rounds: dispute, arbitration, report, revision; who, when, why, by what."""

import pytest

from federation.artifacts import Action, State
from federation.certificates import Phase
from federation.protocol import authoring
from federation.records import AdminReview, Decree, Record, Role, Ruled
from node.queries.happenings import Event, Happened
from node.queries.history import history
from tests.federation.protocol.panel import (
    AUTHOR,
    DISPUTER,
    FIRST,
    FRESH,
    MODERATOR,
    SALT,
    Panel,
    evidence,
)
from tests.node.queries.scenes import plain


def told(town: Panel, artifact: Record) -> list[Happened]:
    return list(history(town.world(), artifact.id).events)


def words(events: list[Happened]) -> list[Event]:
    return [one.event for one in events if one.event is not Event.CERTIFIED]


def moves(events: list[Happened]) -> list[tuple[State | None, Action, State]]:
    return [(move.origin, move.action, move.to) for one in events for move in one.moves]


@pytest.fixture(scope="module")
def disputed() -> tuple[Panel, Record]:
    """Dispute, contest, rule and contest again; the artifact is kept in the end. Read only."""
    town = Panel.seated().earned()
    artifact = town.accepted()
    town.dispute(artifact.id, evidence=evidence("seen"))
    name = town.newest(artifact.id, "dispute")
    town.judged(name, dict.fromkeys(FRESH, 1))
    town.in_phase(name, Phase.CONTEST)
    town.contest(name, DISPUTER)
    town.in_phase(name, Phase.RULE)
    town.rule(name, Ruled.BY_SIGN)
    town.in_phase(name, Phase.APPEAL)
    town.contest(name, AUTHOR)
    town.ended(name)
    return town, artifact


def test_a_dispute_is_told_from_its_record_to_its_verdict(disputed: tuple[Panel, Record]) -> None:
    town, artifact = disputed
    events = told(town, artifact)

    assert words(events) == [
        Event.PROPOSED,
        Event.OPENED,
        Event.VERDICT,
        Event.DISPUTED,
        Event.OPENED,
        Event.CONTESTED,
        Event.RULED,
        Event.CONTESTED,
        Event.VERDICT,
    ]
    filed = next(one for one in events if one.event is Event.DISPUTED)
    assert [one.name for one in filed.who] == [f"agent {DISPUTER}"]
    assert filed.note == "It is not so."
    assert "inaccurate" in filed.why
    ruled = next(one for one in events if one.event is Event.RULED)
    assert "by_sign" in ruled.why
    against = [one.why for one in events if one.event is Event.CONTESTED]
    assert "process of the result" in against[0]
    assert "the ruling" in against[1]


def test_every_row_of_the_table_that_was_taken_is_told_once(
    disputed: tuple[Panel, Record],
) -> None:
    town, artifact = disputed
    events = told(town, artifact)

    assert moves(events) == [
        (None, Action.SUBMIT, State.PROPOSED),
        (State.PROPOSED, Action.BEGIN_REVIEW, State.UNDER_REVIEW),
        (State.UNDER_REVIEW, Action.ACCEPT, State.ACTIVE),
        (State.ACTIVE, Action.DISPUTE, State.DISPUTED),
        (State.DISPUTED, Action.KEEP, State.ACTIVE),
    ]
    assert all(move.guard for one in events for move in one.moves)
    assert Event.MOVED not in words(events)


def test_every_step_names_its_cut_its_record_and_its_certificate(
    disputed: tuple[Panel, Record],
) -> None:
    town, artifact = disputed
    events = told(town, artifact)

    assert [one.cut for one in events] == sorted(one.cut or 0 for one in events)
    for one in events:
        assert one.cut is not None
        assert one.tick is not None
        if one.event in {Event.CERTIFIED, Event.CONTESTED, Event.RULED}:
            assert one.certificate is not None
            assert one.digest is not None
            assert bytes.fromhex(one.certificate) in town.world().log
        if one.event not in {Event.OPENED, Event.VERDICT}:
            assert one.record is not None
            assert bytes.fromhex(one.record) in town.world().log
    assert isinstance(plain(history(town.world(), artifact.id)), dict)


def test_a_list_that_is_not_final_is_not_told() -> None:
    town = Panel.seated()
    record = town.propose(AUTHOR)
    name = town.open_round(record)
    town.judged(name, dict.fromkeys(FIRST, 1))
    town.in_phase(name, Phase.CONTEST)
    town.contest(name, AUTHOR)

    assert Event.CONTESTED not in words(told(town, record))
    town.in_phase(name, Phase.RULE)
    assert Event.CONTESTED in words(told(town, record))


def test_a_credible_report_hides_until_the_artifact_stands_again() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    town.report(artifact.id)
    name = town.newest(artifact.id, "report")
    town.in_phase(name, Phase.ASSESS)
    town.assess(name, credible=True)
    town.judged(name, dict.fromkeys((5, 6, 7, 8, 10), 1))
    town.ended(name)
    events = told(town, artifact)

    assert words(events)[3:] == [
        Event.REPORTED,
        Event.OPENED,
        Event.ASSESSED,
        Event.HIDDEN,
        Event.VERDICT,
        Event.SHOWN,
    ]
    looked = next(one for one in events if one.event is Event.ASSESSED)
    assert [one.name for one in looked.who] == [f"agent {MODERATOR}"]
    assert [move.action for move in looked.moves] == [Action.DISPUTE]


def test_an_unfounded_report_and_a_rerun_are_told() -> None:
    town = Panel.seated()
    record = town.propose(AUTHOR)
    name = town.open_round(record)
    town.judged(name, dict.fromkeys(FIRST, 1))
    town.in_phase(name, Phase.CONTEST)
    town.contest(name, AUTHOR)
    town.in_phase(name, Phase.RULE)
    town.rule(name, Ruled.RERUN)
    town.ended(name)
    again = town.newest(record.id, "review")
    town.ended(town.judged(again, dict.fromkeys((5, 6, 7), 1)))
    town.report(record.id)
    reported = town.newest(record.id, "report")
    town.in_phase(reported, Phase.ASSESS)
    town.assess(reported, credible=False)
    town.ended(reported)
    events = told(town, record)

    opened = [one.why for one in events if one.event is Event.OPENED]
    assert "rerun with a fresh panel" in opened[1]
    verdicts = [one.why for one in events if one.event is Event.VERDICT]
    assert "another round follows" in verdicts[0]
    assert "Accepted by vote" in verdicts[1]
    assert "not credible" in verdicts[2]
    assert Event.HIDDEN not in words(events)


def test_a_withdrawal_and_the_way_back_are_told_with_what_was_refused() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    world, ring = town.world(), town.keyring(AUTHOR)
    town.take(authoring.withdraw(world, ring, artifact.id, reason="Wrong.", now=town.now))
    town.until(lambda _: world.state.artifacts[artifact.id].state is State.RETRACTED)
    # Past the door, which would have refused it: it comes again too soon.
    early = town.take(
        town.sign(
            AUTHOR,
            authoring.Resubmit(artifact=artifact.id, evidence=evidence("early")),
        )
    )
    town.settled()
    town.settled()
    town.take(
        authoring.resubmit(
            world,
            ring,
            artifact.id,
            evidence=evidence("new"),
            note="Look.",
            salt=SALT,
            now=town.now,
        )
    )
    town.until(lambda _: world.state.artifacts[artifact.id].state is not State.RETRACTED)
    events = told(town, artifact)

    assert Event.WITHDRAWN in words(events)
    taken = next(one for one in events if one.event is Event.WITHDRAWN)
    assert taken.why.endswith("took it back: Wrong.")
    assert [(move.action, move.to) for move in taken.moves] == [(Action.RETRACT, State.RETRACTED)]
    refusals = [one.record for one in events if one.event is Event.REFUSED]
    assert refusals in ([early.id.hex()], [])
    assert words(events).index(Event.RESUBMITTED) > words(events).index(Event.WITHDRAWN)
    assert Action.RESUBMIT in [action for _, action, _ in moves(events)]


def test_what_waits_for_a_cut_comes_last() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    filed = town.report(artifact.id)
    *_, last = told(town, artifact)

    assert (last.event, last.cut, last.record) == (Event.WAITS, None, filed.id.hex())


def test_a_decree_of_the_operators_is_told_with_all_who_cosigned() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    pen = town.pen(Role.OPERATOR, 0)
    body = AdminReview(subject=artifact.id, decision=Decree.HIDE, reason="It names somebody.")
    act = town.take(pen.say(body))
    town.until(lambda _: act.id in town.world().state.acts.passed)
    events = told(town, artifact)
    hidden = next(one for one in events if one.event is Event.HIDDEN)

    assert [one.name for one in hidden.who] == ["operator 0"]
    assert hidden.record == act.id.hex()
    assert "It names somebody." in hidden.why


def test_a_superseded_artifact_names_its_revision() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    text = authoring.ArtifactText(title="Better", prose="", claims=(), falsification=(), sources=())
    revision = town.take(
        authoring.revise(
            town.world(),
            town.keyring(AUTHOR),
            artifact.id,
            text,
            topics=("code",),
            salt=SALT,
            now=town.now,
        )
    )
    town.ended(town.vote(revision, dict.fromkeys(FIRST, 1)))
    *_, last = told(town, artifact)

    assert (last.event, last.record) == (Event.SUPERSEDED, revision.id.hex())
    assert [move.action for move in last.moves] == [Action.SUPERSEDE]
    first, *_ = told(town, revision)
    assert "a revision of" in first.why
