"""Both readings agree with the vector files: this library's, and one that shares no code with it."""

import ast
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec
import pytest

from federation.codec import decode, decode_plain, encode, find_fault
from federation.core import Code, IdentityId, PeerError, PublicKey, Realm, RefusedError
from federation.crypto import (
    Ballot,
    KeySigner,
    ballot_key,
    commitment,
    is_signed_by,
    opens,
    public_key,
)
from federation.identity import (
    KeyState,
    advanced,
    incepted,
    signing_key,
    statement_key,
    verify_fork,
)
from federation.records import (
    KINDS,
    ArtifactText,
    Kind,
    LogFork,
    Note,
    Record,
    Role,
    Statement,
    bind_text,
    cid,
    did_key,
    parse_record,
    read_text,
    text_id,
    verify_record,
    wire,
)
from tests.vectors import second_reader as second
from tests.vectors.make_vectors import FILES, HERE, render
from tests.vectors.second_schemas import SCHEMAS

Row = Mapping[str, str]
"""One case of a file; where a field is a number, the test says so with a cast."""


def load(name: str) -> dict[str, object]:
    return cast("dict[str, object]", json.loads((HERE / name).read_text(encoding="ascii")))


def rows(name: str, part: str) -> list[Row]:
    return cast("list[Row]", load(name)[part])


def named_rows(name: str, part: str) -> list[object]:
    return [pytest.param(row, id=row["name"].replace(" ", "_")) for row in rows(name, part)]


def unhex(row: Mapping[str, object], field: str) -> bytes:
    return bytes.fromhex(cast("str", row[field]))


def untagged(value: object) -> object:
    match value:
        case {"hex": str(digits)}:
            return bytes.fromhex(digits)
        case {"map": fields}:
            return {key: untagged(item) for key, item in fields.items()}
        case list():
            return [untagged(item) for item in value]
        case _:
            return value


REALM: Realm = unhex(load("records.json"), "realm")


@pytest.mark.parametrize("name", FILES)
def test_making_the_vectors_again_gives_the_same_files(name: str) -> None:
    assert render(name) == (HERE / name).read_text(encoding="ascii")


SECOND = ("second_checks", "second_curation", "second_reader", "second_schemas")
"""Modules of the second reader of records."""


@pytest.mark.parametrize("name", [f"{one}.py" for one in SECOND])
def test_the_second_reader_shares_no_code_with_the_library(name: str) -> None:
    tree = ast.parse((Path(__file__).parent / name).read_text(encoding="utf-8"))
    imported = {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }

    assert not {one for one in imported if one.startswith(("federation", "node", "msgspec"))}
    assert {one for one in imported if one.startswith("tests")} <= {
        "tests.vectors",
        *(f"tests.vectors.{one}" for one in SECOND),
    }


# canonical.json


@pytest.mark.parametrize("row", rows("canonical.json", "values"), ids=lambda row: row["bytes"][:16])
def test_both_readings_give_a_value_the_same_bytes(row: Row) -> None:
    raw, value = unhex(row, "bytes"), untagged(row["value"])

    assert encode(value) == raw
    assert find_fault(raw) is None
    assert decode_plain(raw, what="vector") == value
    assert second.read_canonical(raw) == value


@pytest.mark.parametrize("row", named_rows("canonical.json", "non_canonical"))
def test_both_readings_refuse_a_spelling_that_is_not_canonical(row: Row) -> None:
    raw = unhex(row, "bytes")

    assert find_fault(raw) == row["fault"]
    with pytest.raises(PeerError) as refused:
        decode_plain(raw, what="vector")
    assert refused.value.code is Code.NOT_CANONICAL
    with pytest.raises(second.UnacceptableError):
        second.read_canonical(raw)


# records.json


def judge(raw: bytes, key: PublicKey, role: Role) -> str:
    """Give OK or the code under which this library refuses a record."""
    try:
        record = parse_record(REALM, raw)
        spec = KINDS.get(record.kind)
        if spec is not None and role not in spec.authors:
            return Code.WRONG_ROLE
        verify_record(record, key)
    except PeerError as error:
        return error.code
    return second.OK


def test_there_is_a_vector_for_every_kind() -> None:
    assert [row["kind"] for row in rows("records.json", "valid")] == list(Kind)


@pytest.mark.parametrize("row", rows("records.json", "valid"), ids=lambda row: row["kind"])
def test_both_readings_agree_on_a_record_of_each_kind(row: Row) -> None:
    raw, key = unhex(row, "wire"), unhex(row, "key")
    record = parse_record(REALM, raw)
    role = next(iter(KINDS[row["kind"]].authors))
    statement, _, text, _ = second.split(raw)

    assert wire(record) == raw
    assert record.id.hex() == second.record_id(REALM, statement).hex() == row["id"]
    assert record.author.hex() == row["author"]
    assert cid(record) == second.cid(record.id) == row["cid"]
    assert did_key(key) == row["did_key"]
    assert second.key_of_did(row["did_key"]) == key
    assert record.text_raw == second.kept_text(raw) == text
    assert (None if text is None else text.hex()) == row["text"]
    assert judge(raw, key, role) == second.OK
    assert second.judge(REALM, raw, key=key, role=role) == second.OK


