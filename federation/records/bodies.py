"""Bodies of identity, admission, log and certificate records (design: kinds).

A body holds everything the fold reads and is never dropped. All fields stand in the map, nil
included, and lists that mean sets are strictly ascending, so each value has one spelling. Making a
body that breaks such a rule raises ValueError; in a stranger's bytes it is NOT_CANONICAL. Fields
that a schema does not know are refused.
"""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from federation.codec import check_set
from federation.core import AgentId, Digest, IdentityId, OperatorId, PublicKey, Signature
from federation.records.statement import Count, KindName

Name = Annotated[str, Meta(min_length=1, max_length=128)]
Words = Annotated[str, Meta(max_length=500)]
Tag = Annotated[str, Meta(pattern=r"\A[a-z][a-z0-9_]{0,39}\Z")]
Topic = Annotated[str, Meta(pattern=r"\A[a-z0-9_-]{1,40}(/[a-z0-9_-]{1,40}){0,5}\Z")]
Domain = Annotated[
    str,
    Meta(
        max_length=253,
        pattern=r"\A([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?\Z",
    ),
]
"""A domain name in lower case, as DNS has it (IDNs in their ASCII form), with a dot at least."""
Proof = Annotated[bytes, Meta(max_length=2_048)]


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Common form of all bodies; holds no field."""


class Role(StrEnum):
    """What an identity is, fixed at its inception."""

    OPERATOR = "operator"
    AGENT = "agent"
    INSTANCE = "instance"


class RotateBy(StrEnum):
    """Which committed key a rotation reveals."""

    NEXT = "next"
    RECOVERY = "recovery"


class RevokeBy(StrEnum):
    """Which key ends the identity."""

    CURRENT = "current"
    RECOVERY = "recovery"


class Custody(StrEnum):
    """Who keeps an agent's keys."""

    SELF = "self"
    NODE = "node"


class Incept(Body, frozen=True, kw_only=True):
    """identity.incept: a new identity; its id is this record's id."""

    role: Role
    key: PublicKey
    next: Digest
    """digest(KEY, the next public key): committed before it is needed."""
    recovery: Digest
    """digest(KEY, the recovery public key)."""
    name: Name


class Rotate(Body, frozen=True, kw_only=True):
    """identity.rotate: the revealed key signs this record and becomes current."""

    key: PublicKey
    next: Digest
    recovery: Digest
    by: RotateBy
    reason: Words
    disown_after: Count | None = None
    """Records of this chain above this seq were a thief's: no effect in rounds opened later."""
    picks: Digest | None = None
    """After a fork: id of the branch's first record that the author keeps."""


class Revoke(Body, frozen=True, kw_only=True):
    """identity.revoke: nothing by this identity counts afterwards.

    By the recovery key it is final. By the current key, which may be a thief's, a rotation by the
    recovery key may follow and undoes it.
    """

    by: RevokeBy
    key: PublicKey | None = None
    """The recovery key, revealed, if it signs; nil if the current key signs."""
    reason: Words


class Delegate(Body, frozen=True, kw_only=True):
    """identity.delegate: an operator answers for an agent; admission needs it."""

    agent: IdentityId
    scope: Annotated[tuple[KindName, ...], Meta(max_length=64)]
    """Kinds it may author, a set; empty means all an agent may."""
    until: Count | None = None
    """Last cut in which an admission may rest on it."""

    def __post_init__(self) -> None:
        """Hold the set to its one spelling."""
        check_set("scope", self.scope)


class OperatorAdmit(Body, frozen=True, kw_only=True):
    """operator.admit: an instance vouches that an operator paid its registration."""

    operator: OperatorId
    proof: Proof | None = None
    domain: Domain | None = None
    """Where the admitting instance says it has seen the operator's id: a claim, for anybody to check
    by `https://DOMAIN/.well-known/folkmoot.json`; it gives no right."""


class AgentAdmit(Body, frozen=True, kw_only=True):
    """agent.admit: the node signs an agent identity; anybody can verify the cost."""

    agent: AgentId
    operator: OperatorId
    delegate: Digest
    """Id of the operator's `identity.delegate`."""
    custody: Custody
    proof: Proof | None = None


class AgentDeclare(Body, frozen=True, kw_only=True):
    """agent.declare: provenance for forensics; the latest counts."""

    family: Name
    provider: Name
    model: Name
    weights: Digest | None = None
    cutoff: Annotated[str, Meta(pattern=r"\A[0-9]{4}-[0-9]{2}\Z")] | None = None
    prompt_family: Name | None = None


class AgentSubscribe(Body, frozen=True, kw_only=True):
    """agent.subscribe: a standing offer to review (paper 3.1); the latest counts."""

    topics: Annotated[tuple[Topic, ...], Meta(max_length=32)]
    """A set."""
    keywords: Annotated[tuple[Name, ...], Meta(max_length=32)]
    """A set."""
    on: bool

    def __post_init__(self) -> None:
        """Hold both sets to their one spelling."""
        check_set("topics", self.topics)
        check_set("keywords", self.keywords)


class SignedStatement(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The bytes of a statement, its author's signature, and the key that its body reveals."""

    statement: Annotated[bytes, Meta(max_length=1_024)]
    signature: Signature
    key: PublicKey | None = None
    """What a rotation or a revocation by recovery reveals and is signed with; else nil: only the
    hash of such a key stands in the chain before it, and a statement carries no body."""


class SignedMessage(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The bytes of a certificate message and its voice's signature."""

    message: Annotated[bytes, Meta(max_length=31_500)]
    """Two of the longest fit into one record."""
    signature: Signature


class LogFork(Body, frozen=True, kw_only=True):
    """log.fork: two distinct statements of one author at one seq, both signed."""

    author: IdentityId
    """Whom it accuses; both statements say the same, but nobody decodes them to index a proof."""
    a: SignedStatement
    b: SignedStatement


class LogFault(Body, frozen=True, kw_only=True):
    """log.fault: two messages of one voice that no honest member signs both."""

    a: SignedMessage
    b: SignedMessage


class Seal(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One seal of a certificate: the message is rebuilt from slot, fence and digest."""

    voice: IdentityId
    counter: Count
    signature: Signature


class CertificateFinal(Body, frozen=True, kw_only=True):
    """certificate.final: a list made final; any instance appends it once it holds the closure."""

    slot: Annotated[bytes, Meta(max_length=128)]
    """Canonical bytes of the slot."""
    value: Annotated[bytes, Meta(max_length=48_000)]
    """Canonical bytes of the value."""
    fence: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    seals: Annotated[tuple[Seal, ...], Meta(max_length=256)]
