import pytest
from msgspec.structs import replace

from federation.certificates import Phase
from federation.charter import TopicClass
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.records import Kind, Stance
from federation.simulation.network.agents import Agreeable, View
from federation.simulation.network.community import Community, community
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest


class Contrary:
    """Objects, argues against, and stays away from the vote if its index is odd."""

    def objection(self, view: View) -> Reason | None:
        del view
        return Reason.UNCLEAR

    def argument(self, view: View) -> tuple[Stance, str] | None:
        return (Stance.AGAINST, f"agent {view.index} says no")

    def ballot(self, view: View) -> Ballot | None:
        return None if view.index % 2 else Ballot(Choice.AGAINST, Reason.INACCURATE, Basis.TOOL)


@pytest.fixture(scope="module")
def there() -> Community:
    return community(1, agents=5, timing=TIMING, review=REVIEW)


def run(network: SimNetwork) -> SimNetwork:
    network.start()
    network.at(20, lambda: network.propose(0, topics=("code",)))
    assert network.run_until(lambda: is_at_rest(network))
    return network


def said(network: SimNetwork, kind: Kind) -> list[int]:
    (world,) = network.worlds
    agents = list(network.community.founding.agents)
    return sorted(agents.index(record.author) for record in world.log.by_kind(kind))


def test_agreeable_agents_vote_and_reveal_by_themselves(there: Community) -> None:
    network = run(SimNetwork(there, seed="agree", policy=Agreeable(arguments=2)))

    assert said(network, Kind.ARGUE) == [0, 1]
    assert said(network, Kind.COMMIT) == [1, 2, 3, 4]
    assert said(network, Kind.REVEAL) == [1, 2, 3, 4]
    assert said(network, Kind.OBJECT) == []


def test_an_agent_may_stay_away_and_the_author_never_votes(there: Community) -> None:
    network = run(SimNetwork(there, seed="contrary", policy=Contrary()))

    # The author may argue, but two ballots of four are no quorum, so the vote is widened in vain.
    assert said(network, Kind.COMMIT) == [2, 4]
    assert 0 not in said(network, Kind.REVEAL)


def test_policies_can_differ_by_agent(there: Community) -> None:
    network = run(SimNetwork(there, seed="mixed", policies={1: Contrary(), 2: Contrary()}))

    assert said(network, Kind.COMMIT) == [2, 3, 4]


def test_agents_object_while_the_window_is_open() -> None:
    review = replace(REVIEW, topics=(TopicClass(prefix="code", sensitivity="low"),), fast_low=400)
    there = community(1, agents=5, timing=TIMING, review=review)
    network = run(SimNetwork(there, seed="fast", policy=Agreeable(), policies={3: Contrary()}))

    assert said(network, Kind.OBJECT) == [3]
    (world,) = network.worlds
    (one,) = world.rounds.values()
    assert Phase.FAST in one.finals


def test_an_agent_that_is_asked_again_says_nothing_twice(there: Community) -> None:
    network = SimNetwork(there, seed="again")
    network.start()
    network.at(20, lambda: network.propose(0))
    network.run_until(
        lambda: any(one.phase is Phase.COMMIT for one in network.worlds[0].rounds.values())
    )
    agent = network.agents[1]
    network.attend(agent)
    network.attend(agent)

    assert said(network, Kind.COMMIT) == [1]


def test_the_door_refuses_an_agent_whose_chain_is_forked(there: Community) -> None:
    network = SimNetwork(there, seed="forked")
    network.start()
    first = network.propose(0, "one")
    assert first is not None
    world = network.worlds[0]
    agent = network.agents[0]
    fork = SimNetwork(there, seed="other")
    fork.start()
    second = fork.propose(0, "two")
    assert second is not None
    network.submit(agent.instance, second)

    assert world.log.is_forked(agent.agent)
    assert agent.act(world, 100) is None


def test_agents_say_nothing_in_a_phase_that_they_do_not_know() -> None:
    there = community(1, agents=5, timing=TIMING, review=replace(REVIEW, contest=300))
    network = run(SimNetwork(there, seed="contest"))
    (world,) = network.worlds
    (one,) = world.rounds.values()

    assert Phase.CONTEST in one.finals
    assert world.log.by_kind(Kind.CONTEST) == []
