"""What a round holds beside ballots: who filed it, arbiters by lot, rulings, assessments."""

from hashlib import sha256

from federation.certificates import Phase
from federation.records import Ruled
from federation.review import lot
from node.queries import rounds
from node.queries.acts import Act, to_review
from node.queries.proceedings import Proceedings, proceedings
from node.queries.waits import WaitCode
from tests.federation.protocol.panel import (
    ARBITERS,
    AUTHOR,
    DISPUTER,
    FIRST,
    FRESH,
    MODERATOR,
    Panel,
)
from tests.node.queries.scenes import plain


def held(town: Panel, name: bytes) -> Proceedings:
    return proceedings(town.world(), town.world().rounds[name])


def offers(town: Panel, index: int) -> list[Act]:
    return [one.act for one in to_review(town.world(), town.agent(index), town.now)]


def test_a_dispute_shows_who_filed_it_and_whom_it_leaves_out() -> None:
    town = Panel.seated().earned()
    artifact = town.accepted()
    filed = town.dispute(artifact.id, claim=1)
    name = town.newest(artifact.id, "dispute")
    page = rounds.one(town.world(), name, town.now)
    shown = page.proceedings

    assert (page.kind, page.quorum) == ("dispute", 5)
    assert shown.filed is not None
    assert (shown.filed.record, shown.filed.ground, shown.filed.claim) == (
        filed.id.hex(),
        "inaccurate",
        1,
    )
    assert shown.filed.note == "It is not so."
    assert shown.disputer is not None
    assert shown.disputer.name == f"agent {DISPUTER}"
    assert shown.disputer_operator is not None
    assert shown.disputer_operator.name == f"operator {DISPUTER}"
    assert shown.excluded == len(FIRST)
    assert Ruled.RERUN in shown.rulings_allowed
    assert Ruled.UPHOLD not in shown.rulings_allowed
    assert shown.arbiters == ()
    assert offers(town, DISPUTER) == offers(town, FRESH[0]) == [Act.ARGUE]
    assert isinstance(plain(page), dict)


def test_arbiters_are_shown_with_lots_that_anybody_can_draw_again() -> None:
    town = Panel.seated()
    name = town.open_round(town.propose(AUTHOR))
    town.judged(name, dict.fromkeys(FIRST, 1))
    town.in_phase(name, Phase.CONTEST)
    assert offers(town, AUTHOR) == [Act.CONTEST]
    assert offers(town, 7) == []
    town.contest(name, AUTHOR)
    town.in_phase(name, Phase.RULE)
    shown = held(town, name)
    assert shown.beacon is not None
    beacon = bytes.fromhex(shown.beacon)

    # An unmapped topic is of high sensitivity: all that can be are drawn.
    assert [one.place for one in shown.arbiters] == [1, 2]
    for one in shown.arbiters:
        agent = bytes.fromhex(one.agent.id)
        assert (
            one.lot == sha256(beacon + name + agent).hexdigest() == lot(beacon, name, agent).hex()
        )
    assert [one.lot for one in shown.arbiters] == sorted(one.lot for one in shown.arbiters)
    assert offers(town, ARBITERS[0]) == offers(town, ARBITERS[1]) == [Act.RULE]
    assert offers(town, 7) == []

    first, second = town.drawn(name)
    town.rule(name, Ruled.BY_SIGN, index=second)
    late = held(town, name)
    assert [one.ruled for one in late.arbiters] == [False, True]
    assert [(one.certified, one.counts) for one in late.rulings] == [(False, False)]
    assert offers(town, second) == []
    town.rule(name, Ruled.REJECT, index=first)
    town.until(lambda _: Phase.RULE in town.world().rounds[name].finals)
    done = held(town, name)
    assert [(one.ruling, one.counts) for one in done.rulings] == [
        (Ruled.REJECT, True),
        (Ruled.BY_SIGN, False),
    ]
    assert [(one.against, one.certified) for one in done.contests] == [("result", True)]


def test_a_report_waits_for_a_moderator_and_shows_what_was_said() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    town.report(artifact.id)
    name = town.newest(artifact.id, "report")
    town.in_phase(name, Phase.ASSESS)
    waiting = rounds.one(town.world(), name, town.now)

    assert waiting.waits.code is WaitCode.WINDOW
    assert waiting.waits.until is not None
    assert offers(town, MODERATOR) == [Act.ASSESS]
    assert offers(town, 5) == []
    town.assess(name, credible=False)
    # The first assessment ends the phase.
    assert offers(town, MODERATOR) == []
    said = held(town, name).assessments
    assert [(one.credible, one.certified, one.note) for one in said] == [(False, True, "I looked.")]


def test_a_round_that_waits_for_its_lot_says_so() -> None:
    # Too few are left for a fresh panel, so arbiters are asked at once, before any beacon is known.
    town = Panel.seated(deliberate=50, commit=50, commit_min=50)
    artifact = town.accepted()
    town.report(artifact.id)
    name = town.newest(artifact.id, "report")
    one = town.world().rounds[name]
    town.in_phase(name, Phase.ASSESS)
    one.phase, beacon = None, one.pin.beacon
    page = rounds.one(town.world(), name, town.now)

    assert beacon is None
    assert page.waits.code is WaitCode.NEXT_CUT
    assert "by lot" in page.waits.sentence
    assert (page.phase, page.verdict, page.deadline) == (None, None, None)
