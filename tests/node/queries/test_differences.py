"""A difference is told row by row and field by field, with what each field means."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.codec import encode
from federation.protocol import World
from federation.protocol.digest import TableName
from federation.protocol.rows import COLUMNS
from node.network.messages import Former, WorldAt
from node.network.serving import world_at
from node.network.worlds import Common, Difference, RowPair
from node.queries.causes import CauseCode
from node.queries.differences import MEANINGS, Differences, Held, differences
from tests.federation.protocol.town import Town
from tests.node.queries.scenes import plain

TOWN = Town.of(2, 4, seed="differences").in_cut(1)
AGENT = TOWN.agent(0)
PEER = TOWN.founding.instances[1]


def here() -> World:
    return TOWN.world(0)


def level(*rows: RowPair, **changes: object) -> Difference:
    """Give a difference of two at one cut; their digests differ."""
    ours = world_at(here(), "1.0")
    theirs = world_at(here(), "1.1")
    common = Common(
        cut=ours.cut,
        ours=Former(digest=ours.digest, world_digest=ours.world_digest),
        theirs=Former(digest=theirs.digest, world_digest=bytes(32)),
    )
    made = Difference(ours=ours, theirs=theirs, common=common, rows=rows)
    return replace(made, **changes)  # type: ignore[arg-type] # fields by name


def agent_row(**changes: object) -> RowPair:
    """Give the row of an agent, and another that differs in some columns."""
    raw = here().state.tables.agents.rows()[AGENT]
    return RowPair(
        table=TableName.AGENTS, id=AGENT, ours=raw, theirs=changed(TableName.AGENTS, raw, changes)
    )


def changed(table: TableName, raw: bytes, changes: dict[str, object]) -> bytes:

    name, columns = msgspec.msgpack.decode(raw)
    by_name = dict(zip(COLUMNS[table], columns, strict=True))
    return encode([name, list({**by_name, **changes}.values())])


def explained(found: Difference) -> Differences:
    page = differences(here(), PEER, found)
    assert plain(page)
    return page


def codes(page: Differences) -> list[CauseCode]:
    return [cause.code for cause in page.causes]


def test_every_column_has_a_meaning_and_nothing_else_has() -> None:
    assert {name: set(columns) for name, columns in COLUMNS.items()} == {
        name.value: set(columns) for name, columns in MEANINGS.items()
    }


def test_rows_of_the_world_have_the_columns_that_are_named() -> None:
    for name in TableName:
        for raw in here().state.tables.named(name).rows().values():
            pair = RowPair(table=name, id=raw[3:35], ours=raw, theirs=encode([raw[3:35], []]))
            (row,) = explained(level(pair)).rows
            assert [field.field for field in row.fields] == list(COLUMNS[name])


def test_two_that_agree_need_no_explanation() -> None:
    world = world_at(here(), "1")
    same = Former(digest=world.digest, world_digest=world.world_digest)
    page = explained(
        Difference(ours=world, theirs=world, common=Common(cut=world.cut, ours=same, theirs=same))
    )

    assert page.same
    assert page.says == "Both are at cut 1, and their worlds are the same."
    assert (page.rows, page.causes) == ((), ())


def test_a_field_is_told_with_both_values_and_its_meaning() -> None:
    page = explained(level(agent_row(trust=7, badges=["arbiter"])))
    (row,) = page.rows
    trust, badges = row.fields

    assert (row.table, row.id, row.held) == ("agents", AGENT.hex(), Held.BOTH)
    assert row.name == "agent 0"
    assert (trust.field, trust.theirs) == ("trust", "7")
    assert trust.ours == str(here().state.agents[AGENT].trust)
    assert "share" in trust.means
    assert badges.theirs == "arbiter"
    assert page.peer.name == "instance 1"
    assert not page.same


def test_a_row_that_one_lacks_says_who_has_it() -> None:
    pair = agent_row()
    ours = explained(level(replace(pair, theirs=None)))
    theirs = explained(level(replace(pair, ours=None)))

    assert (ours.rows[0].held, ours.rows[0].fields) == (Held.OURS, ())
    assert theirs.rows[0].held is Held.THEIRS
    assert codes(ours) == codes(theirs) == [CauseCode.RECORDS]


def test_true_and_one_are_not_the_same_value() -> None:
    table, name = TableName.IDENTITIES, TOWN.founding.instances[0]
    raw = here().state.tables.identities.rows()[name]
    other = changed(table, raw, {"revoked": 0})
    (row,) = explained(level(RowPair(table=table, id=name, ours=raw, theirs=other))).rows

    assert [(one.field, one.ours, one.theirs) for one in row.fields] == [("revoked", "no", "0")]
    assert row.name == "instance 0"


def test_an_artifact_is_named_by_its_title() -> None:
    town = Town.of(1, 3, seed="differences titles")
    record = town.propose(0, "Water is wet")
    town.open_round(record)
    world = town.world(0)
    raw = world.state.tables.artifacts.rows()[record.id]
    pair = RowPair(table=TableName.ARTIFACTS, id=record.id, ours=raw, theirs=None)
    unknown = RowPair(table=TableName.ARTIFACTS, id=bytes(32), ours=None, theirs=raw)
    page = differences(world, PEER, level(pair, unknown))

    assert [row.name for row in page.rows] == ["Water is wet", None]


def test_the_lists_of_a_round_are_one_field() -> None:
    one, two = b"a" * 32, b"b" * 32
    pair = RowPair(
        table=TableName.ROUNDS,
        id=bytes(32),
        ours=encode([bytes(32), [one]]),
        theirs=encode([bytes(32), [one, two]]),
    )
    (row,) = explained(level(pair)).rows
    (field,) = row.fields

    assert (field.field, field.ours) == ("lists", one.hex())
    assert field.theirs == f"{one.hex()}, {two.hex()}"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"trust": 7}, [CauseCode.TRUST]),
        ({"ways": 9, "weight": 9}, [CauseCode.TRUST]),
        ({"alpha": 7}, [CauseCode.EVIDENCE]),
        ({"alpha": 7, "trust": 7, "weight": 7}, [CauseCode.EVIDENCE, CauseCode.TRUST]),
        ({"weight": 7}, [CauseCode.RECKONING]),
        ({"competence": 7, "tier": 1}, [CauseCode.RECKONING]),
        ({"vouches": bytes(32), "trust": 7}, [CauseCode.RECORDS, CauseCode.TRUST]),
        ({"operator": bytes(32)}, [CauseCode.RECORDS]),
        ({"another": 7}, [CauseCode.FORM]),
    ],
)
def test_the_fields_point_to_the_cause(
    changes: dict[str, object], expected: list[CauseCode]
) -> None:
    page = explained(level(agent_row(**changes)))

    assert codes(page) == expected
    assert all(cause.fix for cause in page.causes)


def test_other_trust_over_the_same_evidence_names_both_versions() -> None:
    (cause,) = explained(level(agent_row(trust=7))).causes

    assert cause.says.startswith("The same evidence")
    assert "version 1.0 here, 1.1 there" in cause.says


def with_theirs(found: Difference, **changes: object) -> Difference:

    theirs: WorldAt = msgspec.structs.replace(found.theirs, **changes)
    assert found.common is not None
    common = replace(
        found.common, theirs=Former(digest=theirs.digest, world_digest=b"other".ljust(32))
    )
    return replace(found, theirs=theirs, common=common)


def test_what_the_worlds_were_made_from_is_told_first() -> None:
    page = explained(with_theirs(level(agent_row(alpha=1)), digest=b"d" * 32, beacon=b"b" * 32))
    charter = explained(with_theirs(level(agent_row(alpha=1)), charter_hash=b"c" * 32))
    beacon = explained(with_theirs(level(), beacon=b"b" * 32))

    assert codes(page) == [CauseCode.HISTORY, CauseCode.EVIDENCE]
    assert codes(charter) == [CauseCode.CHARTER, CauseCode.EVIDENCE]
    assert codes(beacon) == [CauseCode.BEACON]


def test_a_peer_that_contradicts_itself_is_told_apart() -> None:
    page = explained(level(deceit="its rows do not add up"))

    assert codes(page) == [CauseCode.DECEIT]
    assert "contradicts" in page.says
    assert "its rows do not add up" in page.causes[0].says
    assert not page.same


def test_our_own_tables_are_doubted_first() -> None:
    town = Town.of(2, 4, seed="differences").in_cut(1)
    world = town.world(0)
    world.state.tables.agents.put(town.agent(0), [1])
    found = replace(level(), ours=world_at(world, "1"))

    assert codes(differences(world, PEER, found)) == [CauseCode.OWN_DAMAGE]
    # Once the world has gone on, that cannot be told any more.
    world.state.turn_to(2, bytes(32))
    assert codes(differences(world, PEER, found)) == []


def apart(*, equal: bool | None) -> Difference:
    """Give a difference with a peer that is a cut ahead."""
    found = level()

    theirs = msgspec.structs.replace(found.theirs, cut=2)
    ours = found.common.ours if found.common else None
    if equal is None or ours is None:
        return replace(found, theirs=theirs, common=None)
    other = ours if equal else Former(digest=ours.digest, world_digest=bytes(32))
    return replace(found, theirs=theirs, common=Common(cut=1, ours=ours, theirs=other))


def test_two_at_different_cuts_are_told_so_honestly() -> None:
    agree, unknown, differ = (explained(apart(equal=one)) for one in (True, None, False))

    assert agree.says.startswith("The peer is at cut 2, we at 1: the digests of cut 1 agree")
    assert (agree.same, unknown.same, differ.same) == (True, False, False)
    assert unknown.common is None
    assert "nothing can be said yet" in unknown.says
    assert "only because of the time between" in differ.says


@given(st.binary(max_size=300) | st.lists(st.text(max_size=300), max_size=3).map(encode))
def test_whatever_a_peer_had_hashed_is_shown_in_bounds(raw: bytes) -> None:
    pair = RowPair(table=TableName.AGENTS, id=AGENT, ours=agent_row().ours, theirs=raw)
    (row,) = explained(level(pair)).rows

    assert all(len(one.theirs or "") <= 201 for one in row.fields)


def test_a_huge_row_is_shown_in_bounds() -> None:
    columns: list[object] = [bytes(9_000), "x" * 9_000, list(range(1_000)), [[["y" * 900]]]]
    pair = RowPair(
        table=TableName.AGENTS,
        id=AGENT,
        ours=agent_row().ours,
        theirs=encode([AGENT, columns * 50]),
    )
    (row,) = explained(level(pair)).rows

    assert len(row.fields) <= 200
    assert all(len(one.theirs or "") <= 201 for one in row.fields)
