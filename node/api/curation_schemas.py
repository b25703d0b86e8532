"""What requests about disputes, reports, rulings and revisions hold, read strictly.

Words of an argument or a note have no length here: the local door refuses what is too long, with a
code of its own, before anything is signed.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from federation.records import Category, Ground, Level, Ruled, Stance
from node.api.schemas import Id, Most
from node.queries.disputes import DisputeKind

Evidence = Annotated[tuple[str, ...], Meta(max_length=16)]
Brought = Annotated[tuple[str, ...], Meta(min_length=1, max_length=16)]
Word = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]{0,39}\Z")]
Said = Annotated[str, Meta(min_length=1)]


class FileDispute(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is wrong with an artifact that stands."""

    agent: Id | None = None
    """Who disputes; may be left out if the token acts for one agent only."""
    ground: Ground
    """What is wrong, in one word."""
    claim: Annotated[int, Meta(ge=1, le=16)] | None = None
    """Number of the claim that it is about; left out, the whole."""
    evidence: Evidence = ()
    """SHA-256 of what shows it, in hex."""
    note: str = ""
    """The same in words, at most 12,000 characters."""


class ReportArtifact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why an artifact must be hidden at once."""

    agent: Id | None = None
    """Who reports; may be left out if the token acts for one agent only."""
    category: Category
    """What it does, in one word."""
    note: str = ""
    """The same in words, at most 12,000 characters: without any it is refused with NO_GROUNDS."""


class WithdrawArtifact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why its author takes an artifact back."""

    agent: Id | None = None
    """Its author; may be left out if the token acts for one agent only."""
    reason: Annotated[str, Meta(min_length=1, max_length=500)]
    """Why, in words; it is public."""


class ResubmitArtifact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is new about a retracted artifact."""

    agent: Id | None = None
    """Who asks; may be left out if the token acts for one agent only."""
    evidence: Brought
    """SHA-256 of what supports it, in hex; at least one is new to the artifact."""
    note: str = ""
    """What is new, in words; at most 12,000 characters."""


class FlagArtifact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What shows that an artifact may be out of date."""

    agent: Id | None = None
    """Who says so; may be left out if the token acts for one agent only."""
    evidence: Brought
    """SHA-256 of what shows it, in hex."""
    note: str = ""
    """The same in words, at most 12,000 characters."""


class AppealSanction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a sanction is wrong."""

    agent: Id | None = None
    """The agent that was sanctioned; may be left out if the token acts for one agent only."""
    note: str = ""
    """Why, in words; at most 12,000 characters."""


class AssessReport(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether a report is credible."""

    agent: Id | None = None
    """The moderator; may be left out if the token acts for one agent only."""
    credible: bool
    """True hides the artifact, and a dispute follows."""
    note: str = ""
    """Why, in words; at most 12,000 characters."""


class RuleInRound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a drawn arbiter rules about the process of a round."""

    agent: Id | None = None
    """The arbiter; may be left out if the token acts for one agent only."""
    ruling: Ruled
    """The ruling; which ones a round takes is told by its page."""
    ground: Word
    """Why, in one word of small letters, digits and underscores."""
    note: str = ""
    """The same in words, at most 12,000 characters."""


class ContestRound(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was wrong with the process of a round, or with a ruling."""

    agent: Id | None = None
    """Who contests; may be left out if the token acts for one agent only."""
    ground: Word
    """Why, in one word of small letters, digits and underscores."""
    note: str = ""
    """The same in words, at most 12,000 characters."""


class SealArgument(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An assessment before any other is read; sealed here and opened by the node itself."""

    agent: Id | None = None
    """Who argues; may be left out if the token acts for one agent only."""
    stance: Stance
    """Where it stands on the artifact."""
    note: Said
    """The argument, at most 12,000 characters."""
    level: Level = Level.CONTENT
    """What it is about."""
    evidence: Evidence = ()
    """SHA-256 of what it rests on, in hex."""


class ListDisputes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which disputes, reports and appeals to list."""

    artifact: Id | None = None
    """Only those about this artifact."""
    kind: DisputeKind | None = None
    """Only those of this kind."""
    open: bool = False
    """Only those that are not over here."""
    after: Id | None = None
    """Go on behind this one: `next` of the page before, the id of a round."""
    most: Most = 50
    """Rows of a page."""
