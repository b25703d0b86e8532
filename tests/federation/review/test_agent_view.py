import pytest

from federation.review import AgentView
from tests.builders import named


def view(**changes: bool) -> AgentView:
    return AgentView(
        agent=named("agent"),
        operator=named("operator"),
        instance=named("instance"),
        model=named("agent"),
        keeper=named("agent"),
        tier=1,
        weight=1,
        reviewer=True,
        **changes,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("why", ["revoked", "forked", "suspended", "banned"])
def test_a_fork_a_revocation_or_a_sanction_bars_an_agent(why: str) -> None:
    assert view(**{why: True}).barred


@pytest.mark.parametrize("what", ["quarantined", "probation"])
def test_quarantine_and_probation_bar_nobody(what: str) -> None:
    assert not view(**{what: True}).barred


def test_an_agent_in_good_standing_is_not_barred() -> None:
    assert not view().barred
