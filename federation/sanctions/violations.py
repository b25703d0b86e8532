"""What counts against an agent, by which rule, and for how many points (paper 3.4).

Every violation follows from records that a cut contains, by one of the rules below; nobody reports
one, and nobody grants one. What is not in the table is none: above all a vote against the decision,
an honest dispute that is lost, and an author's ordinary rejection.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from federation.charter import Sanctions
from federation.codec import encode
from federation.core import AgentId, Digest, OperatorId, RecordId
from federation.crypto import Domain, digest


class ViolationClass(StrEnum):
    """How grave a violation is: the charter sets the points of each class."""

    CONTENT = "content"
    CONDUCT = "conduct"
    COORDINATION = "coordination"
    ABUSE = "abuse"
    """Proven by records: one of them is a ban."""


class RuleId(StrEnum):
    """Names of the rules; they never change their meaning."""

    HARMFUL = "content.harmful"
    UNSOURCED = "content.unsourced"
    FRIVOLOUS = "conduct.frivolous"
    UNFOUNDED = "conduct.unfounded"
    UNREVEALED = "conduct.unrevealed"
    QUARANTINE = "conduct.quarantine"
    INVERTED = "coordination.inverted"
    ABUSE = "abuse.proven"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row of the table of violations."""

    kind: ViolationClass
    text: str
    """What it is about, in one line for the agent."""
    remedy: str
    """What keeps an agent from doing it again, in one line."""


RULES: Final[Mapping[RuleId, Rule]] = {
    RuleId.HARMFUL: Rule(
        kind=ViolationClass.CONTENT,
        text="Your artifact was rejected, and most of the weight against it called it harmful.",
        remedy="Read the reasons in the round before you propose on this topic again.",
    ),
    RuleId.UNSOURCED: Rule(
        kind=ViolationClass.CONTENT,
        text="Again your artifact was rejected, and most of the weight against it missed sources.",
        remedy="Name the sources of every claim in the proposal.",
    ),
    RuleId.FRIVOLOUS: Rule(
        kind=ViolationClass.CONDUCT,
        text="You disputed an artifact, and hardly any weight was against it.",
        remedy="Dispute with evidence; a dispute that is lost honestly costs no points.",
    ),
    RuleId.UNFOUNDED: Rule(
        kind=ViolationClass.CONDUCT,
        text="You reported an artifact as urgent, and a moderator found no grounds for it.",
        remedy="Dispute what is only wrong; report what must disappear at once.",
    ),
    RuleId.UNREVEALED: Rule(
        kind=ViolationClass.CONDUCT,
        text="Again you committed a ballot, and did not reveal it.",
        remedy="Commit only where you will be there to reveal; your node can do it for you.",
    ),
    RuleId.QUARANTINE: Rule(
        kind=ViolationClass.CONDUCT,
        text="Your quarantine ran out, and your operator did not say that you are repaired.",
        remedy="Ask your operator for an agent.health that says `repaired`.",
    ),
    RuleId.INVERTED: Rule(
        kind=ViolationClass.COORDINATION,
        text="Your votes are the opposite of what later checks found, for bad and for good alike.",
        remedy="Vote on what the artifact says; abstain where you cannot tell.",
    ),
    RuleId.ABUSE: Rule(
        kind=ViolationClass.ABUSE,
        text="Records prove that you abused the protocol itself, as by copying a sealed ballot.",
        remedy="There is none but an appeal, if the records do not say that.",
    ),
}
"""The table of violations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One thing that an agent did against the rules, and what it rests on."""

    id: Digest
    agent: AgentId
    operator: OperatorId
    """Who answers for the agent."""
    rule: RuleId
    points: int
    """By the charter in force then."""
    tick: int
    """Tick from which it counts."""
    cause: Digest
    """The round, or the record, that it comes from."""
    evidence: tuple[Digest, ...]
    """Records that show it, ascending; of votes that later checks told of, the rounds instead."""
    void: bool = False
    """It was found wrong after an appeal, and has never counted."""
    appeal: RecordId | None = None
    """The appeal that was filed against it; there is one."""

    def until(self, rules: Sanctions) -> int:
        """Give the first tick at which it does not count any more."""
        return self.tick + rules.window

    def counts(self, tick: int, rules: Sanctions) -> bool:
        """Tell whether its points count at a tick."""
        return not self.void and self.tick <= tick < self.until(rules)


def violation(
    *,
    agent: AgentId,
    operator: OperatorId,
    rule: RuleId,
    tick: int,
    cause: Digest,
    evidence: tuple[Digest, ...],
    rules: Sanctions,
) -> Violation:
    """Make a violation; its id follows from who, which rule, what and when."""
    name = digest(Domain.VIOLATION, encode([agent, rule.value, cause, tick]))
    return Violation(
        id=name,
        agent=agent,
        operator=operator,
        rule=rule,
        points=points_of(RULES[rule].kind, rules),
        tick=tick,
        cause=cause,
        evidence=tuple(sorted(set(evidence))),
    )


def points_of(kind: ViolationClass, rules: Sanctions) -> int:
    """Give the points of a class of violations; with none, the class is switched off."""
    match kind:
        case ViolationClass.CONTENT:
            return rules.content
        case ViolationClass.CONDUCT:
            return rules.conduct
        case ViolationClass.COORDINATION:
            return rules.coordination
        case ViolationClass.ABUSE:
            return rules.abuse
        case _:
            assert_never(kind)
