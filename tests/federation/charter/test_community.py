from federation.charter import PRESETS, Severity, check
from federation.charter.community import COMMUNITY
from tests.federation.charter.founding import founded, genesis_of


def test_it_is_the_preset_of_its_name() -> None:
    assert PRESETS["community"] is COMMUNITY


def test_ten_operators_with_three_agents_each_are_safe_in_it() -> None:
    findings = check(founded("community", genesis_of([3] * 10)))

    assert {finding.severity for finding in findings} == {Severity.INFO}
