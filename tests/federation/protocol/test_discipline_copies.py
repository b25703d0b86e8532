"""Who copies a sealed ballot is found out when its author opens it, and nobody else is."""

from federation.certificates import Phase
from federation.protocol.discipline import held
from federation.records import Commit
from federation.sanctions import RuleId
from tests.federation.protocol.curating import curating
from tests.federation.protocol.town import Town


def copied(town: Town, *, opens: bool) -> None:
    """Let founder 4 copy what founder 1 committed, past the door; 1 opens it or does not."""
    name = town.open_round(town.propose(0))
    town.in_phase(name, Phase.COMMIT)
    original = town.cast(1, name, 1)
    town.cast(2, name, 1)
    body = original.body
    assert isinstance(body, Commit)
    town.arrive(town.home(4), town.sign(4, body))
    town.in_phase(name, Phase.DECIDE)
    for index in (1, 2) if opens else (2,):
        town.reveal(index, name)
    town.until(lambda town: town.world().rounds[name].closed, most=90_000)
    town.rest(11_000)


def test_a_copied_ballot_is_a_proven_abuse_and_ends_the_copiers_identity() -> None:
    town = curating()
    copied(town, opens=True)
    state = town.world().state
    found = {(one.agent, one.rule) for one in state.discipline.violations.values()}

    assert found == {(town.agent(4), RuleId.ABUSE)}
    assert held(state, town.agent(4)).banned
    assert not held(state, town.agent(1)).banned
    assert state.views[town.agent(4)].barred


def test_while_neither_has_opened_it_nobody_can_tell_who_copied() -> None:
    town = curating()
    copied(town, opens=False)

    assert town.world().state.discipline.violations == {}
