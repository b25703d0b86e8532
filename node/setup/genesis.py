"""genesis.msgpack: the charter of a realm and the records that it lists (design: genesis).

Every instance of a realm holds the same file, byte for byte. It is read strictly: canonical
bytes, a charter without errors, and exactly the records that the charter lists, each signed by
its author. Nobody signs charter 0, and a realm's id does not cover its rules, so the hash of the
charter stands in the file: against damage, and for people to compare between instances.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from federation.charter import Charter, Severity, charter_hash, check, realm_of
from federation.charter.schema import MOST
from federation.codec import LIMITS, decode, encode
from federation.core import Digest, FederationError, ParameterError, Realm
from federation.crypto import Domain, digest
from federation.protocol import Founding, begin
from federation.records import Record, parse_record, wire
from node.base.errors import EXPLAINED, NodeCode, NodeError

_FORMAT: Final = 1
_LARGEST: Final = 4 * 1024 * 1024
"""Bytes: 1,024 records of a founding are about 0.5 MB, the charter that lists them .3 MB."""


class _File(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The whole file; the charter is bytes in bytes, because its hash is taken of these."""

    version: Literal[1]
    charter_hash: Digest
    charter: bytes
    records: Annotated[tuple[bytes, ...], Meta(max_length=MOST)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GenesisFile:
    """What a realm began with, checked."""

    realm: Realm
    charter: Charter
    charter_hash: Digest
    records: tuple[Record, ...]
    """The genesis records, in an order in which they can be stored."""


def genesis_bytes(founding: Founding) -> bytes:
    """Write charter and records of a founding as the bytes of the file."""
    return encode(
        _File(
            version=_FORMAT,
            charter_hash=charter_hash(founding.charter),
            charter=encode(founding.charter),
            records=tuple(wire(record) for record in founding.records),
        )
    )


def read_genesis(path: Path) -> GenesisFile:
    """Read and check a genesis file.

    Raises NodeError NOT_INITIALISED if there is none, GENESIS_OTHER_VERSION if it is sound and its
    charter has other rules than this version knows, and GENESIS_DAMAGED with the reason if it is
    not what a founding wrote.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise NodeError(
            "genesis not read",
            why=f"{path}: {error.strerror or error}",
            fix="run `folkmoot init`, or name the right directory with --data",
            code=NodeCode.NOT_INITIALISED,
        ) from error
    try:
        return _checked(raw)
    except FederationError as error:
        raise NodeError(
            "genesis refused",
            why=f"{path}: {error.why}",
            fix="take the file from another instance of the realm, or from a backup",
            code=NodeCode.GENESIS_DAMAGED,
        ) from error


def _checked(raw: bytes) -> GenesisFile:
    file = decode(raw, _File, what="genesis", most=_LARGEST)
    charter = _charter_in(file)
    if file.charter_hash != charter_hash(charter):
        raise ParameterError(
            "charter refused",
            why="its hash is not the one that stands beside it: the file is damaged",
            fix="take the file from another instance of the realm",
        )
    realm = realm_of(charter)
    records = tuple(parse_record(realm, one) for one in file.records)
    for finding in check(charter):
        if finding.severity is Severity.ERROR:
            raise ParameterError("charter refused", why=finding.what, fix=finding.fix)
    # Compares the records with the charter's list, checks each signature and each admission.
    begin(charter, records)
    return GenesisFile(
        realm=realm, charter=charter, charter_hash=file.charter_hash, records=records
    )


def _charter_in(file: _File) -> Charter:
    """Read the charter; one that another version wrote is told apart from a damaged one."""
    try:
        return decode(file.charter, Charter, what="charter", most=LIMITS.blob)
    except FederationError as error:
        if digest(Domain.CHARTER, file.charter) != file.charter_hash:
            raise
        what, fix = EXPLAINED[NodeCode.GENESIS_OTHER_VERSION]
        raise NodeError(
            "genesis refused",
            why=f"{what}: {error.why}",
            fix=fix,
            code=NodeCode.GENESIS_OTHER_VERSION,
        ) from error
