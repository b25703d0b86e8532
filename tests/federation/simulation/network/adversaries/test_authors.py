from federation.certificates import Phase
from federation.core import AgentId
from federation.crypto import Ballot
from federation.protocol import Keys
from federation.records import Commit, Kind, Rotate
from federation.review import box
from federation.simulation.network.adversaries import (
    Disowner,
    DoubleVoter,
    LateForker,
    LateVoter,
)
from federation.simulation.network.agents import Agreeable, View
from federation.simulation.network.letters import Gossip
from tests.simnet.eavesdrop import comes_to_rest, four, with_liar


def bad_agent() -> tuple[AgentId, Keys]:
    """Give the agent of instance 1."""
    there = four()
    place = there.homes.index(1)
    return there.founding.agents[place], there.agents[place]


def test_a_disowner_rotates_and_disowns_everything_once_the_box_is_shut() -> None:
    conduct = Disowner(four().instances[1])
    network, _ = with_liar(conduct, place=1)

    assert comes_to_rest(network)
    assert conduct.disowned is not None
    body = conduct.disowned.body
    assert isinstance(body, Rotate)
    assert body.disown_after == 0
    for world in network.worlds:
        assert conduct.disowned.id in world.log


def test_a_late_voter_copies_the_first_reveal_that_it_can_read() -> None:
    conduct = LateVoter(*bad_agent())
    network, _ = with_liar(conduct, place=1)

    assert comes_to_rest(network)
    assert conduct.said is not None
    assert isinstance(conduct.said.body, Commit)
    for world in network.worlds:
        (one,) = world.rounds.values()
        assert conduct.said.id in world.log
        assert conduct.said.id not in {record.id for record in box(one.finals)}


def test_a_late_forker_shows_a_second_branch_after_the_decision() -> None:
    conduct = LateForker(*bad_agent())
    network, _ = with_liar(conduct, place=1)
    assert comes_to_rest(network)
    network.run_until(network.now + 3_000)

    assert conduct.said is not None
    for world in network.worlds:
        assert world.log.is_forked(conduct.said.author)
        assert Phase.DECIDE in next(iter(world.rounds.values())).finals
        assert world.log.by_kind(Kind.LOG_FORK)


def test_a_double_voter_shows_two_commitments_of_one_place() -> None:
    conduct = DoubleVoter(*bad_agent())
    network, _ = with_liar(conduct, place=1)

    assert comes_to_rest(network)
    assert conduct.said is not None
    assert all(world.log.is_forked(conduct.said.author) for world in network.worlds)


def test_a_liar_that_is_down_does_nothing() -> None:
    network, _ = with_liar(Disowner(four().instances[1]), place=1)
    node = network.node(1)
    node.world = None
    for conduct in (Disowner(four().instances[1]), LateForker(*bad_agent())):
        conduct.pulse(node)

        assert getattr(conduct, "said", None) is None


def test_a_late_voter_cannot_copy_into_a_round_that_it_does_not_know() -> None:
    network, _ = with_liar(LateVoter(*bad_agent()), place=1)
    comes_to_rest(network)
    reveals = tuple(network.worlds[0].log.by_kind(Kind.REVEAL))
    fresh, _ = with_liar(LateVoter(*bad_agent()), place=1)
    node, conduct = fresh.node(1), LateVoter(*bad_agent())
    conduct.incoming(node, node.peers[0], Gossip(records=reveals))

    assert reveals
    assert conduct.said is None


def test_an_agent_that_has_said_nothing_has_nothing_to_fork() -> None:
    conduct = LateForker(*bad_agent())
    network, _ = with_liar(conduct, place=1)
    agent = network.agents[four().homes.index(1)]
    agent.policy = Absent()

    assert comes_to_rest(network)
    network.run_until(network.now + 1_500)
    assert conduct.said is None


class Absent(Agreeable):
    """Stays away."""

    def ballot(self, view: View) -> Ballot | None:
        del view
        return None
