"""People with offices: operators come after the agents, and what cannot be said yet is said later."""

from federation.core import Millis
from federation.protocol import World
from federation.protocol.custody import Keyring
from federation.simulation.network.disputants import Disputant, SimOperator, file
from federation.simulation.network.quarrels import quarrel, quarrelsome


def test_operators_of_members_come_after_all_agents() -> None:
    network = quarrel(quarrelsome(), seed="0")
    agents = network.agents

    assert [type(one) for one in agents] == [Disputant] * 10 + [SimOperator] * 4
    assert [one.agent for one in agents[10:]] == list(network.community.founding.operators[:4])


def test_an_agent_that_cannot_say_something_yet_tries_again() -> None:
    network = quarrel(quarrelsome(), seed="0")
    asked: list[Millis] = []

    def never(world: World, keyring: Keyring, now: Millis) -> None:
        del world, keyring
        asked.append(now)

    file(network, 5, never)
    network.run_until(450)

    assert len(asked) >= 4
