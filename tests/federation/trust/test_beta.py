import math
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace as changed

from federation.charter import preset
from federation.core import MILLION
from federation.trust import Evidence, EvidenceKind, Ledger, Undecayed
from tests.federation.trust.evidence_rows import ANN, BEN, says

TRUST = preset("community").trust
LOOSE = changed(TRUST, farm_cap=100 * MILLION, farm_source_cap=100 * MILLION, pair_discount=10**6)


def _ledger(rows: list[Evidence], trust: object = TRUST) -> Ledger:
    ledger = Ledger(trust)  # type: ignore[arg-type]
    ledger.add(rows)
    return ledger


def test_without_evidence_reputation_is_one_half() -> None:
    ledger = Ledger(TRUST)
    standing = ledger.standing(ANN, 5)

    assert (standing.r, standing.interactions) == (500_000, 0)
    assert (standing.alpha, standing.beta) == (MILLION, MILLION)
    assert ledger.undecayed(ANN) == Undecayed(alpha=MILLION, beta=MILLION, tick=None)
    assert ledger.rows(ANN) == ()


def test_evidence_moves_the_mean() -> None:
    standing = _ledger([says(3, MILLION)]).standing(ANN, 3)

    assert (standing.r, standing.interactions) == (666_666, 1)


def test_evidence_of_another_subject_does_not_count() -> None:
    assert _ledger([says(3, MILLION, subject=BEN)]).standing(ANN, 3).interactions == 0


def test_evidence_of_a_later_tick_does_not_count_yet() -> None:
    ledger = _ledger([says(3, MILLION), says(5, 0, MILLION, cause=1)])

    assert ledger.standing(ANN, 2).r == 500_000
    assert ledger.standing(ANN, 4).interactions == 1
    assert ledger.standing(ANN, 5).interactions == 2


def test_evidence_fades_toward_the_prior() -> None:
    standing = _ledger([says(0, MILLION)]).standing(ANN, 100)

    assert abs(standing.alpha - MILLION - MILLION * math.exp(-1)) < 2
    assert standing.interactions == 1


def test_evidence_older_than_the_table_still_counts_as_interactions() -> None:
    standing = _ledger([says(0, MILLION), says(1, MILLION, cause=1)]).standing(ANN, 9_000)

    assert (standing.r, standing.interactions) == (500_000, 2)


def test_an_inactive_agents_mean_is_kept_while_its_certainty_falls() -> None:
    rows = [says(t, 900_000, 100_000, cause=t, source=t) for t in range(10)]
    ledger = _ledger(rows, LOOSE)
    then, later = ledger.standing(ANN, 9), ledger.standing(ANN, 60)

    assert later.alpha + later.beta < then.alpha + then.beta
    assert 500_000 < later.r <= then.r


def test_the_same_pair_counts_less_each_time() -> None:
    rows = [says(t, MILLION, cause=t) for t in range(4)]

    # D = 5: 5/5 + 5/6 + 5/7 + 5/8, each rounded down.
    assert _ledger(rows).undecayed(ANN).alpha == MILLION + MILLION + 833_333 + 714_285 + 625_000


def test_negative_evidence_of_the_same_pair_is_discounted_too() -> None:
    rows = [says(1, 0, MILLION), says(2, 0, MILLION, cause=1)]

    assert _ledger(rows).undecayed(ANN).beta == MILLION + MILLION + 833_333


def test_pairs_older_than_the_window_are_forgotten() -> None:
    inside = _ledger([says(0, MILLION), says(99, MILLION, cause=1)])
    outside = _ledger([says(0, MILLION), says(100, MILLION, cause=1)])

    assert inside.undecayed(ANN).alpha == 2 * MILLION + 833_333
    assert outside.undecayed(ANN).alpha == 3 * MILLION


def test_one_operator_gives_at_most_three_units_at_one_tick() -> None:
    rows = [says(1, MILLION, cause=n) for n in range(9)]
    from_two = [says(1, 5 * MILLION), says(1, 5 * MILLION, source=2)]

    assert _ledger(rows).undecayed(ANN).alpha == MILLION + 3 * MILLION
    assert _ledger(from_two).undecayed(ANN).alpha == MILLION + 6 * MILLION


