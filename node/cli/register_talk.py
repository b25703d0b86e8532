"""What a newcomer and an instance say to each other, and what of it is believed.

An instance is a stranger. Terms beyond the hard limits are refused, so are another realm and a head
of an operator's chain that the operator has not signed. What only a node could check is believed,
the epoch and its beacon: by a lie about these an instance can make a search vain that nobody else
would have had use for. No token goes out.
"""

import base64
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta

from federation.admission import (
    InForce,
    Terms,
    Work,
    blank_work,
    check_claims,
    offered,
    work_bytes,
)
from federation.core import (
    Code as Fault,
)
from federation.core import (
    Digest,
    IdentityId,
    InstanceId,
    ParameterError,
    PublicKey,
    Realm,
)
from federation.records import Record, Role, parse_record, verify_record, wire
from node.base.errors import NodeCode
from node.cli.client import Client
from node.cli.errors import AnswerError, Code, CommandError, Exit
from node.cli.output import Json
from node.cli.register_home import Registrant
from node.cli.tables import row_of

_MISSING: Final = 404
_AT_ONCE: Final = 64
"""Records of an operator's chain that are sent at a time."""
_MOST_EPOCH_MS: Final = 2**53
"""Of what an instance says of its epochs."""
_MOST_FETCHED: Final = 1_000
"""Records of an operator's chain, signed elsewhere, that are fetched."""

_Hex = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
_T = TypeVar("_T")


class _Terms(msgspec.Struct, frozen=True):
    """What one role is asked for."""

    memory_kib: int
    passes: int
    parts: int
    bits: int
    gate_bits: int
    left: int


class _Door(msgspec.Struct, frozen=True):
    """What GET /v1/registration tells; a later version may tell more."""

    realm: _Hex
    instance: _Hex
    policy: str
    epoch: _Count
    beacon: _Hex
    free: bool
    barred: bool
    agents: _Terms
    operators: _Terms


class _Head(msgspec.Struct, frozen=True):
    seq: _Count
    record: _Hex


class _Page(msgspec.Struct, frozen=True):
    """What GET /v1/agents/{id} tells, as far as it matters here."""

    admitted: bool
    revoked: bool
    head: _Head | None


class _Quota(msgspec.Struct, frozen=True):
    left: int


class _Operator(msgspec.Struct, frozen=True):
    """What GET /v1/operators/{id} tells, as far as it matters here."""

    quota: _Quota


