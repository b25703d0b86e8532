"""Monitors: what must hold in every simulated run, checked after every step.

`monitor`   what a monitor sees, and `Violation`
`votes`     one value per slot, one lock per fence, by counting signatures itself
`members`   no honest member signs against itself, or is blamed
`rounds`    concealment, final lists, verdicts, nothing active without a path
`seals`     no sealed argument is opened before the list of the seals is certified
`worlds`    one digest per cut
`progress`  slots certify in time
"""

from federation.simulation.network.monitors.members import Members
from federation.simulation.network.monitors.monitor import Monitor, Violation
from federation.simulation.network.monitors.progress import Progress
from federation.simulation.network.monitors.rounds import Rounds
from federation.simulation.network.monitors.seals import Seals
from federation.simulation.network.monitors.votes import Votes, quorum_of
from federation.simulation.network.monitors.worlds import Worlds

__all__ = [
    "Members",
    "Monitor",
    "Progress",
    "Rounds",
    "Seals",
    "Violation",
    "Votes",
    "Worlds",
    "quorum_of",
]