@pytest.mark.parametrize("row", named_rows("records.json", "invalid"))
def test_both_readings_refuse_a_bad_record_with_the_same_code(row: Row) -> None:
    raw, key, role = unhex(row, "wire"), unhex(row, "key"), Role(row["role"])

    assert judge(raw, key, role) == row["code"]
    assert second.judge(REALM, raw, key=key, role=role) == row["code"]


def test_both_readings_know_the_same_kinds_and_authors() -> None:
    ours = {str(kind): {str(role) for role in spec.authors} for kind, spec in KINDS.items()}

    assert {kind: set(roles) for kind, (roles, _) in SCHEMAS.items()} == ours


# commitments.json


def test_both_readings_commit_to_a_ballot_in_the_same_bytes() -> None:
    file = load("commitments.json")
    realm, round_id, voter, nonce = (unhex(file, f) for f in ("realm", "round", "voter", "nonce"))
    for row in cast("list[Row]", file["ballots"]):
        ballot = decode(unhex(row, "ballot"), Ballot, what="ballot")
        plain = cast("list[object]", second.read_canonical(unhex(row, "ballot")))
        ours = commitment(realm=realm, round_id=round_id, voter=voter, ballot=ballot, nonce=nonce)

        assert ours.hex() == row["commitment"]
        assert second.commitment(realm, round_id, voter, plain, nonce).hex() == row["commitment"]


@pytest.mark.parametrize("row", named_rows("commitments.json", "does_not_open_the_first"))
def test_a_copied_or_moved_commitment_does_not_open(row: Row) -> None:
    file = load("commitments.json")
    first = cast("list[Row]", file["ballots"])[0]
    parts = {
        "realm": unhex(file, "realm"),
        "round_id": unhex(file, "round"),
        "voter": unhex(file, "voter"),
        "nonce": unhex(file, "nonce"),
        "ballot": unhex(first, "ballot"),
    } | {field: bytes.fromhex(value) for field, value in row.items() if field != "name"}
    committed = unhex(first, "commitment")
    ballot = decode(parts["ballot"], Ballot, what="ballot")
    plain = cast("list[object]", second.read_canonical(parts["ballot"]))
    realm, round_id, voter, nonce = (parts[f] for f in ("realm", "round_id", "voter", "nonce"))

    assert not opens(ballot, nonce, committed, realm=realm, round_id=round_id, voter=voter)
    assert second.commitment(realm, round_id, voter, plain, nonce) != committed


def test_both_readings_open_a_sealed_ballot_and_derive_its_key() -> None:
    file = load("commitments.json")
    row = cast("Row", file["sealed"])
    realm, round_id, nonce = (unhex(file, field) for field in ("realm", "round", "nonce"))
    sealed, seed = unhex(row, "sealed"), unhex(row, "seed")
    signer, key = KeySigner(seed), ballot_key(seed, realm, round_id)
    ballot, opened_nonce = signer.open(realm, round_id, sealed)
    plain = second.read_canonical(unhex(cast("list[Row]", file["ballots"])[0], "ballot"))

    assert key.hex() == second.ballot_key(seed, realm, round_id).hex() == row["ballot_key"]
    assert second.open_sealed(sealed, key) == (plain, nonce)
    assert second.open_sealed(sealed, bytes(32)) is None
    assert (encode(ballot), opened_nonce) == (encode(plain), nonce)
    assert signer.seal(realm, round_id, ballot, nonce=nonce, salt=unhex(row, "salt")) == sealed


def test_both_readings_derive_the_same_beacon_secrets() -> None:
    file = load("commitments.json")
    realm, seed = unhex(file, "realm"), unhex(cast("Row", file["sealed"]), "seed")
    for row in cast("list[Mapping[str, object]]", file["beacon_secrets"]):
        cut = cast("int", row["cut"])

        assert KeySigner(seed).secret(realm, cut) == unhex(row, "secret")
        assert second.beacon_secret(seed, realm, cut) == unhex(row, "secret")


# identities.json


def fold(raws: Sequence[bytes]) -> KeyState:
    """Fold a key log with every signature checked."""
    first = parse_record(REALM, raws[0])
    state = incepted(first)
    verify_record(first, state.key)
    for raw in raws[1:]:
        record = parse_record(REALM, raw)
        verify_record(record, signing_key(state, record))
        state = advanced(state, record)
    return state


def test_both_readings_follow_a_key_log() -> None:
    log = rows("identities.json", "log")
    raws = [unhex(row, "wire") for row in log]
    for seq, row in enumerate(log):
        state = fold(raws[: seq + 1])
        record = parse_record(REALM, raws[seq])

        assert (record.id, record.seq) == (unhex(row, "id"), seq)
        assert state.key_index == record.statement.key_index == cast("object", row["key_index"])
        key = signing_key(fold(raws[:seq]), record) if seq else state.key
        assert key == unhex(row, "signed_by")
        assert state.revoked == cast("object", row["revoked"])
        assert second.judge_key_event(REALM, raws[:seq], raws[seq]) == second.OK
        assert second.openssl_accepts(
            unhex(row, "signed_by"), b"folkmoot/1/sign" + record.id, record.signature
        )


