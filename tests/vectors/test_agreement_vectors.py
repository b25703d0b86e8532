"""Both readings agree with the vectors of charters and of the agreement."""

import ast
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from federation.certificates import (
    Pinned,
    certificate_from_bytes,
    chains_from_blob,
    hear,
    message_for,
    packet_from_bytes,
    positions_from_blob,
    signing_payload,
    value_from_bytes,
    verify_certificate,
    verify_lock,
)
from federation.certificates.proofs import lock_from_bytes
from federation.certificates.slots import slot_from_plain
from federation.charter import Charter
from federation.codec import LIMITS, decode, encode
from federation.core import PeerError
from federation.crypto import sign
from tests.vectors import certificates_reader as second
from tests.vectors import charter_reader, make_agreement_vectors
from tests.vectors.agreement_reader import pack
from tests.vectors.agreement_rows import (
    HERE,
    OK,
    Row,
    as_bytes,
    as_int,
    as_list,
    as_row,
    by_name,
    load,
    many,
    number,
    plain,
    shown,
    spelt,
    under,
    unhex,
    word,
)
from tests.vectors.certificates_samples import pinned, seed
from tests.vectors.second_reader import read_canonical, sha256

READERS: Final = sorted(path.name for path in HERE.glob("*_reader.py"))
CHARTERS: Final = load("charter.json")
AGREEMENT: Final = load("certificates.json")
MOST_BYTES: Final = 200_000


@pytest.mark.parametrize("name", sorted(make_agreement_vectors.FILES))
def test_no_file_grows_too_large_to_read(name: str) -> None:
    assert len((HERE / name).read_text(encoding="ascii")) < MOST_BYTES


@pytest.mark.parametrize("name", [*READERS, "agreement_rows.py"])
def test_no_second_reader_shares_code_with_the_library(name: str) -> None:
    found = _imports(HERE / name)

    assert not {one for one in found if one.startswith("federation")}
    # What a reader imports from here must be free of the library too.
    ours = {one for one in found if one.startswith("tests")}
    assert ours <= {"tests.vectors", "tests.vectors.second_schemas"} | {
        f"tests.vectors.{one.removesuffix('.py')}" for one in [*READERS, "agreement_rows.py"]
    }


def _imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        alias.name if isinstance(node, ast.Import) else str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def code_of(act: Callable[[], object]) -> str:
    """Give the code under which the library refuses something, or OK."""
    try:
        act()
    except PeerError as error:
        return error.code.value
    return OK


# charter.json


@pytest.mark.parametrize("row", many(CHARTERS, "valid"), ids=by_name)
def test_both_readings_give_a_charter_the_same_bytes_and_hashes(row: Row) -> None:
    raw = unhex(row, "bytes")

    assert pack(plain(row["charter"])) == raw
    assert encode(decode(raw, Charter, what="vector", most=LIMITS.blob)) == raw
    assert charter_reader.judge(raw) == OK
    assert charter_reader.charter_hash(raw).hex() == row["hash"]
    assert charter_reader.realm(raw).hex() == row["realm"]
    assert charter_reader.cut0(raw).hex() == row["cut0"]
    assert charter_reader.beacon0(raw).hex() == row["beacon0"]


@pytest.mark.parametrize("row", many(CHARTERS, "invalid"), ids=by_name)
def test_both_readings_refuse_bytes_that_are_no_charter(row: Row) -> None:
    raw = charter_reader.changed(_base_charter(), row)

    assert code_of(lambda: decode(raw, Charter, what="vector", most=LIMITS.blob)) == row["code"]
    assert charter_reader.judge(raw) == row["code"]


def _base_charter() -> object:
    names = {word(row, "name"): row for row in many(CHARTERS, "valid")}
    return plain(names[word(CHARTERS, "invalid_changes_of")]["charter"])


def test_a_charter_that_is_changed_by_nothing_is_not_refused() -> None:
    # Else every refusal above could come from the way in which the changes are made.
    same = {"set": "review/k", "value": 7}

    assert charter_reader.judge(charter_reader.changed(_base_charter(), same)) == OK


# certificates.json

SLOTS: Final = {word(row, "name"): plain(row["slot"]) for row in many(AGREEMENT, "slots")}
MEMBERS: Final = many(AGREEMENT, "members")


