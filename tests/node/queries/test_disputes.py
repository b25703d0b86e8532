"""Disputes, reports and appeals: each with what became of it, and none left out."""

import pytest

from federation.certificates import Phase
from federation.core import Code, RefusedError
from federation.protocol import Fate, authoring
from federation.records import DisputeFile, DisputeReport, Ground, Record, Ruled
from federation.records.curation_bodies import Category
from node.base.errors import NodeCode, RequestError
from node.queries import disputes, realm, rounds, why
from node.queries.disputes import DisputeKind
from node.queries.waits import WaitCode
from node.queries.why_record import why_record
from tests.builders import named
from tests.federation.protocol.panel import DISPUTER, FRESH, MODERATOR, SALT, Panel
from tests.node.queries.scenes import plain


def shown(town: Panel, record: Record) -> disputes.DisputePage:
    return disputes.one(town.world(), record.id, town.now)


def test_a_dispute_is_shown_while_it_waits_while_it_runs_and_when_it_is_over() -> None:
    town = Panel.seated().earned()
    artifact = town.accepted()
    filed = town.dispute(artifact.id)
    waiting = shown(town, filed)
    (beside,) = disputes.listing(town.world()).unopened

    assert (waiting.fate, waiting.code, waiting.rounds) == (Fate.WAITS, Code.WAITS_FOR_CUT, ())
    assert waiting.waits.code is WaitCode.NEXT_CUT
    assert (beside.filed.record, beside.fate) == (filed.id.hex(), Fate.WAITS)

    name = town.newest(artifact.id, "dispute")
    running = shown(town, filed)
    (item,) = disputes.listing(town.world(), is_open=True).items
    assert (running.fate, running.rounds, running.phase) == (
        Fate.COUNTS,
        (name.hex(),),
        Phase.DELIBERATE,
    )
    assert running.window is not None
    assert (item.record, item.round, item.ground) == (filed.id.hex(), name.hex(), "inaccurate")
    assert item.by is not None
    assert item.by.name == f"agent {DISPUTER}"
    assert disputes.filed_as(town.world(), name.hex()) == filed.id

    town.ended(town.judged(name, dict.fromkeys(FRESH, -1)))
    over = shown(town, filed)
    assert over.verdict is not None
    assert over.verdict.why.startswith("Retracted by vote")
    assert over.settled
    assert disputes.listing(town.world(), is_open=True).items == ()
    about = disputes.listing(town.world(), artifact=artifact.id)
    assert (len(about.items), about.unopened) == (1, ()), "what has a round is not listed twice"
    assert isinstance(plain(over), dict)
    assert isinstance(plain(disputes.listing(town.world())), dict)


def test_what_does_not_count_is_listed_with_the_reason() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    body = DisputeFile(artifact=artifact.id, ground=Ground.OUTDATED)
    # Past the door: its author has not earned the reputation.
    hostile = town.take(town.sign(7, body))
    town.settled()
    page = shown(town, hostile)
    (beside,) = disputes.listing(town.world()).unopened

    assert (page.fate, page.code) == (Fate.VOID, Code.DISPUTER_REPUTATION)
    assert page.waits.code is WaitCode.VOID
    assert (beside.code, beside.artifact) == (Code.DISPUTER_REPUTATION, artifact.id.hex())
    told = why_record(town.world(), hostile.id)
    assert told.code is Code.DISPUTER_REPUTATION
    assert "reputation" in told.fix
    assert disputes.listing(town.world(), kind=DisputeKind.REPORT).unopened == ()
    assert disputes.listing(town.world(), artifact=named("other")).unopened == ()
    assert disputes.listing(town.world(), artifact=artifact.id).unopened == (beside,)
    assert disputes.filed_so_far(town.world()) == 1, "the price of a list counts it all the same"


def test_the_list_goes_on_behind_its_last_row_newest_first() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    names = []
    for _ in range(3):
        town.calm(artifact.id)
        town.report(artifact.id)
        name = town.newest(artifact.id, "report")
        town.in_phase(name, Phase.ASSESS)
        town.assess(name, credible=False, index=MODERATOR)
        names.append(town.ended(name).hex())
    seen: list[str] = []
    after = None
    while True:
        page = disputes.listing(town.world(), after=after, most=1)
        seen += [one.round for one in page.items]
        if page.next is None:
            break
        after = bytes.fromhex(page.next)

    assert seen == list(reversed(names))
    assert page.unopened == ()


def test_an_empty_list_a_bad_page_and_an_unknown_id() -> None:
    town = Panel.seated()
    page = disputes.listing(town.world())
    assert (page.items, page.next, page.unopened) == ((), None, ())
    for most in (0, 201, -1):
        with pytest.raises(RequestError, match="a page holds"):
            disputes.listing(town.world(), most=most)
    with pytest.raises(RequestError) as caught:
        disputes.listing(town.world(), after=named("no round"))
    assert caught.value.code is NodeCode.NOT_FOUND
    for name in (named("nothing"), town.agent(0)):
        with pytest.raises(RequestError) as caught:
            disputes.one(town.world(), name, 0)
        assert caught.value.code is NodeCode.NOT_FOUND
    for said in ("", "zz", "00" * 31, "00" * 32, "ü" * 64):
        assert disputes.filed_as(town.world(), said) is None


def test_a_report_about_nothing_does_not_count() -> None:
    town = Panel.seated()
    body = DisputeReport(artifact=named("nothing"), category=Category.PRIVACY)
    record = town.take(town.sign(7, body))

    assert shown(town, record).code is Code.UNKNOWN_ARTIFACT
    assert shown(town, record).title is None


def test_an_appeal_is_heard_by_arbiters_and_gives_back_what_the_sanction_took() -> None:
    town = Panel.seated()
    artifact = town.accepted()
    town.report(artifact.id)
    reported = town.newest(artifact.id, "report")
    town.in_phase(reported, Phase.ASSESS)
    town.assess(reported, credible=False)
    town.ended(reported)
    book = town.world().state.discipline
    town.until(lambda _: bool(book.of(town.agent(DISPUTER))))
    (violation,) = book.of(town.agent(DISPUTER))

    def appealed(index: int) -> Record:
        return authoring.appeal(
            town.world(),
            town.keyring(index),
            violation.id,
            note="It did harm.",
            salt=SALT,
            now=town.now,
        )

    with pytest.raises(RefusedError) as caught:
        appealed(7)
    assert caught.value.code is Code.NOT_AUTHOR
    record = town.take(appealed(DISPUTER))
    name = town.newest(violation.id, "appeal")
    opened = rounds.one(town.world(), name, town.now)
    assert (opened.kind, opened.title, opened.artifact) == ("appeal", None, violation.id.hex())
    assert opened.proceedings.rulings_allowed == (Ruled.UPHOLD, Ruled.RECLASSIFY)
    assert opened.waits.sentence
    assert why.why(town.world(), name, town.now).state is None
    with pytest.raises(RefusedError) as caught:
        appealed(DISPUTER)
    assert caught.value.code is Code.APPEALED

    town.in_phase(name, Phase.RULE)
    town.rule(name, Ruled.RECLASSIFY)
    town.ended(name)
    page = shown(town, record)
    assert page.verdict is not None
    assert page.verdict.why.startswith("Appeal granted by the ruling of a drawn arbiter")
    assert (page.kind, page.artifact, page.settled) == (
        DisputeKind.APPEAL,
        violation.id.hex(),
        True,
    )
    town.until(lambda _: book.violations[violation.id].void)
    # The overview shows artifacts only, and is not troubled by a round about an agent.
    assert realm.overview(town.world(), town.now).counts.active == 1
