from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace as changed

from federation.charter import preset
from federation.core import MILLION
from federation.trust import Evidence, EvidenceKind, Ledger, Undecayed, Withdrawal
from tests.federation.trust.evidence_rows import ANN, BEN, says

TRUST = changed(
    preset("community").trust, window=4, farm_cap=4 * MILLION, farm_source_cap=2 * MILLION
)
VOTE = EvidenceKind.VOTE


def _withdrawal(cause: int, *, kind: EvidenceKind = VOTE, subject: bytes = ANN) -> Withdrawal:
    return Withdrawal(cause=bytes([cause]) * 32, kind=kind, subject=subject)


def _fresh(rows: list[Evidence], withdrawals: list[Withdrawal]) -> Ledger:
    """Keep books that never saw a withdrawn row."""
    gone = {(one.subject, one.cause, one.kind) for one in withdrawals}
    ledger = Ledger(TRUST)
    ledger.add(row for row in rows if (row.subject, row.cause, row.kind) not in gone)
    return ledger


def _all(ledger: Ledger) -> list[object]:
    """Everything that books can be asked."""
    return [
        [
            ledger.rows(subject),
            ledger.undecayed(subject),
            [ledger.standing(subject, tick) for tick in range(14)],
            ledger.explain(subject, 13),
        ]
        for subject in (ANN, BEN)
    ]


def test_a_withdrawn_row_counts_as_if_it_had_never_been() -> None:
    ledger = Ledger(TRUST)
    ledger.add([says(1, MILLION), says(2, MILLION, cause=1)])
    ledger.withdraw([_withdrawal(0)])

    # No discount of the second row, no interaction.
    assert ledger.rows(ANN) == (says(2, MILLION, cause=1),)
    assert ledger.undecayed(ANN).alpha == 2 * MILLION
    assert ledger.standing(ANN, 2).interactions == 1


def test_a_withdrawal_that_comes_first_waits_for_its_row() -> None:
    ledger = Ledger(TRUST)
    ledger.withdraw([_withdrawal(0)])
    ledger.add([says(1, MILLION)])
    ledger.add([says(1, MILLION)])

    assert ledger.rows(ANN) == ()
    assert ledger.undecayed(ANN) == Undecayed(alpha=MILLION, beta=MILLION, tick=None)


def test_whose_only_row_is_withdrawn_has_no_books() -> None:
    ledger = Ledger(TRUST)
    ledger.add([says(1, MILLION)])
    ledger.standing(ANN, 1)
    ledger.withdraw([_withdrawal(0)])

    assert ledger.undecayed(ANN) == Undecayed(alpha=MILLION, beta=MILLION, tick=None)
    assert ledger.standing(ANN, 9).interactions == 0


def test_other_causes_kinds_and_subjects_stay() -> None:
    rows = [
        says(1, 1, cause=1),
        says(1, 1, kind=EvidenceKind.CONTRIBUTION),
        says(1, 1, subject=BEN),
    ]
    ledger = Ledger(TRUST)
    ledger.add([*rows, says(1, 1)])
    ledger.withdraw([_withdrawal(0)])

    assert {*ledger.rows(ANN), *ledger.rows(BEN)} == set(rows)


def test_all_parts_of_a_split_row_go_together() -> None:
    ledger = Ledger(TRUST)
    ledger.add([says(1, 1, source=1), says(1, 1, source=2), says(3, 1, source=3)])
    ledger.withdraw([_withdrawal(0)])

    assert ledger.rows(ANN) == ()


def test_a_cap_that_a_withdrawn_row_used_up_is_free_again() -> None:
    ledger = Ledger(TRUST)
    ledger.add([says(1, 2 * MILLION, source=n, cause=n) for n in (1, 2)])
    ledger.add([says(2, MILLION, source=3, cause=3)])
    before = ledger.undecayed(ANN).alpha
    ledger.withdraw([_withdrawal(1)])

    assert before == 5 * MILLION
    assert ledger.undecayed(ANN).alpha == 4 * MILLION


