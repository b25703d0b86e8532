import pytest
from msgspec.structs import replace

from federation.charter import PRESETS, SECOND, Severity, build, check, preset
from federation.core import ParameterError
from tests.federation.charter.founding import SALT, founded, genesis_of

SIZES = {
    "solo": [5],
    "community": [10] * 5,
    "federation": [5] * 6,
    "released": [10] * 5,
    "robust": [10] * 5,
    "test": [10] * 5,
}


@pytest.mark.parametrize("base", PRESETS)
def test_every_preset_makes_a_charter_without_errors(base: str) -> None:
    charter = founded(base, genesis_of(SIZES[base]))

    assert [row for row in check(charter) if row.severity is Severity.ERROR] == []
    assert charter.preset == base


def test_an_unknown_preset_names_those_there_are() -> None:
    with pytest.raises(ParameterError, match="solo, community, federation, released, robust, test"):
        preset("duo")


def test_the_test_preset_counts_in_seconds() -> None:
    rules = preset("test")

    assert max(rules.review.commit, rules.review.reveal, rules.timing.epoch) <= 5 * SECOND
    assert rules.review.contest == 0
    assert rules.timing.cut_min == 500


def test_a_federation_as_it_is_meant_has_no_warnings() -> None:
    findings = check(founded("federation", genesis_of(SIZES["federation"])))

    assert [row for row in findings if row.severity is not Severity.INFO] == []


def test_the_released_preset_has_the_numbers_of_the_simulation() -> None:
    rules = preset("released")
    review, trust = rules.review, rules.trust
    evidence = trust.evidence

    assert (review.k, review.q_min) == (7, 3)
    assert (review.tau_accept, review.tau_reject, review.strong) == (300_000, -200_000, 500_000)
    assert (trust.voting, trust.gamma, trust.squared) == ("blend", 700_000, True)
    assert (trust.w_min, trust.w_max, trust.decay) == (50_000, 1_000_000, 2_000)
    assert (trust.farm_cap, trust.window) == (15_000_000, 100)
    assert (trust.operator_cap, trust.instance_cap) == (1_000_000, 1_000_000)
    assert (evidence.vote_strong, evidence.vote_weak) == (1_000_000, 400_000)


def test_the_robust_preset_differs_from_community_in_competence_alone() -> None:
    rules, community = preset("robust"), preset("community")

    assert rules.trust.competence == "audited"
    assert replace(rules, trust=community.trust) == community
    assert replace(rules.trust, competence="agreement") == community.trust


def test_a_given_section_replaces_the_one_of_the_preset() -> None:
    rules = preset("community")
    charter = build(
        "test",
        name="Moot",
        salt=SALT,
        genesis=genesis_of([1]),
        number=3,
        timing=rules.timing,
        review=replace(rules.review, k=5),
        trust=replace(rules.trust, seats=7),
        quotas=replace(rules.quotas, sandbox_epoch=1),
    )

    assert charter.number == 3
    assert charter.timing == rules.timing
    assert charter.review.k == 5
    assert charter.trust.seats == 7
    assert charter.quotas.sandbox_epoch == 1


def test_a_section_out_of_range_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"review\.k"):
        build(
            "test",
            name="Moot",
            salt=SALT,
            genesis=genesis_of([1]),
            review=replace(preset("test").review, k=0),
        )


def test_the_lists_of_a_genesis_are_sorted() -> None:
    genesis = genesis_of([2, 2])
    seeds = tuple(founder.agent for founder in genesis.founders)
    shuffled = replace(
        genesis,
        instances=genesis.instances[::-1],
        operators=genesis.operators[::-1],
        founders=genesis.founders[::-1],
        records=genesis.records[::-1],
        seeds=seeds[::-1],
    )
    charter = founded("test", shuffled)

    assert charter.genesis == replace(genesis, seeds=seeds)
