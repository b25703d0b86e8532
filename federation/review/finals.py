"""The certified lists of a round, with the records that they name.

A list is final once its certificate is: nothing that arrives later changes it. The box is the
list of commitments that count: `commit`, together with `commit2` where the round was widened.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from federation.certificates import ListValue, Phase, VoidValue
from federation.core import AgentId, Digest, RecordId
from federation.records import Commit, Record, SealArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalList:
    """One phase's certified list."""

    digest: Digest
    """Digest of the certified value: what the records of the next phase name in `after`."""
    records: tuple[Record, ...] = ()
    """The listed records; a node that holds the certificate holds them."""
    void: bool = False
    """Certified as too late: the list is empty."""


Finals: TypeAlias = Mapping[Phase, FinalList]


def final_list(
    value: ListValue | VoidValue, digest: Digest, held: Mapping[RecordId, Record]
) -> FinalList:
    """Join a certified value with the records that it names; `held` must have all of them."""
    if isinstance(value, VoidValue):
        return FinalList(digest=digest, void=True)
    return FinalList(digest=digest, records=tuple(held[record] for record in value.records))


def listed(finals: Finals, phase: Phase) -> tuple[Record, ...]:
    """Give the records that a phase lists; none if it was left out or is not final."""
    final = finals.get(phase)
    return () if final is None else final.records


def box(finals: Finals) -> tuple[Record, ...]:
    """Give the commitments that count."""
    return listed(finals, Phase.COMMIT) + listed(finals, Phase.COMMIT2)


def box_digest(finals: Finals) -> Digest | None:
    """Give the digest that every reveal names; None while nothing is certified."""
    final = finals.get(Phase.COMMIT2) or finals.get(Phase.COMMIT)
    return None if final is None else final.digest


def commitments(finals: Finals) -> dict[AgentId, Digest]:
    """Map each voter in the box to its commitment; a list holds one of each."""
    return dict(_commitments(finals))


def seals(finals: Finals) -> dict[AgentId, Digest]:
    """Map each author of a listed sealed assessment to its commitment."""
    return {
        record.author: record.body.commitment
        for record in listed(finals, Phase.SEAL)
        if isinstance(record.body, SealArgument)
    }


def _commitments(finals: Finals) -> Iterator[tuple[AgentId, Digest]]:
    for record in box(finals):
        if isinstance(record.body, Commit):
            yield record.author, record.body.commitment
