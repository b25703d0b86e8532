"""Who was found bad, and who answers for it, in words that name both."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from federation.core import AgentId
from federation.protocol import discipline
from federation.sanctions import RuleId
from federation.trust import Evidence, EvidenceKind
from node.queries import agents, trust
from node.queries.trust import TrustPage
from node.queries.trust_liability import MOST_ANSWERS, answers_of, found_bad_by
from node.queries.trust_terms import decimal
from node.queries.trust_why import reasons
from tests.federation.protocol.acts import next_cut, next_tick
from tests.federation.protocol.docket import Docket
from tests.federation.protocol.town import Town
from tests.federation.protocol.vouching import unvouch, vouch
from tests.node.queries.scenes import plain


@pytest.fixture(scope="module")
def fallen() -> Town:
    """Let agent 5 stand behind 1, 1 and 4 behind 0; 4 takes it back, and 0 proposes nonsense."""
    town = Town.of(3, 6)
    vouch(town, 1, town.agent(0))
    vouch(town, 4, town.agent(0))
    vouch(town, 5, town.agent(1))
    next_cut(town)
    unvouch(town, 4, town.agent(0))
    for number in range(3):
        town.vote(town.propose(0, f"Nonsense {number}"), {1: -1, 2: -1, 4: -1, 5: -1})
    next_tick(town)
    return town


def page(town: Town, index: int) -> TrustPage:
    return trust.trust(town.world(), town.agent(index))


def sentence(town: Town, index: int, words: str) -> str:
    (found,) = (one for one in page(town, index).why if words in one)
    return found


def test_the_page_of_who_was_found_bad_says_so(fallen: Town) -> None:
    tick = fallen.world().state.tick

    assert page(fallen, 0).found_bad == tick
    assert sentence(fallen, 0, "found bad") == (
        f"It was found bad at tick {tick}: its own outcomes brought its reputation below what an "
        "author needs, and those who vouched for it answer for that."
    )
    standing = agents.one(fallen.world(), fallen.agent(0)).standing
    assert standing is not None
    assert standing.found_bad == tick


def test_the_page_of_a_voucher_says_for_whom_it_answers_and_how_much(fallen: Town) -> None:
    tick, bad = fallen.world().state.tick, fallen.agent(0).hex()
    seen = page(fallen, 1)
    (answer,) = seen.answers_for
    (given,) = seen.vouches_given

    assert (answer.agent.id, answer.tick, answer.vouched) == (bad, tick, True)
    # A quarter of what counts against it: rows of one source count less and less.
    assert answer.negative == 636_904
    assert 0 < answer.counts_negative <= 636_904
    assert (given.found_bad, seen.found_bad) == (tick, None)
    assert sentence(fallen, 1, "found bad") == (
        f"It vouched for agent 0 ({bad[:8]}…), which was found bad at tick {tick}: {decimal(answer.negative)} against "
        f"it for that, of which {decimal(answer.counts_negative)} are left."
    )
    (row,) = (one for one in seen.evidence.rows if one.kind is EvidenceKind.LIABILITY)
    assert row.bad == answer.agent
    assert (row.cause, row.artifact, row.title) == (bad, None, None)
    assert isinstance(plain(seen), dict)


def test_who_took_its_vouch_back_in_time_is_told_the_same(fallen: Town) -> None:
    seen = page(fallen, 4)

    assert not seen.vouches_given
    assert [(one.vouched, one.negative) for one in seen.answers_for] == [(True, 636_904)]
    assert sentence(fallen, 4, "found bad").startswith("It vouched for agent 0 (")


def test_who_stood_behind_a_voucher_is_told_that_it_did_not_vouch_itself(fallen: Town) -> None:
    assert [(one.vouched, one.negative) for one in page(fallen, 5).answers_for] == [
        (False, 318_452)
    ]
    assert sentence(fallen, 5, "found bad").startswith(
        "It vouched for an agent that stood behind agent 0 ("
    )


def test_who_has_nothing_to_do_with_it_reads_nothing_of_it(fallen: Town) -> None:
    seen = page(fallen, 2)

    assert (seen.found_bad, seen.answers_for) == (None, ())
    assert not any("found bad" in one for one in seen.why)
    assert all(one.bad is None for one in seen.evidence.rows)
    standing = agents.one(fallen.world(), fallen.agent(2)).standing
    assert standing is not None
    assert standing.found_bad is None


@pytest.mark.parametrize(
    ("count", "says"),
    [(3, None), (4, "1 more agent that was found bad."), (6, "3 more agents that were found bad.")],
)
def test_only_three_are_told_in_sentences(fallen: Town, count: int, says: str | None) -> None:
    seen = page(fallen, 1)
    told = reasons(changed(seen, answers_for=seen.answers_for * count))

    assert sum("It vouched for agent 0" in one for one in told) == 3
    assert [one for one in told if one.startswith("It answers for")] == (
        [f"It answers for {says}"] if says else []
    )


def test_answers_are_listed_newest_first_and_not_without_end() -> None:
    town = Town.of(1, 5)
    world, name = town.world(), town.agent(1)
    world.state.ledger.add(liable(name, number) for number in range(MOST_ANSWERS + 5))
    world.state.ledger.add([replace(liable(name, 0), kind=EvidenceKind.VOTE)])
    world.state.tick = MOST_ANSWERS + 5
    found = answers_of(world, name, {(name, bytes(32))})

    assert len(found) == MOST_ANSWERS
    assert [one.tick for one in found] == list(range(MOST_ANSWERS + 5, 5, -1))
    # Agents whose inception is not held here have an id, and no name.
    assert found[0].agent.name is None
    assert not any(one.vouched for one in found)


def liable(name: AgentId, number: int) -> Evidence:
    return Evidence(
        tick=number + 1,
        cause=bytes([number + 1]) * 32,
        kind=EvidenceKind.LIABILITY,
        subject=name,
        source=bytes(32),
        positive=0,
        negative=100,
        practice=False,
    )


def test_a_ban_is_answered_for_under_the_name_of_the_agent() -> None:
    docket = Docket()
    docket.state.graph.vouch(docket.name(2), docket.name(1), 9)
    discipline.abuse(docket.state, docket.name(1), RuleId.ABUSE, b"\x07" * 32)
    docket.tick()
    (row,) = docket.state.ledger.rows(docket.name(2))
    (answer,) = answers_of(docket.world, docket.name(2), {(docket.name(2), docket.name(1))})

    assert row.cause != docket.name(1)
    assert found_bad_by(docket.state, row.cause) == docket.name(1)
    assert (answer.agent.id, answer.vouched) == (docket.name(1).hex(), True)
