from federation.artifacts import OpenedBallot
from federation.crypto import Choice
from federation.trust import Decision
from tests.builders import ballot, named
from tests.federation.artifacts.forms import verdict


def opened(number: int, *, practice: bool) -> OpenedBallot:
    return OpenedBallot(
        voter=named("voter", number),
        operator=named("operator", number),
        ballot=ballot(Choice.FOR),
        weight=0 if practice else 1,
        practice=practice,
    )


def test_practice_ballots_are_not_among_the_revealed_ones() -> None:
    three = (opened(1, practice=False), opened(2, practice=True), opened(3, practice=False))

    assert verdict(ballots=three).revealed == 2


def test_only_accept_lets_an_artifact_stand() -> None:
    assert verdict(decision=Decision.ACCEPT).accepted
    assert not verdict(decision=Decision.REJECT).accepted
