"""Where records are found again: by the round their body names, by kind, by author.

Only ids are kept, so that a record whose text is dropped is dropped in one place. Which of these
records *count* in their round is not judged here.
"""

from collections.abc import Mapping, Sequence

from federation.core import IdentityId, RecordId, RoundId
from federation.records import Record


class RoundIndex:
    """Ids of records by round, kind and author."""

    def __init__(self) -> None:
        """Start empty."""
        self._of_kind: dict[str, list[RecordId]] = {}
        self._of_round: dict[RoundId, dict[str, list[RecordId]]] = {}
        self._of_author: dict[tuple[IdentityId, RoundId, str], list[RecordId]] = {}

    def add(self, record: Record) -> None:
        """Take in a record, once."""
        name, kind = record.id, record.kind
        self._of_kind.setdefault(kind, []).append(name)
        round_id = round_of(record)
        if round_id is not None:
            kinds = self._of_round.get(round_id)
            if kinds is None:
                kinds = self._of_round[round_id] = {}
            kinds.setdefault(kind, []).append(name)
            # An author says most things once in a round.
            key = (record.author, round_id, kind)
            said = self._of_author.get(key)
            if said is None:
                self._of_author[key] = [name]
            else:
                said.append(name)

    def of_kind(self, kind: str) -> Sequence[RecordId]:
        """List the ids of a kind, ascending."""
        return _ascending(self._of_kind.get(kind, []))

    def of_round(self, round_id: RoundId) -> Mapping[str, Sequence[RecordId]]:
        """List the ids whose body names a round, by kind, each list ascending."""
        kinds = self._of_round.get(round_id, {})
        return {kind: _ascending(kinds[kind]) for kind in sorted(kinds)}

    def of_author(self, author: IdentityId, round_id: RoundId, kind: str) -> Sequence[RecordId]:
        """List an author's ids of a kind in a round, all branches, ascending."""
        return _ascending(self._of_author.get((author, round_id, kind), []))


def round_of(record: Record) -> RoundId | None:
    """Give the round that a record's body names, if it names one."""
    name = getattr(record.body, "round", None)
    return name if isinstance(name, bytes) else None


def _ascending(ids: list[RecordId]) -> list[RecordId]:
    # Sorted in place: all but the newest are in order already, which is what this sort is fast at.
    ids.sort()
    return ids
