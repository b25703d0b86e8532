"""The bytes of a key file: whatever is changed in them, no other key comes out."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_encrypt

from federation.codec import encode
from federation.crypto import plain_hash
from federation.records import Role
from node.base.errors import KeystoreError, NodeCode
from node.keys.directory import HEAD
from node.keys.identity import Identity
from node.keys.key_file import (
    About,
    KeyFile,
    Lock,
    _Secrets,
    is_opened_by,
    kept,
    open_file,
    parse_file,
    seal_file,
)
from tests import strategies
from tests.builders import named
from tests.node.keys.stores import create, file_of, identity, refuses, rehashed, unlock

KEY = named("key")
LOCK = Lock(salt=bytes(16), memory=8, passes=1)
NONCE = named("nonce")[:24]
FILE = "some.key"


def sealed(one: Identity | None) -> bytes:
    return seal_file(KEY, LOCK, one, nonce=NONCE)


@given(st.integers(0, 5), st.booleans(), st.booleans(), st.sampled_from(Role))
def test_a_file_opens_to_what_was_sealed(
    rotations: int, has_next: bool, has_recovery: bool, role: Role
) -> None:
    one = identity(1, rotations=rotations, role=role)
    one = replace(
        one,
        next=one.next if has_next else None,
        recovery=one.recovery if has_recovery else None,
    )

    assert open_file(parse_file(FILE, sealed(one)), KEY) == one
    assert kept(one).key_index == rotations


def test_the_head_holds_nobody_and_tells_right_keys_from_wrong_ones() -> None:
    head = parse_file(HEAD, sealed(None))

    assert open_file(head, KEY) is None
    assert is_opened_by(head, KEY)
    assert not is_opened_by(head, named("another key"))


@given(st.data())
def test_a_damaged_file_never_opens(data: st.DataObject) -> None:
    raw = data.draw(strategies.damaged(sealed(identity(1))))
    with pytest.raises(KeystoreError) as refused:
        open_file(parse_file(FILE, raw), KEY)

    refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)


@given(st.data())
def test_a_file_damaged_on_purpose_with_its_hash_made_anew_opens_to_no_other_key(
    data: st.DataObject,
) -> None:
    raw = rehashed(data.draw(strategies.damaged(sealed(identity(1)))))
    # If only the hash was damaged, it is the same file again.
    assert outcome(raw) in (identity(1), NodeCode.KEY_FILE_DAMAGED, NodeCode.KEYSTORE_NEWER)


def outcome(raw: bytes) -> Identity | NodeCode | None:
    try:
        return open_file(parse_file(FILE, raw), KEY)
    except KeystoreError as error:
        return error.code


def test_what_is_read_from_a_file_shows_nothing_in_a_traceback() -> None:
    secrets = _Secrets(seeds=(named("seed"),), next=None, recovery=None)

    assert repr(secrets) == "_Secrets(hidden)"


@given(st.integers(0, len(sealed(identity(1))) - 1))
def test_a_truncated_file_is_damaged_at_every_length(length: int) -> None:
    with pytest.raises(KeystoreError) as refused:
        parse_file(FILE, sealed(identity(1))[:length])

    refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)


CHANGES: dict[str, Callable[[KeyFile], KeyFile]] = {
    "salt": lambda one: replace(one, lock=Lock(salt=named("salt")[:16], memory=8, passes=1)),
    "memory": lambda one: replace(one, lock=Lock(salt=bytes(16), memory=9, passes=1)),
    "passes": lambda one: replace(one, lock=Lock(salt=bytes(16), memory=8, passes=2)),
    "nonce": lambda one: replace(one, nonce=named("another nonce")[:24]),
    "sealed": lambda one: replace(one, sealed=one.sealed[:-1] + b"?"),
    "nobody": lambda one: replace(one, about=None),
    "id": lambda one: told(one, id=named("another")),
    "role": lambda one: told(one, role=Role.OPERATOR),
    "name": lambda one: told(one, name="another"),
    "key index": lambda one: told(one, key_index=1),
    "public key": lambda one: told(one, public=named("another")),
}


def told(one: KeyFile, **changes: object) -> KeyFile:
    assert one.about is not None
    return replace(one, about=msgspec.structs.replace(one.about, **changes))


def written(one: KeyFile) -> bytes:
    whole = b"folkmoot key file 1\n" + encode([one.lock, one.nonce, one.about, one.sealed])
    return whole + plain_hash(whole)


def test_the_layout_of_a_file_is_the_one_of_the_decision() -> None:
    assert written(parse_file(FILE, sealed(identity(1)))) == sealed(identity(1))


@pytest.mark.parametrize("field", CHANGES)
def test_no_field_of_a_file_can_be_changed(tmp_path: Path, field: str) -> None:
    changed = CHANGES[field](parse_file(FILE, sealed(identity(1))))
    with pytest.raises(KeystoreError) as refused:
        open_file(parse_file(FILE, written(changed)), KEY)
    refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)

    # The same in a keystore, for one file and for the head alone.
    create(tmp_path / "keys", identity(1), identity(2))
    file = file_of(tmp_path / "keys", identity(1).id)
    file.write_bytes(written(CHANGES[field](parse_file(FILE, file.read_bytes()))))
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path / "keys")
    refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)


@pytest.mark.parametrize("field", ["salt", "memory", "passes", "nonce", "sealed"])
def test_a_changed_head_of_an_empty_keystore_opens_to_no_passphrase(
    tmp_path: Path, field: str
) -> None:
    create(tmp_path / "keys")
    head = tmp_path / "keys" / HEAD
    head.write_bytes(written(CHANGES[field](parse_file(HEAD, head.read_bytes()))))
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path / "keys")

    refuses(NodeCode.WRONG_PASSPHRASE, refused.value)


def test_a_header_that_names_another_key_than_it_holds_is_refused() -> None:
    one = identity(1)
    # Sealed by somebody with the passphrase, or by a mistake of ours.
    lie = msgspec.structs.replace(about(one), public=named("another"))
    for field, value in (("about", lie), ("secrets", b"\x93\x90\xc0\xc0"), ("secrets", b"?")):
        with pytest.raises(KeystoreError) as refused:
            open_file(forged(one, **{field: value}), KEY)

        refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)


def about(one: Identity) -> About:
    found = parse_file(FILE, sealed(one)).about
    assert found is not None
    return found


def forged(one: Identity, *, about: About | None = None, secrets: bytes | None = None) -> KeyFile:
    """Seal, with the right key, a header and secrets that do not belong together."""
    header = about or parse_file(FILE, sealed(one)).about
    plain = encode([one.seeds, one.next, one.recovery]) if secrets is None else secrets
    associated = b"folkmoot key file 1\n" + encode([LOCK, NONCE, header])
    body = crypto_aead_xchacha20poly1305_ietf_encrypt(plain, associated, NONCE, KEY)
    return KeyFile(file=FILE, lock=LOCK, about=header, nonce=NONCE, sealed=body)


def test_files_of_two_identities_cannot_change_places(tmp_path: Path) -> None:
    create(tmp_path, identity(1), identity(2))
    file_of(tmp_path, identity(1).id).rename(file_of(tmp_path, identity(2).id))
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path)

    refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)
    assert refused.value.why == "it is named for another identity"


def test_a_file_of_another_keystore_is_told_from_a_wrong_passphrase(tmp_path: Path) -> None:
    create(tmp_path / "keys", identity(1))
    create(tmp_path / "other", identity(2))
    file_of(tmp_path / "other", identity(2).id).rename(file_of(tmp_path / "keys", identity(2).id))
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path / "keys")

    refuses(NodeCode.KEY_FILE_DAMAGED, refused.value)
    assert refused.value.why == "it belongs to another keystore or to an older passphrase"


def test_a_file_of_a_later_version_is_not_called_damaged(tmp_path: Path) -> None:
    create(tmp_path, identity(1))
    file = file_of(tmp_path, identity(1).id)
    file.write_bytes(rehashed(file.read_bytes().replace(b"file 1\n", b"file 2\n")))
    with pytest.raises(KeystoreError) as refused:
        unlock(tmp_path)

    refuses(NodeCode.KEYSTORE_NEWER, refused.value)
