"""Bodies of artifact and review records (paper 2.1, 3.2; design: kinds).

`after` is the digest of the certificate a record follows, or the round's id in its first phase:
a record written before the phase it claims cannot name it, so no clock is needed to judge it.
"""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from federation.codec import check_set
from federation.core import ArtifactId, Digest, RecordId, RoundId
from federation.crypto import SEALED_BYTES, Ballot, Reason
from federation.records.bodies import Body, Tag, Topic
from federation.records.statement import Count

TextLength = Annotated[int, Meta(ge=0, le=16 * 1024)]
"""Length of a text that may be missing: 0 exactly if there is no hash."""
Evidence = Annotated[tuple[Digest, ...], Meta(max_length=16)]


class Stance(StrEnum):
    """Where an argument stands on the artifact."""

    FOR = "for"
    AGAINST = "against"
    NEUTRAL = "neutral"


class Level(StrEnum):
    """What an argument is about (paper 3.2.2)."""

    CONTENT = "content"
    PROCEDURAL = "procedural"
    TECHNICAL = "technical"


class Claim(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One claim of an artifact: its number, and the digest of a check that can settle it."""

    n: Annotated[int, Meta(ge=1, le=16)]
    check: Digest | None = None


class Propose(Body, frozen=True, kw_only=True):
    """artifact.propose: a new artifact; its id is this record's id. A trigger."""

    topics: Annotated[tuple[Topic, ...], Meta(min_length=1, max_length=4)]
    """A set."""
    claims: Annotated[tuple[Claim, ...], Meta(max_length=16)]
    """Numbered 1, 2, 3 … in this order."""
    cites: Annotated[tuple[ArtifactId, ...], Meta(max_length=64)]
    """A set."""
    sources: Annotated[tuple[Digest, ...], Meta(max_length=16)]
    """A set."""
    text_hash: Digest
    text_len: Annotated[int, Meta(ge=1, le=16 * 1024)]
    text_id: Digest
    """Unsalted hash of the text: equal `text_id` means an exact duplicate."""
    lang: Annotated[str, Meta(pattern=r"\A[a-z]{2,3}(-[a-z0-9]{2,8})?\Z")]

    def __post_init__(self) -> None:
        """Hold sets and claims to their one spelling."""
        check_set("topics", self.topics)
        check_set("cites", self.cites)
        check_set("sources", self.sources)
        for index, claim in enumerate(self.claims):
            if claim.n != index + 1:
                raise ValueError(f"claims[{index}]: its number is {claim.n}, not {index + 1}")


class ObjectTo(Body, frozen=True, kw_only=True):
    """review.object: stop the fast track and ask for a vote (paper 3.2.1)."""

    round: RoundId
    after: Digest
    reason: Reason
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold hash and length of the text together."""
        check_text(self.text_hash, self.text_len)


class Argue(Body, frozen=True, kw_only=True):
    """review.argue: one argument before any vote (paper 3.2.2)."""

    round: RoundId
    after: Digest
    stance: Stance
    level: Level
    claim: Annotated[int, Meta(ge=1, le=16)] | None = None
    evidence: Evidence = ()
    """A set."""
    replies_to: RecordId | None = None
    nonce: Digest | None = None
    """Opens the author's `review.seal`; nil for every other argument."""
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold the set to its one spelling, and hash and length of the text together."""
        check_set("evidence", self.evidence)
        check_text(self.text_hash, self.text_len)


class Commit(Body, frozen=True, kw_only=True):
    """review.commit: a sealed vote; also the ballot's only store."""

    round: RoundId
    after: Digest
    commitment: Digest
    sealed: Annotated[bytes, Meta(min_length=SEALED_BYTES, max_length=SEALED_BYTES)]


class Reveal(Body, frozen=True, kw_only=True):
    """review.reveal: open one listed commitment; `after` names the box."""

    round: RoundId
    after: Digest
    ballot: Ballot
    nonce: Digest


class Contest(Body, frozen=True, kw_only=True):
    """review.contest: a process ground against a result (paper 3.2.3)."""

    round: RoundId
    after: Digest
    ground: Tag
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold hash and length of the text together."""
        check_text(self.text_hash, self.text_len)


def check_text(text_hash: Digest | None, text_len: int) -> None:
    """Raise ValueError unless hash and length name a text together, or none."""
    if (text_hash is None) != (text_len == 0):
        raise ValueError("text_len: it is 0 exactly if text_hash is nil")


__all__ = [
    "Argue",
    "Claim",
    "Commit",
    "Contest",
    "Count",
    "Level",
    "ObjectTo",
    "Propose",
    "Reveal",
    "Stance",
]