def seats(row: Row) -> second.Seats:
    """Give the second reader the slot of a row."""
    return second.Seats(
        realm=unhex(AGREEMENT, "realm"),
        charter=unhex(AGREEMENT, "charter_hash"),
        slot=SLOTS[word(row, "slot")],
        keys={unhex(one, "voice"): unhex(one, "key") for one in MEMBERS},
        q=number(under(AGREEMENT, "quorum"), "q"),
    )


def pinned_of(row: Row) -> Pinned:
    """Give the library the slot of a row."""
    return pinned(slot_from_plain(SLOTS[word(row, "slot")]))


def ours(what: str, row: Row) -> str:
    """Give this library's verdict on a thing of the file."""
    raw, slot = spelt(row, "bytes"), pinned_of(row)
    match what:
        case "messages":
            return code_of(lambda: hear(raw, unhex(row, "signature"), slot))
        case "values":
            return code_of(lambda: value_from_bytes(raw, slot.slot))
        case "locks":
            return code_of(lambda: verify_lock(lock_from_bytes(raw), slot))
        case "certificates":
            return code_of(lambda: verify_certificate(certificate_from_bytes(raw), slot))
        case "packets":
            return code_of(lambda: packet_from_bytes(raw))
        case "chains":
            return code_of(lambda: chains_from_blob(raw))
        case _:
            return code_of(lambda: positions_from_blob(raw))


def theirs(what: str, row: Row) -> str:
    """Give the second reader's verdict on a thing of the file."""
    raw, slot = spelt(row, "bytes"), seats(row)
    match what:
        case "messages":
            return second.judge_message(raw, unhex(row, "signature"), slot)
        case "values":
            return second.judge_value(raw, slot.slot)
        case "locks":
            return second.judge_lock(raw, slot)
        case "certificates":
            return second.judge_certificate(raw, slot)
        case "packets":
            return second.judge_packet(raw)
        case "chains":
            return second.judge_chains(raw)
        case _:
            return second.judge_positions(raw)


def cases(file: Row, *names: str) -> list[object]:
    """List the rows of some lists of a file, each under the name of its list."""
    return [
        pytest.param(name, row, id=f"{name}: {word(row, 'name')}")
        for name in names
        for row in many(file, name)
    ]


@pytest.mark.parametrize(
    ("what", "row"),
    cases(
        AGREEMENT, "messages", "values", "locks", "certificates", "packets", "chains", "positions"
    ),
)
def test_both_readings_accept_what_is_good(what: str, row: Row) -> None:
    assert (ours(what, row), theirs(what, row)) == (OK, OK)


@pytest.mark.parametrize(
    ("what", "row"), cases(under(AGREEMENT, "invalid"), *under(AGREEMENT, "invalid"))
)
def test_both_readings_refuse_what_is_not_with_one_code(what: str, row: Row) -> None:
    assert (ours(what, row), theirs(what, row)) == (row["code"], row["code"])


@pytest.mark.parametrize("row", many(AGREEMENT, "messages"), ids=by_name)
def test_a_message_says_its_fields_and_is_signed_over_its_hash(row: Row) -> None:
    raw = unhex(row, "bytes")
    heard = hear(raw, unhex(row, "signature"), pinned_of(row))
    _, _, realm, charter, slot, voice, counter, *fields = as_list(read_canonical(raw))
    index = [unhex(one, "voice") for one in MEMBERS].index(unhex(row, "voice"))

    assert (realm, charter) == (unhex(AGREEMENT, "realm"), unhex(AGREEMENT, "charter_hash"))
    assert (slot, voice, counter) == (seats(row).slot, unhex(row, "voice"), row["counter"])
    assert shown(fields) == row["fields"]
    assert message_for(pinned_of(row), heard.voice, number(row, "counter"), heard.body) == raw
    assert sha256(raw).hex() == heard.hash.hex() == row["hash"]
    assert signing_payload(raw) == second.payload(raw)
    assert sign(seed(index), second.payload(raw)).hex() == row["signature"]


