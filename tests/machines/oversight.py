"""What must hold in a world of a moot beside its invariants, and what has happened there."""

import random
from collections.abc import Iterator
from dataclasses import fields
from typing import Final

from federation.certificates import Phase
from federation.charter import Charter, worst_case_of, worst_case_time
from federation.core import AgentId, Millis, RecordId
from federation.protocol import World, rebuild, snapshot
from federation.protocol import effects as fx
from federation.protocol.rows import world_digest
from federation.protocol.state import State
from federation.records import Body, Commit, DisputeFile, DisputeReport
from federation.review import commitments, listed
from federation.sanctions import RuleId, Violation
from tests.federation.protocol.town import Town, verify


def longest(charter: Charter) -> Millis:
    """Bound the time of any round, and of the cut that tells its end."""
    ways = (
        worst_case_time(charter, "low"),
        worst_case_time(charter, "high"),
        *(worst_case_of(charter, matter) for matter in ("dispute", "report", "appeal")),
    )
    return max(way.total for way in ways) + 2 * charter.timing.epoch


def unjust(world: World) -> Iterator[str]:
    """List violations of agents that did nothing of what they are blamed for.

    Above all a ballot that was opened, however it was cast, is no reason for any.
    """
    for one in world.state.discipline.violations.values():
        if not _did(world, one):
            yield f"a violation {one.rule} of somebody who did no such thing"


def _did(world: World, one: Violation) -> bool:
    blamed = world.rounds.get(one.cause)
    if one.rule is RuleId.QUARANTINE:
        return True
    if one.rule is RuleId.ABUSE:
        return _copied(world, one)
    if blamed is None:
        return False
    match one.rule:
        case RuleId.FRIVOLOUS:
            return _filed(world, blamed.pin.cause, one.agent, DisputeFile)
        case RuleId.UNFOUNDED:
            return _filed(world, blamed.pin.cause, one.agent, DisputeReport)
        case RuleId.UNREVEALED:
            opened = {record.author for record in listed(blamed.finals, Phase.DECIDE)}
            return one.agent in commitments(blamed.finals) and one.agent not in opened
        case RuleId.HARMFUL | RuleId.UNSOURCED:
            return one.agent == (blamed.pin.disputer or blamed.pin.author)
        case _:
            return False


def _copied(world: World, one: Violation) -> bool:
    """Tell whether somebody has committed to what another agent has opened later."""
    record = world.log.get(one.cause)
    if record is None or record.author != one.agent or not isinstance(record.body, Commit):
        return False
    finals = world.rounds[record.body.round].finals
    opened = {reveal.author for reveal in listed(finals, Phase.DECIDE)}
    same = {
        voter
        for voter, committed in commitments(finals).items()
        if committed == record.body.commitment
    }
    return bool(same & opened) and one.agent not in opened


def _filed(world: World, name: RecordId | None, agent: AgentId, form: type[Body]) -> bool:
    record = world.log.get(name) if name is not None else None
    return record is not None and record.author == agent and isinstance(record.body, form)


def unveiled(world: World) -> Iterator[str]:
    """List seals that were opened although no certified list held them."""
    for one in world.rounds.values():
        sealed = {record.author for record in listed(one.finals, Phase.SEAL)}
        opened = {record.author for record in listed(one.finals, Phase.UNSEAL)}
        if opened - sealed:
            yield "an argument was opened that nobody had sealed"


def came_to(world: World) -> Iterator[str]:
    """Tell what rounds, violations and charters there were, for statistics of a run."""
    for one in world.rounds.values():
        if one.verdict is not None:
            yield f"{one.pin.kind} {one.verdict.by} {one.verdict.decision}"
        for phase in one.finals:
            yield f"{one.pin.kind} {phase}"
    for violation in world.state.discipline.violations.values():
        yield f"violation {violation.rule}"
    for standing in world.state.discipline.standings.values():
        yield f"level {standing.level}"
    for steps in world.state.steps.values():
        for step in steps:
            yield f"{step.action} to {step.to}"
    yield f"{len(world.state.acts.reigns)} charters"


def rebuilt(town: Town, world: World, order: int) -> list[str]:
    """Rebuild a world from its records in another order; list what differs."""
    log = world.log
    records = [
        one
        for author in log.authors()
        for _, head in log.heads_of(author)
        for one in log.path(head, -1)
    ]
    blobs = [
        one.content
        for effects in town.stored.values()
        for one in effects
        if isinstance(one, fx.StoreBlob)
    ]
    shuffled = random.Random(order).sample(records, len(records))
    again = rebuild(town.founding.charter, town.founding.records, shuffled, blobs, verify=verify)
    parts = {
        "cut": again.state.cut == world.state.cut,
        "digest": again.digest == world.digest,
        "refused": again.state.refused == world.state.refused,
        "story": again.state.steps == world.state.steps,
        "verdicts": {name: one.verdict for name, one in again.rounds.items()}
        == {name: one.verdict for name, one in world.rounds.items()},
    }
    return [f"another {name} when it is rebuilt" for name, same in parts.items() if not same]


_OBJECTS: Final = frozenset({"ledger", "agreement", "audits", "graph", "tables"})
"""Fields of a state without a comparison of their own; the digest is made of all of them."""


def retaken(town: Town, world: World) -> list[str]:
    """Read a world back from a snapshot; list what is another."""
    read = snapshot.read(snapshot.take(world), charter=town.founding.charter, log=world.log)
    again = read.certified.state
    found = [
        f"another {one.name} in a snapshot"
        for one in fields(State)
        # What the next tick has to reckon is reckoned afresh.
        if one.name not in _OBJECTS | {"reckoned"}
        and getattr(again, one.name) != getattr(world.state, one.name)
    ]
    return found if world_digest(again) == world.digest else [*found, "another digest"]
