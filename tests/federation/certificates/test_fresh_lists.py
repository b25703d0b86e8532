from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federation.certificates import (
    VOID,
    Fresh,
    ListValue,
    Looked,
    Missing,
    NoValue,
    Outcome,
    Phase,
    Witnessed,
    capped,
    fresh_list,
    quorum,
    witnessed,
)
from tests.federation.certificates.hall import ROUND, name, slot, voice, witness

FOUR = quorum(4, three_available=False)
A, B, C = sorted(name("id", i) for i in range(3))


def looked(record: bytes, *, voter: bytes | None = None, seq: int = 0) -> Looked:
    return Looked(voter=voter or name("of", record), seq=seq, qualifies=True, reviewer=True)


def row(who: int, *ids: bytes, late: bool = False) -> Witnessed:
    body = witness(*ids, late=late)
    return Witnessed(operator=name("operator", who), voice=voice(who), body=body, chains=None)


def value(outcome: Outcome) -> tuple[bytes, ...]:
    assert isinstance(outcome, Fresh)
    assert isinstance(outcome.value, ListValue)
    return outcome.value.records


def test_a_record_counts_if_enough_witnesses_name_it_that_one_is_honest() -> None:
    rows = [row(0, A, B), row(1, A), row(2, B, C)]

    assert value(fresh_list(slot(), rows, FOUR, looked)) == (A, B)


def test_exactly_q_witnesses_of_distinct_members_make_a_value() -> None:
    rows = [row(0, A), row(1, A), row(2, A), row(3, A)]
    cut = replace(rows[0], body=None)  # type: ignore[arg-type] # a cut's witness in a round's slot

    assert isinstance(fresh_list(slot(), rows, FOUR, looked), NoValue)
    assert isinstance(fresh_list(slot(), rows[:2], FOUR, looked), NoValue)
    assert isinstance(fresh_list(slot(), [*rows[:2], rows[0]], FOUR, looked), NoValue)
    assert isinstance(fresh_list(slot(), [*rows[:2], cut], FOUR, looked), NoValue)


def test_what_is_not_held_is_missing_but_only_if_it_would_count() -> None:
    rows = [row(0, A, B), row(1, A, C), row(2, A)]

    assert fresh_list(slot(), rows, FOUR, lambda _: None) == Missing(records=(A,))


def test_what_does_not_qualify_does_not_count() -> None:
    rows = [row(i, A, B) for i in range(3)]

    def look(record: bytes) -> Looked:
        return replace(looked(record), qualifies=record == B)

    assert value(fresh_list(slot(), rows, FOUR, look)) == (B,)


@pytest.mark.parametrize("phase", [Phase.COMMIT, Phase.RULE, Phase.ASSESS])
def test_f_plus_one_late_witnesses_make_a_phase_void(phase: Phase) -> None:
    one = [row(0, A, late=True), row(1, A), row(2, A)]
    two = [row(0, A, late=True), row(1, A, late=True), row(2, A)]

    assert value(fresh_list(slot(phase), one, FOUR, looked)) == (A,)
    assert fresh_list(slot(phase), two, FOUR, looked) == Fresh(value=VOID)


@pytest.mark.parametrize(
    "phase", [phase for phase in Phase if phase not in {Phase.COMMIT, Phase.RULE, Phase.ASSESS}]
)
def test_no_other_phase_is_ever_void(phase: Phase) -> None:
    rows = [row(i, A, late=True) for i in range(3)]

    assert value(fresh_list(slot(phase), rows, FOUR, looked)) == (A,)


@pytest.mark.parametrize(
    ("phase", "kept"),
    [
        (Phase.COMMIT, (C,)),
        (Phase.COMMIT2, (C,)),
        (Phase.DECIDE, (A, C)),
        (Phase.FAST, (A, B, C)),
        (Phase.CONTEST, (A, B, C)),
        (Phase.SEAL, (C,)),
    ],
)
def test_what_two_records_of_one_voter_mean_depends_on_the_phase(
    phase: Phase, kept: tuple[bytes, ...]
) -> None:
    rows = [row(i, A, B, C) for i in range(3)]

    def look(record: bytes) -> Looked:
        return looked(record, voter=name("one" if record in {A, B} else "two"))

    assert value(fresh_list(slot(phase), rows, FOUR, look)) == kept


@pytest.mark.parametrize(
    "phase",
    [
        Phase.UNSEAL,
        Phase.TURN2,
        Phase.TURN3,
        Phase.TURN4,
        Phase.TURN5,
        Phase.RULE,
        Phase.APPEAL,
        Phase.ADMIN,
        Phase.ASSESS,
    ],
)
def test_one_word_of_each_author_counts_in_a_turn_or_an_office(phase: Phase) -> None:
    rows = [row(i, A, B, C) for i in range(3)]
    seqs = {A: 9, B: 2, C: 5}

    def look(record: bytes) -> Looked:
        voter = name("two" if record == C else "one")
        return looked(record, voter=voter, seq=seqs[record])

    def forked(record: bytes) -> Looked:
        return looked(record, voter=name("one"), seq=4)

    assert value(fresh_list(slot(phase), rows, FOUR, look, each=5)) == (B, C)
    # Two branches of one chain: the lowest id, whoever asks.
    assert value(fresh_list(slot(phase), rows, FOUR, forked, each=5)) == (min(A, B, C),)


