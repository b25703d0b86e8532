"""Verdicts for tests of what is computed from them."""

from federation.artifacts import DecidedBy, OpenedBallot, Verdict
from federation.crypto import Ballot, Basis, Choice, Reason
from federation.trust import Decision
from node.demo.cruxeval import CruxItem
from node.demo.metrics import Judged
from node.demo.scenario import Question

KEYS = [
    "instances",
    "artifacts",
    "decided",
    "ambiguous",
    "agents",
    "records",
    "precision",
    "recall",
    "accuracy",
    "majority_accuracy",
    "accuracy_all",
    "majority_accuracy_all",
    "digests",
    "verdicts_equal",
    "seconds",
]
"""The keys of the demo's JSON, in their order."""


def opened(choice: int, *, practice: bool = False, weight: int = 700_000) -> OpenedBallot:
    return OpenedBallot(
        voter=bytes(32),
        operator=bytes(32),
        ballot=Ballot(Choice(choice), Reason.ACCURATE, Basis.DERIVATION),
        weight=weight,
        practice=practice,
    )


def judged(
    *choices: int,
    accepted: bool,
    true: bool,
    by: DecidedBy = DecidedBy.VOTE,
    practice: tuple[int, ...] = (),
) -> Judged:
    item = CruxItem(id="q", code="def f(): ...", call="f()", truth="1", answers=("1", "2"))
    return Judged(
        question=Question(item=item, proposer=0, claimed="1" if true else "2", reviewers=()),
        verdict=Verdict(
            round=bytes(32),
            decision=Decision.ACCEPT if accepted else Decision.REJECT,
            by=by,
            numerator=700_000 * sum(choices),
            denominator=700_000 * len(choices),
            v_ppm=0,
            strong=False,
            quorum=True,
            quorum_needed=3,
            operators=len(choices),
            ballots=(
                *(opened(choice) for choice in choices),
                *(opened(choice, practice=True) for choice in practice),
            ),
        ),
    )
