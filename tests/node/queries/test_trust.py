"""The page of an agent's trust: its terms are those that the protocol reckons with, and add up."""

from dataclasses import replace
from itertools import product

import pytest
from msgspec.structs import replace as changed

from federation.charter import preset
from federation.core import MILLION, AgentId
from federation.protocol import World
from federation.protocol.state import Agent
from federation.records import AgentUnvouch, AgentVouch, Revoke, RevokeBy, Role
from federation.trust import Evidence, EvidenceKind, Shown, capped, has_ticket, tier_of
from federation.trust.eigentrust import M, ticket_price, trust_ref
from node.base.errors import NodeCode, RequestError
from node.queries import trust, trust_terms
from node.queries.trust_caps import Grouping, counted_of
from node.queries.trust_terms import Condition, decimal, percent
from tests.builders import Chain
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import here, plain, voted


def vouched(town: Town, *weights: int, by: int = 0) -> Chain:
    """Admit a newcomer and let a founder vouch for it, until its trust has moved."""
    newcomer = town.stranger(Role.AGENT)
    town.admit(newcomer, operator=1, instance=1)
    town.until(lambda one: all(newcomer.id in world.state.agents for world in one.live()))
    for weight in weights:
        body = AgentVouch(agent=newcomer.id, weight=weight, reason=f"I mean {weight}.")
        town.arrive(town.home(by), town.sign(by, body))
    town.until(lambda one: all(world.state.agents[newcomer.id].trust for world in one.live()))
    return newcomer


def with_rows(world: World, name: AgentId, count: int) -> None:
    """Put rows of evidence into the books, and the standing that they give."""
    world.state.ledger.add(
        Evidence(
            tick=1 + number // 10,
            cause=number.to_bytes(32),
            kind=EvidenceKind.VOTE if number % 2 else EvidenceKind.UNREVEALED,
            subject=name,
            source=bytes([number % 7]) * 32,
            positive=MILLION * (number % 2),
            negative=MILLION * (1 - number % 2),
            practice=False,
            topic=f"topic{number % 3}",
        )
        for number in range(count)
    )


def test_a_vouch_lets_trust_flow_and_the_page_tells_from_whom() -> None:
    town = Town.of(3, 6)
    newcomer = vouched(town, 64)
    world, _ = here(town)
    page = trust.trust(world, newcomer.id)
    (flow,) = page.inflows
    (received,) = page.vouches_received
    (path,) = page.paths

    assert (flow.by.name, flow.approvals, flow.vouch, flow.weight) == ("agent 0", 0, 64, 64)
    assert flow.flow > 0
    assert (received.by.name, received.weight, received.reason) == ("agent 0", 64, "I mean 64.")
    assert path.agents[0].name == "agent 0"
    assert path.agents[-1].id == newcomer.id.hex()
    assert page.score.seats == world.state.agents[newcomer.id].trust * MILLION // trust_ref(
        world.state.charter.trust
    )
    assert (page.ticket.has, page.ticket.missing, page.score.seed) == (True, 0, False)
    assert (page.tier.tier, page.counted.share, page.counted.caps) == (0, 0, ())
    assert any(one == "To earn tier 1 it lacks 5 interactions (0 of 5)." for one in page.why), (
        page.why
    )
    assert f"{decimal(flow.flow)} seats" in page.why[1]
    given = trust.trust(world, town.agent(0))
    assert [one.agent.id for one in given.vouches_given] == [newcomer.id.hex()]
    assert isinstance(plain(page), dict)


def test_of_several_vouches_the_latest_is_shown() -> None:
    town = Town.of(3, 6)
    newcomer = vouched(town, 64, 9)
    (received,) = trust.trust(town.world(), newcomer.id).vouches_received

    assert (received.weight, received.reason) == (9, "I mean 9.")


