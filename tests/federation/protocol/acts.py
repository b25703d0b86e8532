"""What tests of the protocol let the people of a town do, again and again."""

from federation.charter import preset
from federation.core import Code, IdentityId, Millis
from federation.protocol import World
from federation.records import Record, Role
from tests.builders import Chain, artifact_text, propose
from tests.federation.protocol.town import Town

EPOCH: Millis = preset("test").timing.epoch
VOTES = {1: 1, 2: 1, 3: 1, 4: -1}
"""One instance, one operator: founder 0 proposes and the others vote."""


def claim(pen: Chain, title: str = "A claim") -> Record:
    """Let a pen write a proposal with a text of its own, past the door."""
    return pen.say(*propose(artifact_text(title=title)))


def next_cut(town: Town) -> Town:
    """Let time pass until every instance has reached one more cut."""
    return town.in_cut(max(world.state.cut for world in town.live()) + 1)


def next_tick(town: Town, count: int = 1) -> Town:
    """Let time pass until every instance has counted some more epochs."""
    goal = max(world.state.tick for world in town.live()) + count
    return town.until(lambda now: all(world.state.tick >= goal for world in now.live()), most=10**7)


def refused(world: World, record: Record) -> Code | None:
    """Give the code with which a cut refused a record."""
    return world.state.refused.get(record.id)


def is_forked(world: World, author: IdentityId) -> bool:
    """Tell whether a contained proof bars an identity."""
    return world.state.identities[author].forked_in is not None


def fork(town: Town, index: int = 0) -> tuple[Chain, Chain]:
    """Let a founder sign two proposals at one place, and both arrive; give both pens."""
    pen = town.pen(Role.AGENT, index)
    twin = pen.fork()
    town.arrive(town.home(index), claim(pen, "One"), claim(twin, "Two"))
    return pen, twin
