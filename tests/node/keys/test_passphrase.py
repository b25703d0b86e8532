"""Where a passphrase comes from, and what is no passphrase."""

import io
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.base.errors import KeystoreError, NodeCode
from node.keys import obtain
from node.keys.passphrase import (
    CREDENTIAL,
    MOST_BYTES,
    Ask,
    from_credential,
    from_descriptor,
    from_file,
    from_prompt,
)
from tests.node.keys.stores import refuses

ROOT = Path(__file__).parents[3]


def file_with(folder: Path, raw: bytes, mode: int = 0o600, name: str = "passphrase") -> Path:
    path = folder / name
    path.write_bytes(raw)
    path.chmod(mode)
    return path


@contextmanager
def pipe_with(raw: bytes) -> Iterator[int]:
    out, into = os.pipe()
    os.write(into, raw)
    os.close(into)
    yield out
    os.close(out)


def typing(*lines: str) -> Ask:
    left = list(lines)
    return lambda _prompt: left.pop(0)


@pytest.mark.parametrize(
    ("raw", "passphrase"),
    [
        (b"word", b"word"),
        (b"word\n", b"word"),
        (b"word\r\n", b"word"),
        (b" word \n", b" word "),
        (b"\tword", b"\tword"),
        ("e\u0301\n".encode(), "\u00e9".encode()),
        (b"x" * MOST_BYTES + b"\r\n", b"x" * MOST_BYTES),
    ],
)
def test_one_line_break_at_the_end_is_taken_off_and_nothing_else(
    tmp_path: Path, raw: bytes, passphrase: bytes
) -> None:
    assert from_file(file_with(tmp_path, raw)) == passphrase
    with pipe_with(raw) as descriptor:
        assert from_descriptor(descriptor) == passphrase


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"\r\n",
        b"word\n\n",
        b"two\nlines",
        b"word\r",
        b"wo\0rd",
        b"word\xff",
        b"x" * (MOST_BYTES + 1),
        b"x" * 10_000,
    ],
)
def test_what_is_no_line_of_text_is_refused_and_not_shown(tmp_path: Path, raw: bytes) -> None:
    with pytest.raises(KeystoreError) as refused:
        from_file(file_with(tmp_path, raw))

    refuses(NodeCode.BAD_PASSPHRASE, refused.value)
    assert "wo" not in str(refused.value)
    assert refused.value.__cause__ is refused.value.__context__ is None


@given(st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), min_size=1))
def test_a_typed_passphrase_is_the_same_as_one_in_a_pipe(text: str) -> None:
    typed = from_prompt(typing(text, text), twice=True)
    with pipe_with(text.encode() + b"\n") as descriptor:
        assert from_descriptor(descriptor) == typed


@pytest.mark.parametrize("mode", [0o601, 0o604, 0o610, 0o640, 0o644, 0o666])
def test_a_passphrase_file_that_others_have_rights_on_is_refused(tmp_path: Path, mode: int) -> None:
    path = file_with(tmp_path, b"word", mode)
    with pytest.raises(KeystoreError) as refused:
        from_file(path)

    refuses(NodeCode.KEYS_EXPOSED, refused.value)
    assert f"chmod 600 {path}" in refused.value.fix


def test_a_passphrase_file_that_is_not_there_or_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeystoreError) as refused:
        from_file(tmp_path / "absent")
    refuses(NodeCode.KEYSTORE_FAILED, refused.value)

    tmp_path.chmod(0o700)
    with pytest.raises(KeystoreError) as refused:
        from_file(tmp_path)
    refuses(NodeCode.BAD_PASSPHRASE, refused.value)


def test_a_descriptor_stays_open_and_a_closed_one_is_refused() -> None:
    with pipe_with(b"word\n") as descriptor:
        from_descriptor(descriptor)
        os.fstat(descriptor)

    with pytest.raises(KeystoreError) as refused:
        from_descriptor(descriptor)
    refuses(NodeCode.KEYSTORE_FAILED, refused.value)


def test_a_systemd_credential_is_read_if_there_is_one(tmp_path: Path) -> None:
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path)}

    assert from_credential({}) is None
    assert from_credential(environ) is None

    # systemd shows its access list as rights of the group.
    path = file_with(tmp_path, b"word\n", 0o440, CREDENTIAL)
    assert from_credential(environ) == b"word"

    path.chmod(0o444)
    with pytest.raises(KeystoreError) as refused:
        from_credential(environ)
    refuses(NodeCode.KEYS_EXPOSED, refused.value)


def test_a_new_passphrase_is_asked_twice_and_must_be_the_same() -> None:
    assert from_prompt(typing("word", "word"), twice=True) == b"word"
    assert from_prompt(typing("word"), twice=False) == b"word"
    for lines in (("word", "Word"), ("", ""), ("wo\udcffrd",)):
        with pytest.raises(KeystoreError) as refused:
            from_prompt(typing(*lines), twice=True)

        refuses(NodeCode.BAD_PASSPHRASE, refused.value)


def test_the_first_place_that_there_is_counts(tmp_path: Path) -> None:
    file_with(tmp_path, b"of the credential", name=CREDENTIAL)
    file = file_with(tmp_path, b"of the file")
    environ = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    ask = typing("of the terminal")
    with pipe_with(b"of the descriptor") as descriptor:
        first = obtain(descriptor=descriptor, file=file, environ=environ, ask=ask)

    assert first == b"of the descriptor"
    assert obtain(file=file, environ=environ, ask=ask) == b"of the file"
    assert obtain(environ=environ, ask=ask) == b"of the credential"
    assert obtain(environ={}, ask=ask) == b"of the terminal"


def test_without_a_terminal_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("word"))
    with pytest.raises(KeystoreError) as refused:
        obtain(environ={}, creating=True)

    refuses(NodeCode.NO_PASSPHRASE, refused.value)


PROGRAM = """
import os
from node.keys import obtain
os.open(os.ttyname(0), os.O_RDWR)  # The first terminal that a session opens is its own.
print("got", obtain(environ={}, creating=True).hex(), flush=True)
"""


def heard(terminal: int, end: bytes) -> bytes:
    """Read what a terminal shows, up to some words."""
    told = b""
    while not told.endswith(end):
        ready, _, _ = select.select([terminal], [], [], 20)
        assert ready, f"the terminal shows {told!r} and no more"
        told += os.read(terminal, 1)
    return told


def test_a_terminal_is_asked_twice_without_showing_what_is_typed() -> None:
    terminal, inside = os.openpty()
    child = subprocess.Popen(  # noqa: S603 # our own words
        [sys.executable, "-c", PROGRAM],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
        cwd=ROOT,
    )
    os.close(inside)
    try:
        told = heard(terminal, b"keystore: ")
        os.write(terminal, b"word\n")
        told += heard(terminal, b"again: ")
        os.write(terminal, b"word\n")
        told += heard(terminal, b"word".hex().encode())
    finally:
        child.kill()
        child.wait()
        os.close(terminal)

    assert b"word" not in told