def test_a_vouch_that_was_taken_back_is_not_shown() -> None:
    town = Town.of(3, 6)
    newcomer = vouched(town, 64)
    body = AgentUnvouch(agent=newcomer.id, reason="It sells its answers.")
    town.arrive(town.home(0), town.sign(0, body))
    town.until(lambda one: not any(w.state.agents[newcomer.id].trust for w in one.live()))
    page = trust.trust(town.world(), newcomer.id)

    assert (page.vouches_received, page.inflows, page.paths) == ((), (), ())
    assert page.score.seats == 0
    assert page.why[0].startswith("It holds no trust")
    assert not page.ticket.has
    assert any("0.050000 are missing" in one for one in page.why), page.why


def test_the_vouches_that_are_left_are_counted_down() -> None:
    quotas = changed(preset("test").quotas, vouches_epoch=2)
    town = Town.of(3, 6, quotas=quotas)
    before = trust.trust(town.world(), town.agent(0)).vouches_left
    town.arrive(
        town.home(0), town.sign(0, AgentVouch(agent=town.agent(1), weight=1, reason="Good."))
    )
    town.until(lambda one: bool(one.world().state.graph.out_of(town.agent(0))))
    after = trust.trust(town.world(), town.agent(0)).vouches_left

    assert (before, after) == (2, 1)


def test_that_a_founder_has_its_tier_by_the_charter_is_said() -> None:
    town = Town.of(3, 6)
    voted(town, {1: 1, 2: 1, 4: 1})
    town.settled()
    page = trust.trust(town.world(), town.agent(1))

    assert (page.tier.tier, page.tier.by_charter, page.tier.charter_until) == (2, True, 20)
    assert page.founder
    assert page.score.seed
    assert any("by the charter" in one for one in page.why), page.why
    assert page.evidence.rows[0].title == "A claim"
    assert page.evidence.rows[0].source.name == "operator 0"
    assert page.evidence.topics[0].topic == "code"


def test_evidence_is_bounded_newest_first_and_adds_up() -> None:
    town = Town.of(1, 3)
    world, _ = here(town)
    with_rows(world, town.agent(0), 60)
    world.state.tick = 9
    evidence = trust.trust(world, town.agent(0)).evidence
    ticks = [row.tick for row in evidence.rows]

    assert (len(evidence.rows), evidence.left_out) == (50, 10)
    assert ticks == sorted(ticks, reverse=True)
    assert sum(one.rows for one in evidence.totals) == 60
    assert sum(one.counts_positive for one in evidence.totals) == evidence.alpha - MILLION
    assert sum(one.counts_negative for one in evidence.totals) == evidence.beta - MILLION
    assert {one.topic for one in evidence.topics} == {"topic0", "topic1", "topic2"}
    assert sum(one.interactions for one in evidence.topics) == evidence.interactions == 60
    assert min(row.discount for row in evidence.rows) < MILLION


@pytest.mark.parametrize("previous", [0, 1, 2])
@pytest.mark.parametrize("founder", [False, True])
def test_the_conditions_of_a_tier_are_those_that_give_it(previous: int, *, founder: bool) -> None:
    world, _ = here(Town.of(3, 6))
    state, rules = world.state, world.state.charter.trust
    state.tick = 100
    price = ticket_price(rules)
    known = next(iter(state.agents.values()))
    others = {one.operator for one in state.agents.values()} - {known.operator}
    for t, interactions, r, age, ways in product(
        (0, price - 1, price, M),
        (0, 3, 4, 5, 15, 16, 19, 20, 50),
        (0, 319_999, 320_000, 400_000, 559_999, 560_000, 700_000),
        (0, 23, 24, 29, 30),
        (0, 1, 2),
    ):
        agent: Agent = replace(
            known,
            tier=previous,
            trust=t,
            interactions=interactions,
            r=r,
            admitted_tick=100 - age,
            ways=ways,
            founder=known.founder if founder else None,
        )
        shown = Shown(
            interactions=interactions, r=r, has_ticket=has_ticket(rules, t), age=age, ways=ways
        )
        expected = tier_of(
            rules,
            shown,
            previous=previous,
            # The page tells apart what the charter gives: here only who is exempt is asked.
            founder_tier=0 if founder else None,
            operators=len(others),
        )
        rows = trust_terms.tier_of(state, agent).rows

        assert max((row.tier for row in rows if row.earned), default=0) == expected


