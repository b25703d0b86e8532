"""Both readings agree with arguments.json, and neither opens what is not the author's own."""

import ast
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

import pytest

from federation.codec import decode
from federation.core import CallerError, PeerError
from federation.crypto import (
    Argument,
    KeySigner,
    SealedArgument,
    argument_commitment,
    argument_key,
    argument_opens,
)
from tests.vectors import arguments_reader as second
from tests.vectors.make_vectors import HERE, render

Row = Mapping[str, str]
FILE: Final = cast("Mapping[str, object]", json.loads((HERE / "arguments.json").read_text("ascii")))


def rows(part: str) -> list[Row]:
    return cast("list[Row]", FILE[part])


def ids(row: Row) -> str:
    return row["name"].replace(" ", "_")


def top(field: str) -> bytes:
    return bytes.fromhex(cast("str", FILE[field]))


REALM, ROUND, AUTHOR, NONCE, SEED, SALT = (
    top(field) for field in ("realm", "round", "author", "nonce", "seed", "salt")
)


def test_making_the_argument_vectors_again_gives_the_same_file() -> None:
    assert render("arguments.json") == (HERE / "arguments.json").read_text("ascii")


def test_the_second_reader_of_arguments_shares_no_code_with_the_library() -> None:
    tree = ast.parse((Path(__file__).parent / "arguments_reader.py").read_text("utf-8"))
    imported = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }

    assert imported == {"hashlib", "typing", "msgpack", "nacl.exceptions", "nacl.secret"}


@pytest.mark.parametrize("row", rows("arguments"), ids=ids)
def test_both_readings_commit_to_an_argument_in_the_same_bytes(row: Row) -> None:
    raw = bytes.fromhex(row["argument"])
    argument = decode(raw, Argument, what="argument")
    plain = second.read_argument(raw)
    ours = argument_commitment(
        realm=REALM, round_id=ROUND, author=AUTHOR, argument=argument, nonce=NONCE
    )

    assert plain is not None
    assert ours.hex() == row["commitment"]
    assert second.commitment(REALM, ROUND, AUTHOR, plain, NONCE).hex() == row["commitment"]


@pytest.mark.parametrize("row", rows("does_not_open_the_first"), ids=ids)
def test_a_change_of_any_part_does_not_open_the_commitment(row: Row) -> None:
    first = rows("arguments")[0]
    parts = {
        "realm": REALM,
        "round": ROUND,
        "author": AUTHOR,
        "nonce": NONCE,
        "argument": bytes.fromhex(first["argument"]),
    } | {field: bytes.fromhex(value) for field, value in row.items() if field != "name"}
    argument = decode(parts["argument"], Argument, what="argument")
    plain = second.read_argument(parts["argument"])
    committed = bytes.fromhex(first["commitment"])
    realm, round_id, author, nonce = (parts[f] for f in ("realm", "round", "author", "nonce"))

    assert plain is not None
    assert not argument_opens(
        argument, nonce, committed, realm=realm, round_id=round_id, author=author
    )
    assert second.commitment(realm, round_id, author, plain, nonce) != committed


@pytest.mark.parametrize("row", rows("no_arguments"), ids=ids)
def test_both_readings_refuse_what_is_no_argument(row: Row) -> None:
    raw = bytes.fromhex(row["argument"])

    assert second.read_argument(raw) is None
    with pytest.raises(PeerError):
        decode(raw, Argument, what="argument")


@pytest.mark.parametrize("row", rows("arguments"), ids=ids)
def test_both_readings_open_a_sealed_argument_and_derive_its_key(row: Row) -> None:
    key, sealed = argument_key(SEED, REALM, ROUND), bytes.fromhex(row["sealed"])
    opened = KeySigner(SEED).open_argument(REALM, ROUND, sealed)
    text = bytes.fromhex(row["text"]) if row["text"] else None
    argument = decode(bytes.fromhex(row["argument"]), Argument, what="argument")
    plain = second.read_argument(bytes.fromhex(row["argument"]))

    assert key == second.argument_key(SEED, REALM, ROUND) == top("argument_key")
    assert opened == SealedArgument(argument=argument, text=text, nonce=NONCE)
    assert second.open_sealed(sealed, key) == (plain, text, NONCE)
    assert plain is not None
    assert second.text_is(plain, text)
    assert KeySigner(SEED).seal_argument(REALM, ROUND, opened, salt=SALT) == sealed


@pytest.mark.parametrize("row", rows("sealed_wrongly"), ids=ids)
def test_neither_reading_opens_what_is_sealed_wrongly(row: Row) -> None:
    sealed = bytes.fromhex(row["sealed"])

    assert second.open_sealed(sealed, second.argument_key(SEED, REALM, ROUND)) is None
    with pytest.raises(CallerError):
        KeySigner(SEED).open_argument(REALM, ROUND, sealed)
