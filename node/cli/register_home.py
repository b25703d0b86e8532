"""The directory of those who register: their keys, what they have signed, a search under way.

    keys/            the keystore
    ID.chain         what an identity has signed here, from its inception on
    ID.search        how far the search for its proof has come
    ID.proof         its proof, until a cut has admitted it
    lock             held while a command works here

A chain is written before a record of it leaves this machine, and every further record follows its
last one. So an identity never signs two records for one place, whatever an instance says of it, and
a command that is repeated sends the same records again.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from federation.admission import Work, read_work, work_bytes
from federation.codec import decode, encode
from federation.core import IdentityId, Millis, PeerError, PublicKey, Realm
from federation.crypto import plain_hash
from federation.protocol import Keys, incept
from federation.records import Delegate, Incept, Record, Role, parse_record, sign_record, wire
from node.base.entropy import random_bytes
from node.base.errors import LockedError, NodeCode, NodeError
from node.base.paths import DataDir, hold, make_private, write_private
from node.cli.errors import Code, CommandError, Exit
from node.keys import Identity, Keystore
from node.minting import Saved, read_saved, saved_bytes

_KEYS: Final = "keys"
_CHAIN: Final = ".chain"
_SEARCH: Final = ".search"
_PROOF: Final = ".proof"
_HASH: Final = 32
_SEED: Final = 32
_MOST_RECORDS: Final = 10_000
_MOST_BYTES: Final = 8 * 1024 * 1024
_MOST_SEARCH: Final = 8 * 1024


class _Chain(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A chain as its file holds it."""

    version: Literal[1]
    realm: Realm
    records: Annotated[tuple[bytes, ...], Meta(min_length=1, max_length=_MOST_RECORDS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrant:
    """Whoever registers: an identity whose keys are kept here, with what it has signed."""

    realm: Realm
    records: tuple[Record, ...]
    """Its inception, and of an operator the delegates; in order of seq."""

    @property
    def id(self) -> IdentityId:
        """Its id."""
        return self.records[0].id

    @property
    def first(self) -> Incept:
        """What its inception says."""
        body = self.records[0].body
        assert isinstance(body, Incept), "checked when it was read"  # noqa: S101 # our own invariant
        return body

    @property
    def key(self) -> PublicKey:
        """The key that it was incepted with."""
        return self.first.key

    @property
    def head(self) -> Record:
        """The last record that it has signed here."""
        return self.records[-1]

    def delegate_of(self, agent: IdentityId) -> Record | None:
        """Find its word for an agent."""
        for record in self.records:
            if isinstance(record.body, Delegate) and record.body.agent == agent:
                return record
        return None


class Home:
    """The directory, while it is held."""

    def __init__(self, root: Path) -> None:
        """Read nothing yet; use `held`."""
        self.root: Final = root

    @property
    def is_new(self) -> bool:
        """Tell whether there are no keys yet, so that a passphrase is chosen now."""
        keys = self.root / _KEYS
        return not any(keys.glob("keystore.head*")) and not any(keys.glob("*.key"))

    def open(self, passphrase: bytes) -> Keystore:
        """Unlock the keystore, or make it; raises KeystoreError."""
        keys = self.root / _KEYS
        if self.is_new:
            return Keystore.create(keys, passphrase, entropy=random_bytes)
        return Keystore.unlock(keys, passphrase)

    def all(self, keystore: Keystore, realm: Realm) -> list[Registrant]:
        """List all whose keys are kept.

        Raises CommandError NOT_READABLE for a chain that is damaged, NodeError WRONG_REALM for one
        of another realm.
        """
        try:
            files = sorted(self.root.glob(f"*{_CHAIN}"))
        except OSError as error:
            raise _not_read(self.root, error.strerror or str(error)) from error
        found = [_read(file) for file in files]
        for one in found:
            if one.realm != realm:
                raise NodeError(
                    "not registered",
                    why=f"{self.root} holds identities of realm {one.realm.hex()}, and the instance "
                    f"says that it is of realm {realm.hex()}",
                    fix="ask an instance of that realm, or name another directory with --keys",
                    code=NodeCode.WRONG_REALM,
                )
        return [one for one in found if keystore.has(one.id)]

    def find(self, keystore: Keystore, realm: Realm, role: Role, name: str) -> Registrant | None:
        """Find an identity by its role and name.

        One whose keys are not kept does not count: its command was killed between two steps, and
        nobody has heard of it. Raises NodeError WRONG_REALM if one of them is of another realm,
        AMBIGUOUS if several are called so.
        """
        found = [
            one
            for one in self.all(keystore, realm)
            if (one.first.role, one.first.name) == (role, name)
        ]
        if len(found) > 1:
            raise NodeError(
                f"{role.value} {name!r} not chosen",
                why=f"{self.root} holds the keys of {len(found)} that are called so",
                fix="move the .chain file of the one that you do not mean to another place",
                code=NodeCode.AMBIGUOUS,
            )
        return found[0] if found else None

    def make(
        self, keystore: Keystore, realm: Realm, role: Role, name: str, *, at: Millis
    ) -> Registrant:
        """Make an identity; its keys and its inception are durable when this returns.

        `at` is the time that its inception claims.
        """
        current, following, recovery = (random_bytes(_SEED) for _ in range(3))
        keys = Keys(current=current, next=following, recovery=recovery)
        made = Registrant(realm=realm, records=(incept(realm, name, role, keys, at=at),))
        self._write_chain(made)
        keystore.add(
            Identity(
                id=made.id,
                role=role,
                name=name,
                seeds=(keys.current,),
                next=keys.next,
                recovery=keys.recovery,
            )
        )
        return made

    def delegate(
        self, keystore: Keystore, operator: Registrant, agent: IdentityId, *, at: Millis
    ) -> Registrant:
        """Let an operator answer for an agent, once; give the operator with that in its chain.

        Raises what `append` raises.
        """
        if operator.delegate_of(agent) is not None:
            return operator
        record = sign_record(
            Delegate(agent=agent, scope=()),
            realm=operator.realm,
            signer=keystore.signer(operator.id),
            author=operator.id,
            key_index=0,
            seq=operator.head.seq + 1,
            prev=operator.head.id,
            at=at,
        )
        return self.append(operator, record)

    def again(self, one: Registrant) -> Registrant:
        """Read a chain again: it may have grown since."""
        return _read(self._file(one.id, _CHAIN))

    def append(self, one: Registrant, *records: Record) -> Registrant:
        """Add records to a chain, durably.

        What is on the disk has to be what was read before: a record that was signed for a place may
        have left this machine, and a second one for it would bar its author for ever. Raises
        ValueError otherwise.
        """
        if self.again(one) != one:
            raise ValueError("a chain grows from what its file holds")
        grown = Registrant(realm=one.realm, records=(*one.records, *records))
        self._write_chain(grown)
        return grown

    def proof(self, name: IdentityId) -> Work | None:
        """Give the proof of an identity, if there is one that can be read."""
        raw = self._bytes(name, _PROOF)
        if raw is None:
            return None
        with suppress(PeerError):
            return read_work(raw)
        return None

    def keep_proof(self, name: IdentityId, work: Work) -> None:
        """Keep a proof; the search for it is over. Raises OSError."""
        write_private(self._file(name, _PROOF), work_bytes(work))
        self._remove(name, _SEARCH)

    def search(self, name: IdentityId) -> tuple[Saved | None, bool]:
        """Give the search of an identity, and whether there was one that is damaged."""
        raw = self._bytes(name, _SEARCH)
        saved = None if raw is None else read_saved(raw)
        return saved, raw is not None and saved is None

    def keep_search(self, name: IdentityId, saved: Saved) -> None:
        """Save a search; raises OSError, and then the one before stays."""
        write_private(self._file(name, _SEARCH), saved_bytes(saved))

    def forget(self, name: IdentityId) -> None:
        """Remove search and proof: they are of no use any more."""
        self._remove(name, _SEARCH)
        self._remove(name, _PROOF)

    def _file(self, name: IdentityId, kind: str) -> Path:
        return self.root / f"{name.hex()}{kind}"

    def _bytes(self, name: IdentityId, kind: str) -> bytes | None:
        """Read a file that may be missing, and that can be made anew if it cannot be read."""
        try:
            with self._file(name, kind).open("rb") as file:
                return file.read(_MOST_SEARCH)
        except FileNotFoundError:
            return None
        except OSError:
            return b""

    def _remove(self, name: IdentityId, kind: str) -> None:
        file = self._file(name, kind)
        # A full disk may have left the beginning of one.
        for path in (file, file.with_name(f"{file.name}.new")):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _write_chain(self, one: Registrant) -> None:
        whole = encode(_Chain(version=1, realm=one.realm, records=tuple(map(wire, one.records))))
        file = self._file(one.id, _CHAIN)
        try:
            write_private(file, whole + plain_hash(whole))
        except OSError as error:
            raise not_written(file, error) from error


@contextmanager
def held(root: Path) -> Iterator[Home]:
    """Hold the directory alone; it is made if it is not there.

    Raises LockedError if another command works on it, NodeError NOT_WRITTEN.
    """
    try:
        make_private(root)
    except FileExistsError as error:
        raise NodeError(
            "not registered",
            why=f"{root} is a file, and keys lie in a directory",
            fix="name another with --keys; it is made if it is not there",
            code=NodeCode.NOT_WRITTEN,
        ) from error
    except OSError as error:
        raise not_written(root, error) from error
    with ExitStack() as stack:
        try:
            stack.enter_context(hold(DataDir(root)))
        except LockedError as error:
            raise LockedError(
                "not registered",
                why=f"{root}: {error.why}",
                fix="wait until the other command ends, or name another directory with --keys",
                code=error.code,
            ) from error
        except OSError as error:
            raise not_written(root, error) from error
        yield Home(root)


def not_written(file: Path, error: OSError) -> NodeError:
    """Say that the file system refused."""
    return NodeError(
        f"{file} was not written",
        why=f"the system says: {error.strerror or error}",
        fix="make room, or correct the rights on the directory, and run the same command again",
        code=NodeCode.NOT_WRITTEN,
    )


def _read(file: Path) -> Registrant:
    try:
        with file.open("rb") as opened:
            raw = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _not_read(file, error.strerror or str(error)) from error
    whole, check = raw[:-_HASH], raw[-_HASH:]
    if plain_hash(whole) != check:
        raise _not_read(file, "its bytes were changed or cut off since it was written")
    try:
        chain = decode(whole, _Chain, what="chain", most=_MOST_BYTES)
        records = tuple(parse_record(chain.realm, one) for one in chain.records)
    except PeerError as error:
        raise _not_read(file, error.why) from error
    one = Registrant(realm=chain.realm, records=records)
    follows = all(
        (after.author, after.seq, after.prev) == (one.id, before.seq + 1, before.id)
        for before, after in pairwise(records)
    )
    if not isinstance(records[0].body, Incept) or not follows or file.stem != one.id.hex():
        raise _not_read(file, "it is not the chain of the identity that it is named for")
    return one


def _not_read(file: Path, why: str) -> CommandError:
    return CommandError(
        f"{file} not read",
        why=why,
        fix="put back its backup: whoever signs without it may sign twice for one place",
        code=Code.NOT_READABLE,
        leaves=Exit.FAILED,
    )