class _Receipt(msgspec.Struct, frozen=True):
    """What POST /v1/registration answers, as far as it matters here."""

    id: _Hex
    admission: _Hex
    cut: _Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What an instance asks of a newcomer now."""

    realm: Realm
    instance: InstanceId
    policy: str
    """open, invited or closed."""
    epoch: int
    beacon: Digest
    terms: Terms | None
    """The work that is asked for; None where no proof is."""
    left: int
    """How many of this role it may admit in this epoch."""
    is_barred: bool
    """It may admit nobody in this epoch, for it signed for a false proof."""

    def blank(self, role: Role, key: PublicKey) -> Work | None:
        """Write the proof that is to be searched for; None where none is asked for."""
        if self.terms is None:
            return None
        return blank_work(
            realm=self.realm,
            role=role,
            instance=self.instance,
            key=key,
            epoch=self.epoch,
            beacon=self.beacon,
            terms=self.terms,
        )

    def fault_of(self, work: Work, role: Role, key: PublicKey) -> Fault | None:
        """Tell why a proof, or a search for one, is of no use here; None if it is.

        What the epoch before asked for only the instance knows: one of that epoch was begun when
        the instance itself said so.
        """

        def in_force(epoch: int) -> InForce | None:
            if epoch == self.epoch and self.terms is not None:
                return InForce(terms=self.terms, beacon=self.beacon)
            terms = offered(work)
            return None if terms is None else InForce(terms=terms, beacon=work.beacon)

        return check_claims(
            work,
            realm=self.realm,
            role=role,
            instance=self.instance,
            key=key,
            epoch=self.epoch,
            in_force=in_force,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What an instance knows of an identity."""

    is_admitted: bool
    is_revoked: bool
    head: tuple[int, bytes] | None
    """Seq and id of its newest record there; None if its chain is forked there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """An instance has signed for a newcomer."""

    admission: str
    """Id of the record, in hex."""
    cut: int
    """The cut that the instance had reached."""


class Talk:
    """The conversation with one instance."""

    def __init__(self, client: Client) -> None:
        """Say nothing yet."""
        self._client = client

    def door(self, role: Role) -> Door:
        """Ask what is asked for; raises CommandError TERMS_REFUSED if it is beyond the limits."""
        told = self._told(self._client.get("v1", "registration"), _Door)
        own = told.agents if role is Role.AGENT else told.operators
        try:
            terms = Terms(
                memory_kib=own.memory_kib,
                passes=own.passes,
                parts=own.parts,
                bits=own.bits,
                gate_bits=own.gate_bits,
            )
        except ParameterError as error:
            raise CommandError(
                "not registered",
                why=f"the instance asks for work that no realm may ask for: {error.why}",
                fix="ask another instance; this one lies, or is of a later version",
                code=Code.TERMS_REFUSED,
                leaves=Exit.REFUSED,
            ) from error
        return Door(
            realm=bytes.fromhex(told.realm),
            instance=bytes.fromhex(told.instance),
            policy=told.policy,
            epoch=told.epoch,
            beacon=bytes.fromhex(told.beacon),
            terms=None if told.free else terms,
            left=own.left,
            is_barred=told.barred,
        )

    def known(self, name: IdentityId) -> Known | None:
        """Ask what the instance knows of an identity; None if nothing."""
        try:
            page = self._told(self._client.get("v1", "agents", name.hex()), _Page)
        except AnswerError as error:
            if error.status == _MISSING:
                return None
            raise
        head = None if page.head is None else (page.head.seq, bytes.fromhex(page.head.record))
        return Known(is_admitted=page.admitted, is_revoked=page.revoked, head=head)

    def epoch_ms(self) -> int | None:
        """Ask how long an epoch lasts, in milliseconds; None if the answer is no such time."""
        timing = row_of(row_of(self._client.get("v1", "charter")).get("timing"))
        epoch = timing.get("epoch")
        return epoch if isinstance(epoch, int) and 0 < epoch <= _MOST_EPOCH_MS else None

    def room(self, operator: IdentityId) -> int:
        """Ask for how many more agents an operator may answer."""
        return self._told(self._client.get("v1", "operators", operator.hex()), _Operator).quota.left

    def send(
        self,
        newcomer: Registrant,
        *,
        delegate: Record | None,
        proof: Work | None,
        invite: str | None,
        domain: str | None,
    ) -> Receipt:
        """Register; sent again, it is answered alike. Raises AnswerError with why it is refused."""
        records = [newcomer.records[0], *([delegate] if delegate is not None else [])]
        body: dict[str, Json] = {
            "role": newcomer.first.role.value,
            "records": [_base64(wire(record)) for record in records],
            "proof": None if proof is None else _base64(work_bytes(proof)),
            "invite": invite,
            "domain": domain,
        }
        told = self._told(self._client.post("v1", "registration", body=body), _Receipt)
        if told.id != newcomer.id.hex():
            raise self._nonsense("it answered for another identity")
        return Receipt(admission=told.admission, cut=told.cut)

    def newer(self, operator: Registrant, head: tuple[int, bytes]) -> tuple[Record, ...]:
        """Give what an operator has signed elsewhere, between what it signed here and a head.

        Raises CommandError FORK if it does not follow what was signed here, PeerError if something
        is not the operator's.
        """
        seq, name = head
        found: list[Record] = []
        if seq - operator.head.seq > _MOST_FETCHED:
            raise self._nonsense(f"it says that operator has signed {seq} records")
        while seq > operator.head.seq:
            record = self._record(operator.realm, name)
            self._check_signed(operator, record, seq)
            found.append(record)
            seq, name = seq - 1, record.prev or b""
        if name != operator.records[seq].id:
            raise CommandError(
                "not registered",
                why="the operator has signed other records elsewhere than here, for the same places",
                fix="keep an operator's keys in one place; a fork bars it",
                code=Fault.FORK,
                leaves=Exit.REFUSED,
            )
        return tuple(reversed(found))

    def hand_in(self, records: tuple[Record, ...]) -> None:
        """Send records of an admitted operator that the instance does not hold."""
        for first in range(0, len(records), _AT_ONCE):
            some = records[first : first + _AT_ONCE]
            self._client.post(
                "v1", "records", body={"records": [_base64(wire(one)) for one in some]}
            )

    def _record(self, realm: Realm, name: bytes) -> Record:
        told = row_of(self._client.get("v1", "records", name.hex()))
        try:
            record = parse_record(realm, base64.b64decode(str(told.get("wire")), validate=True))
        except ValueError as error:
            raise self._nonsense("a record is no base64") from error
        if record.id != name:
            raise self._nonsense("it sent another record than it was asked for")
        return record

    def _check_signed(self, operator: Registrant, record: Record, seq: int) -> None:
        """Check that a record is the operator's: an instance could invent a chain."""
        if record.statement.key_index:
            raise CommandError(
                "not registered",
                why="the operator's key was rotated elsewhere",
                fix="register the agent where the operator's current key is kept",
                code=NodeCode.KEY_NOT_KEPT,
                leaves=Exit.REFUSED,
            )
        if (record.author, record.seq) != (operator.id, seq):
            raise self._nonsense("it takes another's record for the operator's")
        verify_record(record, operator.key)

    def _told(self, told: Json, kind: type[_T]) -> _T:
        try:
            return msgspec.convert(told, kind)
        except msgspec.ValidationError as error:
            raise self._nonsense(str(error)) from error

    def _nonsense(self, why: str) -> CommandError:
        return CommandError(
            "the node did not answer",
            why=f"{self._client.url} answered, but not as a node of this version does: {why}",
            fix="check the address, and compare the versions: `folkmoot version`",
            code=Code.NO_ANSWER,
            leaves=Exit.FAILED,
        )


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
