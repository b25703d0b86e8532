import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from federation.core import MILLION
from federation.records import TrustHead, TrustRow, trust_head_root
from federation.trust.eigentrust import HEAVIEST
from federation.trust.foreign import (
    EXPIRY,
    HALF_LIFE,
    PRIOR,
    Link,
    faded,
    keys_of,
    prior_pseudo_counts,
    priors,
    row_of,
    with_prior,
)
from tests.builders import OTHER_REALM, named

LEAST = 8
WEIGHTS = st.lists(st.integers(1, HEAVIEST), max_size=256)


def key(number: int) -> bytes:
    return named("key", number)


def ours(number: int) -> bytes:
    return named("ours", number)


def head(*weights: int, cut: int = 7) -> TrustHead:
    """Give a head whose n-th row has the n-th weight and the n-th key."""
    rows = tuple(
        sorted(
            (
                TrustRow(key=key(n), agent=named("theirs", n), weight=weight)
                for n, weight in enumerate(weights)
            ),
            key=lambda row: row.agent,
        )
    )
    return TrustHead(cut=cut, root=trust_head_root(rows), top=rows, digest=named("world"))


def link(*weights: int, imported: int = 10, weight: int = 100) -> Link:
    return Link(realm=OTHER_REALM, weight=weight, head=head(*weights), imported=imported)


def known(*numbers: int) -> dict[bytes, bytes]:
    return {key(number): ours(number) for number in numbers}


@pytest.mark.parametrize(
    ("age", "left"),
    [
        (0, 200),
        (HALF_LIFE - 1, 200),
        (HALF_LIFE, 100),
        (2 * HALF_LIFE - 1, 100),
        (2 * HALF_LIFE, 50),
        (EXPIRY - 1, 50),
        (EXPIRY, 0),
        (10**9, 0),
    ],
)
def test_a_weight_is_halved_each_half_life_and_gone_at_the_expiry(age: int, left: int) -> None:
    assert faded(200, age) == left


def test_a_row_leads_to_agents_of_ours_that_hold_the_same_key() -> None:
    row = row_of(link(200, 100, 50), known(0, 2), cut=10)

    assert dict(row.agents) == {ours(0): 200, ours(2): 50}
    assert sum(row.nobody) == 100


def test_a_realm_of_which_we_know_nobody_gives_nobody_anything() -> None:
    row = row_of(link(200, 100), {}, cut=10)

    assert row.agents == ()
    assert sum(row.nobody) == 300


def test_an_expired_head_has_no_row() -> None:
    fresh = link(200)
    row = row_of(fresh, known(0), cut=10 + EXPIRY)

    assert fresh.is_expired(10 + EXPIRY)
    assert not fresh.is_expired(10 + EXPIRY - 1)
    assert row.agents == row.nobody == ()


def test_a_head_from_a_cut_that_is_yet_to_come_is_fresh() -> None:
    # A world that was restored from an older store is behind the cut of the import.
    assert link(200, imported=10).age(3) == 0
    assert dict(row_of(link(200, imported=10), known(0), cut=3).agents) == {ours(0): 200}


def test_a_key_counts_once_however_many_of_their_agents_hold_it() -> None:
    rows = tuple(
        sorted(
            (
                TrustRow(key=key(0), agent=named("theirs", n), weight=weight)
                for n, weight in enumerate((100, 120, 90))
            ),
            key=lambda row: row.agent,
        )
    )
    twice = TrustHead(cut=1, root=trust_head_root(rows), top=rows, digest=named("world"))
    one = Link(realm=OTHER_REALM, weight=1, head=twice, imported=1)
    row = row_of(one, known(0), cut=1)

    assert dict(row.agents) == {ours(0): 120}
    assert sum(row.nobody) == 190


def test_of_two_agents_with_one_key_the_lowest_id_stands_for_both() -> None:
    low, high = sorted([ours(1), ours(2)])

    assert keys_of([(high, key(0)), (low, key(0))]) == {key(0): low}
    assert keys_of([(low, key(0)), (high, key(0))]) == {key(0): low}


@given(weights=WEIGHTS, age=st.integers(0, EXPIRY - 1), data=st.data())
def test_age_and_strangers_change_nothing_that_a_row_is_divided_by(
    weights: list[int], age: int, data: st.DataObject
) -> None:
    numbers = range(len(weights))
    held = data.draw(st.sets(st.sampled_from(numbers))) if weights else set()
    row = row_of(link(*weights), known(*held), cut=10 + age)
    edges = [weight for _, weight in row.agents] + list(row.nobody)

    assert all(1 <= weight <= HEAVIEST for weight in edges)
    assert dict(row.agents) == {
        ours(n): left for n in sorted(held) if (left := faded(weights[n], age))
    }
    if weights:
        fresh = max(sum(weights), LEAST * max(weights))
        assert max(sum(edges), LEAST * max(edges)) == fresh
        assert max(edges) == max(weights)


@pytest.mark.parametrize(
    ("weight", "e", "counts"),
    [
        (HEAVIEST, MILLION, PRIOR * MILLION),
        (HEAVIEST, 5 * MILLION, PRIOR * MILLION),
        (HEAVIEST, MILLION // 2, PRIOR * MILLION // 2),
        (51, MILLION, 800_000),
        (HEAVIEST, 0, 0),
        (0, MILLION, 0),
    ],
)
def test_a_realms_word_is_worth_at_most_four_outcomes(weight: int, e: int, counts: int) -> None:
    assert prior_pseudo_counts(weight, e) == counts


def test_the_words_of_many_realms_together_are_worth_no_more() -> None:
    row = row_of(link(HEAVIEST, 51), known(0, 1), cut=10)
    together = priors([(row, MILLION), (row, MILLION), (row, MILLION // 2)])

    assert together[ours(0)] == PRIOR * MILLION
    assert together[ours(1)] == 2 * 800_000 + 400_000


def test_a_prior_moves_a_reputation_towards_one_and_never_beyond() -> None:
    nothing_known = (MILLION, MILLION)

    assert with_prior(*nothing_known, 0) == MILLION // 2
    assert with_prior(*nothing_known, PRIOR * MILLION) == 5 * MILLION // 6
    assert with_prior(MILLION, 99 * MILLION, PRIOR * MILLION) == 5 * MILLION // 104


def test_a_head_whose_root_is_not_of_its_rows_is_no_head() -> None:
    whole = head(200, 100)
    raw = msgspec.to_builtins(whole, builtin_types=(bytes,))
    raw["top"][0][2] = 1

    with pytest.raises(msgspec.ValidationError, match="root"):
        msgspec.convert(raw, TrustHead, builtin_types=(bytes,))
