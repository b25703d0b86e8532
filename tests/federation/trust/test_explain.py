from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from federation.charter import preset
from federation.core import MILLION
from federation.trust import Bound, Entry, Evidence, EvidenceKind, Ledger
from federation.trust.explain import shared
from tests.federation.trust.evidence_rows import ANN, BEN, says

TRUST = preset("community").trust
TIGHT = changed(TRUST, window=4, farm_cap=4 * MILLION, farm_source_cap=2 * MILLION)
HARSH = changed(TIGHT, farm_cap=MILLION, farm_source_cap=800_000, window=3)
"""So low that a handful of rows meets every cap, and frees it again."""


def _ledger(rows: list[Evidence], trust: object = TRUST) -> Ledger:
    ledger = Ledger(trust)  # type: ignore[arg-type]
    ledger.add(rows)
    return ledger


def test_nothing_has_no_entries() -> None:
    assert _ledger([]).explain(ANN, 9) == ()
    assert _ledger([says(1, 5, subject=BEN)]).explain(ANN, 9) == ()


def test_an_entry_tells_what_the_discount_and_the_decay_took() -> None:
    first, second = says(0, MILLION), says(10, 0, MILLION, cause=1)

    assert _ledger([second, first]).explain(ANN, 100) == (
        Entry(
            evidence=first,
            earlier=0,
            discounted_positive=MILLION,
            discounted_negative=0,
            credited=MILLION,
            positive=367_879,
            negative=0,
            bounds=(),
        ),
        Entry(
            evidence=second,
            earlier=1,
            discounted_positive=0,
            discounted_negative=833_333,
            credited=0,
            positive=0,
            negative=338_807,
            bounds=(),
        ),
    )


def test_later_rows_are_left_out() -> None:
    ledger = _ledger([says(3, MILLION), says(5, MILLION, cause=1)])

    assert [entry.evidence.tick for entry in ledger.explain(ANN, 4)] == [3]


def test_what_a_source_cap_takes_is_borne_in_proportion() -> None:
    rows = [says(1, 4 * MILLION), says(1, 0, 7, cause=1), says(1, MILLION, source=2, cause=2)]
    found = _ledger(rows, TIGHT).explain(ANN, 1)

    assert [entry.credited for entry in found] == [2 * MILLION, 0, MILLION]
    assert [entry.bounds for entry in found] == [(Bound.SOURCE_CAP,), (), ()]
    two = [says(1, 3 * MILLION), says(1, 1_200_000, cause=1)]
    # Asked 3 and 1.2 · 5/6 = 1 of a cap of 2.
    assert [e.credited for e in _ledger(two, TIGHT).explain(ANN, 1)] == [1_500_000, 500_000]


def test_what_the_farming_cap_takes_is_borne_in_proportion() -> None:
    rows = [says(1, 1_500_000, source=n, cause=n) for n in range(4)]
    found = _ledger(rows, TIGHT).explain(ANN, 1)

    assert [entry.credited for entry in found] == [MILLION] * 4
    assert {entry.bounds for entry in found} == {(Bound.FARM_CAP,)}
    late = _ledger([*rows, says(4, MILLION, source=9)], TIGHT).explain(ANN, 4)[-1]
    assert (late.discounted_positive, late.credited) == (MILLION, 0)
    assert late.bounds == (Bound.FARM_CAP,)


def test_the_farming_cap_looks_back_one_window_and_no_further() -> None:
    rows = [says(1, 2 * MILLION, source=n, cause=n) for n in range(2)]
    early, late = says(4, MILLION, source=9), says(5, MILLION, source=9)

    assert _ledger([*rows, early], TIGHT).explain(ANN, 5)[-1].credited == 0
    assert _ledger([*rows, late], TIGHT).explain(ANN, 5)[-1].credited == MILLION


def test_a_row_can_be_bound_by_both_caps() -> None:
    rows = [says(1, 9 * MILLION, source=n, cause=n) for n in range(3)]

    for entry in _ledger(rows, TIGHT).explain(ANN, 1):
        assert entry.bounds == (Bound.SOURCE_CAP, Bound.FARM_CAP)
        assert entry.credited in {1_333_333, 1_333_334}


@pytest.mark.parametrize(
    ("total", "parts", "expected"),
    [
        (0, [], []),
        (0, [3, 4], [0, 0]),
        (10, [0, 0], [0, 0]),
        (2, [1, 1, 1], [0, 1, 1]),
        (7, [3, 4], [3, 4]),
        (3, [0, 5, 0], [0, 3, 0]),
    ],
)
def test_a_total_is_shared_in_proportion(total: int, parts: list[int], expected: list[int]) -> None:
    assert shared(total, parts) == expected


