"""Registrars: what each way of admitting somebody comes to, and that liars gain nothing by theirs."""

from itertools import pairwise

import pytest

from federation.core import Code
from federation.protocol.invariants import broken
from federation.records import AgentAdmit, OperatorAdmit
from federation.simulation.network.community import Community, community
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.registration import HONEST_WAYS, RULES, Registrar, Way
from federation.simulation.network.watch import REVIEW, TIMING, watched

COMES_TO = {
    Way.PROVEN: {None},
    Way.OPERATOR: {None},
    Way.CROWDED: {None, Code.OVER_QUOTA},
    Way.UNPROVEN: {Code.PROOF_MISSING},
    Way.WORTHLESS: {Code.PROOF_WORK, Code.INSTANCE_BARRED},
    Way.SHUT: {Code.PROOF_GATE, Code.INSTANCE_BARRED},
    Way.REPLAYED: {Code.PROOF_REPLAYED},
    Way.FOREIGN: {Code.PROOF_WRONG_INSTANCE},
}


def there() -> Community:
    return community(4, agents=5, timing=TIMING, review=REVIEW, admission=RULES)


def running(*registrars: Registrar, until: int = 8_000) -> SimNetwork:
    network = watched(there(), seed="registration", conducts={one.place: one for one in registrars})
    network.start()
    network.run_until(until)
    network.finish()
    return network


def decided(network: SimNetwork, registrar: Registrar) -> list[tuple[Way, Code | None]]:
    """List what the admissions that a cut contains have come to; the same on every node."""
    found = []
    for name, way in registrar.said.items():
        codes = set()
        for world in network.worlds:
            record = world.log.get(name)
            if record is None:
                # The newest is still on its way when the run ends.
                assert name not in world.state.refused
                continue
            body = record.body
            assert isinstance(body, AgentAdmit | OperatorAdmit)
            state = world.state
            newcomer = body.agent if isinstance(body, AgentAdmit) else body.operator
            is_in = newcomer in state.agents or newcomer in state.operators
            if is_in or name in state.refused:
                assert is_in is (name not in state.refused)
                codes.add(state.refused.get(name))
        assert len(codes) < 2
        found += [(way, code) for code in codes]
    return found


@pytest.mark.parametrize("way", list(Way))
def test_each_way_of_admitting_comes_to_its_own_code_everywhere(way: Way) -> None:
    ways = (Way.PROVEN, way) if way is Way.REPLAYED else (way,)
    registrar = Registrar(there(), 1, ways)
    network = running(registrar)
    all_came_to = decided(network, registrar)
    came_to = {
        code
        for (_, before), (one, code) in pairwise([(way, None), *all_came_to])
        # A proof that let nobody in, for want of room, has not served yet.
        if one is way and (way is not Way.REPLAYED or before is None)
    }

    assert registrar.is_honest is (way in HONEST_WAYS)
    assert came_to
    assert came_to <= COMES_TO[way]
    assert all(not broken(world) for world in network.worlds)


def test_a_crowd_past_the_door_gets_no_more_in_than_the_quota() -> None:
    registrar = Registrar(there(), 1, (Way.CROWDED,), at_once=5)
    network = running(registrar, until=3_000)
    came_to = [code for _, code in decided(network, registrar)]

    assert came_to.count(Code.OVER_QUOTA) > 0
    assert set(came_to) == {None, Code.OVER_QUOTA}
    for world in network.worlds:
        agents = [one for one in world.state.agents.values() if one.instance == node_of(network)]
        assert len(agents) - 1 <= RULES.instance_least * (world.state.tick + 1)


def node_of(network: SimNetwork) -> bytes:
    return network.node(1).instance


def test_an_honest_registrar_stops_at_its_own_door() -> None:
    registrar = Registrar(there(), 0, (Way.PROVEN,), at_once=5)
    network = running(registrar)

    assert set(registrar.turned_away) == {Code.OVER_QUOTA}
    assert {code for _, code in decided(network, registrar)} == {None}


def test_many_who_come_make_the_puzzle_harder_until_they_stay_away() -> None:
    registrars = [Registrar(there(), place, (Way.PROVEN,), at_once=3) for place in range(4)]
    network = running(*registrars, until=9_000)
    assert {world.state.joining.bits for world in network.worlds} == {RULES.most_bits}
    for one in registrars:
        one.at_once = 0
    network.run_until(25_000)

    assert {world.state.joining.bits for world in network.worlds} == {RULES.agent_bits}