def test_what_is_missing_of_a_ticket_is_never_rounded_away() -> None:
    rules = preset("test").trust
    price = ticket_price(rules)

    assert trust_terms.ticket_of(rules, price - 1).missing == 1
    assert trust_terms.ticket_of(rules, 0).needs == rules.w_min
    assert trust_terms.ticket_of(rules, price).missing == 0
    assert trust_terms.ticket_of(rules, 0).missing == trust_terms.ticket_of(rules, 0).needs


def crowded(town: Town) -> World:
    """Give most of the founders to one operator, some as clones, all with different weights."""
    world, _ = here(town)
    names = list(world.state.agents)
    for place, name in enumerate(names):
        view = world.state.views[name]
        mine = place < 8
        world.state.views[name] = replace(
            view,
            operator=b"o" * 32 if mine else name,
            keeper=b"k" * 32 if place < 2 else name,
            model=b"m" * 32 if place in {1, 5, 9} else name,
            instance=b"i" * 32 if place < 12 else name,
            weight=100_000 + 10_000 * place,
        )
    return world


def test_what_a_ballot_counts_is_what_a_vote_by_all_reviewers_would_count() -> None:
    world = crowded(Town.of(1, 30))
    views = world.state.views
    counted = capped(
        world.state.charter.trust,
        {name: view.weight for name, view in views.items()},
        models={name: view.model for name, view in views.items()},
        keepers={name: view.keeper for name, view in views.items()},
        operators={name: view.operator for name, view in views.items()},
        instances={name: view.instance for name, view in views.items()},
    ).weights

    for name in views:
        page = counted_of(world, name)
        assert page.weight == counted[name]
        assert page.share == counted[name] * MILLION // sum(counted.values())
        assert page.reviewers == 30


def test_the_caps_that_bound_an_agent_are_told_with_their_numbers() -> None:
    world = crowded(Town.of(1, 30))
    caps = {one.grouping: one for one in counted_of(world, next(iter(world.state.views))).caps}

    assert set(caps) == set(Grouping)
    assert (caps[Grouping.KEEPER].reviewers, caps[Grouping.KEEPER].bounds) == (2, True)
    assert (caps[Grouping.MODEL].reviewers, caps[Grouping.MODEL].bounds) == (1, False)
    operator = caps[Grouping.OPERATOR]
    assert (operator.reviewers, operator.cap, operator.raised) == (8, 100_000, False)
    assert operator.before > operator.after
    assert operator.after in {99_999, 100_000}
    assert operator.bounds
    assert "8 reviewers" in operator.why
    assert f"{percent(operator.before)}, and the cap is 10.0 %" in operator.why


def test_of_a_group_with_one_reviewer_the_sentence_is_about_that_one() -> None:
    town = Town.of(3, 6, operators=6)
    (_, _, operator, _) = counted_of(town.world(), town.agent(0)).caps

    assert operator.reviewers == 1
    assert operator.why.startswith("It is the only reviewer of its operator operator 0 (")
    assert f") and holds {percent(operator.before)}, and the cap is" in operator.why


def test_where_there_are_few_operators_the_cap_that_is_possible_is_told() -> None:
    town = Town.of(3, 6)
    (_, _, operator, _) = counted_of(town.world(), town.agent(0)).caps

    assert (operator.cap, operator.raised, operator.bounds) == (666_666, True, False)
    assert "impossible with so few operators" in operator.why


