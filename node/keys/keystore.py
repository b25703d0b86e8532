"""The keystore of an instance: unlocked once, it gives signers (design: custody).

After `unlock` the seeds live in signers only, and the key of the files in this object; what is
written later is read from the disk again, decrypted, changed and encrypted. Every change compares
the disk with what was unlocked: two processes never overwrite each other's keys. Nothing is ever
removed here: a former seed opens the ballots that were sealed with it.

What one identity needs costs the same however many are kept: the head and its own file are read.

Whatever touches the disk waits for it, and for other processes, so an event loop lets a thread do
it. Such threads take turns; what is asked of memory (`has`, `signer`, `keyring`, …) may be asked
meanwhile, from any thread. A call that derives a key takes ~.1 s and 64 MiB.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from federation.core import IdentityId, PublicKey, Seed, short
from federation.crypto import BallotSigner, KeySigner
from federation.protocol import Keyring
from federation.records import Role, RotateBy
from node.base.entropy import Entropy, random_bytes
from node.base.errors import KeystoreError, NodeCode
from node.keys.cost import DEFAULT, LEAST, Cost, check_cost, derive
from node.keys.directory import HEAD, KeyDirectory, missing
from node.keys.identity import Identity, Kept
from node.keys.key_file import (
    NONCE,
    SALT,
    KeyFile,
    Lock,
    damaged,
    is_opened_by,
    kept,
    open_file,
    parse_file,
    seal_file,
)
from node.keys.openssh import read_key, write_key

_SEED: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    kept: Kept
    signers: tuple[BallotSigner, ...]
    """By key_index."""


class Keystore:
    """The identities whose keys are kept in one directory, unlocked."""

    __slots__ = ("_directory", "_entropy", "_held", "_key", "_lock", "_turn")

    def __init__(
        self, directory: KeyDirectory, lock: Lock, key: bytes, *, entropy: Entropy
    ) -> None:
        """Hold no identity yet; use `create` or `unlock`."""
        self._directory = directory
        self._lock = lock
        self._key = key
        self._entropy = entropy
        # Replaced as a whole by every change: somebody may be going through it.
        self._held: dict[IdentityId, _Held] = {}
        self._turn = threading.Lock()

    @staticmethod
    def create(
        directory: Path, passphrase: bytes, *, entropy: Entropy, cost: Cost = DEFAULT
    ) -> "Keystore":
        """Make an empty keystore; raises KeystoreError KEYSTORE_EXISTS if there is one.

        A `cost` below LEAST makes a keystore that `unlock` refuses: it is for tests.
        """
        files = KeyDirectory(directory)
        lock = Lock(salt=entropy(SALT), memory=cost.memory, passes=cost.passes)
        files.make()
        with files.hold():
            if files.read():
                raise KeystoreError(
                    f"no keystore made in {directory}",
                    why="one is there already",
                    fix="unlock it, or name another directory",
                    code=NodeCode.KEYSTORE_EXISTS,
                )
            key = derive(passphrase, lock.salt, cost)
            store = Keystore(files, lock, key, entropy=entropy)
            files.write(HEAD, store._sealed(None))
        return store

    @staticmethod
    def unlock(
        directory: Path,
        passphrase: bytes,
        *,
        entropy: Entropy = random_bytes,
        least: Cost = LEAST,
    ) -> "Keystore":
        """Open every file of a keystore.

        Raises KeystoreError: KEYSTORE_MISSING, WRONG_PASSPHRASE, KEY_FILE_DAMAGED, KEY_COST,
        KEYSTORE_NEWER, KEYS_EXPOSED. `least` is lower in tests only.
        """
        files = KeyDirectory(directory)
        with files.hold():
            found = _parsed(files.read())
        if not found:
            raise missing(directory)
        lock = found[0].lock
        check_cost(lock.cost, least=least)
        key = derive(passphrase, lock.salt, lock.cost)
        # Damage that a hash cannot see looks like a wrong passphrase, unless it opens another file.
        if not any(is_opened_by(one, key) for one in found):
            raise KeystoreError(
                "keys not unlocked",
                why="the passphrase does not open them",
                fix="try again; if a change of the passphrase was interrupted, try the other one",
                code=NodeCode.WRONG_PASSPHRASE,
            )
        store = Keystore(files, lock, key, entropy=entropy)
        opened = (store._opened(one) for one in found)
        store._held = {one.id: _held(one) for one in opened if one is not None}
        return store

    def identities(self) -> tuple[Kept, ...]:
        """Tell whose keys are kept, by id; nothing secret."""
        return tuple(held.kept for _, held in sorted(self._held.items()))

    def has(self, identity: IdentityId) -> bool:
        """Tell whether the keys of an identity are kept here."""
        return identity in self._held

    def signer(self, identity: IdentityId) -> BallotSigner:
        """Give the signer of an identity's current key; KeystoreError KEY_NOT_KEPT without it."""
        return self._of(identity).signers[-1]

    def former(self, identity: IdentityId) -> tuple[BallotSigner, ...]:
        """Give the signers of keys from before rotations, by key_index; KEY_NOT_KEPT as above."""
        return self._of(identity).signers[:-1]

    def keyring(self, agent: IdentityId, *, key_index: int | None = None) -> Keyring | None:
        """Give the keys that sign for an identity; None if they are not kept here.

        A rotation is kept before its record is signed. Until the record stands in the log, pass
        the `key_index` that the log knows, to sign with the key that is current there.
        """
        held = self._held.get(agent)
        if held is None:
            return None
        signers = held.signers if key_index is None else held.signers[: key_index + 1]
        return Keyring(agent=agent, keys=signers)

    def transport_seed(self, instance: IdentityId) -> Seed:
        """Give the current seed of an instance to its libp2p host, whose peer id it is.

        The one seed that leaves a signer: libp2p signs its handshake itself. What it signs never
        reads as anything of the protocol, which hashes under domains of its own. An agent's or an
        operator's seed never goes this way. Raises KeystoreError KEY_NOT_KEPT.
        """
        with self._alone():
            kept = self._read_one(instance)
        if kept is None or kept.role is not Role.INSTANCE:
            raise _not_kept(instance, "no instance of this id has its keys here")
        return kept.seeds[-1]

    def add(self, identity: Identity) -> None:
        """Keep an identity, durably; or replace one by itself with further seeds.

        Raises KeystoreError KEY_WOULD_BE_LOST if the seeds kept so far are not its first ones, or
        a next or recovery key that is kept is not among its keys; KEYSTORE_CHANGED if another
        process has changed the passphrase, KEYSTORE_FAILED.
        """
        with self._alone():
            old = self._read_one(identity.id)
            if old is not None and not _continues(old, identity):
                raise KeystoreError(
                    f"identity {short(identity.id)} not kept",
                    why="other keys of it are kept already, and they would be lost",
                    fix="pass all seeds by key_index, those that are kept first, and the next and "
                    "recovery keys that are kept",
                    code=NodeCode.KEY_WOULD_BE_LOST,
                )
            self._write(identity)

    def rotate(self, identity: IdentityId, by: RotateBy = RotateBy.NEXT) -> Kept:
        """Make the next key (or the recovery key) current and keep fresh ones, durably.

        What is returned names the keys for the `identity.rotate` record, which must be signed
        after this. A recovery key that is not used is kept. Raises KeystoreError KEY_NOT_KEPT if
        the key to be revealed is not kept here, and as `add` does.
        """
        with self._alone():
            old = self._read_one(identity)
            if old is None:
                raise _not_kept(identity, "its keys are not kept here")
            revealed = old.next if by is RotateBy.NEXT else old.recovery
            if revealed is None:
                raise _not_kept(identity, f"its {by} key is not kept here")
            recovery = old.recovery if by is RotateBy.NEXT else self._entropy(_SEED)
            return self._write(
                replace(
                    old,
                    seeds=(*old.seeds, revealed),
                    next=self._entropy(_SEED),
                    recovery=recovery,
                )
            )

    def change_passphrase(self, passphrase: bytes, *, cost: Cost | None = None) -> None:
        """Encrypt all files under a new passphrase, all at once.

        If it fails or crashes, one of the two passphrases opens everything, and it can be repeated
        with that one. Copies of the old files still open with the old passphrase. `cost` stays as
        it is unless given. Raises as `add` does.
        """
        cost = cost or self._lock.cost
        lock = Lock(salt=self._entropy(SALT), memory=cost.memory, passes=cost.passes)
        key = derive(passphrase, lock.salt, cost)
        changed = Keystore(self._directory, lock, key, entropy=self._entropy)
        with self._alone():
            fresh = {HEAD: changed._sealed(None)}
            for identity in self._read().values():
                fresh[_file_of(identity.id)] = changed._sealed(identity)
            self._directory.write_all(fresh)
            self._lock, self._key = lock, key

    def export_openssh(
        self, identity: IdentityId, passphrase: bytes | None, *, key_index: int | None = None
    ) -> bytes:
        """Give one key, the current one by default, as an OpenSSH file.

        `passphrase` encrypts it; None leaves it open to all who can read it. Raises KeystoreError
        KEY_NOT_KEPT, BAD_OPENSSH_KEY for a passphrase that OpenSSH cannot take.
        """
        with self._alone():
            old = self._read_one(identity)
        if old is None:
            raise _not_kept(identity, "its keys are not kept here")
        index = len(old.seeds) - 1 if key_index is None else key_index
        if not 0 <= index < len(old.seeds):
            raise _not_kept(identity, f"it has no key {key_index}")
        return write_key(old.seeds[index], passphrase)

    def import_openssh(
        self,
        files: Sequence[bytes],
        passphrase: bytes | None,
        *,
        identity: IdentityId,
        role: Role,
        name: str,
        keys: Sequence[PublicKey],
    ) -> None:
        """Keep an identity whose keys come as OpenSSH files, one for each key_index.

        `keys` are the public keys that its key log names: an OpenSSH file is not authenticated,
        so only these tell that a key is the right one. Raises KeystoreError BAD_OPENSSH_KEY if a
        file is damaged or holds another key, and as `add` does.
        """
        if len(files) != len(keys):
            raise KeystoreError(
                f"identity {short(identity)} not kept",
                why=f"its key log names {len(keys)} keys, and {len(files)} files were given",
                fix="give one file for each key_index, the first key first",
                code=NodeCode.BAD_OPENSSH_KEY,
            )
        seeds: tuple[Seed, ...] = tuple(
            read_key(raw, passphrase, expected=key) for raw, key in zip(files, keys, strict=True)
        )
        self.add(Identity(id=identity, role=role, name=name, seeds=seeds))

    def _of(self, identity: IdentityId) -> _Held:
        held = self._held.get(identity)
        if held is None:
            raise _not_kept(identity, "its keys are not kept here")
        return held

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Work on the files alone, among threads and among processes."""
        with self._turn, self._directory.hold():
            yield

    def _read(self) -> dict[IdentityId, Identity]:
        """Read the disk again; refuse to go on if it is no longer what was unlocked."""
        return self._unchanged(self._directory.read())

    def _read_one(self, identity: IdentityId) -> Identity | None:
        """Read one identity again, as `_read` does; None if it is not kept."""
        return self._unchanged(self._directory.read_one(_file_of(identity))).get(identity)

    def _unchanged(self, files: Mapping[str, bytes]) -> dict[IdentityId, Identity]:
        found = _parsed(files)
        if not found or found[0].lock != self._lock:
            raise KeystoreError(
                "keys not changed",
                why="another process has changed the passphrase, or the key files are gone",
                fix="unlock the keystore again; start a node anew, with the new passphrase",
                code=NodeCode.KEYSTORE_CHANGED,
            )
        opened = map(self._opened, found)
        return {one.id: one for one in opened if one is not None}

    def _opened(self, one: KeyFile) -> Identity | None:
        if one.lock != self._lock:
            raise damaged(one.file, "it belongs to another keystore or to an older passphrase")
        # The head's place may not be taken by an identity, nor one identity's by another.
        if one.file != (HEAD if one.about is None else _file_of(one.about.id)):
            raise damaged(one.file, "it is named for another identity")
        return open_file(one, self._key)

    def _write(self, identity: Identity) -> Kept:
        self._directory.write(_file_of(identity.id), self._sealed(identity))
        held = _held(identity)
        self._held = {**self._held, identity.id: held}
        return held.kept

    def _sealed(self, identity: Identity | None) -> bytes:
        """Give the bytes of a file; what cannot be read back must not replace what can."""
        raw = seal_file(self._key, self._lock, identity, nonce=self._entropy(NONCE))
        self._opened(parse_file(HEAD if identity is None else _file_of(identity.id), raw))
        return raw


def _held(identity: Identity) -> _Held:
    signers = tuple(KeySigner(seed) for seed in identity.seeds)
    return _Held(kept=kept(identity), signers=signers)


def _file_of(identity: IdentityId) -> str:
    return f"{identity.hex()}.key"


def _parsed(files: Mapping[str, bytes]) -> list[KeyFile]:
    return [parse_file(name, raw) for name, raw in files.items()]


def _continues(old: Identity, new: Identity) -> bool:
    """Tell whether nothing that is kept would be lost; a rotation makes a further key current."""
    former, further = new.seeds[: len(old.seeds)], new.seeds[len(old.seeds) :]
    return (
        new.role is old.role
        and former == old.seeds
        and old.next in {None, new.next, *further}
        and old.recovery in {None, new.recovery, *further}
    )


def _not_kept(identity: IdentityId, why: str) -> KeystoreError:
    return KeystoreError(
        f"no key of identity {short(identity)}",
        why=why,
        fix="name an identity that is kept here, or import its keys",
        code=NodeCode.KEY_NOT_KEPT,
    )
