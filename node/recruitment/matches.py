"""That an agent's offer matches an artifact, and why."""

from dataclasses import dataclass
from enum import StrEnum

from federation.core import AgentId


class Why(StrEnum):
    """Why an offer matches, the strongest reason first."""

    TOPIC = "topic"
    """A topic of the offer is one of the artifact's, or above it, or a keyword is a part of one."""
    KEYWORD = "keyword"
    """A keyword stands in the title, a claim or the prose."""
    NEAR = "near"
    """A keyword or topic of the offer is nearly a word of the title or of a claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One agent whose offer matches."""

    agent: AgentId
    why: Why
    what: str
    """The topic or keyword that matches."""
