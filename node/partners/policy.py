"""federation.json: what my operator has decided about other instances and other realms.

It is read anew whenever it is needed, so it is the only place where a decision lies, and it is
written whole or not at all. A damaged file is refused and nothing is guessed: a policy that is
silently another one would show verdicts that nobody meant.
"""

import base64
import binascii
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from federation.core import AgentId, FederationError, InstanceId, PublicKey, Realm
from federation.protocol import Policy
from federation.records import Record, TrustHead, parse_record, verify_record, wire
from federation.trust import Link
from node.base.errors import NodeCode, NodeError, RequestError
from node.base.paths import write_private
from node.partners.heads import refused

Word: TypeAlias = Literal["allow", "observe"]
"""What may be said of an instance."""
MOST_SEEDS: Final = 256
MOST_INSTANCES: Final = 1_024
MOST_LINKS: Final = 32
_LARGEST: Final = 4 * 1024 * 1024
"""Bytes of the file: 32 heads of the largest size are 2.8 MB in base64."""

_Hex = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Weight = Annotated[int, Meta(ge=1, le=255)]


class _LinkRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    realm: _Hex
    key: _Hex
    weight: _Weight
    imported: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    head: str


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: Literal[1]
    seeds: Annotated[tuple[_Hex, ...], Meta(min_length=1, max_length=MOST_SEEDS)] | None
    instances: Annotated[dict[_Hex, Word], Meta(max_length=MOST_INSTANCES)]
    links: Annotated[tuple[_LinkRow, ...], Meta(max_length=MOST_LINKS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A linked realm: its newest accepted head, and whose signature is believed."""

    realm: Realm
    key: PublicKey
    """Key of an instance of that realm, as my operator named it."""
    weight: int
    """1 to 255."""
    imported: int
    """Number of our cut when the head was accepted."""
    record: Record
    """The signed head."""

    @property
    def head(self) -> TrustHead:
        """What the record says."""
        body = self.record.body
        assert isinstance(body, TrustHead), "other records are refused"  # noqa: S101 # our own
        return body

    @property
    def link(self) -> Link:
        """The same as the computation takes it."""
        return Link(realm=self.realm, weight=self.weight, head=self.head, imported=self.imported)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partners:
    """All decisions of one operator."""

    seeds: frozenset[AgentId] | None = None
    """Where trust starts for this node; None: where the charter says."""
    observed: frozenset[InstanceId] = frozenset()
    links: tuple[Linked, ...] = ()
    """By realm."""

    @property
    def policy(self) -> Policy:
        """The same as the computation takes it."""
        return Policy(
            seeds=self.seeds,
            observed=self.observed,
            links=tuple(one.link for one in self.links),
        )

    def with_instance(self, instance: InstanceId, word: Word) -> "Partners":
        """Allow or observe an instance."""
        others = self.observed - {instance}
        return replace(self, observed=others | {instance} if word == "observe" else others)

    def with_link(self, new: Linked) -> "Partners":
        """Link a realm, or take its next head; raises RequestError HEAD_REFUSED or BUSY.

        The age of a head counts from when it was *first* accepted: to hand it in again does not
        make it younger.
        """
        old = next((one for one in self.links if one.realm == new.realm), None)
        if old is None and len(self.links) >= MOST_LINKS:
            raise RequestError(
                "realm not linked",
                why=f"{MOST_LINKS} realms are linked already",
                fix="unlink one that you need no longer",
                code=NodeCode.BUSY,
            )
        if old is not None and new.head.cut < old.head.cut:
            raise refused(
                f"it tells of cut {new.head.cut}, and one of cut {old.head.cut} was accepted before",
                fix="take a newer file; to begin anew, unlink the realm first",
            )
        if old is not None and new.head.cut == old.head.cut:
            if new.head != old.head:
                raise refused(
                    f"it tells of cut {new.head.cut} something else than the head that was accepted",
                    fix="ask that realm's operators which of their instances is wrong",
                )
            new = replace(new, imported=old.imported)
        others = [one for one in self.links if one.realm != new.realm]
        return replace(self, links=tuple(sorted([*others, new], key=lambda one: one.realm)))

    def without_link(self, realm: Realm) -> "Partners":
        """Link a realm no more."""
        return replace(self, links=tuple(one for one in self.links if one.realm != realm))


def read_partners(path: Path) -> Partners:
    """Read the decisions; none at all if there is no file. Raises NodeError BAD_SETTINGS."""
    try:
        if path.stat().st_size > _LARGEST:
            raise _damaged(path, f"it has more than {_LARGEST} bytes")
        raw = path.read_bytes()
    except FileNotFoundError:
        return Partners()
    except OSError as error:
        raise _damaged(path, str(error.strerror or error)) from error
    try:
        file = msgspec.json.decode(raw, type=_File)
        partners = Partners(
            seeds=None if file.seeds is None else frozenset(map(bytes.fromhex, file.seeds)),
            observed=frozenset(
                bytes.fromhex(name) for name, word in file.instances.items() if word == "observe"
            ),
            links=tuple(sorted(map(_linked, file.links), key=lambda one: one.realm)),
        )
    except FederationError as error:
        raise _damaged(path, error.why) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, binascii.Error, ValueError) as error:
        raise _damaged(path, str(error)) from error
    if len({one.realm for one in partners.links}) < len(partners.links):
        raise _damaged(path, "a realm is linked twice")
    return partners


def write_partners(path: Path, partners: Partners) -> None:
    """Keep the decisions; raises RequestError BAD_REQUEST if they are more than a file holds."""
    file = _File(
        version=1,
        seeds=None if partners.seeds is None else _ids(partners.seeds),
        instances=dict.fromkeys(_ids(partners.observed), "observe"),
        links=tuple(
            _LinkRow(
                realm=one.realm.hex(),
                key=one.key.hex(),
                weight=one.weight,
                imported=one.imported,
                head=base64.b64encode(wire(one.record)).decode(),
            )
            for one in partners.links
        ),
    )
    content = msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n"
    try:
        msgspec.json.decode(content, type=_File)
    except msgspec.ValidationError as error:
        raise RequestError(
            "policy not kept",
            why=str(error),
            fix="name fewer, and at least one seed",
            code=NodeCode.BAD_REQUEST,
        ) from error
    write_private(path, content)


def _ids(names: frozenset[bytes]) -> tuple[str, ...]:
    return tuple(name.hex() for name in sorted(names))


def _linked(row: _LinkRow) -> Linked:
    realm, key = bytes.fromhex(row.realm), bytes.fromhex(row.key)
    record = parse_record(realm, base64.b64decode(row.head, validate=True))
    if not isinstance(record.body, TrustHead):
        raise msgspec.ValidationError(f"a record of the kind {record.kind} is no trust head")
    verify_record(record, key)
    return Linked(realm=realm, key=key, weight=row.weight, imported=row.imported, record=record)


def _damaged(path: Path, why: str) -> NodeError:
    return NodeError(
        f"{path.name} not read",
        why=why,
        fix="put back its backup, or remove it and decide anew",
        code=NodeCode.BAD_SETTINGS,
    )
