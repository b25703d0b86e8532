"""When a phase of a round ends here: its deadline, and whether it may close before its time.

These two ask a clock or what this member holds, so nothing that counts depends on them: they say
when to witness, and the certificate says what counts. Windows that exist so that people may speak
up (`fast`, `contest`, `appeal`, an open debate) always last their time.
"""

from collections.abc import Iterable

from federation.certificates import Phase
from federation.core import Millis
from federation.records import Record
from federation.review.finals import Finals, box, listed
from federation.review.lots import drawn_arbiters
from federation.review.pin import RoundPin, quorum_needed
from federation.review.rulings import decreed

TURNS = frozenset({Phase.DELIBERATE, Phase.TURN2, Phase.TURN3, Phase.TURN4, Phase.TURN5})
"""Phases of the debate; several of them are held in the mode `rounds` only."""


def is_late(phase: Phase, pin: RoundPin, age: Millis) -> bool:
    """Tell whether a witness of this phase says `late`: the round passed its deadline.

    `age` is the time since the round's first phase started, on the member's own clock. Rulings and
    assessments are bounded by their own windows, and the deadline is over long before some of them.
    """
    return phase is Phase.COMMIT and age > pin.charter.review.deadline


def may_close_early(
    phase: Phase, pin: RoundPin, finals: Finals, held: Iterable[Record], elapsed: Millis
) -> bool:
    """Tell whether a phase may close before its time, by the qualifying records held here.

    `commit` closes at the later of `commit_min` and the k-th reviewer's commitment (all, if
    fewer may review; a dispute's quorum, if that is more), others when all have spoken who are
    asked to. `elapsed` is in ms.
    """
    records = tuple(held)
    authors = {record.author for record in records}
    reviewers = pin.eligible.reviewers
    match phase:
        case Phase.COMMIT | Phase.COMMIT2:
            authors.update(record.author for record in box(finals))
            review = pin.charter.review
            wanted = min(max(review.k, quorum_needed(pin)), len(reviewers))
            return len(reviewers & authors) >= wanted and elapsed >= review.commit_min
        case Phase.DECIDE:
            return all(record.author in authors for record in box(finals))
        case Phase.UNSEAL:
            return all(record.author in authors for record in listed(finals, Phase.SEAL))
        case Phase.SEAL:
            return authors >= reviewers
        case _ if phase in TURNS:
            return pin.charter.review.mode == "rounds" and authors >= reviewers
        case Phase.RULE:
            drawn = drawn_arbiters(pin, finals)
            return bool(drawn) and (drawn[0] in authors or authors >= set(drawn))
        case Phase.ASSESS:
            return bool(authors)
        case Phase.ADMIN:
            return decreed(pin, records) is not None
        case _:
            return False
