from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import (
    Position,
    blob_hash,
    chains_blob,
    chains_from_blob,
    positions_blob,
    positions_from_blob,
)
from federation.certificates.blobs import MOST_CHAINED
from federation.codec import encode
from federation.core import Code, PeerError
from federation.crypto import Domain, digest
from tests.federation.certificates.hall import name

HASHES = st.binary(min_size=32, max_size=32)
BEACON = b"b" * 32


@given(
    held=st.dictionaries(
        HASHES,
        st.lists(st.sets(HASHES, min_size=1, max_size=3), min_size=1, max_size=4),
        max_size=5,
    )
)
@settings(max_examples=50)
def test_chains_survive_their_blob(held: dict[bytes, list[set[bytes]]]) -> None:
    blob = chains_blob(
        {author: [list(ids) for ids in levels] for author, levels in held.items()}, beacon=BEACON
    )

    assert chains_from_blob(blob) == {
        author: tuple(tuple(sorted(ids)) for ids in levels) for author, levels in held.items()
    }


@given(held=st.dictionaries(HASHES, st.tuples(st.integers(0, 2**40), HASHES), max_size=5))
@settings(max_examples=50)
def test_positions_survive_their_blob(held: dict[bytes, tuple[int, bytes]]) -> None:
    positions = {author: Position(seq=seq, head=head) for author, (seq, head) in held.items()}

    assert positions_from_blob(positions_blob(positions)) == positions


def test_the_forms_are_those_of_the_design() -> None:
    a, b = b"a" * 32, b"b" * 32

    assert chains_blob({b: [[b]], a: [[b, a], [a]]}, beacon=BEACON) == encode(
        [[a, [[a, b], [a]]], [b, [[b]]]]
    )
    assert positions_blob({b: Position(seq=2, head=a), a: Position(seq=0, head=b)}) == encode(
        [[a, 0, b], [b, 2, a]]
    )
    assert blob_hash(b"x") == digest(Domain.BLOB, b"x")


def test_a_backlog_is_shared_evenly_and_the_rest_goes_in_the_order_of_the_beacon() -> None:
    held = {name("author", i): [[name(i, k)] for k in range(3)] for i in range(4)}

    first = chains_from_blob(chains_blob(held, beacon=BEACON, most=7))
    other = chains_from_blob(chains_blob(held, beacon=b"z" * 32, most=7))

    assert sorted(map(len, first.values())) == sorted(map(len, other.values())) == [1, 1, 2, 3]
    assert {author for author, levels in first.items() if len(levels) == 3} != {
        author for author, levels in other.items() if len(levels) == 3
    }


def test_admitted_authors_move_before_a_crowd_of_strangers() -> None:
    crowd = {name("stranger", i): [[name(i, k)] for k in range(8)] for i in range(50)}
    friends = {name("friend", i): [[name("f", i, k)] for k in range(5)] for i in range(3)}

    found = chains_from_blob(
        chains_blob({**crowd, **friends}, beacon=BEACON, admitted=set(friends), most=20)
    )

    assert all(len(found[friend]) == 5 for friend in friends)
    assert sum(len(levels) for author, levels in found.items() if author in crowd) == 5


def counts(found: dict[bytes, object], authors: Iterable[bytes]) -> int:
    return sum(author in found for author in authors)


def test_neither_a_crowd_nor_a_flood_keeps_members_and_newcomers_from_moving() -> None:
    members = {name("member", i): [[name("m", i, k)] for k in range(5)] for i in range(4)}
    # A hostile member admits as many agents as it likes, and each of them has something to say.
    crowd = {name("crowd", i): [[name("c", i)]] for i in range(200)}
    flood = {name("flood"): [[name("f", k)] for k in range(500)]}
    newcomers = {name("new", i): [[name("n", i)]] for i in range(6)}

    held = {**members, **crowd, **flood, **newcomers}
    found = chains_from_blob(
        chains_blob(held, beacon=BEACON, members=set(members), admitted={*crowd, *flood}, most=64)
    )

    assert all(len(found[member]) == 5 for member in members)
    assert counts(found, newcomers) == 6
    assert sum(len(ids) for levels in found.values() for ids in levels) == 64


def test_a_flood_by_a_member_leaves_room_for_everybody_else() -> None:
    members = {name("member", i): [[name("m", i, k)] for k in range(100)] for i in range(2)}
    agents = {name("agent", i): [[name("a", i)]] for i in range(4)}
    newcomers = {name("new", i): [[name("n", i)]] for i in range(4)}

    found = chains_from_blob(
        chains_blob(
            {**members, **agents, **newcomers},
            beacon=BEACON,
            members=set(members),
            admitted=set(agents),
            most=32,
        )
    )

    assert counts(found, agents) == counts(found, newcomers) == 4
    assert sorted(len(found[member]) for member in members) == [12, 12]


def test_what_one_group_leaves_free_another_may_use() -> None:
    newcomers = {name("new", i): [[name("n", i, k)] for k in range(2)] for i in range(3)}
    agent = {name("agent"): [[name("a", k)] for k in range(50)]}

    few = chains_from_blob(
        chains_blob({**agent, **newcomers}, beacon=BEACON, admitted=set(agent), most=40)
    )
    alone = chains_from_blob(chains_blob(agent, beacon=BEACON, admitted=set(agent), most=40))

    assert counts(few, newcomers) == 3
    assert len(few[name("agent")]) == 35
    assert len(alone[name("agent")]) == 40


def test_one_chain_longer_than_the_limit_still_moves() -> None:
    author = b"a" * 32
    held = {author: [[name(k), name("fork", k)] for k in range(5)]}

    levels = chains_from_blob(chains_blob(held, beacon=BEACON, most=7))[author]

    assert len(levels) == 3
    assert chains_from_blob(chains_blob(held, beacon=BEACON, most=1)) == {}


@pytest.mark.parametrize(
    "rows",
    [
        "text",
        [[b"a" * 32, []]],
        [[b"a" * 32, [[]]]],
        [[b"a" * 32, [[b"b" * 32, b"a" * 32]]]],
        [[b"b" * 32, [[b"b" * 32]]], [b"a" * 32, [[b"b" * 32]]]],
    ],
)
def test_chains_of_another_form_are_refused(rows: object) -> None:
    with pytest.raises(PeerError) as refusal:
        chains_from_blob(encode(rows))

    assert refusal.value.code is Code.NOT_CANONICAL


def test_chains_have_a_limit() -> None:
    ids = [[name(i)] for i in range(MOST_CHAINED + 1)]
    with pytest.raises(PeerError) as refusal:
        chains_from_blob(encode([[b"a" * 32, ids]]))

    assert refusal.value.code is Code.TOO_LARGE


def test_positions_out_of_order_are_refused() -> None:
    row = [b"a" * 32, 0, b"h" * 32]
    with pytest.raises(PeerError):
        positions_from_blob(encode([row, row]))