@given(parts=st.lists(st.integers(0, 10**9), max_size=9), data=st.data())
def test_shares_add_up_and_none_is_above_its_part(parts: list[int], data: st.DataObject) -> None:
    total = data.draw(st.integers(0, sum(parts)))
    found = shared(total, parts)

    assert sum(found) == total
    for share, part in zip(found, parts, strict=True):
        assert 0 <= share <= part
        assert abs(share * sum(parts) - total * part) < max(sum(parts), 1)


ROWS = st.builds(
    says,
    st.integers(0, 12),
    st.integers(0, 3 * MILLION),
    st.integers(0, 2 * MILLION),
    cause=st.integers(0, 3),
    source=st.integers(1, 3),
    subject=st.sampled_from([ANN, BEN]),
    kind=st.sampled_from(EvidenceKind),
    topic=st.sampled_from(["", "law", "science"]),
)


@given(rows=st.lists(ROWS, max_size=16), tick=st.integers(0, 40))
def test_the_entries_add_up_to_the_standing_exactly(rows: list[Evidence], tick: int) -> None:
    for trust in (HARSH, TIGHT, TRUST):
        ledger = _ledger(rows, trust)
        entries = ledger.explain(ANN, tick)
        standing = ledger.standing(ANN, tick)

        assert [entry.evidence for entry in entries] == [
            row for row in ledger.rows(ANN) if row.tick <= tick
        ]
        assert standing.alpha == MILLION + sum(entry.positive for entry in entries)
        assert standing.beta == MILLION + sum(entry.negative for entry in entries)
        if tick >= 12:
            credited = sum(entry.credited for entry in entries)
            assert ledger.undecayed(ANN).alpha == MILLION + credited
        for entry in entries:
            row = entry.evidence
            assert 0 <= entry.positive <= entry.credited <= entry.discounted_positive
            assert entry.discounted_positive <= row.positive
            assert 0 <= entry.negative <= entry.discounted_negative <= row.negative
            # Whatever is missing between the two has a cap for its reason.
            assert entry.bounds or entry.credited == entry.discounted_positive


@given(rows=st.lists(ROWS, max_size=30))
def test_no_stream_of_evidence_earns_more_than_the_farming_caps(rows: list[Evidence]) -> None:
    by_tick: dict[int, int] = defaultdict(int)
    by_source: dict[tuple[bytes, int], int] = defaultdict(int)
    for entry in _ledger(rows, HARSH).explain(ANN, 12):
        by_tick[entry.evidence.tick] += entry.credited
        by_source[entry.evidence.source, entry.evidence.tick] += entry.credited

    for first in range(13):
        window = range(first, first + HARSH.window)
        assert sum(by_tick[tick] for tick in window) <= HARSH.farm_cap
    assert all(sum_ <= HARSH.farm_source_cap for sum_ in by_source.values())


# By topic.


def test_reputation_is_kept_by_topic() -> None:
    ledger = _ledger(
        [
            says(1, MILLION, topic="science"),
            says(2, 0, MILLION, source=2, cause=1, topic="law"),
            says(2, MILLION, source=3, cause=2),
        ],
        changed(TRUST, decay=0),
    )
    found = ledger.by_topic(ANN, 2)

    assert list(found) == ["", "law", "science"]
    assert {topic: one.r for topic, one in found.items()} == {
        "": 666_666, "law": 333_333, "science": 666_666
    }  # fmt: skip
    assert [one.interactions for one in found.values()] == [1, 1, 1]
    assert list(ledger.by_topic(ANN, 1)) == ["science"]
    assert ledger.by_topic(BEN, 2) == {}


def test_spreading_over_topics_is_no_way_around_the_caps() -> None:
    rows = [says(1, 3 * MILLION, source=n, cause=n, topic=f"t{n}") for n in range(20)]
    found = _ledger(rows).by_topic(ANN, 1)

    assert sum(one.alpha - MILLION for one in found.values()) == TRUST.farm_cap


@given(rows=st.lists(ROWS, max_size=14), tick=st.integers(0, 40))
def test_topics_together_are_the_whole(rows: list[Evidence], tick: int) -> None:
    ledger = _ledger(rows, TIGHT)
    standing = ledger.standing(ANN, tick)
    topics = ledger.by_topic(ANN, tick)

    assert standing.alpha == MILLION + sum(one.alpha - MILLION for one in topics.values())
    assert standing.beta == MILLION + sum(one.beta - MILLION for one in topics.values())
    # One outcome has one topic, unless hostile rows say otherwise.
    assert standing.interactions <= sum(one.interactions for one in topics.values())
