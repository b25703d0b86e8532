"""Notices about sanctions: to the agent itself, and to its operator (paper 3.4).

A stateless agent learns nothing from a punishment that it does not hear of. So each violation is
told to its agent when it begins to count, each step up the ladder too, and the operator hears of
what it has to repair. Levels move at ticks only, so this is looked at once a tick.
"""

from collections.abc import Iterator

from federation.core import AgentId
from federation.protocol import World
from federation.sanctions import LADDER, RULES
from node.notification.notices import Notices
from node.queries.sanctions import NoticeCause, notices_since
from node.store.notices import SaveNotice


def of_sanctions(world: World, notices: Notices, tick: int) -> Iterator[SaveNotice]:
    """Tell what began after a tick, of our own agents and to our own operators."""
    state = world.state
    book = state.discipline
    for one in sorted(book.violations.values(), key=lambda one: (one.tick, one.id)):
        if tick < one.tick <= state.tick and not one.void and notices.is_ours(one.agent):
            why = f"{RULES[one.rule].text} {RULES[one.rule].remedy}"
            yield notices.of_sanction(one.agent, one.id, "violation", why, agent=one.agent)
    for name, standing in sorted(book.standings.items()):
        if tick < standing.since <= state.tick and standing.level and notices.is_ours(name):
            about = f"level {standing.level}@{standing.since}"
            why = f"Level {standing.level}: {LADDER[standing.level].text}"
            yield notices.of_sanction(name, name, about, why, agent=name)
    for told in notices_since(world, tick + 1):
        agent = AgentId(bytes.fromhex(told.agent.id))
        about = f"{told.cause.value}@{told.since}"
        if told.cause is NoticeCause.QUARANTINE and notices.is_ours(agent):
            yield notices.of_sanction(agent, agent, about, told.says, agent=agent)
        for operator in notices.our_operators([bytes.fromhex(told.operator.id)]):
            yield notices.of_sanction(operator, agent, about, told.says, agent=agent)
