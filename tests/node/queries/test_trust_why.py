"""Sentences about an agent's trust: they agree with the page, and say what is missing."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from federation.core import AgentId
from federation.records import AgentVouch, Role
from node.queries import trust
from node.queries.trust import TrustPage
from node.queries.trust_terms import Condition, TierNeed
from node.queries.trust_why import reasons
from tests.builders import Chain
from tests.federation.protocol.town import Town


@pytest.fixture(scope="module")
def arrived() -> tuple[Town, Chain]:
    """Vouch for a newcomer, and wait until its trust has moved."""
    town = Town.of(3, 6)
    newcomer = town.stranger(Role.AGENT)
    town.admit(newcomer, operator=1, instance=1)
    town.until(lambda one: all(newcomer.id in world.state.agents for world in one.live()))
    body = AgentVouch(agent=newcomer.id, weight=64, reason="I know its work.")
    town.arrive(town.home(0), town.sign(0, body))
    town.until(lambda one: all(world.state.agents[newcomer.id].trust for world in one.live()))
    return town, newcomer


def page_of(scene: tuple[Town, Chain], agent: AgentId | None = None) -> TrustPage:
    town, newcomer = scene
    return trust.trust(town.world(), agent or newcomer.id)


def lacking(page: TrustPage, **shows: int) -> TrustPage:
    """Let the first tier that is not earned lack so much of each condition, and nothing else."""
    needs = tuple(
        TierNeed(condition=Condition(name), needs=10, shows=10 - lack, met=lack <= 0, exempt=False)
        for name, lack in shows.items()
    )
    row = changed(page.tier.rows[0], held=False, earned=False, needs=needs)
    return changed(page, tier=changed(page.tier, rows=(row,)))


def test_trust_that_is_on_its_way_is_not_called_none(arrived: tuple[Town, Chain]) -> None:
    """A vouch is known from its cut on, and trust moves at the next tick."""
    page = page_of(arrived)
    before = changed(page, score=changed(page.score, seats=0, share=0))
    never = changed(before, inflows=(), paths=())

    assert reasons(before)[0] == (
        "It holds no trust yet: what is passed to it now arrives at the next tick."
    )
    assert reasons(before)[1].startswith("Others pass trust to it: agent 0")
    assert reasons(never)[0].startswith("It holds no trust: nobody")


def test_one_of_a_thing_is_told_in_the_singular(arrived: tuple[Town, Chain]) -> None:
    one = " ".join(reasons(lacking(page_of(arrived), interactions=1, age=1)))
    two = " ".join(reasons(lacking(page_of(arrived), interactions=2, age=2)))

    assert "it lacks 1 interaction (9 of 10) and 1 tick of age (9 of 10)." in one
    assert "it lacks 2 interactions (8 of 10) and 2 ticks of age (8 of 10)." in two


def test_who_lacks_interactions_is_told_what_they_are(arrived: tuple[Town, Chain]) -> None:
    hint = "Interactions are outcomes: of its ballots, practice ballots too, and of its own work."

    assert hint in reasons(page_of(arrived))
    assert hint not in reasons(lacking(page_of(arrived), interactions=0, age=3))


def test_nobody_lacks_more_of_a_ticket_than_it_costs(arrived: tuple[Town, Chain]) -> None:
    page = page_of(arrived)
    poor = changed(page, ticket=changed(page.ticket, has=False, needs=50_001, missing=50_001))

    assert "It has no ticket: a ticket costs 0.050001 seats, and 0.050001 are missing." in reasons(
        poor
    )


def test_who_is_forked_is_counted_in_no_vote() -> None:
    """Rounds leave it out, so the page may not promise it a share."""
    town = Town.of(3, 6)
    world, agent = town.world(), town.agent(0)
    known, view = world.state.identities[agent], world.state.views[agent]
    world.state.identities[agent] = replace(known, forked_in=1)
    world.state.views[agent] = replace(view, forked=True)
    page = trust.trust(world, agent)

    assert view.reviewer
    assert (page.counted.reviewers, page.counted.share, page.counted.caps) == (5, 0, ())
    assert page.why[0].startswith("Its chain is forked")
    assert page.why[-1] == "Its ballots decide nothing now: its chain is forked."
