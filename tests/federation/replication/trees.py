"""Chains with forks, rotations and revocations, for tests that try every order."""

from hypothesis import strategies as st

from federation.records import AgentDeclare, Record, Revoke, RevokeBy, Role
from tests.builders import Chain, argue, named, person

Step = tuple[int, int, str]
"""(author, which of the author's earlier pens to write after, what to write)."""
OPS = (
    *("say", "say", "say", "argue", "argue"),
    *("rotate", "recover", "old recovery", "revoke", "revoke", "end"),
)
RESTORES = ("recover", "old recovery")
AUTHORS = 2
ROUND = named("round")

steps: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(st.integers(0, AUTHORS - 1), st.integers(0, 9), st.sampled_from(OPS)), max_size=14
)


def declare(model: str) -> AgentDeclare:
    return AgentDeclare(family="f", provider="p", model=model)


class Grove:
    """Authors who may write after any of their earlier records, each time another record."""

    def __init__(self, authors: int = AUTHORS) -> None:
        self.pens = [[Chain(person(Role.AGENT, number))] for number in range(authors)]
        self.records = [pens[0].head for pens in self.pens]
        self.accepted = {record.id for record in self.records}
        """Ids that every node must accept, if it sees them and all before them."""

    def write(self, step: Step) -> Record:
        author, which, op = step
        pens = self.pens[author]
        # Counted from the end, so that long chains are as common as wide ones.
        before = pens[-1 - which % len(pens)]
        pen = before.fork()
        tag = str(len(self.records))
        match op:
            case "say":
                pen.say(declare(tag))
            case "argue":
                pen.say(*argue(ROUND, f"argument {tag}"), at=len(self.records))
            case "rotate":
                pen.rotate(reason=tag)
            case "recover":
                pen.recover(reason=tag)
            case "old recovery":
                pen.rescue = pen.identity.recovery(0)
                pen.recover(reason=tag)
            case "revoke":
                pen.revoke(RevokeBy.CURRENT, reason=tag)
            case _:
                pen.revoke(RevokeBy.RECOVERY, reason=tag)
        pens.append(pen)
        self.records.append(pen.head)
        if before.head.id in self.accepted and _may_follow(before.head, op):
            self.accepted.add(pen.head.id)
        return pen.head

    def grow(self, steps: list[Step]) -> list[Record]:
        for step in steps:
            self.write(step)
        return self.records


def _may_follow(record: Record, op: str) -> bool:
    if not isinstance(record.body, Revoke):
        return True
    return record.body.by is RevokeBy.CURRENT and op in RESTORES


def ancestors(records: list[Record]) -> dict[bytes, list[bytes]]:
    """Walk each record down to its inception, slowly: the answer that trees are checked against."""
    by_id = {record.id: record for record in records}
    found = {}
    for record in records:
        line = [record.id]
        while (prev := by_id[line[-1]].prev) is not None:
            line.append(prev)
        found[record.id] = line
    return found