@pytest.mark.parametrize("row", many(AGREEMENT, "values"), ids=by_name)
def test_both_readings_give_a_value_one_digest(row: Row) -> None:
    slot, value = seats(row).slot, plain(row["value"])

    assert second.value_bytes(slot, value).hex() == row["bytes"]
    assert second.value_digest(slot, value).hex() == row["digest"]


@pytest.mark.parametrize("row", many(AGREEMENT, "certificates"), ids=by_name)
def test_a_certificate_is_of_the_digest_of_its_value(row: Row) -> None:
    slot, value, _, _ = as_list(read_canonical(unhex(row, "bytes")))

    assert slot == seats(row).slot
    assert second.value_digest(slot, value).hex() == row["digest"]


@pytest.mark.parametrize("row", many(AGREEMENT, "locks"), ids=by_name)
def test_a_lock_is_named_by_the_hash_of_its_bytes(row: Row) -> None:
    assert second.address(1, unhex(row, "bytes")).hex() == row["hash"]


@pytest.mark.parametrize("row", many(AGREEMENT, "parts"), ids=by_name)
def test_a_part_is_addressed_by_its_kind(row: Row) -> None:
    found = second.address(number(row, "kind"), unhex(row, "content"))

    assert found.hex() == row["address"]


@pytest.mark.parametrize("row", many(AGREEMENT, "slots"), ids=by_name)
def test_both_readings_name_the_leader_of_every_fence(row: Row) -> None:
    voices = [unhex(one, "voice") for one in MEMBERS]
    slot = plain(row["slot"])

    assert pack(slot).hex() == row["bytes"]
    assert second.is_slot(slot)
    for leaders in many(row, "leaders"):
        home = unhex(leaders, "home")
        order = second.order(unhex(AGREEMENT, "realm"), slot, voices, home)
        at_fences: Mapping[str, object] = as_row(leaders["at_fences"])

        assert [voices.index(one) for one in order] == leaders["order"]
        for fence, leader in at_fences.items():
            assert order[int(fence) % len(order)] == voices[as_int(leader)]


@pytest.mark.parametrize("row", many(AGREEMENT, "slots"), ids=by_name)
def test_only_phases_before_which_nothing_is_opened_can_be_void(row: Row) -> None:
    slot = plain(row["slot"])
    raw = second.value_bytes(slot, None)
    expected = OK if row["may_be_void"] is True else "NOT_CANONICAL"

    assert second.judge_value(raw, slot) == expected
    assert code_of(lambda: value_from_bytes(raw, slot_from_plain(slot))) == expected


def test_the_second_reader_lets_only_three_phases_be_void() -> None:
    slots = many(AGREEMENT, "slots")
    void = [row for row in slots if second.is_value(plain(row["slot"]), None)]

    assert [word(row, "name") for row in void] == ["commit", "rule", "assess"]
    assert void == [row for row in slots if row["may_be_void"] is True]


def test_the_home_leads_fence_0_of_a_round_and_of_no_cut() -> None:
    voices = [unhex(one, "voice") for one in MEMBERS]
    for row in many(AGREEMENT, "slots"):
        first, second_ = many(row, "leaders")
        home = voices.index(unhex(first, "home"))

        if word(row, "name") == "cut":
            assert first["order"] == second_["order"]
        else:
            assert as_list(first["order"])[0] == home


@pytest.mark.parametrize("row", many(AGREEMENT, "quorums"), ids=lambda row: f"n = {row['n']}")
def test_both_readings_agree_how_many_must_agree(row: Row) -> None:
    n = number(row, "n")

    assert second.quorum(n, available=False) == (row["f"], row["q_strict"])
    assert second.quorum(n, available=True) == (row["f"], row["q_available"])


def test_the_messages_of_the_blobs_name_them_by_their_hash() -> None:
    blobs = {word(row, "name"): unhex(row, "content") for row in many(AGREEMENT, "parts")}
    names = {word(row, "name"): plain(row["fields"]) for row in many(AGREEMENT, "messages")}
    cut = {word(row, "name"): plain(row["value"]) for row in many(AGREEMENT, "values")}["a cut"]

    assert as_bytes(as_list(names["a witness of a cut"])[0]) == second.address(2, blobs["chains"])
    assert as_bytes(as_list(cut)[2]) == second.address(2, blobs["positions"])
