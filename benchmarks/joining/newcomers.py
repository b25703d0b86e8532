"""What a crowd of admitted newcomers changes in the simulated network.

A small honest realm decides some artifacts, once alone and once beside a crowd that votes against
all of them. Then, beside another crowd, some founders are fooled into vouching for it, and it is
measured what weight it holds at each tick.
"""

import argparse
import json
import sys
import time
from typing import Final

from federation.core import MILLION
from federation.crypto import Choice
from federation.simulation.network.crowded import HONEST, Crowded, crowded
from federation.trust import M

_ROUNDS: Final = 3
_ROUNDS_TO_TIER_1: Final = 6
_TICKS: Final = 12
_FEW: Final = 100
"""How many of the crowd the fooled lead on to: enough to take all that comes through an edge."""


def main() -> int:
    """Run it as the command line says, and print what was found."""
    parser = argparse.ArgumentParser(prog=sys.argv[0], description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=10_000, help="newcomers (10,000)")
    parser.add_argument("--operators", type=int, default=1, help="their operators (1)")
    parser.add_argument("--voters", type=int, default=1_200, help="how many of them vote (1,200)")
    parser.add_argument("--fooled", type=int, default=3, help="founders who vouch, 1 to 6 (3)")
    parser.add_argument("--json", action="store_true", help="print one object")
    told = parser.parse_args()
    if not 1 <= told.operators <= told.agents or not 1 <= told.fooled <= HONEST:
        parser.error("1 <= operators <= agents, and 1 <= fooled <= 6")
    found = {
        "agents": told.agents,
        "operators": told.operators,
        "voters": min(told.voters, told.agents),
        "without_vouches": _without(told.agents, told.operators, min(told.voters, told.agents)),
        "with_vouches": _with(min(told.agents, _FEW), told.fooled),
    }
    print(json.dumps(found) if told.json else json.dumps(found, indent=2))
    return 0


def _without(agents: int, operators: int, voters: int) -> dict[str, object]:
    alone = crowded()
    _decide(alone, _ROUNDS)
    began = time.perf_counter()
    beside = crowded(operators=operators, agents=agents, voters=voters)
    admitted = time.perf_counter() - began
    _decide(beside, _ROUNDS)
    one, two = alone.look(), beside.look()
    crowd = [agent for agent in beside.state.agents.values() if agent.founder is None]
    return {
        "admitted": len(crowd),
        "votes": beside.crowd.votes,
        "verdicts_equal": one.verdicts == two.verdicts,
        "reviewers_equal": one.reviewers == two.reviewers,
        "founders_equal": one.founders == two.founders,
        "crowd_tiers": sorted({agent.tier for agent in crowd}),
        "crowd_weight": sum(agent.weight for agent in crowd),
        "digests": beside.digests,
        "admitted_s": round(admitted, 1),
        "seconds": round(time.perf_counter() - began, 1),
    }


def _with(agents: int, fooled: int) -> dict[str, object]:
    """Let the fooled vouch as heavily as they can, and those reached vouch for all the others."""
    made = crowded(operators=agents, agents=agents, choice=Choice.FOR)
    names = made.crowd.names
    rules = made.network.community.founding.charter.trust
    for founder in range(fooled):
        made.fool(founder, names[founder % agents])
    _decide(made, _ROUNDS_TO_TIER_1)
    inner = [name for name in names if made.state.agents[name].tier]
    for number, name in enumerate(names):
        if name not in inner and inner:
            made.crowd.vouch(inner[number % len(inner)], name)
    most = 0
    for _ in range(_TICKS):
        made.tick()
        most = max(most, sum(made.state.agents[name].trust for name in names))
    weight = sum(made.state.agents[name].weight for name in names)
    bound = fooled * rules.kappa
    return {
        "agents": agents,
        "fooled": fooled,
        "bound_seats": bound,
        "trust_seats": round(most * rules.seats / M, 3),
        "weight_seats": round(weight / rules.w_max, 3),
        "share_of_bound_ppm": most * rules.seats * MILLION // (M * bound),
        "holds": most * rules.seats <= bound * M and weight <= bound * rules.w_max,
    }


def _decide(made: Crowded, rounds: int) -> None:
    if not made.decide(rounds) or not made.tick(2):
        raise SystemExit("the realm came to no end; run the simulated network's own tests")


if __name__ == "__main__":
    sys.exit(main())
