"""Who answers for whom, looked up once a cut: agents by operator and by instance, void admissions.

What `operators` and `admissions` show of one operator or one instance would otherwise need a look
at every agent and every admission, at every request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from federation.core import AgentId, Code, IdentityId, InstanceId, OperatorId, RecordId
from federation.protocol import World
from federation.protocol.judge import judge
from federation.records import AgentAdmit, Kind, OperatorAdmit, Record, Role
from node.queries.names import Who, cid_of, who
from node.queries.per_cut import PerCut

MOST_VOID: Final = 50
"""Void admissions that one answer lists, the newest first; they are counted all."""


class VoidAdmission(msgspec.Struct, frozen=True, kw_only=True):
    """An admission that stands in the log and admits nobody."""

    record: str
    """Id of the record, in hex; `folkmoot why` explains it."""
    cid: str
    """The same as a CIDv1."""
    seq: int
    """Its place in the instance's chain."""
    instance: Who
    """The instance that signed it."""
    role: Role
    """Agent or operator."""
    newcomer: Who
    """Whom it would have admitted."""
    operator: Who
    """Who would have answered for the agent; of an operator itself."""
    code: Code
    """Why it does not count, as a stable word."""
    says: str
    """The same in words."""


class CodeCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many admissions have one fault."""

    code: Code
    """The fault."""
    count: int
    """How many."""


class VoidPage(msgspec.Struct, frozen=True, kw_only=True):
    """The admissions of one instance, or for one operator, that do not count."""

    count: int
    """All of them, since genesis."""
    codes: tuple[CodeCount, ...]
    """The same by fault, the most frequent first."""
    newest: tuple[VoidAdmission, ...]
    """The newest of them, at most 50."""


@dataclass(slots=True, kw_only=True)
class Ties:
    """Who belongs to whom, as of one cut; whoever gets it must not change it."""

    by_operator: dict[OperatorId, list[AgentId]] = field(default_factory=dict)
    """Admitted agents by who answers for them, in order of admission."""
    by_instance: dict[InstanceId, list[AgentId]] = field(default_factory=dict)
    """Admitted agents by the instance that admitted them."""
    instances: dict[OperatorId, list[InstanceId]] = field(default_factory=dict)
    """Member instances by who runs them."""
    operators: dict[InstanceId, list[OperatorId]] = field(default_factory=dict)
    """Admitted operators by the instance that admitted them."""
    order: list[OperatorId] = field(default_factory=list)
    """Admitted operators by tick of admission, then by id."""
    void_by: dict[IdentityId, list[RecordId]] = field(default_factory=dict)
    """Void admissions by who signed them, the newest last."""
    void_for: dict[OperatorId, list[RecordId]] = field(default_factory=dict)
    """Void admissions by the operator that they admit, or that would have answered."""


def waiting_by(world: World, instance: InstanceId) -> int:
    """Count the admissions by an instance that wait for a cut here."""
    here = world.positions.get(instance)
    if here is None:
        return 0
    above = world.log.above(instance, here.seq, head=here.head)
    held = (world.log.get(name) for names in above for name in names)
    return sum(one is not None and is_admission(one) for one in held)


def is_admission(record: Record) -> bool:
    """Tell whether a record admits an agent or an operator."""
    return isinstance(record.body, AgentAdmit | OperatorAdmit)


def named_by(body: AgentAdmit | OperatorAdmit) -> tuple[Role, IdentityId, OperatorId]:
    """Give in which role an admission admits whom, and which operator it is about."""
    if isinstance(body, AgentAdmit):
        return Role.AGENT, body.agent, body.operator
    return Role.OPERATOR, body.operator, body.operator


def void_page(world: World, names: Sequence[RecordId]) -> VoidPage:
    """Show void admissions; `names` has the newest last."""
    counts: dict[Code, int] = {}
    for name in names:
        code = world.state.refused[name]
        counts[code] = counts.get(code, 0) + 1
    newest = [world.log.get(name) for name in reversed(names[-MOST_VOID:])]
    return VoidPage(
        count=len(names),
        codes=tuple(
            CodeCount(code=code, count=count)
            for code, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        ),
        newest=tuple(_void(world, one) for one in newest if one is not None),
    )


def codes_in_words(page: VoidPage) -> str:
    """Spell how many admissions have which fault."""
    return ", ".join(f"{one.code} {one.count}" for one in page.codes)


def _void(world: World, record: Record) -> VoidAdmission:
    body = record.body
    assert isinstance(body, AgentAdmit | OperatorAdmit), "it was found so"  # noqa: S101 # our own
    role, newcomer, operator = named_by(body)
    return VoidAdmission(
        record=record.id.hex(),
        cid=cid_of(record.id),
        seq=record.seq,
        instance=who(world, record.author),
        role=role,
        newcomer=who(world, newcomer),
        operator=who(world, operator),
        code=world.state.refused[record.id],
        says=judge(world, record).why,
    )


def _look(world: World) -> Ties:
    state, found = world.state, Ties()
    for agent in state.agents.values():
        found.by_operator.setdefault(agent.operator, []).append(agent.agent)
        found.by_instance.setdefault(agent.instance, []).append(agent.agent)
    for instance in sorted(state.instances):
        found.instances.setdefault(state.instances[instance], []).append(instance)
    for operator in sorted(
        state.operators.values(), key=lambda one: (one.admitted_tick, one.operator)
    ):
        found.order.append(operator.operator)
        found.operators.setdefault(operator.instance, []).append(operator.operator)
    void = [
        record
        for kind in (Kind.OPERATOR_ADMIT, Kind.AGENT_ADMIT)
        for record in world.log.by_kind(kind)
        if record.id in state.refused
    ]
    # A chain is the only order there is; between instances it says little, and does no harm.
    for record in sorted(void, key=lambda one: (one.seq, one.id)):
        found.void_by.setdefault(record.author, []).append(record.id)
        if isinstance(record.body, AgentAdmit | OperatorAdmit):
            found.void_for.setdefault(named_by(record.body)[2], []).append(record.id)
    return found


ties: Final = PerCut(_look)
"""Who belongs to whom, in a world; an answer for everybody until the next cut."""
