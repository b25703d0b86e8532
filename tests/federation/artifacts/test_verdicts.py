from federation.trust import Decision
from tests.federation.artifacts.forms import opened, verdict


def test_practice_ballots_are_not_among_the_revealed_ones() -> None:
    three = (opened("one"), opened("newcomer", practice=True), opened("other"))

    assert verdict(ballots=three).revealed == 2


def test_only_accept_lets_an_artifact_stand() -> None:
    assert verdict(decision=Decision.ACCEPT).accepted
    assert not verdict(decision=Decision.REJECT).accepted
    assert not verdict(decision=Decision.NONE).accepted
