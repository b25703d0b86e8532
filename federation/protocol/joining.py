"""What joining costs in this epoch, and who has admitted how many (design: registration).

One aggregate of the certified state. The bits of the puzzle move at ticks by the rule of
`admission.next_bits`; everything else counts what the cuts of the epoch admitted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from federation.admission import InForce, asks_nothing, next_bits, terms_of
from federation.charter import Admission
from federation.core import MILLION, Digest, InstanceId, RecordId
from federation.records import Role


@dataclass(slots=True, kw_only=True)
class Joining:
    """The terms in force, and what has been admitted under them."""

    rules: Admission
    bits: int
    """Zero bits of an agent's parts in this epoch."""
    beacon: Digest
    """Of the tick that began the epoch; at genesis that of cut 0."""
    before: tuple[int, Digest] | None = None
    """Both of the epoch before; None in the first."""
    former: Admission | None = None
    """The charter's section of the epoch before, if another charter came into force since: a proof
    of that epoch is held to its own terms."""
    coming: Admission | None = None
    """That of a charter which comes into force with the epoch that is about to begin."""
    agents: dict[InstanceId, int] = field(default_factory=dict)
    """Agents that each instance has admitted in this epoch; founders do not count."""
    operators: dict[InstanceId, int] = field(default_factory=dict)
    """The same of operators."""
    false: set[InstanceId] = field(default_factory=set)
    """Instances that signed an admission with a proof of no work in this epoch: they admit nobody
    more in it, so that every other node verifies one such proof of theirs an epoch, not thousands."""
    spent: dict[Digest, int] = field(default_factory=dict)
    """Challenge of each proof that has served, with its epoch: this one or the one before."""
    waiting: dict[RecordId, tuple[InstanceId, int]] = field(default_factory=dict)
    """Contained admissions that rest on what no cut contains yet, with their author and the tick of
    their cut: the chains of a newcomer and of its operator may come later than its instance's."""

    @property
    def is_free(self) -> bool:
        """Whether no proof is asked for."""
        return asks_nothing(self.rules)

    def copy(self) -> "Joining":
        """Give one that may be changed: for a look at what a cut will come to."""
        return replace(
            self,
            agents=dict(self.agents),
            operators=dict(self.operators),
            false=set(self.false),
            spent=dict(self.spent),
            waiting=dict(self.waiting),
        )

    def in_force(self, epoch: int, role: Role) -> Callable[[int], InForce | None]:
        """Give what `admission.check_claims` asks; `epoch` is the current one."""

        def asked(of: int) -> InForce | None:
            found = (self.bits, self.beacon) if of == epoch else self.before
            if of not in (epoch, epoch - 1) or found is None:
                return None
            bits, beacon = found
            rules = self.rules if of == epoch or self.former is None else self.former
            return InForce(terms=terms_of(rules, role, bits), beacon=beacon)

        return asked

    def most(self, admitted: int) -> int:
        """Give how many agents, and operators, one instance may admit in an epoch.

        `admitted` counts the agents of the realm.
        """
        share = self.rules.instance_share * admitted // MILLION
        return max(self.rules.instance_least, share)

    def count(self, role: Role, instance: InstanceId) -> int:
        """Count whom an instance has admitted in this epoch."""
        return self._counts(role).get(instance, 0)

    def note(self, role: Role, instance: InstanceId) -> None:
        """Count one admission."""
        counts = self._counts(role)
        counts[instance] = counts.get(instance, 0) + 1

    def turn(self, tick: int, beacon: Digest) -> None:
        """Begin the epoch of tick number `tick`, whose cut came to `beacon`."""
        admitted = sum(self.agents.values()) + sum(self.operators.values())
        self.before = (self.bits, self.beacon)
        self.former = None
        if self.coming is not None:
            self.former, self.rules, self.coming = self.rules, self.coming, None
        self.beacon = beacon
        self.bits = next_bits(
            self.bits,
            admitted,
            base=self.rules.agent_bits,
            target=self.rules.target,
            # A fold never fails, also under a charter whose two numbers are the wrong way round.
            most=max(self.rules.agent_bits, self.rules.most_bits),
        )
        self.agents.clear()
        self.operators.clear()
        self.false.clear()
        self.spent = {name: epoch for name, epoch in self.spent.items() if epoch >= tick - 1}

    def under(self, rules: Admission) -> None:
        """Take up another charter's section with the epoch that `turn` is about to begin.

        Its bits then start in the range that the section gives them.
        """
        self.coming = rules

    def room(self, operator_agents: int, established: int) -> int:
        """Give how many more agents an operator may have.

        `operator_agents` counts those that it answers for, `established` those of tier 1 or more.
        """
        rules = self.rules
        most = rules.operator_agents + rules.operator_growth * established
        return max(0, most - operator_agents)

    def row(self) -> list[object]:
        """Give all of it as one row of the world digest."""
        return [
            self.bits,
            self.beacon,
            self.before,
            sorted([name, count] for name, count in self.agents.items()),
            sorted([name, count] for name, count in self.operators.items()),
            sorted(self.false),
            sorted([name, epoch] for name, epoch in self.spent.items()),
            sorted([name, *since] for name, since in self.waiting.items()),
        ]

    def _counts(self, role: Role) -> dict[InstanceId, int]:
        return self.operators if role is Role.OPERATOR else self.agents