def test_one_agent_earns_at_most_the_cap_in_a_window() -> None:
    rows = [says(t, 3 * MILLION, source=t) for t in range(6)]
    ledger = _ledger(rows)

    assert ledger.undecayed(ANN).alpha == MILLION + 15 * MILLION


def test_the_cap_frees_itself_when_the_window_has_passed() -> None:
    rows = [says(0, 3 * MILLION, source=s) for s in range(6)]
    early, late = says(99, MILLION, source=9), says(100, MILLION, source=9)

    assert _ledger([*rows, early]).undecayed(ANN).alpha == 16 * MILLION
    assert _ledger([*rows, late]).undecayed(ANN).alpha == 17 * MILLION


def test_caps_do_not_shield_from_negative_evidence() -> None:
    rows = [says(1, 0, 9 * MILLION, source=s) for s in range(3)]

    assert _ledger(rows).undecayed(ANN).beta == 28 * MILLION


def test_an_outcome_split_over_operators_is_one_interaction() -> None:
    split = [says(1, 500_000, source=s, kind=EvidenceKind.CONTRIBUTION) for s in (1, 2)]
    also_voted = says(1, MILLION)

    assert _ledger(split).standing(ANN, 1).interactions == 1
    assert _ledger([*split, also_voted]).standing(ANN, 1).interactions == 2


LIABLE = EvidenceKind.LIABILITY


def test_its_own_reputation_leaves_out_what_an_agent_answers_for() -> None:
    own = [says(2, MILLION), says(3, 0, 2 * MILLION, cause=1, source=2)]
    answered = [says(3, 0, 9 * MILLION, cause=2, source=3, kind=LIABLE)]
    ledger, alone = _ledger([*own, *answered]), _ledger(own)

    for tick in (1, 2, 3, 90):
        assert ledger.own_r(ANN, tick) == alone.own_r(ANN, tick) == alone.standing(ANN, tick).r
    assert ledger.standing(ANN, 3).r < alone.standing(ANN, 3).r
    assert ledger.own_r(BEN, 3) == 500_000


def test_its_own_negatives_are_discounted_and_do_not_fade_and_leave_out_liability() -> None:
    ledger = _ledger(
        [
            says(1, negative=7),
            says(2, negative=20, cause=1, source=2),
            says(2, negative=30, cause=2, source=3),
            says(3, negative=500, source=4, kind=LIABLE),
            says(3, positive=MILLION, cause=3, source=5),
            says(4, negative=100, source=6, kind=EvidenceKind.UNREVEALED),
            says(4, negative=60, cause=4, source=6),
        ]
    )

    # The second of a source counts 5/6.
    assert ledger.own_negative(ANN, after=1) == 50 + 100 + 60 * 5 // 6
    assert ledger.own_negative(ANN, after=0) == 57 + 100 + 60 * 5 // 6
    assert ledger.own_negative(ANN, after=4) == 0
    assert ledger.own_negative(BEN, after=0) == 0


def test_the_world_digest_sees_the_newest_tick() -> None:
    ledger = _ledger([says(4, MILLION), says(2, 0, MILLION, cause=1)])

    assert ledger.undecayed(ANN).tick == 4
    assert [row.tick for row in ledger.rows(ANN)] == [2, 4]


ROWS = st.builds(
    says,
    st.integers(0, 12),
    st.integers(0, 2 * MILLION),
    st.integers(0, 2 * MILLION),
    cause=st.integers(0, 3),
    source=st.integers(1, 2),
    subject=st.sampled_from([ANN, BEN]),
    kind=st.sampled_from(EvidenceKind),
)
TIGHT = changed(TRUST, window=4, farm_cap=4 * MILLION, farm_source_cap=2 * MILLION)


def _plain(rows: list[Evidence], subject: bytes) -> tuple[list[int], list[int]]:
    """Fold by the letter of the rule, quadratic and without state: credited sums by tick."""
    mine = sorted(row for row in rows if row.subject == subject)
    credited, negative = [0] * 13, [0] * 13
    for tick in range(13):
        by_source: dict[bytes, int] = {}
        for place, row in enumerate(mine):
            if row.tick != tick:
                continue
            n = sum(
                other.source == row.source and other.tick > tick - TIGHT.window
                for other in mine[:place]
            )
            by_source[row.source] = by_source.get(row.source, 0) + row.positive * 5 // (5 + n)
            negative[tick] += row.negative * 5 // (5 + n)
        earned = sum(min(amount, TIGHT.farm_source_cap) for amount in by_source.values())
        used = sum(credited[max(0, tick - TIGHT.window + 1) : tick])
        credited[tick] = min(earned, TIGHT.farm_cap - used)
    return credited, negative


