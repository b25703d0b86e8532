"""Newcomers in bad weather: members register, one admits without cost, nodes crash, all agree."""

from federation.core import Code, Lots
from federation.protocol.invariants import broken, disagreements
from federation.simulation.network import Line, Weather, community
from federation.simulation.network.network import SimNetwork
from federation.simulation.network.registration import RULES, Registrar, Way
from federation.simulation.network.watch import REVIEW, TIMING, is_at_rest, watched

GOOD_FROM = 3_000
LATE = {Code.PROOF_STALE, Code.PROOF_PARAMETERS, Code.PROOF_WRONG_BEACON}
"""What becomes of an honest proof that losses and crashes keep from two epochs of cuts."""
ALONE = {Code.NOT_ADMITTED, Code.NOT_PROVEN}
"""The same of an admission that a cut contains before it contains the newcomer, or the operator's
word for it: a quorum had not heard of them."""


def drawn(seed: int) -> tuple[SimNetwork, list[Registrar]]:
    """Draw weather, crashes and ways to admit from a seed; one of four members lies."""
    lots = Lots("registration", seed)
    there = community(4, agents=5, timing=TIMING, review=REVIEW, admission=RULES)
    liar = lots.below(4)
    ways = tuple(lots.pick(tuple(Way)) for _ in range(6))
    registrars = [
        Registrar(there, place, (*ways, Way.WORTHLESS), at_once=lots.between(1, 4))
        if place == liar
        else Registrar(there, place, (Way.PROVEN, Way.PROVEN, Way.OPERATOR))
        for place in range(4)
    ]
    line = Line(longest=lots.between(10, 60), loss=lots.pick((0, 50_000, 200_000)), reorders=True)
    network = watched(
        there,
        seed=f"registration {seed}",
        weather=Weather(line=line, good_from=GOOD_FROM),
        conducts={one.place: one for one in registrars},
        clocks={place: lots.below(3_000) for place in range(4)},
    )
    network.start()
    for _ in range(2):
        who, down = lots.below(4), lots.between(50, 600)
        when = lots.below(GOOD_FROM)
        network.at(when, lambda who=who, down=down: network.node(who).crash(down_for=down))  # type: ignore[misc]
    network.at(lots.between(10, 200), lambda: network.propose(lots.below(5)))
    return network, registrars


def test_whoever_lies_about_admissions_all_nodes_agree_who_was_admitted(rare_seed: int) -> None:
    network, registrars = drawn(rare_seed)
    network.run_until(GOOD_FROM + 4_000)
    for one in registrars:
        one.at_once = 0
    assert network.run_until(lambda: is_at_rest(network, artifacts=0), most=60_000)
    network.finish()
    worlds = network.worlds
    state = worlds[0].state
    ours = {name: way for one in registrars if one.is_honest for name, way in one.said.items()}
    theirs = {
        name: way for one in registrars if not one.is_honest for name, way in one.said.items()
    }

    assert disagreements(worlds) == []
    assert [broken(world) for world in worlds] == [[] for _ in worlds]
    assert {state.refused[name] for name in ours if name in state.refused} <= LATE | ALONE
    # A replayed proof may count if it has not served: but it serves once.
    good = {Way.PROVEN, Way.OPERATOR, Way.CROWDED, Way.REPLAYED}
    for name, way in theirs.items():
        record = worlds[0].log.get(name)
        newcomer = getattr(record and record.body, "agent", None)
        assert way in good or newcomer not in state.agents
    newcomers = [name for name, agent in state.agents.items() if agent.founder is None]
    assert len({state.identities[name].keys.keys[0] for name in newcomers}) == len(newcomers)
