"""What is kept of the search index, and of what this node's operator hides on it.

None of it is replicated, and no rule of the protocol asks for it.
"""

from dataclasses import dataclass

from federation.core import ArtifactId, Millis, RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """How far the index is known to be whole."""

    format: int
    """How its texts were prepared; 0 before anything was."""
    upto: int
    """Number of the text up to which all proposals are in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexText:
    """Put a held text into the search index, unless it is there."""

    record: RecordId
    words: tuple[str, str, str]
    """Title, claims and prose, as `node.store.words` prepares them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyIndex:
    """Take everything out of the search index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DropText:
    """Take a text down here: it goes, and its words go from the search index.

    SQLite overwrites them in the file when it next needs the room.
    """

    record: RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """An artifact that this instance's operator does not show."""

    artifact: ArtifactId
    reason: str
    """In at most 500 characters."""
    at: Millis
    """Unix time in ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowAgain:
    """Hide an artifact no more on this node."""

    artifact: ArtifactId
