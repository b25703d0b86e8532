from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from federation.charter import preset
from federation.core import MILLION
from federation.crypto import Choice
from federation.trust import Agreement, Counted, decide

TRUST = preset("community").trust
FOR, AGAINST, ABSTAIN = Choice.FOR, Choice.AGAINST, Choice.ABSTAIN
ACCEPT, REJECT = 300_000, -200_000


def _ballots(*choices: Choice, weight: int = 700_000) -> list[Counted]:
    return [
        Counted(agent=bytes([n]) * 32, choice=choice, weight=weight)
        for n, choice in enumerate(choices)
    ]


def _agent(n: int) -> bytes:
    return bytes([n]) * 32


def _observed(*rounds: list[Counted], trust: object = TRUST) -> Agreement:
    agreement = Agreement(trust)  # type: ignore[arg-type]
    for ballots in rounds:
        agreement.observe(ballots, accept=ACCEPT, reject=REJECT)
    return agreement


def test_nothing_known_is_the_prior() -> None:
    assert _observed().b(_agent(0)) == 700_000


def test_when_everybody_always_agrees_agreement_says_nothing() -> None:
    agreement = _observed(*[_ballots(FOR, FOR, FOR)] * 50)

    assert agreement.b(_agent(0)) == 700_000


def test_a_single_ballot_leaves_no_decision_to_agree_with() -> None:
    agreement = _observed(_ballots(FOR), _ballots(AGAINST))

    assert agreement.b(_agent(0)) == 700_000


def test_others_who_only_abstain_are_a_tie() -> None:
    agreement = _observed(_ballots(FOR, ABSTAIN), _ballots(AGAINST, ABSTAIN))

    assert agreement.b(_agent(0)) == 700_000
    assert agreement.b(_agent(1)) == 700_000


def test_the_formula_line_by_line() -> None:
    # Agent 0 votes with the other two in 6 of 8 rounds, against both in 2.
    with_them = [_ballots(FOR, FOR, FOR)] * 3 + [_ballots(AGAINST, AGAINST, AGAINST)] * 3
    agreement = _observed(*with_them, *[_ballots(FOR, AGAINST, AGAINST)] * 2)

    # Own shares 5/8 and 3/8; overall 11/24 and 13/24.
    own = (625_000, 375_000)
    overall = (458_333, 541_666)
    c = (own[0] * overall[0] + own[1] * overall[1]) // MILLION
    y = 6 * MILLION // 8
    y_star = 500_000 + 500_000 * (y - c) // (MILLION - c)
    b = (8 * y_star + 20 * 700_000) // 28

    assert agreement.b(_agent(0)) == b == 715_743


def test_agreeing_less_than_chance_is_below_one_half() -> None:
    trust = replace(TRUST, prior_n=1)
    rounds = [_ballots(AGAINST, FOR, FOR, FOR), _ballots(FOR, AGAINST, AGAINST, AGAINST)] * 50
    agreement = _observed(*rounds, trust=trust)

    assert agreement.b(_agent(0)) == 20_000
    assert agreement.b(_agent(1)) > 900_000


def test_partly_below_chance_is_scaled_between_nothing_and_one_half() -> None:
    # Agent 0 meets the others in 1 of 4 rounds.
    rounds = [
        _ballots(FOR, FOR, FOR),
        _ballots(AGAINST, FOR, FOR),
        _ballots(FOR, AGAINST, AGAINST),
        _ballots(AGAINST, FOR, FOR),
    ]
    agreement = _observed(*rounds)

    # Own shares 1/2 each, so chance is 1/2 whatever the others do (here rounded down).
    c = (500_000 * 583_333 + 500_000 * 416_666) // MILLION
    y_star = 250_000 * MILLION // (2 * c)

    assert agreement.b(_agent(0)) == (4 * y_star + 20 * 700_000) // 24


def test_ones_own_ballot_does_not_make_the_decision_it_is_scored_by() -> None:
    heavy = [
        Counted(agent=_agent(0), choice=FOR, weight=MILLION),
        Counted(agent=_agent(1), choice=AGAINST, weight=100_000),
        Counted(agent=_agent(2), choice=AGAINST, weight=100_000),
    ]
    mixed = [_turned(ballot, -ballot.choice) for ballot in heavy]
    agreement = _observed(*[heavy, mixed] * 20)

    # The heavy voter wins every round and agrees with nobody.
    assert agreement.b(_agent(0)) < 500_000


