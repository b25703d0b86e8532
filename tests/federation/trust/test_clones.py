from federation.records import Custody
from federation.trust import keeper_of, model_of

ANN, BEN = b"a" * 32, b"b" * 32
OPERATOR, WEIGHTS = b"o" * 32, b"w" * 32


def test_who_declares_the_same_weights_is_one_group() -> None:
    assert model_of(ANN, WEIGHTS) == model_of(BEN, WEIGHTS)


def test_who_declares_nothing_is_alone() -> None:
    assert model_of(ANN, None) != model_of(BEN, None)
    assert model_of(ANN, None) == ANN


def test_nobody_joins_an_agent_that_declares_nothing_by_declaring_its_id() -> None:
    assert model_of(BEN, ANN) != model_of(ANN, None)


def test_agents_whose_keys_one_operator_keeps_are_one_group() -> None:
    assert keeper_of(ANN, OPERATOR, Custody.NODE) == keeper_of(BEN, OPERATOR, Custody.NODE)


def test_who_keeps_its_own_keys_is_alone_whoever_answers_for_it() -> None:
    assert keeper_of(ANN, OPERATOR, Custody.SELF) == ANN
    assert keeper_of(BEN, OPERATOR, Custody.SELF) == BEN
