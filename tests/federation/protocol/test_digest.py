"""The world digest: what it depends on, and what it costs."""

import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.codec import encode
from federation.protocol import digest as subject
from federation.protocol.digest import (
    BUCKETS,
    Table,
    TableName,
    Tables,
    bucket_of,
    digest_of,
)
from tests.builders import named
from tests.strategies import binaries

ROWS = st.dictionaries(binaries(32), st.integers(0, 9), max_size=12)


def table(rows: dict[bytes, int], order: list[bytes] | None = None) -> Table:
    made = Table()
    for name in order or list(rows):
        made.put(name, [rows[name]])
    return made


def slow_root(rows: dict[bytes, int]) -> bytes:
    """Hash 4,096 buckets by the first 12 bits, in a way that shares nothing with the subject."""
    buckets: list[list[bytes]] = [[] for _ in range(4_096)]
    for name in sorted(rows):
        buckets[int(name.hex()[:3], 16)].append(encode([name, [rows[name]]]))
    hashes = [hashlib.sha256(b"".join(bucket)).digest() for bucket in buckets]
    return hashlib.sha256(b"".join(hashes)).digest()


def test_there_are_4096_buckets() -> None:
    assert BUCKETS == 4_096


@given(ROWS)
def test_a_root_is_the_hash_of_its_bucket_hashes(rows: dict[bytes, int]) -> None:
    assert table(rows).root() == slow_root(rows)


@given(ROWS, st.randoms(use_true_random=False))
def test_a_root_does_not_depend_on_the_order_of_rows(
    rows: dict[bytes, int], chance: random.Random
) -> None:
    order = list(rows)
    chance.shuffle(order)

    assert table(rows, order).root() == table(rows).root()


@given(ROWS, ROWS)
def test_a_root_kept_from_step_to_step_equals_one_made_from_scratch(
    before: dict[bytes, int], after: dict[bytes, int]
) -> None:
    kept = table(before)
    kept.root()
    for name, value in after.items():
        kept.put(name, [value])
        kept.root()

    assert kept.root() == table({**before, **after}).root()


@given(ROWS.filter(bool), st.data())
def test_a_root_changes_when_any_row_changes(rows: dict[bytes, int], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(rows)))

    assert table({**rows, name: rows[name] + 1}).root() != table(rows).root()


def test_two_rows_cannot_swap_their_names() -> None:
    one, two = bytes(32), bytes(31) + b"\1"

    assert table({one: 1, two: 2}).root() != table({one: 2, two: 1}).root()


def test_rows_gives_every_row_by_its_name() -> None:
    rows = {named("one"): 1, named("two"): 2}

    assert table(rows).rows() == {name: encode([name, [value]]) for name, value in rows.items()}


@given(ROWS)
def test_the_way_down_from_a_root_to_rows_can_be_verified(rows: dict[bytes, int]) -> None:
    made = table(rows)
    hashes = made.hashes()
    found: dict[bytes, bytes] = {}
    for number in range(BUCKETS):
        bucket = made.bucket(number)
        assert list(bucket) == sorted(bucket)
        assert all(bucket_of(name) == number for name in bucket)
        content = b"".join(bucket.values())
        assert hashlib.sha256(content).digest() == hashes[number * 32 : (number + 1) * 32]
        found |= bucket

    assert found == made.rows()
    assert hashlib.sha256(hashes).digest() == made.root()


def test_the_first_twelve_bits_of_an_id_name_its_bucket() -> None:
    assert bucket_of(bytes(32)) == 0
    assert bucket_of(b"\x00\x1f" + bytes(30)) == 1
    assert bucket_of(b"\xff" * 32) == BUCKETS - 1


def test_only_the_buckets_of_changed_rows_are_hashed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = {named("row", number): number for number in range(300)}
    made = table(rows)
    made.root()
    hashed: list[bytes] = []
    plain = subject.plain_hash

    def counting(content: bytes) -> bytes:
        hashed.append(content)
        return plain(content)

    monkeypatch.setattr(subject, "plain_hash", counting)
    # All are written again, as at a tick, and one of them has moved.
    for name, value in rows.items():
        made.put(name, [value + (value == 7)])
    made.root()

    assert len(hashed) == 2  # one bucket, and the root
    assert encode([named("row", 7), [8]]) in hashed[0]
    made.root()
    assert len(hashed) == 2


TABLES = ("artifacts", "agents", "identities", "members", "rounds")


def world_of(tables: Tables) -> bytes:
    """Give the world digest of tables, with all else fixed."""
    return tables.world_digest(3, named("c"), named("b"), named("j"))


@pytest.mark.parametrize("which", TABLES)
def test_the_world_digest_depends_on_every_table(which: str) -> None:
    empty, tables = Tables(), Tables()
    getattr(tables, which).put(named("row"), [1])

    assert world_of(tables) != world_of(empty)


def test_one_row_in_two_tables_gives_two_digests() -> None:
    digests = set()
    for which in TABLES:
        tables = Tables()
        getattr(tables, which).put(named("row"), [1])
        digests.add(world_of(tables))

    assert len(digests) == 5


def test_the_world_digest_depends_on_cut_charter_beacon_and_joining() -> None:
    tables = Tables()
    seen = {
        tables.world_digest(1, named("charter"), named("beacon"), named("joining")),
        tables.world_digest(2, named("charter"), named("beacon"), named("joining")),
        tables.world_digest(1, named("another"), named("beacon"), named("joining")),
        tables.world_digest(1, named("charter"), named("another"), named("joining")),
        tables.world_digest(1, named("charter"), named("beacon"), named("another")),
        tables.world_digest(1, named("charter"), named("joining"), named("beacon")),
    }

    assert len(seen) == 6


def test_each_table_is_found_by_its_name_and_has_its_place_in_the_digest() -> None:
    tables = Tables()
    for place, name in enumerate(TableName):
        assert tables.named(name) is getattr(tables, name.value)
        tables.named(name).put(named("row", place), [place])
    roots = tables.roots()

    assert tuple(roots) == TABLES
    assert len(set(roots.values())) == len(TABLES)
    assert digest_of(3, named("c"), named("b"), named("j"), roots) == world_of(tables)
    swapped = {**roots, TableName.AGENTS: roots[TableName.ROUNDS]}
    assert digest_of(3, named("c"), named("b"), named("j"), swapped) != world_of(tables)


def test_the_digest_of_the_empty_world_is_known() -> None:
    empty = hashlib.sha256(hashlib.sha256(b"").digest() * 4_096).digest()
    content = b"folkmoot/1/world" + encode([0, bytes(32), bytes(32), bytes(32), *[empty] * 5])

    made = Tables().world_digest(0, bytes(32), bytes(32), bytes(32))

    assert made == hashlib.sha256(content).digest()