@given(rows=st.lists(ROWS, max_size=14), data=st.data())
def test_the_fold_is_the_rule_in_any_order_of_arrival_and_asking(
    rows: list[Evidence], data: st.DataObject
) -> None:
    ledger = Ledger(TIGHT)
    for row in data.draw(st.permutations(rows)):
        ledger.add([row])
        if data.draw(st.booleans()):
            ledger.standing(row.subject, 6)
    once = _ledger(rows, TIGHT)
    for subject in (ANN, BEN):
        credited, negative = _plain(rows, subject)
        sums = ledger.undecayed(subject)

        assert sums == once.undecayed(subject)
        assert (sums.alpha, sums.beta) == (MILLION + sum(credited), MILLION + sum(negative))
        assert [ledger.standing(subject, t) for t in range(14)] == [
            once.standing(subject, t) for t in range(14)
        ]
        own = [ledger.own_r(subject, t) for t in range(14)]
        assert own == [once.own_r(subject, t) for t in range(14)]
        assert all(r >= ledger.standing(subject, t).r for t, r in enumerate(own))
        assert ledger.own_negative(subject, after=5) == once.own_negative(subject, after=5)


@given(rows=st.lists(ROWS, max_size=14))
def test_no_window_earns_more_than_the_cap(rows: list[Evidence]) -> None:
    ledger = _ledger(rows, changed(TIGHT, decay=0))
    earned = [ledger.standing(ANN, t).alpha for t in range(13)]
    for last in range(TIGHT.window, 13):
        assert earned[last] - earned[last - TIGHT.window] <= TIGHT.farm_cap


@given(rows=st.lists(ROWS, max_size=8), tick=st.integers(0, 30))
def test_reputation_stays_strictly_between_nothing_and_all(rows: list[Evidence], tick: int) -> None:
    standing = _ledger(rows).standing(ANN, tick)

    assert 0 < standing.r < MILLION
    assert standing.alpha >= MILLION
    assert standing.beta >= MILLION


class LateEvidence(RuleBasedStateMachine):
    """Rows arrive in any order between questions; the books always equal a fresh fold."""

    @initialize()
    def open_books(self) -> None:
        self.ledger = Ledger(TIGHT)
        self.rows: list[Evidence] = []

    @rule(row=ROWS)
    def arrive(self, row: Evidence) -> None:
        self.ledger.add([row])
        self.rows.append(row)

    @rule(tick=st.integers(0, 20))
    def ask(self, tick: int) -> None:
        assert self.ledger.standing(ANN, tick) == _ledger(self.rows, TIGHT).standing(ANN, tick)

    @invariant()
    def rows_are_in_order(self) -> None:
        assert list(self.ledger.rows(ANN)) == sorted(r for r in self.rows if r.subject == ANN)


TestLateEvidence = LateEvidence.TestCase
TestLateEvidence.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)


def test_equal_rows_of_different_causes_are_two_interactions() -> None:
    row = says(1, 1_000)
    other = replace(row, cause=b"z" * 32)

    assert _ledger([row, other]).standing(ANN, 1).interactions == 2


def test_under_another_charter_all_rows_are_folded_again_by_its_numbers() -> None:
    rows = [says(tick, MILLION, cause=tick) for tick in range(20)]
    other = changed(LOOSE, window=7, decay=50_000, farm_cap=2 * MILLION)
    ledger = _ledger(rows, LOOSE)
    before = ledger.standing(ANN, 20)
    ledger.under(other)

    assert ledger.standing(ANN, 20) == _ledger(rows, other).standing(ANN, 20) != before
    assert ledger.undecayed(ANN) == _ledger(rows, other).undecayed(ANN)
    assert ledger.explain(ANN, 20) == _ledger(rows, other).explain(ANN, 20)
    # The amounts of the rows are what they were.
    assert ledger.rows(ANN) == tuple(rows)
    ledger.under(LOOSE)
    assert ledger.standing(ANN, 20) == before
