"""One author's records: a hash chain, or a tree where the author forked (design: records).

The tree is kept as branches: a run of ids without a turn, hanging on an id of another branch.
Which run is called the trunk depends on arrival order and shows nowhere in an answer. Whether one
record is an ancestor of another then costs the number of turns between them, not their distance.
"""

from collections.abc import Mapping

from federation.core import IdentityId, RecordId
from federation.identity import Fork

Heads = Mapping[IdentityId, tuple[tuple[int, RecordId], ...]]
"""Per author the (seq, id) of each record that has no successor, ascending."""


class Branch:
    """A run of one author's ids: `ids[i]` stands at seq `start + i`."""

    __slots__ = ("ids", "parent", "start")

    def __init__(self, parent: "Branch | None", start: int, first: RecordId) -> None:
        """Start a run with `first` at seq `start`, hanging on `parent` at the seq before."""
        self.parent = parent
        self.start = start
        self.ids = [first]

    def at(self, seq: int) -> RecordId:
        """Give the id at `seq` on the way from this branch down to the inception."""
        branch = self
        while branch.start > seq and branch.parent is not None:
            branch = branch.parent
        return branch.ids[seq - branch.start]


class Chain:
    """All stored ids of one author."""

    __slots__ = ("_splits", "by_seq", "count", "heads")

    def __init__(self) -> None:
        """Start empty; the first record must be the inception."""
        self.by_seq: list[tuple[RecordId, ...]] = []
        """Ids at each seq, ascending."""
        self.heads: dict[RecordId, int] = {}
        """Seq of each record without a successor."""
        self.count = 0
        self._splits: dict[tuple[int, RecordId], list[RecordId]] = {}

    @property
    def is_forked(self) -> bool:
        """Tell whether two records share one predecessor."""
        return bool(self._splits)

    def grow(self, new: RecordId, seq: int, prev: RecordId | None, under: Branch | None) -> Branch:
        """Add an id after `prev`, which stands on the branch `under`; give the id's branch."""
        self.count += 1
        self.heads[new] = seq
        if prev is None or under is None:
            self.by_seq.append((new,))
            return Branch(None, seq, new)
        self.heads.pop(prev, None)
        if seq == len(self.by_seq):
            self.by_seq.append((new,))
        else:
            self.by_seq[seq] = tuple(sorted((*self.by_seq[seq], new)))
        place = seq - under.start
        if place == len(under.ids):
            under.ids.append(new)
            return under
        self._splits.setdefault((seq, prev), [under.ids[place]]).append(new)
        return Branch(under, seq, new)

    def forks(self, author: IdentityId) -> list[Fork]:
        """Pair, at each split, the lowest id with every other: each sibling is named once."""
        found = []
        for (seq, _), siblings in self._splits.items():
            lowest, *others = sorted(siblings)
            found += [Fork(author, seq, lowest, other) for other in others]
        return sorted(found)

    def unheld(self, held: list[tuple[int, Branch]], most: int) -> list[RecordId]:
        """List at most `most` ids that are on the way to none of `held` (seq, branch), by seq."""
        start = 0 if self.is_forked else max((seq + 1 for seq, _ in held), default=0)
        found: list[RecordId] = []
        for seq in range(start, len(self.by_seq)):
            passed = {branch.at(seq) for top, branch in held if seq <= top}
            found += [one for one in self.by_seq[seq] if one not in passed]
            if len(found) >= most:
                break
        return found[:most]

    def head_list(self) -> tuple[tuple[int, RecordId], ...]:
        """List (seq, id) of the heads, ascending."""
        if len(self.heads) == 1:
            ((head, seq),) = self.heads.items()
            return ((seq, head),)
        return tuple(sorted((seq, head) for head, seq in self.heads.items()))
