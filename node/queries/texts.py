"""What people read of an artifact: its text, where this instance holds it and may show it.

A text may be missing: taken down, or dropped by whoever relayed the record. The record stands all
the same, and so does everything that was decided about it.
"""

from enum import StrEnum
from typing import TypeVar

import msgspec

from federation.artifacts import Artifact, Flag
from federation.protocol import World
from federation.records import ArtifactText, Note, Propose, Record, read_text

Content = TypeVar("Content", ArtifactText, Note)


class TextState(StrEnum):
    """Whether a text can be read here."""

    HELD = "held"
    """It is here."""
    MISSING = "missing"
    """Taken down, or not received: its record stands without it."""
    HIDDEN = "hidden"
    """The artifact is hidden, so its text is not shown."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One claim of an artifact."""

    n: int
    """Its number, from 1."""
    text: str | None
    """What it says; nil if the text is missing."""
    falsification: str | None
    """What would show it false; nil if the text is missing or does not say."""
    check: str | None
    """Digest of a check that can settle it, in hex; nil if it names none."""


def text_of(record: Record | None, kind: type[Content]) -> Content | None:
    """Read the text of a record; None if it has none, or none that is held here."""
    raw = record.text_raw if record is not None else None
    return None if raw is None else read_text(raw, kind)


def article(world: World, artifact: Artifact) -> tuple[TextState, ArtifactText | None]:
    """Give an artifact's text, and whether it may be read here."""
    if Flag.HIDDEN in artifact.flags:
        return TextState.HIDDEN, None
    return readable(world.log.get(artifact.id))


def readable(record: Record | None) -> tuple[TextState, ArtifactText | None]:
    """Give the text of a proposal, and whether it is held here."""
    text = text_of(record, ArtifactText)
    return (TextState.MISSING if text is None else TextState.HELD), text


def claims_of(body: Propose, text: ArtifactText | None) -> tuple[Claim, ...]:
    """Join the claims that a proposal binds with what its text says of each."""
    said = text.claims if text else ()
    against = text.falsification if text else ()
    return tuple(
        Claim(
            n=claim.n,
            text=said[claim.n - 1] if claim.n <= len(said) else None,
            falsification=against[claim.n - 1] if claim.n <= len(against) else None,
            check=claim.check.hex() if claim.check else None,
        )
        for claim in body.claims
    )
