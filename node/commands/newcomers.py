"""A newcomer as it was read, and what can be told of its records by looking: nothing is hashed.

Bytes are read here and nowhere else; signatures are checked before anything of a newcomer is
stored, because a record of an operator that is stored can never be taken back.
"""

from dataclasses import dataclass

from federation.admission import Work, read_work
from federation.core import Code, IdentityId, OperatorId, PublicKey
from federation.identity import incepted, signing_key
from federation.protocol import World
from federation.records import Delegate, Incept, Record, Role, parse_record, verify_record
from federation.records.bodies import Domain
from node.commands.fields import bad_field, check
from node.commands.registration_refusals import refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a newcomer sends, as bytes from outside."""

    role: Role
    """Agent or operator."""
    records: tuple[bytes, ...]
    """Of an agent its inception and its operator's delegation, of an operator its inception."""
    proof: bytes | None
    """Canonical bytes of the proof of work; None where the realm asks for none."""
    invite: str | None
    """Code of an invite; None for none."""
    domain: str | None
    """Domain that an operator says is its own; None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    """A wish as it was read."""

    inception: Record
    key: PublicKey
    """The key that it was incepted with."""
    delegate: Record | None
    """The word of the operator that answers for an agent; None for an operator."""
    raw: bytes | None
    """The proof; None where none is asked for."""
    work: Work | None
    """The same as it was read."""
    invite: str | None
    domain: str | None

    @property
    def role(self) -> Role:
        """What it is."""
        return Role.AGENT if self.delegate is not None else Role.OPERATOR

    @property
    def operator(self) -> OperatorId | None:
        """Who answers for an agent; None for an operator."""
        return None if self.delegate is None else self.delegate.author

    @property
    def records(self) -> tuple[Record, ...]:
        """What is to be stored, the operator's word first because its place is certain."""
        return (self.inception,) if self.delegate is None else (self.delegate, self.inception)


def read_newcomer(world: World, wish: Wish) -> Newcomer:
    """Read the bytes; raises PeerError, or RequestError BAD_FIELD."""
    records = [parse_record(world.realm, raw) for raw in wish.records]
    if len(records) != (2 if wish.role is Role.AGENT else 1):
        raise bad_field(
            "$.records", "an agent brings its inception and a delegation, an operator its inception"
        )
    inception, *others = records
    body = inception.body
    if not isinstance(body, Incept) or body.role is not wish.role:
        raise refused(Code.WRONG_ROLE)
    if wish.domain is not None:
        if wish.role is Role.AGENT:
            raise bad_field("$.domain", "an operator has a domain, not an agent")
        check("$.domain", wish.domain, Domain)
    # Where nothing is asked for, nothing is kept.
    raw = None if world.state.joining.is_free else wish.proof
    return Newcomer(
        inception=inception,
        key=body.key,
        delegate=others[0] if others else None,
        raw=raw,
        work=None if raw is None else read_work(raw),
        invite=wish.invite,
        domain=wish.domain,
    )


def check_identities(world: World, newcomer: Newcomer) -> None:
    """Check who signed, and whether they may."""
    inception, delegate = newcomer.inception, newcomer.delegate
    if inception.id not in world.log:
        verify_record(inception, incepted(inception).key, world.verify)
    if _is_revoked(world, inception.id):
        raise refused(Code.REVOKED)
    if delegate is None:
        return
    body, operator = delegate.body, delegate.author
    if not isinstance(body, Delegate) or body.agent != inception.id:
        raise refused(Code.NOT_PROVEN)
    if operator not in world.state.operators:
        raise refused(Code.NOT_ADMITTED)
    if _is_revoked(world, operator):
        raise refused(Code.REVOKED, "the operator that answers for the agent is revoked")
    if world.log.is_forked(operator):
        raise refused(
            Code.FORK,
            "the chain of the operator that answers for the agent is forked",
            "rotate the operator's key and pick the branch to keep",
        )
    if body.until is not None and body.until <= world.state.cut:
        raise refused(Code.NOT_PROVEN, f"the delegation was good up to cut {body.until}")
    if world.state.identities[operator].keys.is_disowned(delegate.seq):
        raise refused(Code.NOT_PROVEN, "the operator has disowned the delegation")
    if delegate.id not in world.log:
        _check_next(world, delegate)


def _check_next(world: World, delegate: Record) -> None:
    """Check that a record may follow the newest one of its author, and that the author signed it."""
    before = None if delegate.prev is None else world.log.entry(delegate.prev)
    if before is None:
        raise refused(Code.WAITS_FOR_PREV)
    if world.log.ids_at(delegate.author, before.record.seq + 1):
        # Stored, it would bar its operator; and nobody may hand in what does that.
        raise refused(Code.FORK)
    if before.keys.identity != delegate.author or before.record.seq + 1 != delegate.seq:
        raise refused(Code.BAD_CHAIN)
    verify_record(delegate, signing_key(before.keys, delegate), world.verify)


def _is_revoked(world: World, identity: IdentityId) -> bool:
    """Tell whether an identity is revoked in any branch of its chain that is held here."""
    heads = (world.log.entry(name) for _, name in world.log.heads_of(identity))
    return any(entry.keys.revoked for entry in heads if entry is not None)
