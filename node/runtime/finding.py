"""Writes this instance's finding that a proposal of one of its agents nearly repeats another text.

It is handed to the core with the proposal, so that one cut contains both: then the proposal goes to
a vote. It refuses nothing: where no finding can be signed, the proposal goes its way.
"""

from collections.abc import Sequence

from federation.core import FederationError, InstanceId, Millis, short
from federation.protocol import Fate, World, custody, judge
from federation.protocol.findings import MOST_FINDINGS
from federation.records import NearDuplicate, Propose, Record
from node.base.errors import NodeError
from node.keys import Keystore
from node.recruitment.nearness import Near
from node.runtime.revealing import keyring_of
from node.telemetry import log


def with_finding(
    world: World,
    keystore: Keystore,
    instance: InstanceId,
    record: Record,
    near: Sequence[Near],
    *,
    now: Millis,
) -> tuple[Record, ...]:
    """Give a record that is about to be stored, with the finding about it if there is one.

    `near` is what the text of the proposal was found near to, the nearest first.
    """
    body, revised = record.body, getattr(record.body, "revises", None)
    agent = world.state.agents.get(record.author)
    best = next((one for one in near if one.of != revised), None)
    if best is None or not isinstance(body, Propose):
        return (record,)
    if agent is None or agent.instance != instance or not _may_count(world, record):
        return (record,)
    if _waiting(world, instance) >= MOST_FINDINGS or (world.me and not world.me.settled):
        return (record,)
    try:
        keyring = keyring_of(world, keystore, instance)
        if keyring is None:
            return (record,)
        said = NearDuplicate(artifact=record.id, of=best.of, likeness=best.likeness)
        return record, custody.author(world, keyring, said, now=now)
    except (FederationError, NodeError) as error:
        log.warning("near.not_filed", artifact=short(record.id), code=error.code)
        return (record,)


def _may_count(world: World, record: Record) -> bool:
    """Tell whether a proposal will wait for a cut: no stranger may have this instance sign."""
    if record.prev is None or record.prev not in world.log or record.id in world.log:
        return False
    return judge(world, record).fate is Fate.WAITS


def _waiting(world: World, instance: InstanceId) -> int:
    """Count the findings of this instance that no cut contains yet."""
    here = world.positions.get(instance)
    names = (name for ids in world.log.above(instance, here.seq if here else -1) for name in ids)
    return sum(
        isinstance(one.body, NearDuplicate) for name in names if (one := world.log.get(name))
    )
