"""Which rule gives each number, in sentences."""

import pytest
from msgspec.structs import replace

from federation.charter import Charter
from federation.core import MILLION
from federation.trust import Aim, capture_plan, grown_community
from node.cli.charter_cmd import imagined
from node.queries.capture_why import Column, assumptions, reasons, votes

COMMUNITY = imagined("community", operators=4, founders=12)
LARGE = imagined("community", operators=12, founders=12)


def said(charter: Charter, share: int, aim: Aim) -> dict[Column, str]:
    grown = grown_community(charter)
    plan = capture_plan(charter, grown, share, aim)
    assert plan is not None
    rows = reasons(charter, grown, plan)
    assert [one.column for one in rows] == list(Column)
    assert [one.column for one in rows if one.proven] == [Column.FOOLED]
    return {one.column: one.why for one in rows}


def test_few_operators_are_bound_by_the_number_of_operators() -> None:
    told = said(COMMUNITY, 500_000, Aim.FOOLED)

    assert told[Column.IDENTITIES].endswith("and it takes 25 full votes")
    assert told[Column.OPERATORS] == "11 would hold 46.6 % at most (trust.operator_cap)"
    assert told[Column.INSTANCES] == (
        "of 4 instances each counts for 50.0 % at most, or for twice its share before that cap if "
        "this is more, its honest agents included (trust.instance_cap)"
    )
    assert told[Column.FOOLED].startswith("proven: 1 would bring 16 full votes at most")
    assert "likely 67, if the most trusted" in told[Column.FOOLED]
    assert told[Column.DAYS].endswith("2 more until their trust has spread (quotas.vouches_epoch)")
    assert told[Column.CORE_HOURS].startswith("37 proofs take 247,808 hashes of 16,384 KiB")


def test_a_share_that_takes_no_full_vote_takes_one_identity() -> None:
    told = said(COMMUNITY, 10_000, Aim.FOOLED)

    assert told[Column.IDENTITIES] == "one for each operator"
    assert told[Column.FOOLED].startswith("proven: without one there is no trust")


def test_many_operators_are_bound_by_trust() -> None:
    told = said(LARGE, 333_333, Aim.FOOLED)

    assert told[Column.IDENTITIES].endswith("and it takes 33.34 full votes")
    assert told[Column.FOOLED].startswith(
        "proven: 2 would bring 32 full votes at most, and it takes 33.34 full votes (trust.kappa)"
    )
    assert "(admission.operator_agents, admission.operator_growth)" in told[Column.DAYS]


def test_one_operator_is_told_its_cap() -> None:
    told = said(LARGE, 100_000, Aim.OPERATORS)

    assert told[Column.OPERATORS] == (
        "one may count for 15.3 %, or for twice its share before that cap if this is more "
        "(trust.operator_cap)"
    )
    assert told[Column.INSTANCES] == "one that admits them is enough"


def test_fewer_operators_that_would_need_more_vouches_are_told_as_such() -> None:
    told = said(COMMUNITY, 100_000, Aim.FOOLED)

    assert told[Column.OPERATORS] == "4 would do if more were fooled than is likely for this row"


def test_operators_without_growth_are_bound_by_their_room() -> None:
    admission = replace(LARGE.admission, operator_growth=0, operator_agents=3)
    told = said(replace(LARGE, admission=admission), 333_333, Aim.OPERATORS)

    assert told[Column.OPERATORS].startswith("one may answer for 3 agents, and none of them makes")


def test_what_makes_the_puzzle_harder_is_told_with_the_cheaper_way() -> None:
    told = said(COMMUNITY, 500_000, Aim.OPERATORS)

    assert told[Column.CORE_HOURS].endswith(
        "so many at once raise the puzzle to 10 bits: over 11 h it takes 169,984"
    )
    assert "admission.instance_least" in told[Column.DAYS]


def test_a_charter_without_proofs_takes_no_work() -> None:
    told = said(imagined("test", operators=3, founders=6), 333_333, Aim.FOOLED)

    assert told[Column.CORE_HOURS] == "none: this charter asks for no proof"


def test_a_siege_that_nobody_follows_is_told_as_one() -> None:
    # One agent in an epoch, and a million seats to take a third of.
    slow = replace(
        LARGE,
        trust=replace(LARGE.trust, seats=10**6),
        admission=replace(LARGE.admission, instance_least=1, instance_share=0),
    )
    told = said(slow, 333_333, Aim.OPERATORS)

    assert told[Column.DAYS] == "more epochs than anybody follows"
    assert told[Column.CORE_HOURS] == "unknown"


def test_agents_who_are_all_too_little_trusted_are_told_as_such() -> None:
    # All the agents looked at are too few to bring a third of a million seats.
    many = replace(LARGE, trust=replace(LARGE.trust, seats=10**6))

    assert "not even all agents" in said(many, 333_333, Aim.OPERATORS)[Column.FOOLED]


@pytest.mark.parametrize(
    ("weight", "spelled"),
    [
        (0, "0 full votes"),
        (MILLION, "1 full vote"),
        (16 * MILLION, "16 full votes"),
        (33_333_300, "33.34 full votes"),
        (1, "0.01 full votes"),
    ],
)
def test_a_weight_is_spelled_in_full_votes(weight: int, spelled: str) -> None:
    assert votes(COMMUNITY.trust, weight) == spelled


def test_assumptions_name_what_is_proven_and_what_is_not() -> None:
    told = assumptions(COMMUNITY, grown_community(COMMUNITY))
    blend = imagined("released", operators=4, founders=12)

    assert told[0].startswith("Proven: without a fooled vouch nobody gains anything")
    assert "One brings at most 16 full votes" in told[0]
    assert "no more than" not in told[0]
    assert "40.0 %" in told[2]
    assert "or for twice its share before that cap" in told[2]
    assert "no cap takes more than half" in told[3]
    assert "no bound to rely on" in assumptions(blend, grown_community(blend))[0]
