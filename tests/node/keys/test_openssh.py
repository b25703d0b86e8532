"""Keys from and to OpenSSH: both ways with the real ssh-keygen, and no key in place of another.

`openssh_files/` holds two pairs that ssh-keygen 9 made, so reading is tested on every machine.
"""

import base64
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from federation.crypto import public_key
from node.base.errors import KeystoreError, NodeCode
from node.keys import read_key, write_key
from tests import strategies
from tests.builders import named
from tests.node.keys.stores import refuses

FILES = Path(__file__).parent / "openssh_files"
PASSPHRASE = b"of the file"
SEED = named("seed")
SSH_KEYGEN = shutil.which("ssh-keygen")

needs_ssh_keygen = pytest.mark.skipif(SSH_KEYGEN is None, reason="ssh-keygen is not installed")


def stated(line: str) -> bytes:
    """Give the public key in a line of a .pub file."""
    return base64.b64decode(line.split()[1])[-32:]


def ssh_keygen(*arguments: str | Path) -> str:
    command = [SSH_KEYGEN or "ssh-keygen", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603


@pytest.mark.parametrize(("name", "passphrase"), [("plain", None), ("locked", PASSPHRASE)])
def test_a_key_that_ssh_keygen_made_is_read(name: str, passphrase: bytes | None) -> None:
    expected = stated((FILES / f"{name}.pub").read_text())
    seed = read_key((FILES / name).read_bytes(), passphrase, expected=expected)

    assert public_key(seed) == expected
    assert read_key((FILES / name).read_bytes(), passphrase) == seed


def test_a_passphrase_for_a_file_that_needs_none_is_no_fault() -> None:
    raw = (FILES / "plain").read_bytes()

    assert read_key(raw, PASSPHRASE) == read_key(raw, None)


@pytest.mark.parametrize("passphrase", [None, PASSPHRASE, b"x" * 72])
def test_what_was_written_is_read_again(passphrase: bytes | None) -> None:
    assert read_key(write_key(SEED, passphrase), passphrase) == SEED


@needs_ssh_keygen
@pytest.mark.parametrize("passphrase", ["", "of the file"])
def test_ssh_keygen_reads_what_was_written_and_the_other_way_round(
    tmp_path: Path, passphrase: str
) -> None:
    ours = tmp_path / "ours"
    ours.touch(mode=0o600)
    ours.write_bytes(write_key(SEED, passphrase.encode() or None))
    assert stated(ssh_keygen("-y", "-P", passphrase, "-f", ours)) == public_key(SEED)

    # It also writes it anew under another passphrase, and makes a key of its own.
    ssh_keygen("-q", "-p", "-P", passphrase, "-N", "another one", "-a", "2", "-f", ours)
    assert read_key(ours.read_bytes(), b"another one") == SEED

    theirs = tmp_path / "theirs"
    ssh_keygen("-q", "-t", "ed25519", "-N", passphrase, "-a", "2", "-f", theirs)
    seed = read_key(theirs.read_bytes(), passphrase.encode())
    assert public_key(seed) == stated((tmp_path / "theirs.pub").read_text())


def armoured(content: bytes) -> bytes:
    body = base64.encodebytes(content)
    return b"-----BEGIN OPENSSH PRIVATE KEY-----\n" + body + b"-----END OPENSSH PRIVATE KEY-----\n"


def content_of(raw: bytes) -> bytes:
    return base64.b64decode(b"".join(raw.splitlines()[1:-1]))


def never_another_key(raw: bytes, passphrase: bytes | None, seed: bytes) -> bool:
    """Read a damaged file: a refusal or the same key; tell whether it was refused."""
    try:
        found = read_key(raw, passphrase)
    except KeystoreError as error:
        refuses(NodeCode.BAD_OPENSSH_KEY, error)
        return True
    assert found == seed
    return False


def test_no_flipped_bit_of_an_unencrypted_key_gives_another_key() -> None:
    raw = (FILES / "plain").read_bytes()
    seed, content = read_key(raw, None), content_of(raw)
    at_seed = content.index(seed)
    refused = 0
    for bit in range(len(content) * 8):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        refused += never_another_key(armoured(bytes(flipped)), None, seed)

    assert refused > len(content) * 4
    # The seed's own bits are those that the format does not protect.
    for bit in range(256):
        flipped = bytearray(content)
        flipped[at_seed + bit // 8] ^= 1 << bit % 8
        assert never_another_key(armoured(bytes(flipped)), None, seed)


@pytest.mark.parametrize("step", range(40))
def test_no_flipped_bit_of_an_encrypted_key_gives_another_key(step: int) -> None:
    raw = (FILES / "locked").read_bytes()
    content = content_of(raw)
    seed = read_key(raw, PASSPHRASE)
    bit = step * (len(content) * 8) // 40 + step % 8
    flipped = bytearray(content)
    flipped[bit // 8] ^= 1 << bit % 8

    never_another_key(armoured(bytes(flipped)), PASSPHRASE, seed)


@given(st.data())
def test_a_damaged_file_gives_no_other_key(data: st.DataObject) -> None:
    raw = (FILES / "plain").read_bytes()

    never_another_key(data.draw(strategies.damaged(raw)), None, read_key(raw, None))


@given(st.binary(max_size=300))
def test_garbage_in_the_armour_of_a_key_is_refused(junk: bytes) -> None:
    assert never_another_key(armoured(junk), None, b"")
    assert never_another_key(armoured(b"openssh-key-v1\0" + junk), PASSPHRASE, b"")


@pytest.mark.parametrize("passphrase", [b"wrong", b"", None, b"x" * 100])
def test_a_wrong_or_missing_passphrase_is_refused(passphrase: bytes | None) -> None:
    with pytest.raises(KeystoreError) as refused:
        read_key((FILES / "locked").read_bytes(), passphrase)

    refuses(NodeCode.BAD_OPENSSH_KEY, refused.value)


def test_a_key_that_is_not_the_expected_one_is_refused() -> None:
    with pytest.raises(KeystoreError) as refused:
        read_key(write_key(SEED, None), None, expected=public_key(named("another")))

    refuses(NodeCode.BAD_OPENSSH_KEY, refused.value)
    assert refused.value.why == "it holds another key than the one that is expected"


def test_a_key_of_another_kind_is_refused() -> None:
    other = generate_private_key(SECP256R1())
    raw = other.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    with pytest.raises(KeystoreError) as refused:
        read_key(raw, None)

    refuses(NodeCode.BAD_OPENSSH_KEY, refused.value)


def test_a_file_that_asks_for_a_lifetime_of_rounds_is_refused_at_once() -> None:
    content = content_of((FILES / "locked").read_bytes())
    few = b"\x00\x00\x00\x04"
    at = content.index(few, content.index(b"bcrypt") + 6 + 4 + 4 + 16)
    asking = content[:at] + b"\xff\xff\xff\xff" + content[at + 4 :]
    with pytest.raises(KeystoreError) as refused:
        read_key(armoured(asking), PASSPHRASE)

    refuses(NodeCode.BAD_OPENSSH_KEY, refused.value)
    assert "4294967295 rounds" in refused.value.why


def test_a_file_of_more_than_16_kib_is_refused() -> None:
    assert never_another_key(write_key(SEED, None) + b"\n" * 16 * 1024, None, b"")


@pytest.mark.parametrize("passphrase", [b"", b"x" * 73])
def test_a_passphrase_that_openssh_cannot_take_is_refused(passphrase: bytes) -> None:
    with pytest.raises(KeystoreError) as refused:
        write_key(SEED, passphrase)

    refuses(NodeCode.BAD_OPENSSH_KEY, refused.value)
