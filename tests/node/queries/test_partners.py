"""The policy and the links of an operator, for readers."""

import pytest

from federation.core import MILLION
from federation.protocol import Policy, World
from federation.protocol.local import look
from federation.trust import EXPIRY, HALF_LIFE, Link
from node.queries.partners import LinkHead, LinkRow, links_page, policy_page
from tests.builders import OTHER_REALM, named
from tests.federation.protocol.town import Town
from tests.node.partners.signed import head
from tests.node.queries.scenes import plain

BEHIND = LinkHead(key=named("key"), instance=named("their instance"))


@pytest.fixture(scope="module")
def town() -> Town:
    return Town.of(2, 4).settled()


def linked(town: Town, *weights: int, age: int = 0) -> Link:
    """Link a realm that names our agents in turn, and one that is not ours."""
    state = town.world().state
    ours = [(state.identities[town.agent(n)].keys.key, weight) for n, weight in enumerate(weights)]
    body = head(*ours, (named("strange key"), 255), cut=41)
    return Link(realm=OTHER_REALM, weight=99, head=body, imported=state.cut - age)


def shown(world: World, link: Link) -> LinkRow:
    page = links_page(world, look(world.state, Policy(links=(link,))), [(link, BEHIND)])
    assert page.cut == world.state.cut
    (row,) = page.links
    return row


def test_a_policy_that_says_nothing_shows_the_charters(town: Town) -> None:
    page = policy_page(town.world(), Policy())

    assert page.neutral
    assert page.from_charter
    assert {one.id for one in page.seeds} == {town.agent(n).hex() for n in range(4)}
    assert [one.policy for one in page.instances] == ["allow", "allow"]
    assert [one.agents for one in page.instances] == [2, 2]
    assert page.links == 0


def test_a_policy_shows_who_is_observed_and_which_instance_is_ours(town: Town) -> None:
    observed = town.founding.instances[1]
    page = policy_page(
        town.world(),
        Policy(seeds=frozenset({town.agent(0)}), observed=frozenset({observed})),
    )
    rows = {one.instance.id: one for one in page.instances}

    assert not page.neutral
    assert not page.from_charter
    assert [one.id for one in page.seeds] == [town.agent(0).hex()]
    assert rows[observed.hex()].policy == "observe"
    assert not rows[observed.hex()].ours
    assert rows[town.founding.instances[0].hex()].ours


def test_a_link_shows_whom_of_ours_it_names_and_what_its_word_is_worth(town: Town) -> None:
    row = shown(town.world(), linked(town, 200, 255))

    assert (row.realm, row.weight) == (OTHER_REALM.hex(), 99)
    assert (row.key, row.instance) == (BEHIND.key.hex(), BEHIND.instance.hex())
    assert (row.head_cut, row.head_agents, row.known) == (41, 3, 2)
    assert (row.age, row.left) == (0, EXPIRY)
    assert 0 < row.trust <= MILLION
    assert [(one.agent.id, one.weight) for one in row.agents] == [
        (town.agent(1).hex(), 255),
        (town.agent(0).hex(), 200),
    ]
    for one in row.agents:
        assert 0 < one.prior <= 4 * MILLION
        assert one.local_reputation > one.reputation


def test_an_old_link_weighs_half_and_an_expired_one_nothing() -> None:
    # A world of its own, so many cuts old.
    made = Town.of(1, 3)
    world = made.world()
    world.state.cut = 1_000
    older = shown(world, linked(made, 200, age=HALF_LIFE))
    gone = shown(world, linked(made, 200, age=EXPIRY + 5))

    assert (older.age, older.left) == (HALF_LIFE, EXPIRY - HALF_LIFE)
    assert [one.weight for one in older.agents] == [100]
    assert (gone.left, gone.trust, gone.agents) == (0, 0, ())
    assert gone.known == 1


def test_answers_are_plain(town: Town) -> None:
    world = town.world()

    assert isinstance(plain(policy_page(world, Policy())), dict)
    assert isinstance(plain(shown(world, linked(town, 1))), dict)
