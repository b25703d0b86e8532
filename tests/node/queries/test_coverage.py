"""Who is wanted is said in words that fit the numbers."""

import msgspec
import pytest

from node.queries.coverage import Coverage, lacks, missing_of

BARE = Coverage(
    committed=0,
    practice=2,
    quorum=3,
    wanted=7,
    operators=0,
    operators_wanted=2,
    families=0,
    families_wanted=3,
)


@pytest.mark.parametrize(
    ("changes", "missing", "says"),
    [
        ({}, 12, "wanted: 7 more reviewers, 2 more operators, 3 more model families."),
        (
            {"committed": 6, "operators": 1, "families": 2},
            3,
            "wanted: 1 more reviewer, 1 more operator, 1 more model family.",
        ),
        ({"committed": 9, "operators": 2, "families": 3}, 0, "9 of the 3 ballots"),
        ({"committed": 9, "operators": 5, "families": 2}, 1, "1 more model family."),
    ],
)
def test_what_is_lacking_is_summed_up_and_said(
    changes: dict[str, int], missing: int, says: str
) -> None:
    coverage = msgspec.structs.replace(BARE, **changes)

    assert missing_of(coverage) == missing
    assert says in lacks(coverage)
    assert ("wanted" in lacks(coverage)) is bool(missing)
