import pytest
from msgspec.structs import replace

from federation.charter import PRESETS, SECOND, Severity, build, check, preset
from federation.core import ParameterError
from tests.federation.charter.founding import SALT, founded, genesis_of

SIZES = {"solo": [5], "community": [10] * 5, "test": [10] * 5}


@pytest.mark.parametrize("base", PRESETS)
def test_every_preset_makes_a_charter_without_errors(base: str) -> None:
    charter = founded(base, genesis_of(SIZES[base]))

    assert [row for row in check(charter) if row.severity is Severity.ERROR] == []
    assert charter.preset == base


def test_an_unknown_preset_names_those_there_are() -> None:
    with pytest.raises(ParameterError, match="solo, community, test"):
        preset("duo")


def test_the_test_preset_counts_in_seconds() -> None:
    rules = preset("test")

    assert max(rules.review.commit, rules.review.reveal, rules.timing.epoch) <= 5 * SECOND
    assert rules.review.contest == 0
    assert rules.timing.cut_min == 500


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