def test_withdrawals_are_listed_sorted_and_once() -> None:
    ledger = Ledger(TRUST)
    ledger.withdraw([_withdrawal(3), _withdrawal(1, subject=BEN), _withdrawal(1)])
    ledger.withdraw([_withdrawal(3)])

    assert ledger.withdrawn() == (_withdrawal(1), _withdrawal(1, subject=BEN), _withdrawal(3))
    assert Ledger(TRUST).withdrawn() == ()


ROWS = st.builds(
    says,
    st.integers(0, 12),
    st.integers(0, 2 * MILLION),
    st.integers(0, 2 * MILLION),
    cause=st.integers(0, 3),
    source=st.integers(1, 2),
    subject=st.sampled_from([ANN, BEN]),
    kind=st.sampled_from([VOTE, EvidenceKind.CONTRIBUTION]),
)
WITHDRAWALS = st.builds(
    _withdrawal,
    st.integers(0, 3),
    kind=st.sampled_from([VOTE, EvidenceKind.CONTRIBUTION]),
    subject=st.sampled_from([ANN, BEN]),
)


@given(
    rows=st.lists(ROWS, max_size=14),
    withdrawals=st.lists(WITHDRAWALS, max_size=4),
    data=st.data(),
)
def test_rows_and_withdrawals_come_in_any_order(
    rows: list[Evidence], withdrawals: list[Withdrawal], data: st.DataObject
) -> None:
    ledger = Ledger(TRUST)
    steps: list[Callable[[], None]] = [
        *(lambda row=row: ledger.add([row]) for row in rows),  # type: ignore[misc]
        *(lambda one=one: ledger.withdraw([one]) for one in withdrawals),  # type: ignore[misc]
    ]
    for step in data.draw(st.permutations(steps)):
        step()
        if data.draw(st.booleans()):
            # Asked in between, the books fold what they have and must fold it again.
            _all(ledger)

    assert _all(ledger) == _all(_fresh(rows, withdrawals))


@given(rows=st.lists(ROWS, max_size=14), withdrawals=st.lists(WITHDRAWALS, max_size=4))
def test_rows_and_withdrawals_are_the_whole_of_the_books(
    rows: list[Evidence], withdrawals: list[Withdrawal]
) -> None:
    ledger = Ledger(TRUST)
    ledger.add(rows)
    ledger.withdraw(withdrawals)
    # What a snapshot keeps.
    revived = Ledger(TRUST)
    revived.add(row for subject in (ANN, BEN) for row in ledger.rows(subject))
    revived.withdraw(ledger.withdrawn())
    for books in (ledger, revived):
        books.add(rows[:3])

    assert _all(revived) == _all(ledger)
    assert revived.withdrawn() == ledger.withdrawn()


class LateReversals(RuleBasedStateMachine):
    """Rows, withdrawals and questions in any order; the books always equal a fresh fold."""

    @initialize()
    def open_books(self) -> None:
        self.ledger = Ledger(TRUST)
        self.rows: list[Evidence] = []
        self.withdrawals: list[Withdrawal] = []

    @rule(rows=st.lists(ROWS, max_size=3))
    def arrive(self, rows: list[Evidence]) -> None:
        self.ledger.add(rows)
        self.rows += rows

    @rule(withdrawals=st.lists(WITHDRAWALS, max_size=2))
    def take_back(self, withdrawals: list[Withdrawal]) -> None:
        self.ledger.withdraw(withdrawals)
        self.withdrawals += withdrawals

    @rule(tick=st.integers(0, 20))
    def ask(self, tick: int) -> None:
        fresh = _fresh(self.rows, self.withdrawals)
        assert self.ledger.standing(ANN, tick) == fresh.standing(ANN, tick)

    @invariant()
    def rows_are_in_order_and_withdrawals_are_kept(self) -> None:
        assert self.ledger.rows(ANN) == _fresh(self.rows, self.withdrawals).rows(ANN)
        assert self.ledger.withdrawn() == tuple(sorted(set(self.withdrawals)))


TestLateReversals = LateReversals.TestCase
TestLateReversals.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
