from hypothesis import given
from hypothesis import strategies as st

from federation.core import RecordId
from federation.identity import Fork
from federation.replication.chains import Branch, Chain
from tests.builders import named

AUTHOR = named("author")

# Each number picks the predecessor of the next record among the earlier ones, counted from the
# newest: zeros make one chain, large numbers forks near its root.
trees = st.lists(st.integers(0, 30), max_size=30)


class Tree:
    """A chain under test, and the same tree as a plain map of predecessors."""

    def __init__(self, picks: list[int]) -> None:
        self.chain = Chain()
        self.branch: dict[RecordId, Branch] = {}
        self.seq: dict[RecordId, int] = {}
        self.prev: dict[RecordId, RecordId | None] = {}
        self.ids: list[RecordId] = []
        self.add(None)
        for pick in picks:
            self.add(self.ids[-1 - pick % len(self.ids)])

    def add(self, prev: RecordId | None) -> None:
        new = named("record", len(self.ids))
        self.seq[new] = 0 if prev is None else self.seq[prev] + 1
        under = None if prev is None else self.branch[prev]
        self.branch[new] = self.chain.grow(new, self.seq[new], prev, under)
        self.prev[new] = prev
        self.ids.append(new)

    def line(self, head: RecordId) -> list[RecordId]:
        """List the ids on the way to `head`, from the inception."""
        line = [head]
        while (prev := self.prev[line[-1]]) is not None:
            line.append(prev)
        return line[::-1]

    def children(self, of: RecordId) -> list[RecordId]:
        return sorted(one for one, prev in self.prev.items() if prev == of)


@given(picks=trees)
def test_a_branch_knows_every_id_on_the_way_down(picks: list[int]) -> None:
    tree = Tree(picks)

    for head in tree.ids:
        line = tree.line(head)
        assert [tree.branch[head].at(seq) for seq in range(len(line))] == line


@given(picks=trees)
def test_heads_are_the_ids_without_a_successor(picks: list[int]) -> None:
    tree = Tree(picks)
    heads = [(tree.seq[one], one) for one in tree.ids if not tree.children(one)]

    assert tree.chain.head_list() == tuple(sorted(heads))
    assert tree.chain.count == len(tree.ids)


@given(picks=trees)
def test_ids_at_a_seq_are_sorted_and_complete(picks: list[int]) -> None:
    tree = Tree(picks)

    for seq, ids in enumerate(tree.chain.by_seq):
        assert list(ids) == sorted(one for one in tree.ids if tree.seq[one] == seq)
    assert sum(map(len, tree.chain.by_seq)) == len(tree.ids)


@given(picks=trees)
def test_every_fork_is_named_once_by_its_lowest_sibling(picks: list[int]) -> None:
    tree = Tree(picks)
    expected = []
    for one in tree.ids:
        siblings = tree.children(one)
        expected += [Fork(AUTHOR, tree.seq[one] + 1, siblings[0], other) for other in siblings[1:]]

    assert tree.chain.forks(AUTHOR) == sorted(expected)
    assert tree.chain.is_forked == bool(expected)


@given(picks=trees, held=st.lists(st.integers(0, 30), max_size=3), most=st.integers(1, 40))
def test_what_is_not_held_is_listed_after_its_predecessor(
    picks: list[int], held: list[int], most: int
) -> None:
    tree = Tree(picks)
    heads = [tree.ids[one % len(tree.ids)] for one in held]
    has = {one for head in heads for one in tree.line(head)}
    found = tree.chain.unheld([(tree.seq[head], tree.branch[head]) for head in heads], most)

    assert len(found) == min(most, len(tree.ids) - len(has))
    assert not has & set(found)
    for index, one in enumerate(found):
        assert tree.prev[one] in {None, *has, *found[:index]}


def test_a_long_chain_without_a_turn_is_one_branch() -> None:
    tree = Tree([0] * 30)

    assert len({id(branch) for branch in tree.branch.values()}) == 1