def test_deliberation_counts_the_first_arguments_of_each_author() -> None:
    rows = [row(i, A, B, C) for i in range(3)]
    seqs = {A: 9, B: 2, C: 5}

    def look(record: bytes) -> Looked:
        return looked(record, voter=name("one"), seq=seqs[record])

    phase = slot(Phase.DELIBERATE)

    assert value(fresh_list(phase, rows, FOUR, look, each=2)) == (B, C)
    assert value(fresh_list(phase, rows, FOUR, look, each=1)) == (B,)


def test_a_full_list_takes_reviewers_first_and_then_by_hash_of_round_and_voter() -> None:
    records = [name("record", i) for i in range(6)]
    reviewers = set(records[:2])
    rows = [row(i, *records) for i in range(3)]

    def look(record: bytes) -> Looked:
        return replace(looked(record), reviewer=record in reviewers)

    def rank(record: bytes) -> bytes:
        return sha256(ROUND + name("of", record)).digest()

    others = sorted((one for one in records if one not in reviewers), key=rank)
    kept = value(fresh_list(slot(Phase.COMMIT), rows, FOUR, look, most=4))

    assert kept == tuple(sorted([*reviewers, *others[:2]]))


def test_no_charter_makes_a_list_longer_than_a_message() -> None:
    records = {name("record", i): looked(name("record", i)) for i in range(1_100)}

    assert len(capped(slot(), records, 5_000)) == 900


def of_one(seqs: dict[bytes, int]) -> dict[bytes, Looked]:
    return {one: looked(one, voter=name("one"), seq=seq) for one, seq in seqs.items()}


@pytest.mark.parametrize(
    ("phase", "kept"),
    [
        (Phase.COMMIT, (A, B)),
        (Phase.COMMIT2, (A, B)),
        (Phase.DELIBERATE, (A, B, C)),
        (Phase.DECIDE, (A,)),
        (Phase.FAST, (A,)),
        (Phase.CONTEST, (A,)),
        (Phase.SEAL, (A, B)),
        (Phase.UNSEAL, (A,)),
        (Phase.TURN2, (A,)),
        (Phase.TURN5, (A,)),
        (Phase.RULE, (A,)),
        (Phase.APPEAL, (A,)),
        (Phase.ADMIN, (A,)),
        (Phase.ASSESS, (A,)),
    ],
)
def test_a_witness_names_of_one_voter_no_more_than_can_matter(
    phase: Phase, kept: tuple[bytes, ...]
) -> None:
    more = {name("more", i): 9 + i for i in range(5)}
    held = of_one({A: 1, B: 2, C: 3, **more})
    other = {name("another"): looked(name("another"))}

    assert set(witnessed(slot(phase), held | other, each=3)) == {*kept, *other}


def test_one_voter_with_a_thousand_records_silences_nobody() -> None:
    # A voter that a full list takes before everybody else.
    first = min((name("one", i) for i in range(500)), key=lambda one: sha256(ROUND + one).digest())
    flood = {name("flood", i): looked(b"", voter=first, seq=7) for i in range(1_100)}
    honest = {name("honest", i): looked(name("honest", i)) for i in range(12)}
    for phase in (Phase.FAST, Phase.COMMIT, Phase.COMMIT2, Phase.DECIDE, Phase.CONTEST):
        assert set(honest) < set(witnessed(slot(phase), flood | honest, each=5))


@pytest.mark.parametrize("phase", [Phase.DECIDE, Phase.FAST, Phase.CONTEST])
@pytest.mark.parametrize("earlier", [A, C])
def test_members_of_whom_one_lags_name_the_same_record_of_an_honest_voter(
    phase: Phase, earlier: bytes
) -> None:
    # Whoever holds the later of two records holds the earlier too; a liar names neither.
    both = of_one({earlier: 4, B: 5})
    first = {earlier: both[earlier]}
    rows = [
        row(0, *witnessed(slot(phase), first, each=5)),
        row(1, *witnessed(slot(phase), both, each=5)),
        row(2),
    ]

    assert value(fresh_list(slot(phase), rows, FOUR, both.get)) == (earlier,)


@given(
    names=st.lists(
        st.sets(st.sampled_from([name("id", i) for i in range(6)])), min_size=3, max_size=3
    ),
    order=st.permutations(range(3)),
)
@settings(max_examples=60)
def test_the_order_of_witnesses_does_not_matter(names: list[set[bytes]], order: list[int]) -> None:
    rows = [row(i, *ids) for i, ids in enumerate(names)]
    mixed = [rows[i] for i in order]

    assert fresh_list(slot(), rows, FOUR, looked) == fresh_list(slot(), mixed, FOUR, looked)