def test_a_cap_that_would_take_more_than_half_is_told_with_what_it_leaves() -> None:
    town = Town.of(1, 30)
    world, _ = here(town)
    for place, name in enumerate(world.state.agents):
        view = world.state.views[name]
        mine = b"ab"[place // 5 :][:1] * 32 if place < 10 else name
        world.state.views[name] = replace(
            view,
            operator=mine,
            keeper=name,
            model=name,
            weight=1_000_000 if place < 10 else 50_000,
            instance=name,
        )
    counted = counted_of(world, town.agent(0))
    (_, _, operator, instance) = counted.caps
    (_, _, light, _) = counted_of(world, town.agent(29)).caps

    # Two of five votes and twenty of a twentieth: half of eleven votes is left.
    assert (operator.before, operator.after, operator.cap) == (454_545, 409_090, 409_090)
    assert (operator.halved, operator.raised, operator.bounds) == (True, False, True)
    assert operator.why.endswith(
        "hold 45.4 %, and the cap is 40.9 %, since 10.0 % would take more than half of all weight: "
        "40.9 % count."
    )
    assert (light.before, light.after, light.cap) == (4_545, 9_090, 409_090)
    assert (light.halved, light.bounds) == (True, False)
    assert light.why.endswith("more than half of all weight: all of it counts.")
    assert (instance.halved, instance.cap) == (False, 250_000)
    assert (counted.caps[0].halved, counted.caps[1].halved) == (False, False)


def test_a_revoked_agent_passes_nothing_on_and_that_is_said() -> None:
    town = Town.of(3, 6)
    newcomer = vouched(town, 64)
    town.arrive(town.home(0), town.sign(0, Revoke(by=RevokeBy.CURRENT, reason="stolen")))
    town.until(lambda one: not any(w.state.agents[newcomer.id].trust for w in one.live()))
    world, _ = here(town)
    page = trust.trust(world, town.agent(0))

    assert page.revoked
    assert page.why[0].startswith("It is revoked")
    assert page.counted.weight == 0
    assert [one.flow for one in trust.trust(world, newcomer.id).inflows] == [0]


def test_a_formula_has_the_numbers_of_the_charter_s_rule() -> None:
    rules = preset("test").trust
    world, _ = here(Town.of(1, 2))
    agent = next(iter(world.state.agents.values()))
    ticketed = trust_terms.weight_of(rules, replace(agent, competence=800_000, weight=800_000))
    none = trust_terms.weight_of(rules, replace(agent, trust=0, weight=0))
    blend = changed(rules, voting="blend", squared=True)
    blended = trust_terms.weight_of(blend, replace(agent, r=500_000, weight=420_000))

    assert ticketed.formula == (
        "1.000 · competence 0.800 · trust 1.000, held between 0.050 and 1.000, is 0.800"
    )
    assert none.formula.startswith("0 without a ticket")
    assert blended.formula.startswith("(0.700 · r 0.500 + 0.300 · trust 1.000)²")


def test_what_is_no_agent_has_no_page() -> None:
    town = Town.of(1, 2)
    world, _ = here(town)
    newcomer = town.stranger(Role.AGENT)
    town.arrive(world, *newcomer.records)
    for name, code in (
        (bytes(32), NodeCode.NOT_FOUND),
        (town.founding.operators[0], NodeCode.BAD_REQUEST),
        (newcomer.id, NodeCode.BAD_REQUEST),
    ):
        with pytest.raises(RequestError) as caught:
            trust.trust(world, name)
        assert caught.value.code is code


def test_every_condition_has_words_of_its_own() -> None:
    """Of an agent that lacks everything every lack is named."""
    town = Town.of(3, 6)
    newcomer = vouched(town, 64)
    world, _ = here(town)
    known = world.state.agents[newcomer.id]
    world.state.agents[newcomer.id] = replace(known, tier=1, trust=0, r=0, interactions=0, ways=0)
    page = trust.trust(world, newcomer.id)
    named = " ".join(page.why)

    assert {need.condition for row in page.tier.rows for need in row.needs} == set(Condition)
    for words in ("a ticket", "interactions (0 of 4)", "reputation (0.000 of 0.320)"):
        assert words in named


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0.000"), (50_000, "0.050"), (1_999_999, "1.999"), (-5, "0.000")]
)
def test_shares_are_spelt_without_rounding_up(share: int, text: str) -> None:
    assert decimal(share) == text


def test_per_cent_is_spelt_without_rounding_up() -> None:
    assert percent(99_999) == "9.9 %"
    assert percent(MILLION) == "100.0 %"
