"""Secrets stand in no text, and in memory in signers only."""

import gc
from dataclasses import replace
from pathlib import Path

import pytest

from federation.crypto import KeySigner
from node.base.errors import KeystoreError
from node.keys import Identity
from tests.node.keys.stores import NEW, OLD, create, file_of, identity, secrets_of, unlock


def all_text(error: BaseException) -> str:
    """Give everything that a log could print of an error, with what it came from."""
    text, todo = "", [error]
    while todo:
        now = todo.pop()
        text += f"{now!r} {now} {vars(now)} "
        todo += [one for one in (now.__cause__, now.__context__) if one is not None]
    return text


def test_no_secret_stands_in_any_text(tmp_path: Path) -> None:
    one = identity(1, rotations=1)
    path = tmp_path / "keys"
    store = create(path, one)
    texts = [repr(store), str(store), repr(one), str(one), repr(store.identities())]
    texts += [repr(store.keyring(one.id)), repr(store.signer(one.id))]
    file = file_of(path, one.id)
    whole = file.read_bytes()
    for raw in (whole[:-1], whole[:40], b"", whole[:-40] + bytes(40)):
        file.write_bytes(raw)
        with pytest.raises(KeystoreError) as refused:
            unlock(path)
        texts.append(all_text(refused.value))
    file.write_bytes(whole)
    for act in (
        lambda: unlock(path, NEW),
        lambda: store.add(identity(1)),
        lambda: store.add(replace(one, seeds=(*one.seeds, one.seeds[0]), name="")),
        lambda: store.export_openssh(one.id, NEW * 8),
        lambda: store.import_openssh(
            [store.export_openssh(one.id, OLD)],
            NEW,
            identity=bytes(32),
            role=one.role,
            name="x",
            keys=[bytes(32)],
        ),
    ):
        with pytest.raises(KeystoreError) as refused:
            act()
        texts.append(all_text(refused.value))
    told = "\n".join(texts)

    for secret in (*secrets_of(one), OLD, NEW):
        assert secret.hex() not in told
        assert repr(secret)[2:-1] not in told


def test_unlocked_seeds_live_in_signers_only(tmp_path: Path) -> None:
    create(tmp_path / "keys", identity(1), identity(2))
    store = unlock(tmp_path / "keys")
    store.rotate(identity(1).id)
    store.change_passphrase(NEW)
    gc.collect()

    assert not [one for one in gc.get_objects() if isinstance(one, Identity)]
    assert type(store.signer(identity(1).id)) is KeySigner
