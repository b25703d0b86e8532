"""`folkmoot agent standing`, `sanction list` and `show`, `rules`: what people read of them.

That they ask the node for it, and what `--json` tells, is shown where all examples are run.
"""

import io
from collections.abc import Callable

import pytest

from node.cli.output import Output
from node.cli.standing_cmd import put_rules, put_sanction, put_standing, put_violations
from node.cli.tables import Told, row_of, rows_of
from node.queries import sanctions
from node.queries.rules import rules_page
from node.queries.standing import standing
from tests.federation.protocol.docket import Docket
from tests.node.queries.scenes import plain


@pytest.fixture
def docket() -> Docket:
    made = Docket(window=10)
    made.frivolous(1, times=6)
    made.tick()
    return made


def said(put: Callable[[Output, Told], None], page: object) -> str:
    """Print a page; give what people read."""
    out = io.StringIO()
    put(Output(data=out, people=io.StringIO(), quiet=False), row_of(plain(page)))  # type: ignore[arg-type] # JSON
    return out.getvalue()


def test_the_standing_tells_level_acts_quotas_and_violations(docket: Docket) -> None:
    text = said(put_standing, standing(docket.world, docket.name(1)))

    assert "Sanction: probation. Half the weight" in text
    assert "tick 11" in text
    assert "conduct.frivolous" in text
    assert "sanction.appeal" in text
    assert "sandbox_epoch" in text


def test_an_agent_without_violations_has_no_table_of_them(docket: Docket) -> None:
    text = said(put_standing, standing(docket.world, docket.name(2)))

    assert "Nothing stands against it." in text
    assert "sanction.appeal" not in text


def test_violations_are_listed_and_shown(docket: Docket) -> None:
    one = docket.state.discipline.of(docket.name(1))[0]
    listed = said(
        lambda output, page: put_violations(output, rows_of(page.get("items"))),
        sanctions.listing(docket.world, most=2),
    )
    shown = said(put_sanction, sanctions.violation_page(docket.world, one))

    assert listed.count("conduct.frivolous") == 2
    assert "You disputed an artifact" in shown
    assert one.id.hex() in shown


def test_the_rules_are_printed_with_their_tables(docket: Docket) -> None:
    text = said(put_rules, rules_page(docket.world))

    assert "under_review" in text
    assert "probation" in text
    assert "Never a violation: a vote against the decision" in text
