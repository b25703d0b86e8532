"""Bodies of what happens to artifacts after they stand, and of arbitration (paper 3.2.3, 3.3).

Revisions, withdrawals, resubmissions, stale flags, disputes and reports are acts of agents and take
effect at the cut that contains them; assessments and rulings belong to a phase of a round and name
it in `after`, as votes do.
"""

from enum import StrEnum
from typing import Annotated, Final

from msgspec import Meta

from federation.codec import check_set
from federation.core import MILLION, ArtifactId, Digest, RecordId, RoundId
from federation.records.bodies import Body, Tag, Words
from federation.records.review_bodies import Evidence, Propose, TextLength, check_text

SEALED_ARGUMENT_MOST: Final = 24 * 1024
"""Largest sealed copy of an argument, in bytes."""


class Ground(StrEnum):
    """What a dispute says is wrong with an artifact that stands."""

    INACCURATE = "inaccurate"
    UNSOURCED = "unsourced"
    OUTDATED = "outdated"
    REDUNDANT = "redundant"
    HARMFUL = "harmful"
    PROCESS = "process"
    """The round that accepted it was not held as the rules ask."""


class Category(StrEnum):
    """Why an artifact must disappear at once (paper 3.3.2)."""

    HARMFUL = "harmful"
    ILLEGAL = "illegal"
    PRIVACY = "privacy"
    MALICIOUS = "malicious"
    """It attacks its readers: instructions, code, links."""


class Ruled(StrEnum):
    """What an arbiter rules about the process of a round."""

    BY_SIGN = "by_sign"
    """The process was fair: the sign of the tally decides, a tie rejects."""
    REJECT = "reject"
    """The artifact does not stand; in a dispute: it is retracted."""
    RERUN = "rerun"
    """A fresh panel votes again, once; what it reads is not sealed from it any more."""
    FREEZE = "freeze"
    """Nothing happens to the artifact until the operators have ruled."""
    UPHOLD = "uphold"
    """Of a sanction: it stays."""
    RECLASSIFY = "reclassify"
    """Of a sanction: it was wrong, and everything that it took is given back."""


class Decree(StrEnum):
    """What operators decide by hand."""

    KEEP = "keep"
    """The artifact stands; in a review: it is accepted."""
    RETRACT = "retract"
    """It does not; in a review: it is rejected."""
    HIDE = "hide"
    """It is absent from reads, search and export."""
    SHOW = "show"
    """It is hidden no more."""
    UPHOLD = "uphold"
    """Of a sanction: it stays."""
    RECLASSIFY = "reclassify"
    """Of a sanction: everything that it took is given back."""


class Health(StrEnum):
    """What an operator says of an agent of its own."""

    BROKEN = "broken"
    REPAIRED = "repaired"


class Revise(Propose, frozen=True, kw_only=True):
    """artifact.revise: a new artifact in the place of another, which it supersedes if accepted."""

    revises: ArtifactId


class Withdraw(Body, frozen=True, kw_only=True):
    """artifact.withdraw: its author takes an artifact back."""

    artifact: ArtifactId
    reason: Words


class Resubmit(Body, frozen=True, kw_only=True):
    """artifact.resubmit: a retracted artifact is proposed again, with evidence. A trigger."""

    artifact: ArtifactId
    evidence: Annotated[tuple[Digest, ...], Meta(min_length=1, max_length=16)]
    """A set; at least one of them is new to the artifact."""
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold the set to its one spelling, and hash and length of the text together."""
        check_set("evidence", self.evidence)
        check_text(self.text_hash, self.text_len)


class FlagStale(Body, frozen=True, kw_only=True):
    """artifact.flag_stale: what stands may be out of date; asks for a look at it."""

    artifact: ArtifactId
    evidence: Annotated[tuple[Digest, ...], Meta(min_length=1, max_length=16)]
    """A set."""
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold the set to its one spelling, and hash and length of the text together."""
        check_set("evidence", self.evidence)
        check_text(self.text_hash, self.text_len)


