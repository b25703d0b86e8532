"""Whom each phase, each verdict and each change of an artifact concerns: them, and nobody else."""

from dataclasses import replace

import msgspec
import pytest

from federation.artifacts import Flag, State
from federation.certificates import Phase
from federation.records import Ruled
from node.notification.notices import About, NoticeKind, Notices, condition_of
from node.store.notices import SaveNotice
from tests.federation.protocol.panel import (
    ARBITERS,
    AUTHOR,
    DISPUTER,
    FIRST,
    FRESH,
    MODERATOR,
    Panel,
)


def notices(town: Panel, instance: bytes | None = None) -> Notices:
    return Notices(town.world(), instance or town.founding.instances[0], 77)


def phase(town: Panel, name: bytes, now: Phase) -> dict[int, str]:
    """Tell who is told of a phase, by number, and what they may do."""
    town.in_phase(name, now)
    one = town.world().rounds[name]
    return {
        town.founding.agents.index(told.agent): about(told).act or ""
        for told in notices(town).of_phase(one, now)
    }


def about(told: SaveNotice) -> About:
    return msgspec.json.decode(told.body, type=About)


def test_who_may_vote_is_told_and_the_author_is_not() -> None:
    town = Panel.seated()
    name = town.open_round(town.propose(AUTHOR))
    told = phase(town, name, Phase.COMMIT)

    assert set(told.values()) == {"vote"}
    assert AUTHOR not in told
    assert set(FIRST) < set(told)


def test_the_notice_names_what_it_is_about_and_quotes_nothing() -> None:
    town = Panel.seated()
    record = town.propose(AUTHOR, "A secret title")
    name = town.open_round(record)
    town.in_phase(name, Phase.COMMIT)
    (told, *_) = notices(town).of_phase(town.world().rounds[name], Phase.COMMIT)
    said = about(told)

    assert (told.kind, told.subject, told.about, told.at) == ("phase", name, "commit", 77)
    assert (said.artifact, said.round, said.phase) == (record.id.hex(), name.hex(), "commit")
    assert b"secret" not in told.body


def test_phases_in_which_nobody_need_act_are_told_to_nobody() -> None:
    town = Panel.seated()
    name = town.open_round(town.propose(AUTHOR))

    assert phase(town, name, Phase.DELIBERATE) == {}
    town.in_phase(name, Phase.COMMIT)
    for index in FIRST:
        town.cast(index, name, 1)
    assert phase(town, name, Phase.DECIDE) == {}


def test_who_took_part_may_contest_and_drawn_arbiters_rule_and_then_again_may_contest() -> None:
    town = Panel.seated()
    name = town.open_round(town.propose(AUTHOR))
    town.judged(name, dict.fromkeys(FIRST, 1))
    contests = phase(town, name, Phase.CONTEST)
    town.contest(name, AUTHOR)
    rules = phase(town, name, Phase.RULE)
    first, _ = town.drawn(name)
    town.rule(name, Ruled.BY_SIGN)
    appeals = phase(town, name, Phase.APPEAL)

    assert contests == dict.fromkeys((AUTHOR, *FIRST), "contest")
    assert rules == dict.fromkeys(ARBITERS, "rule")
    assert appeals == dict.fromkeys((AUTHOR, *FIRST, first), "contest")


def test_operators_are_told_when_they_must_decide() -> None:
    town = Panel.seated()
    name = town.open_round(town.propose(AUTHOR))
    town.judged(name, dict.fromkeys(FIRST, 1))
    town.in_phase(name, Phase.CONTEST)
    town.contest(name, AUTHOR)
    town.in_phase(name, Phase.RULE)
    town.rule(name, Ruled.FREEZE)
    town.in_phase(name, Phase.ADMIN)
    one = town.world().rounds[name]
    told = list(notices(town).of_phase(one, Phase.ADMIN))

    assert [each.agent for each in told] == sorted(one.pin.members)
    assert {about(each).act for each in told} == {"decide"}
    assert list(notices(town, bytes(32)).of_phase(one, Phase.ADMIN)) == []


