"""The capture table for readers: imagined, and measured on a running realm."""

import msgspec
import pytest
from msgspec.structs import replace

from federation.charter import preset
from federation.core import MILLION
from federation.trust import CAPTURE_SHARES, Aim, M, capture_plan, capture_reach, grown_community
from node.cli.charter_cmd import imagined
from node.queries.capture import (
    Basis,
    CapturePage,
    capture_page,
    community_of,
    imagined_page,
)
from node.queries.trust_caps import counted_of
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import plain

CHARTER = imagined("community", operators=4, founders=12)


@pytest.fixture(scope="module")
def town() -> Town:
    return Town.of(3, 7).settled()


def test_a_charter_is_priced_by_the_plans_of_the_library() -> None:
    page = imagined_page(CHARTER, Basis.GROWN)

    assert [(row.aim, row.share) for row in page.rows] == [
        (aim.value, share) for aim in Aim for share in CAPTURE_SHARES
    ]
    for row in page.rows:
        plan = capture_plan(CHARTER, grown_community(CHARTER), row.share, Aim(row.aim))
        assert plan is not None
        assert plan.fast is not None
        assert plan.epochs is not None
        assert (row.identities, row.operators, row.instances) == (
            plan.identities,
            plan.operators,
            plan.instances,
        )
        assert (row.fooled, row.likely, row.alone) == (plan.fooled, plan.likely, plan.alone)
        assert (row.hashes, row.proofs) == (plan.fast.hashes, plan.fast.proofs)
        assert row.lasts == plan.epochs * CHARTER.timing.epoch
    assert (page.operators, page.instances, page.agents) == (4, 4, 100)
    assert (page.honest, page.edge) == (100 * MILLION, 16 * MILLION)


def test_the_page_survives_json() -> None:
    page = imagined_page(CHARTER, Basis.FIRST_DAY)

    assert msgspec.convert(plain(page), CapturePage) == page
    assert page.basis == "first_day"
    assert page.agents == 12


def test_a_row_that_nobody_reaches_says_so() -> None:
    # Without a seed there are three quarters of the only seat: no ticket.
    narrow = replace(CHARTER, trust=replace(CHARTER.trust, seats=1, w_min=MILLION))
    page = imagined_page(narrow, Basis.GROWN)
    row = page.rows[-1]

    assert not row.possible
    assert (row.fooled, row.likely, row.lasts, row.hashes, row.why) == (0, None, None, None, ())


def test_a_running_realm_is_measured_by_who_may_vote(town: Town) -> None:
    world = town.world()
    found = community_of(world)

    # Nodes keep the keys of these agents: those of one operator are one voice.
    assert [cell.weight for cell in found.voters.cells] == pytest.approx([700_000] * 3, abs=3)
    assert found.voters.instances == 3
    assert len({cell.operator for cell in found.voters.cells}) == 3
    assert found.door.agents == 7
    assert found.door.bits == world.state.joining.bits
    assert sum(found.trusts) == M
    assert list(found.trusts) == sorted(found.trusts, reverse=True)


def test_seeds_of_a_running_realm_keep_what_nobody_can_take(town: Town) -> None:
    # A quarter of a hundred seats for seven seeds is over three seats each: all their weight.
    cells = community_of(town.world()).voters.cells

    assert all(cell.firm == cell.weight > 0 for cell in cells)


def test_weights_are_those_of_a_vote_before_its_caps(town: Town) -> None:
    found = community_of(town.world())
    counted = [counted_of(town.world(), town.agent(n)).weight for n in range(7)]

    assert found.voters.weight == pytest.approx(sum(counted), abs=10)


def test_two_instances_of_a_realm_tell_the_same_table(town: Town) -> None:
    pages = {
        msgspec.json.encode(
            capture_page(
                town.world(n).charter,
                community_of(town.world(n)),
                Basis.MEASURED,
                cut=town.world(n).state.cut,
            )
        )
        for n in range(3)
        if town.world(n).state.cut == town.world().state.cut
    }

    assert len(pages) == 1


def test_what_a_running_realm_tells_holds_in_it(town: Town) -> None:
    world = town.world()
    community = community_of(world)
    page = capture_page(world.charter, community, Basis.MEASURED, cut=world.state.cut)

    assert page.cut == world.state.cut
    assert page.free
    for row in page.rows:
        reached = capture_reach(
            world.charter.trust, community.voters, fooled=row.fooled, operators=row.operators
        )
        assert reached >= row.share
        assert row.hashes == 0


def test_a_charter_of_the_largest_numbers_is_priced_in_time() -> None:
    huge = replace(
        CHARTER,
        trust=replace(preset("community").trust, seats=10**6, w_min=1, kappa=1, operator_cap=1),
    )
    page = imagined_page(huge, Basis.GROWN)

    assert all(0 <= row.weight < 2**63 for row in page.rows)
