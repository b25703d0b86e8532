"""How an instance is, with reasons: what an operator, a load balancer or a script may ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from federation.certificates import quorum
from federation.core import InstanceId
from federation.protocol import World


class Condition(StrEnum):
    """What an instance can do now."""

    READY = "ready"
    """It takes part, and a quorum is connected."""
    SETTLING = "settling"
    """It signs nothing until a quorum has told what it has seen of it."""
    WAITING = "waiting_for_quorum"
    """Too few members are connected to make anything final."""
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A condition and why."""

    state: Condition
    reasons: tuple[str, ...]


def health(world: World, connected: Sequence[InstanceId], *, stopping: bool) -> Health:
    """Tell how the instance of a world is, given the peers that it talks with."""
    if stopping:
        return Health(state=Condition.STOPPING, reasons=("the instance is shutting down",))
    reasons: list[str] = []
    me = world.me
    members = world.state.cut_members
    here = {member.voice for member in members} & {*connected, *([me.instance] if me else ())}
    q = quorum(len(members), three_available=world.charter.timing.three == "available").q
    state = Condition.READY
    if len(here) < q:
        state = Condition.WAITING
        reasons.append(f"{len(here)} of {len(members)} members are here, a quorum is {q}")
    elif me is not None and not me.settled:
        state = Condition.SETTLING
        reasons.append(
            "after a restart it signs nothing until a quorum has told what it has seen of it"
        )
    if me is not None and me.silent_until >= world.state.cut:
        reasons.append(
            f"it lost signed state and stays silent in what was opened up to cut {me.silent_until}"
        )
    if (asked := world.asked_work) is not None:
        reasons.append(f"the next cut waits for {len(asked.proofs)} proofs of work to be verified")
    if any(live.state.diverged for live in world.slots.values()):
        reasons.append("the others certify another world than this instance: run the doctor")
    return Health(state=state, reasons=tuple(reasons))
