"""What the tests of queries share: answers as JSON, and a town brought to a certain point."""

import msgspec

from federation.certificates import Phase
from federation.core import RoundId
from federation.protocol import World
from federation.records import Record
from tests.federation.protocol.town import Town


def plain(answer: object) -> object:
    """Give an answer as a program sees it: encoded to JSON as it stands, and read again."""
    return msgspec.json.decode(msgspec.json.encode(answer))


def voted(town: Town, votes: dict[int, int], *, author: int = 0) -> tuple[Record, RoundId]:
    """Hold a whole round over a proposal of an author; until every instance has ended it."""
    record = town.propose(author, _title(author))
    return record, town.vote(record, votes)


def opened(town: Town, phase: Phase, *, author: int = 0) -> tuple[Record, RoundId]:
    """Bring the round of a new proposal into a phase, on every instance."""
    record = town.propose(author, _title(author))
    name = town.open_round(record)
    town.in_phase(name, phase)
    return record, name


def here(town: Town, index: int = 0) -> tuple[World, int]:
    """Give the world of an instance, and the time."""
    return town.world(index), town.now


def _title(author: int) -> str:
    """Give each author a text of its own: equal texts are duplicates."""
    return f"A claim of {author}" if author else "A claim"
