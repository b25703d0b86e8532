"""Many real worlds over a virtual network (design: federation; tests, simulated network).

`timeline`     virtual time and what happens next
`clock`        an instance's own monotonic clock: offsets and jumps
`links`        latency, loss, repetition, reordering, partitions, healing
`letters`      what instances send each other
`sync`         reconciliation
`conduct`      where a liar departs from its core
`disk`         what survives a crash
`node`         one instance: world, store, shell; crashes and restarts
`agents`       agents that argue, vote and reveal
`disputants`   people with offices: they seal, assess, rule, contest, decide and file
`community`    a small realm with all its keys
`newcomers`    a crowd that is admitted and votes with one voice
`crowded`      a small honest realm beside such a crowd
`network`      all of it together, one seed
`monitors`     what must hold after every step
`adversaries`  members that lie, a class for each kind of lie
`registration` instances that newcomers ask for admission, and some that admit without cost
`watch`        a network with all monitors, and what counts as a good end
`schedules`    random scenarios, each drawn from its seed
`quarrels`     one artifact that is reviewed, disputed and reported, with all offices
`worst_cases`  scenarios by name: the network that hurts most, built for one lie
"""

from federation.simulation.network.agents import Agreeable, Policy, SimAgent, View
from federation.simulation.network.community import Community, community
from federation.simulation.network.conduct import Conduct
from federation.simulation.network.links import Gap, Line, Weather, partition
from federation.simulation.network.monitors import Monitor, Violation
from federation.simulation.network.network import SignatureCache, SimNetwork, Thinking
from federation.simulation.network.node import SimNode, Trap

__all__ = [
    "Agreeable",
    "Community",
    "Conduct",
    "Gap",
    "Line",
    "Monitor",
    "Policy",
    "SignatureCache",
    "SimAgent",
    "SimNetwork",
    "SimNode",
    "Thinking",
    "Trap",
    "View",
    "Violation",
    "Weather",
    "community",
    "partition",
]
