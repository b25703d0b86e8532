"""Found a realm: sign the genesis records and build charter 0 around them (design: genesis).

Cut 0 is the charter itself; its records are the inceptions of founding operators, instances and
agents, their delegates and their admissions, all listed by the charter. Nothing here is secret
or random: keys come in as seeds, so a founding can be repeated byte for byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from federation.charter import (
    Admission,
    Badge,
    Charter,
    Disputes,
    Founder,
    Genesis,
    GenesisInstance,
    Quotas,
    Review,
    Sanctions,
    Timing,
    Trust,
    build,
    realm_id,
)
from federation.core import IdentityId, Millis, Realm, RecordId, Seed
from federation.core.ids import NOBODY
from federation.crypto import (
    Domain,
    KeySigner,
    digest,
    keyed_hash,
    plain_hash,
    public_key,
)
from federation.records import (
    AgentAdmit,
    Body,
    Custody,
    Delegate,
    Incept,
    OperatorAdmit,
    Record,
    Role,
    sign_record,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The three seeds of a new identity: current, next, recovery (pre-rotation)."""

    current: Seed
    next: Seed
    recovery: Seed

    @staticmethod
    def derived(seed: bytes) -> "Keys":
        """Derive three seeds from one secret of any length.

        A keyed hash, as for all secrets that come from a seed; `Domain` is for public hashes.
        """
        key = plain_hash(seed)
        current, following, recovery = (
            keyed_hash(key, b"folkmoot/1/seed/" + part)
            for part in (b"current", b"next", b"recovery")
        )
        return Keys(current=current, next=following, recovery=recovery)


@dataclass(frozen=True, slots=True, kw_only=True)
class FounderSpec:
    """A founding agent: who answers for it and where it lives, by index."""

    name: str
    keys: Keys
    operator: int
    instance: int
    tier: int = 2
    badges: tuple[Badge, ...] = ()
    custody: Custody = Custody.NODE


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundingSpec:
    """Everything a founding needs."""

    name: str
    salt: bytes
    """32 random bytes that make the realm unlike any other."""
    preset: str
    operators: Sequence[tuple[str, Keys]]
    instances: Sequence[tuple[str, Keys, int]]
    """Name, keys and the index of its operator."""
    founders: Sequence[FounderSpec]
    at: Millis = 0
    timing: Timing | None = None
    review: Review | None = None
    trust: Trust | None = None
    admission: Admission | None = None
    quotas: Quotas | None = None
    disputes: Disputes | None = None
    sanctions: Sanctions | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Founding:
    """A new realm: its charter, and its genesis records in an order that can be stored."""

    realm: Realm
    charter: Charter
    records: tuple[Record, ...]
    operators: tuple[IdentityId, ...]
    instances: tuple[IdentityId, ...]
    agents: tuple[IdentityId, ...]


def incept(realm: Realm, name: str, role: Role, keys: Keys, *, at: Millis = 0) -> Record:
    """Sign the inception of an identity."""
    signer = KeySigner(keys.current)
    body = Incept(
        role=role,
        key=signer.public,
        next=digest(Domain.KEY, public_key(keys.next)),
        recovery=digest(Domain.KEY, public_key(keys.recovery)),
        name=name,
    )
    return sign_record(
        body, realm=realm, signer=signer, author=NOBODY, key_index=0, seq=0, prev=None, at=at
    )


class _Chains:
    """The chains of the founding identities while they are written."""

    def __init__(self, realm: Realm, at: Millis) -> None:
        self.realm = realm
        self.at = at
        self.records: list[Record] = []
        self._heads: dict[IdentityId, tuple[KeySigner, int, RecordId]] = {}

    def begin(self, name: str, role: Role, keys: Keys) -> IdentityId:
        first = incept(self.realm, name, role, keys, at=self.at)
        self._heads[first.id] = (KeySigner(keys.current), 0, first.id)
        self.records.append(first)
        return first.id

    def say(self, author: IdentityId, body: Body) -> RecordId:
        signer, seq, head = self._heads[author]
        record = sign_record(
            body,
            realm=self.realm,
            signer=signer,
            author=author,
            key_index=0,
            seq=seq + 1,
            prev=head,
            at=self.at,
        )
        self._heads[author] = (signer, seq + 1, record.id)
        self.records.append(record)
        return record.id


def found(spec: FoundingSpec) -> Founding:
    """Sign the genesis records and build the charter that lists them.

    The first instance admits all founding operators; each founder is admitted by its own
    instance. Raises ParameterError if a section is out of range.
    """
    keys = tuple(public_key(keys.current) for _, keys, _ in spec.instances)
    realm = realm_id(spec.name, spec.salt, keys)
    chains = _Chains(realm, spec.at)
    operators = tuple(chains.begin(name, Role.OPERATOR, keys) for name, keys in spec.operators)
    instances = tuple(chains.begin(name, Role.INSTANCE, keys) for name, keys, _ in spec.instances)
    for operator in operators:
        chains.say(instances[0], OperatorAdmit(operator=operator))
    agents = []
    for founder in spec.founders:
        agent = chains.begin(founder.name, Role.AGENT, founder.keys)
        agents.append(agent)
        operator = operators[founder.operator]
        delegate = chains.say(operator, Delegate(agent=agent, scope=()))
        chains.say(
            instances[founder.instance],
            AgentAdmit(agent=agent, operator=operator, delegate=delegate, custody=founder.custody),
        )
    genesis = Genesis(
        instances=tuple(
            GenesisInstance(instance=name, operator=operators[operator], key=key)
            for name, (_, _, operator), key in zip(instances, spec.instances, keys, strict=True)
        ),
        operators=operators,
        founders=tuple(
            Founder(
                agent=agent,
                operator=operators[founder.operator],
                instance=instances[founder.instance],
                tier=founder.tier,
                badges=founder.badges,
            )
            for agent, founder in zip(agents, spec.founders, strict=True)
        ),
        records=tuple(record.id for record in chains.records),
        seeds=None,
    )
    charter = build(
        spec.preset,
        name=spec.name,
        salt=spec.salt,
        genesis=genesis,
        timing=spec.timing,
        review=spec.review,
        trust=spec.trust,
        admission=spec.admission,
        quotas=spec.quotas,
        disputes=spec.disputes,
        sanctions=spec.sanctions,
    )
    return Founding(
        realm=realm,
        charter=charter,
        records=tuple(chains.records),
        operators=operators,
        instances=instances,
        agents=tuple(agents),
    )