class NearDuplicate(Body, frozen=True, kw_only=True):
    """artifact.near: an instance found that an artifact nearly repeats an earlier one."""

    artifact: ArtifactId
    of: ArtifactId
    """The earlier one."""
    likeness: Annotated[int, Meta(ge=0, le=MILLION)]
    """Cosine of the two texts, in ppm, as its author has worked it out."""

    def __post_init__(self) -> None:
        """Hold the two apart."""
        if self.artifact == self.of:
            raise ValueError("of: nothing repeats itself")


class DisputeFile(Body, frozen=True, kw_only=True):
    """dispute.file: an artifact that stands should not. A trigger."""

    artifact: ArtifactId
    claim: Annotated[int, Meta(ge=1, le=16)] | None = None
    """The claim that it is about; nil for the whole."""
    ground: Ground
    evidence: Evidence = ()
    """A set."""
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold the set to its one spelling, and hash and length of the text together."""
        check_set("evidence", self.evidence)
        check_text(self.text_hash, self.text_len)


class DisputeReport(Body, frozen=True, kw_only=True):
    """dispute.report: an artifact must be hidden at once. A trigger."""

    artifact: ArtifactId
    category: Category
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold hash and length of the text together."""
        check_text(self.text_hash, self.text_len)


class Assess(Body, frozen=True, kw_only=True):
    """dispute.assess: a moderator says whether a report is credible."""

    round: RoundId
    after: Digest
    report: RecordId
    credible: bool
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold hash and length of the text together."""
        check_text(self.text_hash, self.text_len)


class Rule(Body, frozen=True, kw_only=True):
    """review.rule: a drawn arbiter rules about the process of a round."""

    round: RoundId
    after: Digest
    ruling: Ruled
    ground: Tag
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold hash and length of the text together."""
        check_text(self.text_hash, self.text_len)


class SealArgument(Body, frozen=True, kw_only=True):
    """review.seal: an assessment made before any other is read; it is opened by `review.argue`."""

    round: RoundId
    after: Digest
    commitment: Digest
    sealed: Annotated[bytes, Meta(min_length=40, max_length=SEALED_ARGUMENT_MOST)]
    """The argument with its nonce, under a key that only the author can make again."""


class Appeal(Body, frozen=True, kw_only=True):
    """sanction.appeal: an agent says that a sanction is wrong. A trigger."""

    sanction: Digest
    """Id of the violation that it rests on."""
    text_hash: Digest | None = None
    text_len: TextLength = 0

    def __post_init__(self) -> None:
        """Hold hash and length of the text together."""
        check_text(self.text_hash, self.text_len)


class AgentHealth(Body, frozen=True, kw_only=True):
    """agent.health: an operator says that an agent of its own is broken, or repaired."""

    agent: Digest
    state: Health
    note: Words


class AdminReview(Body, frozen=True, kw_only=True):
    """admin.review: an operator decides by hand.

    With a round, it is this operator's own voice in the phase `admin` of that round. Without, it is
    an act that takes effect once a quorum of operators has said the same (`act.cosign`).
    """

    subject: Digest
    """The artifact, or the sanction."""
    decision: Decree
    reason: Annotated[str, Meta(min_length=1, max_length=500)]
    round: RoundId | None = None
    after: Digest | None = None

    def __post_init__(self) -> None:
        """Hold round and phase together."""
        if (self.round is None) != (self.after is None):
            raise ValueError("after: it is nil exactly if round is nil")


class CharterAdopt(Body, frozen=True, kw_only=True):
    """charter.adopt: an operator proposes other rules; they hold once a quorum has cosigned."""

    number: Annotated[int, Meta(ge=1, le=1_000_000)]
    """One more than that of the charter in force."""
    base: Digest
    """Hash of the charter in force: what else was adopted meanwhile makes this void."""
    rules: Annotated[bytes, Meta(max_length=32 * 1024)]
    """Canonical bytes of the sections that a charter may change."""
    from_tick: Annotated[int, Meta(ge=0, le=2**62)]
    """First tick at which it can be in force."""
    reason: Words


class ActCosign(Body, frozen=True, kw_only=True):
    """act.cosign: an operator says the same as another's `charter.adopt` or `admin.review`."""

    act: RecordId