@pytest.mark.parametrize("row", named_rows("identities.json", "next"))
def test_both_readings_judge_what_may_come_next_in_a_key_log(row: Mapping[str, object]) -> None:
    log = [unhex(step, "wire") for step in rows("identities.json", "log")]
    before, raw = log[: cast("int", row["after"])], unhex(row, "wire")
    try:
        fold([*before, raw])
        ours: str = second.OK
    except PeerError as error:
        ours = error.code

    assert ours == row["code"]
    assert second.judge_key_event(REALM, before, raw) == row["code"]


@pytest.mark.parametrize("row", named_rows("identities.json", "forks"))
def test_both_readings_judge_a_proof_that_a_key_log_forked(row: Mapping[str, object]) -> None:
    log = [unhex(step, "wire") for step in rows("identities.json", "log")]
    before, raw = log[: cast("int", row["after"])], unhex(row, "body")
    state, last = fold(before), parse_record(REALM, before[-1])

    def key_of(author: IdentityId, said: Statement, revealed: PublicKey | None) -> PublicKey | None:
        follows = (author, said.prev, said.seq) == (state.identity, last.id, last.seq + 1)
        return statement_key(state, said, revealed) if follows else None

    try:
        verify_fork(REALM, decode(raw, LogFork, what="vector"), key_of=key_of)
        ours: str = second.OK
    except PeerError as error:
        ours = error.code

    assert ours == row["code"]
    assert second.judge_fork(REALM, before, raw) == row["code"]


def test_the_second_reader_hashes_keys_as_the_log_commits_to_them() -> None:
    inception = parse_record(REALM, unhex(rows("identities.json", "log")[0], "wire"))
    rotation = parse_record(REALM, unhex(rows("identities.json", "log")[1], "wire"))
    committed = msgspec.structs.asdict(cast("msgspec.Struct", inception.body))["next"]
    revealed = msgspec.structs.asdict(cast("msgspec.Struct", rotation.body))["key"]

    assert second.key_hash(revealed) == committed


# texts.json

TEXT_KINDS: dict[str, type[ArtifactText] | type[Note]] = {"artifact": ArtifactText, "note": Note}


@pytest.mark.parametrize("row", rows("texts.json", "texts"), ids=lambda row: row["kind"])
def test_both_readings_bind_a_text_in_the_same_bytes(row: Row) -> None:
    raw = unhex(row, "bytes")
    content = read_text(raw, TEXT_KINDS[row["kind"]])

    assert content is not None
    assert bind_text(content, unhex(row, "salt")) == (raw, unhex(row, "hash"), len(raw))
    assert len(raw) == cast("object", row["length"])
    assert second.read_text(raw, row["kind"]) == untagged(row["content"])
    if isinstance(content, ArtifactText):
        assert text_id(content).hex() == row["text_id"]
        assert second.text_id(untagged(row["content"])).hex() == row["text_id"]


@pytest.mark.parametrize("row", named_rows("texts.json", "carried"))
def test_a_text_that_is_not_the_one_is_ignored_and_the_record_stands(
    row: Mapping[str, object],
) -> None:
    raw = unhex(row, "wire")
    record: Record = parse_record(REALM, raw)

    verify_record(record, public_key_of_vectors())
    assert record.id == unhex(row, "id")
    assert (record.text_raw is not None) == row["kept"]
    assert record.text_raw == second.kept_text(raw)


def public_key_of_vectors() -> PublicKey:
    return public_key(unhex(cast("Row", load("commitments.json")["sealed"]), "seed"))


@pytest.mark.parametrize("row", named_rows("texts.json", "unreadable"))
def test_both_readings_find_a_malformed_text_unreadable(row: Row) -> None:
    raw = unhex(row, "bytes")

    assert read_text(raw, TEXT_KINDS[row["kind"]]) is None
    assert second.read_text(raw, row["kind"]) is None


def test_a_text_nobody_could_read_is_not_bound() -> None:
    with pytest.raises(RefusedError) as refused:
        bind_text(Note(note="e\u0301"), bytes(16))

    assert refused.value.code is Code.NOT_CANONICAL


# signatures.json


@pytest.mark.parametrize("row", named_rows("signatures.json", "cases"))
def test_one_verdict_on_odd_signatures_and_we_notice_where_libraries_differ(
    row: Mapping[str, object],
) -> None:
    key, message, signature = (unhex(row, field) for field in ("key", "message", "signature"))

    assert is_signed_by(key, message, signature) is row["accepted"]
    assert second.libsodium_accepts(key, message, signature) is row["accepted"]
    assert second.openssl_accepts(key, message, signature) is row["openssl"]


def test_openssl_accepts_odd_signatures_that_we_refuse_and_none_the_other_way() -> None:
    cases = cast("list[Mapping[str, object]]", load("signatures.json")["cases"])
    looser = [row["name"] for row in cases if row["openssl"] and not row["accepted"]]
    stricter = [row["name"] for row in cases if row["accepted"] and not row["openssl"]]

    assert looser
    assert not stricter