def test_a_moderator_is_told_of_a_report_and_its_author_too() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    town.report(artifact.id)
    name = town.newest(artifact.id, "report")
    told = phase(town, name, Phase.ASSESS)
    opening = list(notices(town).of_opening(town.world().rounds[name], []))

    assert told == {MODERATOR: "assess"}
    assert [(each.agent, each.kind) for each in opening] == [
        (town.agent(AUTHOR), NoticeKind.REPORTED)
    ]


def test_a_dispute_is_told_to_the_author_and_those_who_match_but_not_to_who_filed_it() -> None:
    town = Panel.seated().earned()
    artifact = town.accepted()
    town.dispute(artifact.id)
    name = town.newest(artifact.id, "dispute")
    one = town.world().rounds[name]
    matching = [town.agent(index) for index in (FRESH[0], AUTHOR, DISPUTER)] + [bytes(32)]
    told = {(each.agent, each.kind) for each in notices(town).of_opening(one, matching)}

    assert told == {
        (town.agent(AUTHOR), NoticeKind.DISPUTED),
        (town.agent(FRESH[0]), NoticeKind.MATCH),
    }


def test_a_verdict_is_told_to_the_author_and_to_who_filed_the_dispute() -> None:
    town = Panel.seated().earned()
    artifact = town.accepted()
    town.dispute(artifact.id)
    name = town.newest(artifact.id, "dispute")
    open_still = list(notices(town).of_verdict(town.world().rounds[name]))
    town.judged(name, dict.fromkeys(FRESH, -1))
    town.ended(name)
    told = list(notices(town).of_verdict(town.world().rounds[name]))

    assert open_still == []
    assert {each.agent for each in told} == {town.agent(AUTHOR), town.agent(DISPUTER)}
    assert {each.kind for each in told} == {NoticeKind.VERDICT}


def test_agents_of_another_instance_are_told_nothing() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    one = town.world().rounds[town.world().state.artifacts[artifact.id].round]  # type: ignore[index]
    stranger = notices(town, bytes(32))

    assert list(stranger.of_phase(one, Phase.COMMIT)) == []
    assert list(stranger.of_opening(one, [town.agent(5)])) == []
    assert list(stranger.of_verdict(one)) == []


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({}, []),
        ({"state": State.DISPUTED}, []),
        ({"state": State.RETRACTED}, ["retracted"]),
        ({"state": State.SUPERSEDED, "superseded_by": bytes(32)}, ["superseded"]),
        ({"flags": frozenset({Flag.STALE, Flag.HIDDEN})}, ["flagged", "flagged"]),
        (
            {"state": State.RETRACTED, "flags": frozenset({Flag.SUPPORT_LOST})},
            ["retracted", "flagged"],
        ),
    ],
)
def test_an_author_is_told_what_changed_about_its_artifact(
    changes: dict[str, object], kinds: list[str]
) -> None:
    town = Panel.seated()
    record = town.accepted()
    before = town.world().state.artifacts[record.id]
    after = replace(before, **changes)  # type: ignore[arg-type]
    told = list(notices(town).of_artifact(after, condition_of(before)))
    again = list(notices(town).of_artifact(after, condition_of(after)))

    assert [each.kind for each in told] == kinds
    assert {each.agent for each in told} <= {town.agent(AUTHOR)}
    assert again == []


def test_what_is_looked_at_again_gives_the_same_notices() -> None:
    town = Panel.seated()
    name = town.open_round(town.propose(AUTHOR))
    town.in_phase(name, Phase.COMMIT)
    first = list(notices(town).of_phase(town.world().rounds[name], Phase.COMMIT))
    town.in_phase(name, None)
    late = list(notices(town).of_phase(town.world().rounds[name], Phase.COMMIT))

    assert first == late
