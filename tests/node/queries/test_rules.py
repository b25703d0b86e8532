"""The rules for programs: complete, with unit and meaning, and those of the charter in force."""

import msgspec

from federation.artifacts import TRANSITIONS
from federation.sanctions import LADDER, RULES, TABLE
from node.queries.rules import rules_page
from tests.federation.protocol.docket import Docket
from tests.node.queries.scenes import plain


def test_every_number_of_the_charter_is_there_with_its_meaning() -> None:
    docket = Docket(window=37)
    found = rules_page(docket.world)
    by_name = {(one.section, one.name): one for one in found.parameters}
    charter = docket.state.charter

    assert by_name["sanctions", "window"].value == 37
    assert by_name["sanctions", "window"].unit == "ticks"
    assert "violation counts" in by_name["sanctions", "window"].text
    assert by_name["trust.evidence", "vote_weak"].unit == "micro"
    for section in ("timing", "disputes", "sanctions", "quotas"):
        fields = {one.name for one in msgspec.structs.fields(getattr(charter, section))}
        assert {name for where, name in by_name if where == section} == fields
    assert all(one.text for one in found.parameters)
    numbers = [one for one in found.parameters if type(one.value) is int]
    assert all(one.unit for one in numbers)


def test_every_table_is_there() -> None:
    found = rules_page(Docket().world)

    assert len(found.lifecycle) == len(TRANSITIONS)
    assert [one.level for one in found.ladder] == [step.level for step in LADDER]
    assert {one.rule for one in found.violations} == set(RULES)
    assert len(found.quarantine) == len(TABLE)
    assert any("vote against the decision" in one for one in found.never)
    assert isinstance(plain(found), dict)
