"""Smallest valid identities, bodies and chains; every field can be overridden by keyword.

    alice = Chain(person(Role.AGENT, 1))
    artifact = alice.say(*propose(topics=("physics",)))
    alice.rotate()

`person` makes an identity with all its keys from a role and a number, so a test needs no key
material of its own. `Chain` keeps seq, prev and key_index the way an honest author does;
`fork` gives a second pen for the same chain, which is how a test plays a thief or an equivocator.
Bodies with prose come as (body, text), ready for `say(*…)`.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Final, Self

import msgspec

from federation.core import (
    NOBODY,
    Digest,
    IdentityId,
    Millis,
    PublicKey,
    Realm,
    RecordId,
    RoundId,
    Seed,
)
from federation.crypto import (
    Ballot,
    Basis,
    Choice,
    Domain,
    KeySigner,
    Reason,
    Signer,
    commitment,
    digest,
    public_key,
)
from federation.records import (
    AgentAdmit,
    Argue,
    ArtifactText,
    Body,
    Claim,
    Commit,
    Contest,
    Custody,
    Delegate,
    Incept,
    Level,
    LogFork,
    Note,
    ObjectTo,
    OperatorAdmit,
    Propose,
    Record,
    Reveal,
    Revoke,
    RevokeBy,
    Role,
    Rotate,
    RotateBy,
    SignedStatement,
    Stance,
    bind_text,
    sign_record,
    text_id,
)


def named(*names: object) -> Digest:
    """32 bytes that stand for anything with an id; the same names give the same bytes."""
    return hashlib.sha256("/".join(str(name) for name in ("test", *names)).encode()).digest()


REALM: Final[Realm] = named("realm")
OTHER_REALM: Final[Realm] = named("another realm")
SALT: Final = bytes(range(16))
EPOCH: Final[Millis] = 1_700_000_000_000
"""`at` of every inception; later records of a chain follow a second apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One identity and all the keys it will ever use."""

    role: Role
    number: int
    inception: Record
    realm: Realm = REALM

    @property
    def id(self) -> IdentityId:
        return self.inception.id

    @property
    def signer(self) -> KeySigner:
        """Its first key; after a rotation ask its chain."""
        return KeySigner(self.seed(0))

    @property
    def key(self) -> PublicKey:
        return public_key(self.seed(0))

    def seed(self, generation: int) -> Seed:
        """Seed of the key committed as `next` by record number `generation` of its key log."""
        return named(self.role, self.number, "key", generation)

    def recovery(self, generation: int) -> Seed:
        return named(self.role, self.number, "recovery", generation)


def key_digest(seed: Seed) -> Digest:
    """Give the digest that an inception commits to instead of the key itself."""
    return digest(Domain.KEY, public_key(seed))


def person(role: Role, number: int = 1, *, realm: Realm = REALM, name: str = "") -> Identity:
    """Make an identity; the same role, number and realm always give the same one."""
    body = Incept(
        role=role,
        key=public_key(named(role, number, "key", 0)),
        next=key_digest(named(role, number, "key", 1)),
        recovery=key_digest(named(role, number, "recovery", 0)),
        name=name or f"{role.value} {number}",
    )
    inception = sign_record(
        body,
        realm=realm,
        signer=KeySigner(named(role, number, "key", 0)),
        author=NOBODY,
        key_index=0,
        seq=0,
        prev=None,
        at=EPOCH,
    )
    return Identity(role=role, number=number, inception=inception, realm=realm)


@dataclass(slots=True)
class Chain:
    """The records of one author, in order, and the keys it writes the next one with."""

    identity: Identity
    records: list[Record] = field(default_factory=list)
    key_index: int = 0
    current: Seed = b""
    upcoming: Seed = b""
    rescue: Seed = b""
    """Seed of the recovery key that the latest key event committed to."""

    def __post_init__(self) -> None:
        if not self.records:
            self.records = [self.identity.inception]
            self.current = self.identity.seed(0)
            self.upcoming = self.identity.seed(1)
            self.rescue = self.identity.recovery(0)

    @property
    def id(self) -> IdentityId:
        return self.identity.id

    @property
    def head(self) -> Record:
        return self.records[-1]

    @property
    def signer(self) -> KeySigner:
        return KeySigner(self.current)

    @property
    def key(self) -> PublicKey:
        return public_key(self.current)

    def say(
        self,
        body: Body,
        text: bytes | None = None,
        *,
        at: Millis | None = None,
        signer: Signer | None = None,
    ) -> Record:
        """Append one record; `text` is what `bind_text` gave, `signer` overrides the current key."""
        seq = len(self.records)
        record = sign_record(
            body,
            realm=self.identity.realm,
            signer=signer or self.signer,
            author=self.id,
            key_index=self.key_index,
            seq=seq,
            prev=self.head.id,
            at=EPOCH + 1_000 * seq if at is None else at,
            text=text,
        )
        self.records.append(record)
        return record

    def rotate(
        self,
        by: RotateBy = RotateBy.NEXT,
        *,
        reason: str = "routine",
        disown_after: int | None = None,
        picks: RecordId | None = None,
    ) -> Record:
        """Reveal the committed key (next or recovery), sign with it, and commit to fresh ones."""
        self.current = self.upcoming if by is RotateBy.NEXT else self.rescue
        self.key_index += 1
        generation = self.key_index + (0 if by is RotateBy.NEXT else 1_000)
        self.upcoming = self.identity.seed(generation + 1)
        self.rescue = self.identity.recovery(generation)
        return self.say(
            Rotate(
                key=self.key,
                next=key_digest(self.upcoming),
                recovery=key_digest(self.rescue),
                by=by,
                reason=reason,
                disown_after=disown_after,
                picks=picks,
            )
        )

    def recover(
        self,
        *,
        reason: str = "stolen",
        disown_after: int | None = None,
        picks: RecordId | None = None,
    ) -> Record:
        """Rotate by the recovery key."""
        return self.rotate(RotateBy.RECOVERY, reason=reason, disown_after=disown_after, picks=picks)

    def revoke(self, by: RevokeBy = RevokeBy.CURRENT, *, reason: str = "retired") -> Record:
        """End the identity, signed by the current or by the recovery key."""
        if by is RevokeBy.CURRENT:
            return self.say(Revoke(by=by, reason=reason))
        body = Revoke(by=by, key=public_key(self.rescue), reason=reason)
        return self.say(body, signer=KeySigner(self.rescue))

    def fork(self, length: int | None = None) -> Self:
        """Give a second pen with the same keys, on the first `length` records (default: all).

        A fork made at a length before a rotation keeps today's keys: cut where the keys were.
        """
        return type(self)(
            self.identity,
            self.records[:length],
            self.key_index,
            self.current,
            self.upcoming,
            self.rescue,
        )


def admit(instance: Chain, operator: Chain, agent: Chain, *, founding: bool = True) -> list[Record]:
    """Let an operator answer for an agent and an instance admit both; gives the new records.

    The operator is admitted unless this instance did so before; without `founding` each
    admission carries a token of proof (which proves nothing).
    """
    proof = None if founding else b"proof"
    new: list[Record] = []
    known = {one.body.operator for one in instance.records if isinstance(one.body, OperatorAdmit)}
    if operator.id not in known:
        new.append(instance.say(OperatorAdmit(operator=operator.id, proof=proof)))
    grant = operator.say(Delegate(agent=agent.id, scope=()))
    admission = AgentAdmit(
        agent=agent.id,
        operator=operator.id,
        delegate=grant.id,
        custody=Custody.SELF,
        proof=proof,
    )
    return [*new, grant, instance.say(admission)]


# Bodies, smallest first. `changes` replace fields of the body by name.


def artifact_text(**changes: object) -> ArtifactText:
    text = ArtifactText(
        title="Water boils at 100 °C at sea level",
        prose="Measured at one atmosphere.",
        claims=("Water boils at 100 °C at one atmosphere.",),
        falsification=("A calibrated thermometer shows another value.",),
        sources=("a handbook",),
    )
    return msgspec.structs.replace(text, **changes)


def propose(content: ArtifactText | None = None, **changes: object) -> tuple[Propose, bytes]:
    content = content or artifact_text()
    text, text_hash, text_len = bind_text(content, SALT)
    body = Propose(
        topics=("science/physics",),
        claims=(Claim(1),),
        cites=(),
        sources=(),
        text_hash=text_hash,
        text_len=text_len,
        text_id=text_id(content),
        lang="en",
    )
    return msgspec.structs.replace(body, **changes), text


def object_to(
    round_id: RoundId, note: str = "", *, after: Digest | None = None, **changes: object
) -> tuple[ObjectTo, bytes | None]:
    text, text_hash, text_len = _bound(note)
    body = ObjectTo(
        round=round_id,
        after=after or round_id,
        reason=Reason.UNSOURCED,
        text_hash=text_hash,
        text_len=text_len,
    )
    return msgspec.structs.replace(body, **changes), text


def argue(
    round_id: RoundId, note: str = "", *, after: Digest | None = None, **changes: object
) -> tuple[Argue, bytes | None]:
    text, text_hash, text_len = _bound(note)
    body = Argue(
        round=round_id,
        after=after or round_id,
        stance=Stance.FOR,
        level=Level.CONTENT,
        text_hash=text_hash,
        text_len=text_len,
    )
    return msgspec.structs.replace(body, **changes), text


def contest(
    round_id: RoundId, note: str = "", *, after: Digest | None = None, **changes: object
) -> tuple[Contest, bytes | None]:
    text, text_hash, text_len = _bound(note)
    body = Contest(
        round=round_id,
        after=after or round_id,
        ground="late_list",
        text_hash=text_hash,
        text_len=text_len,
    )
    return msgspec.structs.replace(body, **changes), text


def ballot(choice: Choice = Choice.FOR, **changes: object) -> Ballot:
    start = Ballot(choice=choice, reason=Reason.ACCURATE, basis=Basis.DERIVATION)
    return msgspec.structs.replace(start, **changes)


def commit(
    voter: Chain, round_id: RoundId, vote: Ballot | None = None, *, after: Digest | None = None
) -> Commit:
    """Commit to a vote of this author; `reveal` with the same arguments opens it."""
    vote = vote or ballot()
    realm, nonce = voter.identity.realm, vote_nonce(voter, round_id)
    return Commit(
        round=round_id,
        after=after or round_id,
        commitment=commitment(
            realm=realm, round_id=round_id, voter=voter.id, ballot=vote, nonce=nonce
        ),
        sealed=voter.signer.seal(realm, round_id, vote, nonce=nonce, salt=nonce[:24]),
    )


def reveal(
    voter: Chain, round_id: RoundId, vote: Ballot | None = None, *, after: Digest | None = None
) -> Reveal:
    return Reveal(
        round=round_id,
        after=after or round_id,
        ballot=vote or ballot(),
        nonce=vote_nonce(voter, round_id),
    )


def vote_nonce(voter: Chain, round_id: RoundId) -> bytes:
    return named("nonce", voter.id.hex(), round_id.hex())


def signed_statement(record: Record) -> SignedStatement:
    """Give one half of a fork proof, with the key that the record reveals, if it does."""
    key = record.body.key if isinstance(record.body, Rotate | Revoke) else None
    return SignedStatement(record.statement_raw, record.signature, key)


def log_fork(a: Record, b: Record) -> LogFork:
    return LogFork(author=a.author, a=signed_statement(a), b=signed_statement(b))


def _bound(note: str) -> tuple[bytes | None, Digest | None, int]:
    return bind_text(Note(note=note), SALT) if note else (None, None, 0)
