"""From the fields that differ to what can explain it."""

import pytest

from federation.protocol.digest import TableName
from federation.protocol.rows import COLUMNS
from node.network.messages import Former
from node.network.serving import world_at
from node.network.worlds import Common, Difference
from node.queries.causes import (
    EVIDENCE,
    REST,
    SAID,
    TRUST,
    WHOLE,
    CauseCode,
    Fields,
    causes_of,
)
from tests.federation.protocol.town import Town

WORLD = world_at(Town.of(2, 4, seed="causes").world(), "1.0")
THERE = Former(digest=WORLD.digest, world_digest=bytes(32))
HERE = Former(digest=WORLD.digest, world_digest=WORLD.world_digest)
FOUND = Difference(ours=WORLD, theirs=WORLD, common=Common(cut=WORLD.cut, ours=HERE, theirs=THERE))


def codes(fields: Fields, *, is_whole: bool = True, is_outvoted: bool = False) -> list[CauseCode]:
    made = causes_of(FOUND, fields, is_whole=is_whole, is_outvoted=is_outvoted)
    assert all(cause.says.endswith(".") and cause.fix for cause in made)
    return [cause.code for cause in made]


def test_every_column_of_agents_points_to_one_cause() -> None:
    kinds = [SAID, EVIDENCE, TRUST, REST]

    assert sorted(name for kind in kinds for name in kind) == sorted([*COLUMNS["agents"], WHOLE])


@pytest.mark.parametrize("name", [one for one in TableName if one is not TableName.AGENTS])
def test_whatever_differs_in_other_tables_follows_from_records(name: TableName) -> None:
    for column in (*COLUMNS[name], WHOLE):
        assert codes({name: {column}}) == [CauseCode.RECORDS]


def test_the_cause_nearest_to_the_records_comes_first() -> None:
    fields: Fields = {
        TableName.AGENTS: {*EVIDENCE, *TRUST, *REST},
        TableName.ARTIFACTS: {"state"},
    }

    assert codes(fields, is_whole=False, is_outvoted=True) == [
        CauseCode.OWN_DAMAGE,
        CauseCode.OUTVOTED,
        CauseCode.RECORDS,
        CauseCode.EVIDENCE,
        CauseCode.TRUST,
    ]


def test_equal_versions_are_told_as_equal() -> None:
    (cause,) = causes_of(FOUND, {TableName.AGENTS: {"trust"}}, is_whole=True, is_outvoted=False)

    assert "both say that they run version 1.0" in cause.says


def test_nothing_that_differs_has_no_cause() -> None:
    assert codes({}) == []
