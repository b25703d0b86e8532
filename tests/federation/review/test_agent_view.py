import pytest

from federation.review import AgentView
from tests.builders import named


def view(**changes: bool) -> AgentView:
    return AgentView(
        agent=named("agent"),
        operator=named("operator"),
        instance=named("instance"),
        tier=1,
        weight=1,
        reviewer=True,
        **changes,
    )


@pytest.mark.parametrize("why", ["suspended", "quarantined", "forked"])
def test_one_sanction_bars_an_agent(why: str) -> None:
    assert view(**{why: True}).barred


def test_an_agent_without_sanctions_is_not_barred() -> None:
    assert not view().barred
