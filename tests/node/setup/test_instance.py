import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from federation.records import Role
from node.access.tokens import TokenFile
from node.base.errors import KeystoreError, NodeCode, NodeError
from node.base.paths import DataDir
from node.base.settings import Settings, load
from node.keys import Cost, Keystore
from node.setup import Member, found_realm, found_solo, read_genesis, write_instance
from node.setup.founding import Founded, Founder

CHEAP = Cost(memory=8, passes=1)
SETTINGS = Settings(name="moot", http_port=0)


def founded() -> Founded:
    return found_solo(name="moot", preset="test", agents=("ada", "curie"))


def written(
    place: Path, one: Founded, *, instance: int = 0, keep: Sequence[Member] | None = None
) -> DataDir:
    return write_instance(
        place,
        one,
        passphrase=b"secret",
        settings=SETTINGS,
        instance=instance,
        keep=keep,
        cost=CHEAP,
    )


def unlocked(data: DataDir) -> Keystore:
    return Keystore.unlock(data.keys, b"secret", least=CHEAP)


def test_everything_a_node_needs_is_there(tmp_path: Path) -> None:
    one = founded()
    data = written(tmp_path / "data", one)
    data.check()
    caller = TokenFile(data).caller(data.operator_token.read_text().strip())

    assert read_genesis(data.genesis).realm == one.founding.realm
    assert load(data.settings, {}) == SETTINGS
    assert {kept.id for kept in unlocked(data).identities()} == {
        member.id for member in one.kept_by(0)
    }
    assert caller is not None
    assert caller.operates


def test_the_keys_sign_as_the_genesis_says(tmp_path: Path) -> None:
    one = founded()
    keystore = unlocked(written(tmp_path / "data", one))
    (row,) = one.founding.charter.genesis.instances

    assert keystore.signer(row.instance).public == row.key


def test_nothing_is_readable_for_others(tmp_path: Path) -> None:
    data = written(tmp_path / "data", founded())

    for path in (data.root, *data.root.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_no_secret_stands_in_clear(tmp_path: Path) -> None:
    one = founded()
    data = written(tmp_path / "data", one)
    content = b"".join(path.read_bytes() for path in data.root.rglob("*") if path.is_file())
    secrets = [
        seed
        for member in one.kept_by(0)
        for seed in (member.keys.current, member.keys.next, member.keys.recovery)
    ]

    assert one.founding.realm in content or one.founding.charter.salt in content
    for secret in (b"secret", *secrets):
        assert secret not in content
        assert secret.hex().encode() not in content


def test_another_passphrase_opens_nothing(tmp_path: Path) -> None:
    data = written(tmp_path / "data", founded())

    with pytest.raises(KeystoreError) as caught:
        Keystore.unlock(data.keys, b"Secret", least=CHEAP)
    assert caught.value.code is NodeCode.WRONG_PASSPHRASE


def test_an_instance_of_a_larger_realm_holds_the_same_genesis_and_its_own_keys(
    tmp_path: Path,
) -> None:
    one = found_realm(
        name="moot",
        preset="test",
        operators=["north", "south"],
        instances=[("one", 0), ("two", 1)],
        founders=[Founder(name=f"agent {n}", operator=n, instance=n) for n in range(2)],
    )
    data = [written(tmp_path / str(n), one, instance=n) for n in range(2)]

    assert data[0].genesis.read_bytes() == data[1].genesis.read_bytes()
    for n in range(2):
        kept = unlocked(data[n]).identities()
        assert {(one.role, one.name) for one in kept} == {
            (Role.OPERATOR, ["north", "south"][n]),
            (Role.INSTANCE, ["one", "two"][n]),
            (Role.AGENT, f"agent {n}"),
        }


def test_whose_keys_are_kept_can_be_chosen(tmp_path: Path) -> None:
    one = founded()
    data = written(tmp_path / "data", one, keep=[one.instances[0]])

    assert [kept.role for kept in unlocked(data).identities()] == [Role.INSTANCE]


def test_a_second_time_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    data = written(tmp_path / "data", founded())
    before = {path: path.read_bytes() for path in data.root.rglob("*") if path.is_file()}

    with pytest.raises(NodeError) as caught:
        written(tmp_path / "data", founded())
    assert caught.value.code is NodeCode.ALREADY_INITIALISED
    assert {path: path.read_bytes() for path in data.root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("after", range(0, 60, 4))
def test_whatever_stops_it_leaves_nothing_half_made(tmp_path: Path, after: int) -> None:
    left = after

    def running_dry(size: int) -> bytes:
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return os.urandom(size)

    one = founded()
    try:
        write_instance(
            tmp_path / "data",
            one,
            passphrase=b"secret",
            settings=SETTINGS,
            entropy=running_dry,
            cost=CHEAP,
        )
    except KeyboardInterrupt:
        assert list(tmp_path.iterdir()) == []
    else:
        assert [path.name for path in tmp_path.iterdir()] == ["data"]
