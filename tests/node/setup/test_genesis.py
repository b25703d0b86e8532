from pathlib import Path

import msgspec
import pytest

from federation.charter import charter_hash
from federation.codec import decode_plain, encode
from federation.crypto import Domain, digest
from federation.records import wire
from node.base.errors import NodeCode, NodeError
from node.setup import found_solo, genesis_bytes, read_genesis
from node.setup.founding import Founded


def founded() -> Founded:
    return found_solo(name="moot", preset="test", agents=("ada", "curie"))


def read(path: Path, raw: bytes) -> NodeError:
    file = path / "genesis.msgpack"
    file.write_bytes(raw)
    with pytest.raises(NodeError) as caught:
        read_genesis(file)
    assert caught.value.code is NodeCode.GENESIS_DAMAGED
    assert str(file) in caught.value.why
    return caught.value


def parts(one: Founded) -> list[object]:
    plain = decode_plain(genesis_bytes(one.founding), what="genesis", most=10_000_000)
    assert isinstance(plain, list)
    return list(plain)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    one = founded()
    file = tmp_path / "genesis.msgpack"
    file.write_bytes(genesis_bytes(one.founding))
    genesis = read_genesis(file)

    assert genesis.realm == one.founding.realm
    assert genesis.charter == one.founding.charter
    assert genesis.charter_hash == charter_hash(one.founding.charter)
    assert [wire(record) for record in genesis.records] == [
        wire(record) for record in one.founding.records
    ]


def test_any_bit_that_flips_is_noticed(tmp_path: Path) -> None:
    raw = genesis_bytes(founded().founding)

    for place in range(0, len(raw), len(raw) // 60):
        read(tmp_path, raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])


@pytest.mark.parametrize("cut", [0, 1, -1])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, cut: int) -> None:
    read(tmp_path, genesis_bytes(founded().founding)[:cut])


def test_a_missing_record_is_noticed(tmp_path: Path) -> None:
    version, digest, charter, records = parts(founded())
    assert isinstance(records, list)

    assert "not those that the charter lists" in (
        read(tmp_path, encode([version, digest, charter, records[:-1]])).why
    )


def test_records_of_another_founding_are_refused(tmp_path: Path) -> None:
    version, digest, charter, _ = parts(founded())

    read(tmp_path, encode([version, digest, charter, parts(founded())[3]]))


def test_a_later_version_of_the_file_is_refused(tmp_path: Path) -> None:
    read(tmp_path, encode([2, *parts(founded())[1:]]))


def test_a_charter_that_cannot_work_is_refused(tmp_path: Path) -> None:
    one = founded()
    review = msgspec.structs.replace(one.founding.charter.review, k=2, q_min=3)
    charter = msgspec.structs.replace(one.founding.charter, review=review)

    raw = encode([1, charter_hash(charter), encode(charter), parts(one)[3]])

    assert "review.q_min is 3" in read(tmp_path, raw).why


def charter_without_a_field(one: Founded) -> bytes:
    """Spell a charter as a version would that does not know one of its rules yet."""
    plain = decode_plain(encode(one.founding.charter), what="charter", most=10_000_000)
    assert isinstance(plain, dict)
    quotas = plain["quotas"]
    assert isinstance(quotas, dict)
    return encode(plain | {"quotas": {k: v for k, v in quotas.items() if k != "reports_epoch"}})


def test_a_sound_charter_of_another_version_is_told_apart_from_a_damaged_one(
    tmp_path: Path,
) -> None:
    one = founded()
    other = charter_without_a_field(one)
    file = tmp_path / "genesis.msgpack"
    file.write_bytes(encode([1, digest(Domain.CHARTER, other), other, parts(one)[3]]))

    with pytest.raises(NodeError) as caught:
        read_genesis(file)

    assert caught.value.code is NodeCode.GENESIS_OTHER_VERSION
    assert "another version" in caught.value.why
    assert "reports_epoch" in caught.value.why
    assert "backup" not in caught.value.fix, "no backup of it can be read either"
    damaged = encode([1, charter_hash(one.founding.charter), other, parts(one)[3]])
    assert "reports_epoch" in read(tmp_path, damaged).why


def test_a_file_that_is_not_there_is_no_instance(tmp_path: Path) -> None:
    with pytest.raises(NodeError) as caught:
        read_genesis(tmp_path / "none")

    assert caught.value.code is NodeCode.NOT_INITIALISED
    assert "folkmoot init" in caught.value.fix
