from federation.protocol import begin
from federation.simulation.network.community import community


def test_the_same_arguments_found_the_same_realm() -> None:
    first = community(3, agents=4)
    community.cache_clear()
    again = community(3, agents=4)

    assert first is not again
    assert first.founding.realm == again.founding.realm
    assert first.founding.records == again.founding.records


def test_agents_go_round_the_instances() -> None:
    there = community(3, agents=5)

    assert there.homes == (0, 1, 2, 0, 1)
    assert len(there.founding.agents) == 5


def test_the_keys_of_a_community_are_those_of_its_founding() -> None:
    there = community(2, agents=2)
    world = begin(there.founding.charter, there.founding.records)

    for instance in there.founding.instances:
        assert world.state.identities[instance].keys.key == there.signer(instance).public


def test_three_may_be_made_available() -> None:
    assert community(3, three_available=True).founding.charter.timing.three == "available"
    assert community(3).founding.charter.timing.three == "strict"