def _turned(ballot: Counted, choice: int) -> Counted:
    return Counted(agent=ballot.agent, choice=Choice(choice), weight=ballot.weight)


def test_a_rest_between_the_thresholds_is_not_scored() -> None:
    # Without agent 0 the tally is 0, between the thresholds.
    agreement = _observed(_ballots(FOR, FOR, AGAINST), _ballots(AGAINST, FOR, AGAINST))

    assert agreement.b(_agent(0)) == 700_000


def test_thresholds_are_met_exactly() -> None:
    assert decide(3, 10, accept=300_000, reject=-200_000) is FOR
    assert decide(-2, 10, accept=300_000, reject=-200_000) is AGAINST
    assert decide(29, 100, accept=300_000, reject=-200_000) is None
    assert decide(-19, 100, accept=300_000, reject=-200_000) is None
    assert decide(0, 0, accept=300_000, reject=-200_000) is None


ROUNDS = st.lists(
    st.lists(
        st.builds(
            Counted,
            agent=st.integers(0, 5).map(_agent),
            choice=st.sampled_from(Choice),
            weight=st.integers(1, MILLION),
        ),
        max_size=6,
        unique_by=lambda ballot: ballot.agent,
    ),
    max_size=10,
)


@given(rounds=ROUNDS, data=st.data())
def test_the_order_of_rounds_and_ballots_does_not_matter(
    rounds: list[list[Counted]], data: st.DataObject
) -> None:
    shuffled = [data.draw(st.permutations(ballots)) for ballots in rounds]
    other = _observed(*data.draw(st.permutations(shuffled)))
    agreement = _observed(*rounds)

    for n in range(6):
        assert agreement.b(_agent(n)) == other.b(_agent(n))
        assert 20_000 <= agreement.b(_agent(n)) <= MILLION


@given(rounds=ROUNDS)
def test_integers_stay_near_the_exact_formula(rounds: list[list[Counted]]) -> None:
    agreement = _observed(*rounds)
    labels = [(b.agent, b.choice) for ballots in rounds for b in ballots if b.choice]
    for n in range(6):
        agent = _agent(n)
        scored = agreed = 0
        for ballots in rounds:
            for ballot in ballots:
                if ballot.agent == agent and ballot.choice:
                    others = [b for b in ballots if b.agent != agent]
                    total = sum(b.weight for b in others)
                    v = Fraction(sum(b.weight * b.choice for b in others), total) if total else None
                    if v is not None and v >= Fraction(3, 10):
                        scored, agreed = scored + 1, agreed + (ballot.choice is FOR)
                    elif v is not None and v <= Fraction(-1, 5):
                        scored, agreed = scored + 1, agreed + (ballot.choice is AGAINST)
        own = [choice for who, choice in labels if who == agent]
        expected = Fraction(7, 10)
        if scored:
            c = sum(
                Fraction(own.count(k), len(own))
                * Fraction(sum(choice is k for _, choice in labels), len(labels))
                for k in (FOR, AGAINST)
            )
            y = Fraction(agreed, scored)
            if c != 1:
                y_star = (1 + (y - c) / (1 - c)) / 2 if y >= c else y / (2 * c)
                expected = min(max((scored * y_star + 14) / (scored + 20), Fraction(1, 50)), 1)

        assert abs(Fraction(agreement.b(agent), MILLION) - expected) < Fraction(20, MILLION)


def test_under_another_charter_what_was_observed_is_shrunk_by_its_prior() -> None:
    rounds = [_ballots(FOR, FOR, FOR, AGAINST), _ballots(AGAINST, AGAINST, AGAINST, FOR)] * 3
    other = replace(TRUST, prior_b=300_000, prior_n=2)
    agreement = _observed(*rounds)
    agreement.under(other)

    assert agreement.b(_agent(0)) == _observed(*rounds, trust=other).b(_agent(0))
    assert agreement.b(_agent(0)) != _observed(*rounds).b(_agent(0))
    assert agreement.b(_agent(9)) == 300_000
