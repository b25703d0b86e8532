"""What the measurements of joining compute by themselves is right: theory, and what is measured."""

import json
from dataclasses import replace

import pytest

from benchmarks.joining import mint, proofs
from benchmarks.joining.searches import (
    claims,
    foretold_tries,
    is_likely,
    spread,
    terms_of_preset,
)
from federation import admission
from federation.admission import Mint, Terms
from federation.records import Role

TINY = Terms(memory_kib=8, passes=1, parts=4, bits=2, gate_bits=4)


@pytest.mark.parametrize(("bits", "ratio"), [(0, 1.0), (3, 1.9), (9, 1.94)])
def test_theory_has_the_mean_of_the_puzzle_and_the_tail_of_its_parts(
    bits: int, ratio: float
) -> None:
    terms = replace(TINY, bits=bits)
    drawn = spread([float(one) for one in foretold_tries(terms)])

    assert drawn.mean == pytest.approx(admission.expected_tries(terms), rel=0.02)
    assert drawn.p95_to_mean == pytest.approx(ratio, rel=0.04)


def test_the_tries_of_real_searches_are_those_of_theory() -> None:
    tried = []
    for number in range(300):
        search = Mint(blank=admission.blank_work(**claims(number), terms=TINY))
        progress = search.start()
        while not progress.is_over:
            progress = search.advance(progress, 100)
        tried.append(progress.tried)

    assert is_likely(sum(tried) / len(tried), len(tried), TINY)


def test_a_mean_that_is_far_off_is_not_likely() -> None:
    assert is_likely(2_048.0, 30, terms_of_preset("community"))
    assert not is_likely(4_096.0, 30, terms_of_preset("community"))
    assert not is_likely(1_000.0, 30, terms_of_preset("community"))


def test_a_spread_is_of_what_was_measured() -> None:
    of_hundred = spread([float(one) for one in range(100, 0, -1)])

    assert (of_hundred.mean, of_hundred.p50, of_hundred.p95) == (50.5, 51.0, 96.0)
    assert of_hundred.p95_to_mean == pytest.approx(96 / 50.5, rel=1e-3)
    assert spread([3.0]).p95 == 3.0
    with pytest.raises(ValueError, match="nothing"):
        spread([])


def test_an_operator_pays_more_than_an_agent() -> None:
    agent, operator = (terms_of_preset("community", role) for role in (Role.AGENT, Role.OPERATOR))

    assert (agent.bits, operator.bits) == (9, 12)
    assert replace(operator, bits=9) == agent


def test_a_measurement_of_checks_names_every_step_and_judges_them() -> None:
    found = proofs.measure(TINY, runs=3)

    assert json.loads(json.dumps(found))["terms"]["memory_kib"] == 8
    assert {"read_us", "claims_us", "gate_us", "bogus_ms", "verify_ms"} <= found.keys()
    assert isinstance(found["process"], dict)
    assert found["process"]["failures"] == 0
    assert isinstance(found["goals"], dict)
    assert found["goals_met"] == all(found["goals"].values())


def test_a_measurement_of_searches_shows_what_was_measured_beside_what_was_foretold() -> None:
    found = mint.measure(TINY, replace(TINY, bits=9), runs=20)

    assert isinstance(found["foretold"], dict)
    assert found["foretold"]["hashes"]["mean"] == pytest.approx(16, rel=0.02)
    assert isinstance(found["full"], dict)
    assert found["full"]["bits"] == 9
    assert "foretold" in mint._shown(found)


def test_the_program_leaves_with_what_it_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "mint --runs 2 --preset test --json"
    monkeypatch.setattr("sys.argv", command.split())
    code = mint.main()
    told = json.loads(capsys.readouterr().out)

    assert code == (0 if told["goals_met"] else 1)
    assert told["runs"] == 2
